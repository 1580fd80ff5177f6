"""Notify the browsers of an owner that there is a new message, without its text.

A notification may be lost but is never sent twice: it is recorded before it is sent. The message itself is in the page.
"""

import json
import logging
from datetime import datetime

from django.urls import reverse

from echovessel.process import redaction
from persona.models import Persona
from proactive import knobs
from proactive.models import Outreach, PushSubscription, ReachingOut
from proactive.push import endpoints

logger = logging.getLogger(__name__)

GONE = (404, 410)


def notify(outreach: Outreach, now: datetime) -> int:
    """Notify the owner's browsers of a delivered outreach, once for each outreach; returns how many were notified."""
    persona = outreach.persona
    if not ReachingOut.objects.filter(persona=persona, push=True).exists():
        return 0
    browsers = list(PushSubscription.objects.filter(owner=persona.owner_id))
    if not browsers or not Outreach.objects.filter(pk=outreach.pk, pushed_at=None).update(pushed_at=now):
        return 0
    sent_count = 0
    for browser in browsers:
        status = send_notice(browser, persona)
        mine = PushSubscription.objects.filter(pk=browser.pk)
        if 200 <= status < 300:
            mine.update(last_pushed_at=now, failures=0)
            sent_count += 1
            continue
        logger.warning("push subscription %s: the service answered %s", browser.pk, status)
        # Delete a subscription that the push service no longer knows.
        if status in GONE or browser.failures + 1 >= knobs.push_failures():
            mine.delete()
        else:
            mine.update(failures=browser.failures + 1)
    return sent_count


def send_notice(browser: PushSubscription, persona: Persona) -> int:
    """HTTP status of the push service; 0 if it does not answer or may not be called."""
    if not endpoints.is_allowed(browser.endpoint):
        return 0
    try:
        from proactive.push.send import send  # noqa: PLC0415  (half a second, and most processes never send a notice)

        return send(browser, json.dumps(notice(persona)), topic(persona))
    except Exception as error:  # noqa: BLE001  (the edge of a job: keys and servers of others; the word was said already)
        logger.warning("push subscription %s: %s", browser.pk, redaction.format_exception(error))
        return 0


def notice(persona: Persona) -> dict[str, str]:
    """The whole content of a notification, encrypted for the browser: which page has something new."""
    return {"url": reverse("chat", args=[persona.uuid]), "tag": topic(persona)}


def topic(persona: Persona) -> str:
    """Topic by which a later notification replaces one that was not shown yet (RFC 8030: at most 32 characters)."""
    return persona.uuid.hex
