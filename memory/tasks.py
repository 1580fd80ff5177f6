"""The tasks of memory. The queue carries ids only; a task delivered twice does nothing the second time, because each
job leases its row first."""

from django.utils import timezone

from memory import knobs
from memory.consolidation import runner
from memory.erasure import receipts
from memory.imports import runner as importing
from memory.slow_cycle import runner as slow_cycle_runner


def consolidate_session(session_id: int) -> str:
    """Consolidate one closing session, or an open one early; returns the outcome."""
    return str(runner.run(session_id))


def slow_cycle(persona_id: int) -> str:
    """Have the persona think about what is new, if the gate allows it; returns the outcome."""
    return str(slow_cycle_runner.run(persona_id))


def import_file(job_id: int) -> str:
    """Run the next steps of an import; returns the outcome."""
    return str(importing.run(job_id, slice_seconds=knobs.import_slice_seconds()))


def finish_erasures() -> int:
    """Erase forgotten bytes in a database that was too large to do so immediately; returns how many receipts this
    completes."""
    return receipts.finish_pending(timezone.now())


def erase_refused() -> bool:
    """Erase the bytes of refused messages, in a database that was too large to do so immediately."""
    return receipts.rewrite_database()
