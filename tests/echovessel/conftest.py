"""What the tests of the desk share: its people, and a life with a row in every layer."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from echovessel.admin import groups as admin_groups
from memory.curation import questions
from memory.models import (
    Alias,
    Entity,
    Evidence,
    Extraction,
    Filling,
    Mention,
    MergeProposal,
    ModelReply,
    SlowCycleRun,
)
from persona import mood
from persona.models import Persona
from persona.onboarding import drafts
from proactive.models import Consideration, Outreach


def member(name: str, *groups: str, **fields: Any) -> User:
    """Somebody of the staff."""
    user = User.objects.create_user(name, password=f"a long word for {name}", is_staff=True, **fields)
    user.groups.set(Group.objects.filter(name__in=groups))
    return user


def given(user: User, *permissions: str) -> User:
    """The user with more permissions, read anew."""
    for permission in permissions:
        app, codename = permission.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return User.objects.get(pk=user.pk)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def curator(db: None) -> Client:
    """A superuser's browser."""
    return signed_in(User.objects.create_superuser("cora", password="a long word for cora"))


@pytest.fixture
def blind(db: None) -> User:
    """A curator who may not read words."""
    return member("bea", admin_groups.CURATORS)


@pytest.fixture
def reader(db: None) -> User:
    """A curator who may."""
    return member("rob", admin_groups.WHO_MAY_READ)


@pytest.fixture
def full_life(mira: Persona, remember: Any) -> dict[str, Any]:
    """One row in every layer."""
    message = receive_message(mira, "I keep bees on the roof.", None, "web", timezone.now()).message
    event = remember(mira, "Ana keeps bees on her roof.", session=message.session, emotion_tags=["bees-like"])
    Evidence.objects.create(node=event, message=message, quote="bees on the roof", start=7, end=23)
    thought = remember(mira, "Ana is at ease among bees.", kind="thought", source="reflection")
    Filling.objects.create(parent=thought, child=event)
    entity = Entity.objects.create(
        persona=mira, canonical_name="Ana's bees", kind="pet", description="bees in two hives", described_by="person"
    )
    Alias.objects.create(entity=entity, persona=mira, text="Ana's bees", normalized="ana's bees")
    Alias.objects.create(entity=entity, persona=mira, text="bees", normalized="bees")
    Mention.objects.create(node=event, entity=entity)
    other = Entity.objects.create(persona=mira, canonical_name="the bees next door", kind="pet")
    Alias.objects.create(entity=other, persona=mira, text="bees", normalized="bees")
    Mention.objects.create(node=thought, entity=other)
    proposal = MergeProposal.objects.create(a=entity, b=other, score=0.7, reasons=["similar_memories"])
    mood.change(mira, mood.Mood("warm as bees", 6, "bees"), None, timezone.now())
    session = message.session
    session.summary, session.failure = "about bees", "bees: not understood"
    session.save(update_fields=["summary", "failure"])
    extraction = Extraction.objects.create(session=session, through=message.pk, answer={"summary": "bees"})
    ModelReply.objects.create(persona=session.persona, session=session, step="extraction:0", number=0, text='{"bees')
    turn = message.turn
    turn.partial, turn.xray = "bees are", {"proposal": "bees"}
    turn.save()
    now = timezone.now()
    outreach = Outreach.objects.create(
        persona=mira, trigger="shock", trigger_key=f"shock:{event.uuid}", about_uuid=event.uuid, status="delivered",
        wanted_at=now, delivered_at=now, turn_uuid=turn.uuid,
    )  # fmt: skip
    consideration = Consideration.objects.create(
        persona=mira, day=now.date(), verdict="send", trigger="shock", first_at=now, at=now, outreach=outreach
    )
    run = SlowCycleRun.objects.create(
        persona=mira, reason="first", outcome="done", at=now, given={"events": [event.pk], "entities": [entity.pk]},
        made=[{"kind": "thought", "id": thought.pk, "outcome": "new"}, {"kind": "question", "dropped": "no_ground"}],
    )  # fmt: skip
    draft = drafts.propose(
        mira, "user", "Ana keeps bees.", [drafts.DraftSource("bees on the roof", message.uuid)], None, now
    )
    question = questions.keep(run.persona, "Do the bees sleep in winter?", [event], now, run)
    assert question
    return {
        "slow cycle run": run,
        "question": question,
        "message": message,
        "event": event,
        "thought": thought,
        "entity": entity,
        "session": session,
        "turn": turn,
        "proposal": proposal,
        "extraction": extraction,
        "persona": mira,
        "moodchange": mira.mood_changes.get(),
        "coredraft": draft,
        "coreblock": mira.core_blocks.get(label="user"),
        "outreach": outreach,
        "consideration": consideration,
    }
