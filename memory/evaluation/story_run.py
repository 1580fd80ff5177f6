"""Run a story through the pipeline of a real conversation: each turn, each close of a session, each consolidation."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.contrib.auth import get_user_model
from django.utils.crypto import get_random_string

from chat.messages import receive_message
from chat.models import Message, Session
from chat.sessions.close import close
from chat.turns import turn as turns
from echovessel.outbox.models import OutboxEvent
from memory.consolidation import runner
from memory.evaluation.stories import Story, has_terms
from memory.forgetting import by_word
from memory.requests.withhold import ASKED
from memory.turn_hooks import after_turn, before_prompt
from persona.models import Persona
from persona.onboarding.creation import create_persona

# A channel in which the reply handles a request to forget, and a plain yes confirms it.
CHANNEL = "api"
BETWEEN_LINES = timedelta(seconds=40)
RESTED = timedelta(minutes=31)
DONE = (runner.Outcome.CLOSED, runner.Outcome.TRIVIAL, runner.Outcome.DELETED)
YES = {"en": "yes", "zh": "是的"}
NO = {"en": "no", "zh": "不用"}


@dataclass
class StoryRun:
    """A story after its run. `messages` are the stored messages by name; messages forgotten meanwhile are no longer in
    the database. `offers` are the owner's messages for which the persona offered to forget something."""

    persona: Persona
    messages: dict[str, Message] = field(default_factory=dict)
    offers: set[str] = field(default_factory=set)
    ended_at: datetime | None = None
    failure: str = ""  # of the session that could not be consolidated, which ended the run

    def run_turn(self, session_id: str, turn: list[tuple[int, str, str]], now: datetime, story: Story) -> datetime:
        """One turn, with the reply of the story, or with memory's own reply to a request to forget. The owner says yes
        to it where the story has the request, and otherwise no. Returns the time after the turn."""
        names = [f"{session_id}.{place}" for place, speaker, _text in turn if speaker == "owner"]
        for place, speaker, text in turn:
            if speaker == "owner":
                now += BETWEEN_LINES
                self.messages[f"{session_id}.{place}"] = receive_message(self.persona, text, None, CHANNEL, now).message
        reply = "\n\n".join(text for _place, speaker, text in turn if speaker == "persona")
        places = [place for place, speaker, _text in turn if speaker == "persona"]
        now, reply_message, is_offered, is_asked = _reply(self.persona, reply, now)
        if is_offered or is_asked:
            self.offers.update(names)
        if is_asked:
            is_meant = any(wish.line in names for wish in story.forgotten)
            now += BETWEEN_LINES
            receive_message(self.persona, (YES if is_meant else NO)[story.language], None, CHANNEL, now)
            now, second_reply, _is_offered, _is_asked = _reply(self.persona, "" if is_meant else reply, now)
            reply_message = reply_message if is_meant else second_reply
        if reply_message:
            self.messages |= {f"{session_id}.{place}": reply_message for place in places}
        return now

    def is_forgotten(self, terms: Sequence[Sequence[str]], line: str) -> bool:
        """Whether no memory contains the terms, and no model reads a message with them, except the request itself."""
        messages = self.persona.messages.filter(withheld=False, role=Message.Role.USER)
        texts = [
            *self.persona.nodes.active().values_list("description", flat=True),
            *messages.exclude(pk=self.messages[line].pk).values_list("content", flat=True),
        ]
        return not any(has_terms(text, terms) for text in texts)


def run_story(story: Story, *, consolidate: bool = True, messages: dict[str, Message] | None = None) -> StoryRun:
    """Run the story with a new owner and a new persona. Without `consolidate` only the messages are stored. `messages`
    is filled during the run.

    No transaction may be open.
    """
    owner = get_user_model().objects.create_user(f"eval-{story.id}-{get_random_string(6)}", is_active=False)
    persona = create_persona(
        owner, story.persona, user_name=story.owner, timezone=story.timezone, language=story.language
    )
    run = StoryRun(persona, {} if messages is None else messages)
    for session in story.sessions:
        now = session.at
        for turn in session.turns():
            now = run.run_turn(session.id, turn, now, story)
        now += RESTED
        for session_row in Session.objects.open().filter(persona=persona).select_related("persona"):
            close(session_row, Session.CloseReason.IDLE, now)
            if consolidate and runner.run(session_row.pk, lambda now=now: now) not in DONE:  # type: ignore[misc]
                run.failure = f"{session.id}: {Session.objects.get(pk=session_row.pk).failure or 'waits for the model'}"
                return run
        run.ended_at = now
    return run


def _reply(persona: Persona, text: str, now: datetime) -> tuple[datetime, Message | None, bool, bool]:
    """Answer the waiting turn. Returns the time after it, the reply unless it has been forgotten since, whether a page
    would offer to forget something, and whether the reply asks for a yes."""
    turn = turns.claim(persona.pk, now)
    assert turn is not None
    before_prompt(turn.pk, now)
    answer, noted = by_word.answer(turn, now)
    now += BETWEEN_LINES
    turns.finish(turn, answer or text, stopped=False, first_token_at=now, xray=noted, now=now)
    after_turn(turn.pk, now)
    reply = Message.objects.filter(turn=turn, role=Message.Role.PERSONA).last()
    offers = OutboxEvent.objects.filter(stream=persona.uuid, name=ASKED, data__turn_id=str(turn.uuid))
    return now, reply, offers.exists(), by_word.FOUND_KEY in noted
