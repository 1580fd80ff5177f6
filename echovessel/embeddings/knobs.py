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
        "A turn or a page waits this long for the vectors of a text; after that, a turn's recall "
        "works by words. A server on the same machine takes 10 to 100 ms."
    ),
)
batch_seconds = knob(
    "embeddings.batch_seconds",
    60.0,
    low=1,
    high=600,
    unit=_("seconds"),
    why=_("A job waits this long for one batch. A large model on a processor makes a few vectors a second."),
)
batch_texts = whole(
    "embeddings.batch_texts",
    32,
    low=1,
    high=1_024,
    unit=_("texts"),
    why=_("The number of texts in one request to a server; servers on a processor answer 32 within some ten seconds."),
)
attempts = whole(
    "embeddings.attempts",
    3,
    low=1,
    high=10,
    unit=_("attempts"),
    why=_("A batch is tried this often if the server is overloaded or briefly down; a turn tries once."),
)
pause_seconds = knob(
    "embeddings.pause_seconds",
    30.0,
    low=0,
    high=600,
    unit=_("seconds"),
    why=_(
        "After a failure, turns recall by words for this long without asking the server, so that "
        "only one of them waits in vain."
    ),
)
rerank_seconds = knob(
    "embeddings.rerank_seconds",
    1.0,
    low=0.05,
    high=30,
    unit=_("seconds"),
    why=_(
        "A reply waits this long for the reranker; after that, the ranking stays as it was. On a "
        "graphics card a small one takes 30 to 100 ms for 30 texts, on a processor seconds."
    ),
)
