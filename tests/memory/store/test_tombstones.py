"""What was forgotten does not come back by the gate, whoever brings it, and its tombstone tells nobody what it was."""

from datetime import date, timedelta
from typing import Any

import pytest
from django.conf import settings as installation
from django.utils.crypto import salted_hmac
from hypothesis import given
from hypothesis import strategies as st

from chat.models import Message
from echovessel.language import person_names
from echovessel.language.plain_text import comparable_form, normalize_text
from memory.consolidation import runner
from memory.models import ConceptNode, Mention, Tombstone
from memory.store.tombstones import (
    TombstoneSource,
    add_tombstone,
    add_tombstones,
    is_telling,
    of_draft,
    of_external,
    of_words,
    refused_among,
    refuses,
    refuses_draft,
    remove_tombstone,
)
from persona.models import Persona
from persona.onboarding import drafts
from tests.memory.sessions import Clock, cite, event, extraction, impression, talk
from tests.memory.store.test_writing import put, quote, toward
from tests.scripted import Script

pytestmark = pytest.mark.django_db

DAY = date(2026, 3, 1)


@given(st.text(min_size=1).filter(comparable_form))
def test_a_buried_text_is_refused_in_every_form_and_no_other_until_it_is_lifted(mira: Persona, text: str) -> None:
    Tombstone.objects.all().delete()
    assert not refuses(mira, [text])
    add_tombstone(mira, text)
    add_tombstone(mira, text)
    assert refuses(mira, [text])
    assert refuses(mira, [f"  {comparable_form(text)} "])
    assert not refuses(mira, [f"{text} and more"])
    assert not refuses(mira, ["", "something else entirely"])
    assert remove_tombstone(mira, text)
    assert not remove_tombstone(mira, text)
    assert not refuses(mira, [text])


@given(st.text(alphabet="abcdefgh 记住", min_size=4).filter(lambda text: len(normalize_text(text)) > 3))
def test_a_tombstone_holds_no_words_and_is_of_one_persona_and_one_installation(
    mira: Persona, otto: Persona, settings: Any, text: str
) -> None:
    settings.TOMBSTONE_KEY = "the key of this house"
    Tombstone.objects.all().delete()
    stone = add_tombstone(mira, text)
    assert normalize_text(text) not in str([*Tombstone.objects.values_list()])
    assert not refuses(otto, [text])
    assert add_tombstone(otto, text).digest != stone.digest
    settings.SECRET_KEY = "a new one, as people make it after a leak"
    assert refuses(mira, [text])
    settings.TOMBSTONE_KEY = "the key of another"
    assert not refuses(mira, [text])


def test_what_was_buried_before_there_was_a_key_of_its_own_is_refused_still(mira: Persona, settings: Any) -> None:
    """Its first value is that of the secret key, and the digest of a text is made as it always was."""
    settings.TOMBSTONE_KEY = settings.SECRET_KEY
    old = salted_hmac(f"memory.tombstones.{mira.uuid}", "ana has a cat", algorithm="sha256").hexdigest()
    Tombstone.objects.create(persona=mira, digest=old)
    assert refuses(mira, ["Ana has a cat!"])


def old_digest(persona: Persona, salt: str, plain: str) -> str:
    """As it was made before there was a comparable form."""
    key = installation.TOMBSTONE_KEY
    return salted_hmac(f"{salt}.{persona.uuid}", plain, secret=key, algorithm="sha256").hexdigest()


