"""Knobs of embedding and reranking servers."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import knob, whole

query_seconds = knob(
    "embeddings.query_seconds",
    3.0,
    low=0.2,
    high=60,
    unit=_("seconds"),
    why=_(
        "So long a turn or a page waits for the vectors of a text; a turn's recall then goes by words. A "
        "server on the same machine takes 10 to 100 ms."
    ),
)
batch_seconds = knob(
    "embeddings.batch_seconds",
    60.0,
    low=1,
    high=600,
    unit=_("seconds"),
    why=_("So long a job waits for one batch. A large model on a processor makes a few vectors a second."),
)
batch_texts = whole(
    "embeddings.batch_texts",
    32,
    low=1,
    high=1_024,
    unit=_("texts"),
    why=_("As many go to a server in one request; servers on a processor answer 32 within some ten seconds."),
)
attempts = whole(
    "embeddings.attempts",
    3,
    low=1,
    high=10,
    unit=_("attempts"),
    why=_("A batch is asked for so often where the server was overloaded or gone for a moment; a turn asks once."),
)
pause_seconds = knob(
    "embeddings.pause_seconds",
    30.0,
    low=0,
    high=600,
    unit=_("seconds"),
    why=_("After a failure turns go by words for so long without asking, so that only one of them waits in vain."),
)
rerank_seconds = knob(
    "embeddings.rerank_seconds",
    1.0,
    low=0.05,
    high=30,
    unit=_("seconds"),
    why=_(
        "So long a reply waits for the reranker; then the ranking stands as it was. On a graphics card a "
        "small one takes 30 to 100 ms for 30 texts, on a processor seconds."
    ),
)
