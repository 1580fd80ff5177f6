"""A turn of the server without a page: the owner says a line, and the test goes on once all that follows is done."""

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
        runner = get_runner()
        runner.nudge(persona.pk, at_once=True)
        await runner._serving[persona.pk]
        await asyncio.gather(*runner._afterwards)

    asyncio.run(asyncio.wait_for(turn(), PATIENCE_S))
