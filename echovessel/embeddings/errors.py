"""What may go wrong with embeddings; the messages are for operators and hold no text of people."""


class EmbeddingUnavailable(Exception):
    """Nothing can be embedded; the message says what is missing and how to mend it."""


class ServerUnavailable(EmbeddingUnavailable):
    """The server of a model does not answer, or cannot right now: later it may, perhaps in `retry_after` seconds."""

    retry_after = 0.0


class TextsRefused(EmbeddingUnavailable):
    """The server refuses these very texts (400, 413, 422): they may be too long for it."""


class ModelChanged(EmbeddingUnavailable):
    """Another embedding model came into use meanwhile: older vectors cannot be used."""
