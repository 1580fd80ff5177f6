"""Read closed sessions again for facts: those from before there were facts, or before a model was connected.

The oldest session is read first, so that later facts replace earlier ones. Each piece is stored as soon as it is
answered: a stopped run resumes where it stopped, and pays for nothing twice.
"""

from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery

from chat.models import Session
from chat.models.session import SessionQuerySet
from echovessel.jobs.lease import Clock, Lease, available
from echovessel.llm.offline import OfflineProvider
from echovessel.llm.providers import provider_name
from memory.consolidation import apply, extraction, replies
from memory.models import Extraction


def to_read_again(sessions: SessionQuerySet) -> SessionQuerySet:
    """The sessions that were read before there were facts, or by rules only although a model is connected now, and that
    have not been completely read again."""
    read = Extraction.objects.filter(session=OuterRef("pk"))
    before_facts = read.filter(again=False).exclude(answer__has_key="facts")
    if provider_name() != OfflineProvider.name:
        # Rules return neither facts nor a summary; every model returns a summary.
        by_rules = {"answer__facts": [], "answer__session_summary": "", "answer__self_check_notes": ""}
        before_facts |= read.filter(again=False, **by_rules)
    begun = read.filter(again=True, applied_at=None)
    reread = read.filter(again=True).exclude(applied_at=None).filter(through__gte=OuterRef("read_through"))
    closed = sessions.filter(status=Session.Status.CLOSED, off_the_record=False)
    whole = read.filter(again=False).order_by("-through").values("through")[:1]
    waiting = (
        closed.annotate(read_through=Subquery(whole))
        .filter(Exists(before_facts))
        .filter(~Exists(reread) | Exists(begun))
    )
    return waiting.order_by("started_at", "id")


def read_again(session_id: int, clock: Clock) -> bool:
    """Read the rest of one session again; False if it is leased by another process. Raises LLMError,
    EmbeddingUnavailable and LeaseLost."""
    rows = Session.objects.filter(pk=session_id).select_related("persona__owner")
    lease = Lease.acquire(rows, to_read_again(rows).filter(available(clock())).order_by(), clock)
    if lease is None:
        return False
    try:
        extraction.read(lease, again=True)
        apply.apply(lease)
    finally:
        lease.release(attempts=0)
    with transaction.atomic():
        replies.delete(lease.row)
    return True