def test_a_tombstone_of_the_older_form_holds_and_can_be_lifted(mira: Persona) -> None:
    texts = ("小黑 昨天走丟了！", "José's cat died…", "naïve\u200bly", "Soooo tired")
    for text in texts:
        stone = Tombstone.objects.create(
            persona=mira, digest=old_digest(mira, "memory.tombstones", normalize_text(text))
        )
        assert refuses(mira, [text]), text
        stone.refresh_from_db()
        assert stone.refused == 1
        assert remove_tombstone(mira, text)
        assert not refuses(mira, [text])
    line = old_digest(mira, "memory.tombstones.line", f"{normalize_text('嗯 對')}\n{DAY}")
    Tombstone.objects.create(persona=mira, kind="line", digest=line)
    name = old_digest(mira, "memory.tombstones.name", person_names.normalize_name("José"))
    Tombstone.objects.create(persona=mira, kind="name", digest=name)
    draft = old_digest(mira, "memory.tombstones.external", f"draft user {drafts.content_hash('Ana 是護士')}")
    Tombstone.objects.create(persona=mira, kind="external", digest=draft)
    assert refused_among(mira, [TombstoneSource("line", "嗯 對", DAY), TombstoneSource("name", "José")])
    assert refuses_draft(mira, "user", "Ana 是護士")


def test_tombstones_refuse_disguised_texts(mira: Persona) -> None:
    """Unseen characters, the other script of Chinese, spaces inside it, letters that look alike."""
    add_tombstone(mira, "小黑昨天走丢了")
    add_tombstone(mira, "My cat Milo died in Lisbon")
    add_tombstones(
        mira, [TombstoneSource("name", "小黑"), TombstoneSource("name", "Zoe"), of_draft("user", "Ana养了一只猫")]
    )
    disguised = (
        "小\u200b黑昨\u2060天走丢了",
        "小黑昨天走丟了。",
        "小 黑 昨 天 走 丢 了",
        "My\u00ad cat Mil\u200do died in Lisbon",
        "Mу cаt Milo died in Lisbоn",
    )
    assert [text for text in disguised if not refuses(mira, [text])] == []
    assert len(refused_among(mira, [TombstoneSource("name", "小\u200b黑"), TombstoneSource("name", "Zoë")])) == 2
    assert refuses_draft(mira, "user", "Ana 養了一隻貓")
    assert not refuses(mira, ["小黑昨天回来了", "My cat Milo lived in Lisbon"])


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("Yes.", False),
        ("I am so tired.", False),
        ("What is it?", False),
        ("Tom came.", False),
        ("我好累", False),
        ("嗯嗯好的", False),
        ("", False),
        ("My cat Milo died yesterday", True),
        ("I am in love with him!!!!!!!!!!!!!!!!!!!!!!!", False),
        ("so it is that we all are here", True),
        ("小黑昨天走丢了", True),
    ],
)
def test_only_telling_texts_get_a_tombstone_without_a_day(text: str, telling: bool) -> None:
    assert is_telling(text) is telling
    assert (of_words(text, DAY).kind == "text") is telling


def test_a_short_message_gets_a_tombstone_with_its_day(mira: Persona) -> None:
    """Whoever forgets one "Yes." does not forbid every yes."""
    add_tombstones(mira, [of_words("Yes.", DAY)])
    session = talk(mira, "yes!", "Yes.")
    same, other = session.messages.all()
    Message.objects.filter(pk=same.pk).update(day=DAY)
    Message.objects.filter(pk=other.pk).update(day=DAY + timedelta(days=1))
    same, other = session.messages.all()
    assert put(mira, "Ana agreed.", evidence=[quote(same, "yes!")]).outcome == "refused"
    assert put(mira, "Ana agreed.", evidence=[quote(other, "Yes.")]).outcome == "new"
    assert not refuses(mira, ["Yes."])


def test_names_and_ids_are_refused_where_they_are_asked_for(mira: Persona, otto: Persona) -> None:
    burials = [
        TombstoneSource("name", "Dr. Mary-Ann Lee"),
        of_external("message", "m1"),
        TombstoneSource("text", "!"),
        TombstoneSource("text", " "),
    ]
    stones = add_tombstones(mira, burials)
    assert set(Tombstone.objects.values_list("pk", flat=True)) == set(stones)
    assert add_tombstones(mira, burials) == []
    assert refused_among(mira, [TombstoneSource("name", "mary ann lee"), TombstoneSource("name", "Mary")]) == {
        TombstoneSource("name", "mary ann lee")
    }
    assert refused_among(mira, [of_external("message", "m1"), of_external("node", "m1")]) == {burials[1]}
    assert not refused_among(otto, [of_external("message", "m1")])
    assert not refuses(mira, ["Mary Ann Lee", "m1", "message m1"])
    assert sorted(Tombstone.objects.values_list("kind", "refused")) == [("external", 1), ("name", 1), ("text", 0)]


