"""Why a persona spoke first or held back, in words for the owner."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from proactive.models.consideration import Gate
from proactive.models.outreach import Trigger

SPOKE: Mapping[str, Any] = {
    Trigger.PROMISE: _("a promise was due"),
    Trigger.SHOCK: _("something important had happened"),
    Trigger.EXPECTATION: _("something you were waiting for was due"),
    Trigger.SILENCE: _("you had not talked for a while"),
}
HELD_BACK: Mapping[str, Any] = {
    Gate.ENABLED: _("writing first was not allowed"),
    Gate.CRISIS_HOLD: _("you had spoken of something very hard, so there was a pause"),
    Gate.QUIET_HOURS: _("it was within quiet hours"),
    Gate.COLD_USER: _("the last two messages were not answered: the next one is up to you"),
    Gate.RATE: _("the limit for 24 hours was reached"),
    Gate.SPACING: _("the last message was not long ago"),
    Gate.TURN_IN_FLIGHT: _("you were in the middle of a conversation"),
    Gate.COST_CAP: _("the day's budget for the model was used up"),
    Gate.TRIGGER: _("there was no reason to write"),
}
# In the persona's own words, shown beside the message.
WHY_NOW: Mapping[str, Any] = {
    Trigger.PROMISE: _("I wrote to you first because a promise of mine was due."),
    Trigger.SHOCK: _("I wrote to you first because something important had happened."),
    Trigger.EXPECTATION: _("I wrote to you first because something you were waiting for was due."),
    Trigger.SILENCE: _("I wrote to you first because we had not talked for a while."),
}
