"""What may go wrong with embeddings; the messages are for operators and hold no text of people."""


class EmbeddingUnavailable(Exception):
    """Nothing can be embedded; the message says what is missing and how to mend it."""


class ServerUnavailable(EmbeddingUnavailable):
    """The server of the embedding model does not answer, or cannot right now: later it may."""


class ModelChanged(EmbeddingUnavailable):
    """Another embedding model came into use meanwhile: older vectors cannot be used."""
