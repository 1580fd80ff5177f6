"""Why a persona spoke first, or held back, in words for her owner."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from proactive.models.consideration import Gate
from proactive.models.outreach import Trigger

SPOKE: Mapping[str, Any] = {
    Trigger.PROMISE: _("something that had been promised was due"),
    Trigger.SHOCK: _("something had happened that means a lot"),
    Trigger.EXPECTATION: _("something you were waiting for was due"),
    Trigger.SILENCE: _("there had been a long silence"),
}
HELD_BACK: Mapping[str, Any] = {
    Gate.ENABLED: _("speaking first was not allowed"),
    Gate.CRISIS_HOLD: _("things had become very hard, and a careful pause was kept"),
    Gate.QUIET_HOURS: _("it was quiet time"),
    Gate.COLD_USER: _("the last two messages had no answer: the next word is yours"),
    Gate.RATE: _("it was enough for 24 hours"),
    Gate.SPACING: _("the last message was not long ago"),
    Gate.TURN_IN_FLIGHT: _("you were just talking"),
    Gate.COST_CAP: _("the day's budget for the model was spent"),
    Gate.TRIGGER: _("there was no reason to"),
}
# As she says it herself, beside the line.
WHY_NOW: Mapping[str, Any] = {
    Trigger.PROMISE: _("I wrote to you first because something that I had promised was due."),
    Trigger.SHOCK: _("I wrote to you first because something had happened that means a lot."),
    Trigger.EXPECTATION: _("I wrote to you first because something you were waiting for was due."),
    Trigger.SILENCE: _("I wrote to you first because we had not talked for a while."),
}
