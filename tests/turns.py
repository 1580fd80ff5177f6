"""Turns of the server without a page, and how a test waits until all that follows a reply is done."""

import asyncio
from uuid import uuid4

from django.utils import timezone

from chat.messages import receive_message
from chat.turns.runner import get_runner
from echovessel.process.threads import in_thread
from persona.models import Persona

PATIENCE_S = 30


def say_line(persona: Persona, text: str) -> None:
    """The owner says it in the page; returns once the reply is stored and the hooks after it have run: what a line
    asks to keep is kept by then."""

    async def turn() -> None:
        await in_thread(receive_message, persona, text, uuid4(), "web", timezone.now())
        get_runner().nudge(persona.pk, at_once=True)
        await settled()

    asyncio.run(turn())


async def settled() -> None:
    """Every turn of this loop has its reply, and the hooks after them have run."""
    runner = get_runner()
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*runner._serving.values())
        await asyncio.gather(*runner._afterwards)