def test_a_name_that_was_forgotten_is_no_reason_to_refuse_another_bearer(mira: Persona) -> None:
    add_tombstones(mira, [TombstoneSource("name", "Tom")])
    assert put(mira, "Tom").outcome == "new"


def test_an_empty_text_has_no_tombstone(mira: Persona) -> None:
    with pytest.raises(ValueError, match="empty"):
        add_tombstone(mira, " \n ")


def test_the_gate_refuses_what_is_buried_and_counts(mira: Persona) -> None:
    stone = add_tombstone(mira, "Ana has a cat.")
    refused = put(mira, "ANA has a  cat！")
    assert (refused.node, refused.outcome) == (None, "refused")
    assert put(mira, "Ana has a dog.").outcome == "new"
    stone.refresh_from_db()
    assert stone.refused == 1
    remove_tombstone(mira, "Ana has a cat.")
    assert put(mira, "Ana has a cat.").outcome == "new"


@pytest.mark.parametrize("buried", ["a white cat", "I have a white cat."])
def test_the_gate_refuses_what_rests_on_buried_words_or_on_a_buried_message(mira: Persona, buried: str) -> None:
    """A forgotten line that is imported again brings nothing back, however it is told."""
    message = talk(mira, "I have a white cat.").messages.get()
    add_tombstone(mira, buried)
    draft = {"evidence": [quote(message, "a white cat")]}
    assert put(mira, "Somebody keeps an animal.", **draft).outcome == "refused"
    other = talk(mira, "My dog is black.").messages.get()
    assert put(mira, "There is a dog.", toward(3), evidence=[quote(other, "dog")]).outcome == "new"


def test_a_refused_event_shifts_nobodys_place(mira: Persona, model: Script, clock: Clock) -> None:
    """The names of an answer still belong to the events they were given with."""
    session = talk(mira, "Tom from work hit me.", "Tom, my brother, cooked for me.", "So it was.", "Yes.")
    first, second, *_ = session.messages.all()
    add_tombstone(mira, "Ana was hit by Tom.")
    model.answers(
        extraction(
            [
                event("Ana was hit by Tom.", cite(first), emotional_impact=-8),
                event("Tom cooked for Ana.", cite(second)),
            ],
            mentioned_entities=[
                {"canonical_name": "Tom", "aliases": [], "kind": "person", "in_events": [0]},
                {"canonical_name": "Tom", "aliases": [], "kind": "person", "in_events": [1]},
            ],
        )
    )
    assert runner.run(session.pk, clock) == "closed"
    node = ConceptNode.objects.get(kind="event")
    assert node.description == "Tom cooked for Ana."
    assert list(Mention.objects.values_list("node", flat=True)) == [node.pk]
    assert Tombstone.objects.get().refused == 1
    [kept] = session.extractions.get().answer["events"]  # the answer says nothing of it either
    assert kept["description"] == "Tom cooked for Ana."


def test_a_refused_thought_is_counted_as_dropped(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "I adopted a white cat called Milo today.", "He is lovely.", "I am so glad.")
    add_tombstone(mira, "She softens when the cat comes up.")
    model.answers(extraction([event("Ana adopted a white cat, Milo.", cite(session.messages.all()[0]))]), impression())
    assert runner.run(session.pk, clock) == "closed"
    assert not ConceptNode.objects.filter(kind="thought").exists()
    run = session.reflection_run
    assert (run.thoughts, run.dropped) == (0, 1)
