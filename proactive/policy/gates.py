"""The gates: what can keep a persona from speaking first. Each is a pure predicate on the situation; they are asked in
the order of the table `GATES`, and the first that is true decides."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from proactive import knobs
from proactive.models.consideration import Gate
from proactive.policy.situation import Situation


def is_forbidden(situation: Situation) -> bool:
    return not situation.enabled


def is_in_care(situation: Situation) -> bool:
    """The owner spoke of a crisis a short while ago: no time for a message that nobody asked for."""
    return situation.is_in_care


def is_quiet(situation: Situation) -> bool:
    """The owner's local hour is within the quiet hours, which may span midnight. Equal start and end: no quiet hours.

    Hours are local wall-clock hours: an hour that a time change skips is not waited for, one that it repeats is quiet
    both times.
    """
    start, end, hour = situation.quiet_start, situation.quiet_end, situation.local.hour
    if start <= end:
        return start <= hour < end
    return hour >= start or hour < end


def is_cold(situation: Situation) -> bool:
    """Neither of the last two outreaches was answered in time, and the owner has written nothing since."""
    if len(situation.outreaches) < 2 or situation.outreaches[0].answered_at is not None:
        return False
    return not any(
        outreach.answered_at is not None and outreach.answered_at - outreach.at <= timedelta(hours=knobs.answer_hours())
        for outreach in situation.outreaches
    )


def is_enough(situation: Situation) -> bool:
    return len(situation.sent_at) >= situation.max_per_24h


def is_too_soon(situation: Situation) -> bool:
    spacing = timedelta(hours=knobs.spacing_hours())
    return any(situation.now - outreach.at < spacing for outreach in situation.outreaches[:1])


def is_answering(situation: Situation) -> bool:
    return situation.turn_in_flight


def is_spent(situation: Situation) -> bool:
    return situation.budget_spent


def is_without_reason(situation: Situation) -> bool:
    return not situation.reasons


GATES: Mapping[Gate, Callable[[Situation], bool]] = {
    Gate.ENABLED: is_forbidden,
    Gate.CRISIS_HOLD: is_in_care,
    Gate.QUIET_HOURS: is_quiet,
    Gate.COLD_USER: is_cold,
    Gate.RATE: is_enough,
    Gate.SPACING: is_too_soon,
    Gate.TURN_IN_FLIGHT: is_answering,
    Gate.COST_CAP: is_spent,
    Gate.TRIGGER: is_without_reason,
}
