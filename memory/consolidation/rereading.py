"""Reading closed sessions again for facts: what an installation talked about before there were facts, or before a
model was connected.

The oldest session comes first, so that what changed since replaces what was before. Each piece is stored as soon as it
is answered: a run that is stopped goes on where it stopped, and pays for nothing twice.
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
    """Those of `sessions` that were read before there were facts, or by rules alone where a model is connected now, and
    not, or not wholly, again since."""
    read = Extraction.objects.filter(session=OuterRef("pk"))
    before_facts = read.filter(again=False).exclude(answer__has_key="facts")
    if provider_name() != OfflineProvider.name:
        # Rules answer neither facts nor a summary; every model sums up what it has read.
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
    """Read one session again, as far as it is not read again yet; False if somebody else holds it. Raises LLMError,
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
