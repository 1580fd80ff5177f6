"""Errors of embedding; their messages are for operators and contain no text of people."""


class EmbeddingUnavailable(Exception):
    """Nothing can be embedded; the message says what is missing and how to fix it."""


class ServerUnavailable(EmbeddingUnavailable):
    """The server of a model does not answer, or is overloaded: a retry may help, perhaps after `retry_after`
    seconds."""

    retry_after = 0.0


class TextsRefused(EmbeddingUnavailable):
    """The server refuses these texts (400, 413, 422): they may be too long for it."""


class ModelChanged(EmbeddingUnavailable):
    """Another embedding model came into use meanwhile, so vectors of the former one cannot be used."""
