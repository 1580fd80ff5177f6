"""Queue tasks of reaching out. The queue carries ids only; a task that is delivered twice does nothing the second time,
because the job leases its row first."""

from proactive.outreach import runner


def reach_out(outreach_id: int) -> str:
    """Write and deliver one first word; returns the outcome."""
    return str(runner.run(outreach_id))
