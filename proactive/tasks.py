"""The jobs of reaching out. The queue carries ids only; the job claims its outreach in the database first, so that one
that is delivered twice does nothing the second time."""

from proactive import outreach


def reach_out(outreach_id: int) -> str:
    """Write and say one first word; returns what became of it."""
    return outreach.carry_out(outreach_id)
