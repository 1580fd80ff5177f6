"""The one gate: new, repeated or reinforced, and nothing lost on the way."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
import pytest

from chat.models import Message
from echovessel.embeddings import embedding
from echovessel.outbox.models import OutboxEvent
from memory.models import ConceptNode, Evidence, Filling
from memory.store import vectors
from memory.store.deduplication import adds_nothing, content_hash, dates_conflict
from memory.store.writing import Draft, Quote, WrittenNode, write
from persona.models import Persona
from tests.memory.sessions import NOW, talk
from tests.table import each_row

Kind, Status = ConceptNode.Kind, ConceptNode.Status


def toward(axis: int, cosine: float = 1.0) -> np.ndarray:
    """A unit vector at this cosine to the axis."""
    vector = np.zeros(embedding.DIMENSION, dtype=np.float32)
    vector[axis], vector[axis + 1] = cosine, np.sqrt(1 - cosine**2)
    return vector


def put(
    persona: Persona, description: str, vector: np.ndarray | None = None, now: Any = NOW, **values: Any
) -> WrittenNode:
    draft = Draft(**({"kind": Kind.EVENT, "source": "extraction", "description": description} | values))
    return write(persona, draft, toward(0) if vector is None else vector, embedding.name(), now)


def quote(message: Message, text: str) -> Quote:
    start = message.content.index(text)
    return Quote(message, text, start, start + len(text))


def published(name: str) -> list[dict[str, Any]]:
    return list(OutboxEvent.objects.filter(name=name).values_list("data", flat=True))


def test_a_description_is_one_line_without_control_characters(mira: Persona) -> None:
    written = put(mira, "Ana\x00 likes\n bees\x08.")
    assert written.node is not None
    assert written.node.description == "Ana likes bees."


def test_a_new_node_has_its_vector_words_and_evidence(mira: Persona) -> None:
    session = talk(mira, "I have a white cat.")
    message = session.messages.get()
    written = put(mira, "Ana has  a white cat.", session=session, evidence=[quote(message, "a white cat")])
    assert (written.outcome, written.node.description) == ("new", "Ana has a white cat.")
    assert vectors.nearest(mira.pk, toward(0), 3)[0][0] == written.node.pk
    assert vectors.find_by_terms(mira.pk, ["cat"], 3)["cat"].tolist() == [written.node.pk]
    assert written.node.evidence.get().quote == "a white cat"
    assert published("memory.event.created") == [
        {
            "event_id": str(written.node.uuid),
            "description": "Ana has a white cat.",
            "emotional_impact": 0,
            "session_id": str(session.uuid),
        }
    ]


def test_the_same_words_are_one_node_mentioned_again(mira: Persona) -> None:
    session = talk(mira, "I have a cat.", "Really, a cat.")
    first, second = session.messages.all()
    node = put(mira, "Ana has a cat.", evidence=[quote(first, "a cat")]).node
    later = NOW + timedelta(days=90)
    again = put(mira, "ana has  a CAT！", toward(9), later, evidence=[quote(second, "a cat")])
    assert (again.outcome, again.node.pk) == ("repeated", node.pk)
    assert (again.node.mention_count, again.node.last_mentioned_at) == (2, later)
    assert node.evidence.count() == 2
    assert published("memory.node.updated")[0]["change"] == "repeated"
    assert len(published("memory.event.created")) == 1


def test_nearly_the_same_is_reinforced_and_keeps_the_new_evidence(mira: Persona) -> None:
    session = talk(mira, "a cat called Milo", "Milo, my cat")
    first, second = session.messages.all()
    node = put(mira, "Ana has a white cat named Milo.", evidence=[quote(first, "Milo")]).node
    again = put(mira, "Ana's cat is called Milo.", toward(0, 0.93), evidence=[quote(second, "Milo")])
    assert (again.outcome, again.node.pk, again.node.mention_count) == ("reinforced", node.pk, 2)
    assert list(node.evidence.values_list("message", flat=True)) == [first.pk, second.pk]


@pytest.mark.parametrize(
    ("description", "vector", "days", "why"),
    [
        ("Ana's cat is called Milo.", toward(0, 0.91), 0, "not near enough"),
        ("Ana's cat is called Milo.", toward(0), 31, "too long ago"),
        ("Ana has 2 cats named Milo.", toward(0), 0, "another number"),
        ("Ana's cat Milo is ill.", toward(0), 0, "news"),
        ("Ana has no cat named Milo.", toward(0), 0, "a denial"),
    ],
)
def test_a_description_of_another_fact_is_a_new_node(
    mira: Persona, description: str, vector: np.ndarray, days: int, why: str
) -> None:
    put(mira, "Ana has a white cat named Milo.")
    assert put(mira, description, vector, NOW + timedelta(days=days)).outcome == "new", why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana的妈妈去世了。", "Ana的爸爸去世了。"),
        ("Ana的猫生病了。", "Ana的狗生病了。"),
        ("Ana喜欢喝咖啡。", "Ana不喜欢喝咖啡。"),
        ("Ana周五去看牙医。", "Ana周六去看牙医。"),
        ("Ana是医生。", "Ana不是医生。"),
        ("张伟喜欢爬山。", "王芳喜欢爬山。"),
        ("Ana有两只猫。", "Ana有三只猫。"),
        ("Ana借给Noor一百块钱。", "Noor借给Ana一百块钱。"),
        ("Ana没去北京。", "Ana去了北京。"),
    ],
)
def test_what_differs_in_one_chinese_word_is_not_the_same_by_the_real_model(
    mira: Persona, one: str, other: str
) -> None:
    for description in (one, other):
        assert put(mira, description, embedding.embed([description])[0]).outcome == "new"


@pytest.mark.real_embeddings
def test_a_shorter_chinese_telling_is_reinforced_by_the_real_model(mira: Persona) -> None:
    for description, outcome in (("Ana养了一只白猫。", "new"), ("Ana养了白猫。", "reinforced")):
        assert put(mira, description, embedding.embed([description])[0]).outcome == outcome


def test_the_same_on_another_day_happened_again(mira: Persona) -> None:
    def day(number: int) -> Any:
        return {"event_time": (date(2026, 3, number), date(2026, 3, number))}

    put(mira, "Ana had an interview.", **day(1))
    assert put(mira, "Ana had an interview.", **day(3)).outcome == "new"
    assert put(mira, "Ana had an interview.", **day(3)).outcome == "repeated"
    assert put(mira, "Ana had an interview.").outcome == "repeated"


def test_another_persona_or_kind_is_no_repetition(mira: Persona, otto: Persona) -> None:
    child = put(mira, "Ana has a cat.").node
    assert put(otto, "Ana has a cat.").outcome == "new"
    assert put(mira, "Ana has a cat.", kind=Kind.THOUGHT, filling=[child]).outcome == "new"


def test_a_hidden_memory_stays_hidden_when_it_is_told_again(mira: Persona) -> None:
    node = put(mira, "Ana has a cat.").node
    ConceptNode.objects.filter(pk=node.pk).update(status=Status.HIDDEN)
    again = put(mira, "Ana has a cat.")
    assert (again.node.pk, again.node.status) == (node.pk, Status.HIDDEN)
    assert not published("memory.node.updated")


@pytest.mark.parametrize("days", [0, 90])
def test_a_hidden_memory_stays_hidden_when_it_is_told_in_other_words(mira: Persona, days: int) -> None:
    node = put(mira, "Ana has a white cat named Milo.").node
    ConceptNode.objects.filter(pk=node.pk).update(status=Status.HIDDEN)
    again = put(mira, "Ana's cat is called Milo.", toward(0, 0.93), NOW + timedelta(days=days))
    assert (again.node.pk, again.outcome, again.node.status) == (node.pk, "reinforced", Status.HIDDEN)
    assert put(mira, "Ana's dog is called Rex.", toward(0, 0.93)).outcome == "new"
    assert not published("memory.node.updated")


def test_messages_that_are_read_twice_are_no_new_mention(mira: Persona) -> None:
    session = talk(mira, "a cat called Milo", "Milo, my cat")
    first, second = session.messages.all()
    node = put(mira, "Ana has a cat named Milo.", evidence=[quote(first, "a cat called Milo")]).node
    for words in ("Ana has a cat named Milo.", "Ana's cat is called Milo."):
        again = put(mira, words, now=NOW + timedelta(hours=1), evidence=[quote(first, "Milo")])
        assert (again.node.pk, again.outcome) == (node.pk, "repeated")
    node.refresh_from_db()
    assert (node.mention_count, node.last_mentioned_at, node.evidence.count()) == (1, NOW, 1)
    assert not published("memory.node.updated")
    both = put(mira, "Ana has a cat named Milo.", evidence=[quote(first, "Milo"), quote(second, "Milo")])
    assert both.node.mention_count == 2


@pytest.mark.parametrize("kind", [Kind.INTENTION, Kind.EXPECTATION])
def test_what_ended_may_be_promised_or_expected_again(mira: Persona, kind: str) -> None:
    session = talk(mira, "I'll send you a poem", "a poem, I promise")
    first, second = session.messages.all()
    node = put(mira, "Mira sends a poem.", kind=kind, evidence=[quote(first, "a poem")]).node
    assert put(mira, "Mira sends a poem.", kind=kind, evidence=[quote(second, "a poem")]).node.pk == node.pk
    ConceptNode.objects.filter(pk=node.pk).update(outcome="fulfilled")
    read_again = put(mira, "Mira sends a poem.", kind=kind, evidence=[quote(first, "a poem")])
    assert (read_again.node.pk, read_again.outcome) == (node.pk, "repeated")
    third = talk(mira, "another poem, I promise", at=NOW + timedelta(days=1)).messages.get()
    anew = put(mira, "Mira sends a poem.", kind=kind, evidence=[quote(third, "another poem")])
    assert (anew.node.outcome, anew.outcome) == ("open", "new")
    assert anew.node.pk != node.pk
    assert put(mira, "Mira sends a poem.", kind=kind).node.pk == anew.node.pk


def test_a_memory_is_as_old_as_its_words_and_was_mentioned_now(mira: Persona) -> None:
    node = put(mira, "Ana has a cat.", created_at=NOW - timedelta(days=3)).node
    assert (node.created_at, node.last_mentioned_at) == (NOW - timedelta(days=3), NOW)


def test_a_claim_without_evidence_strengthens_nothing_and_is_told_to_no_one(mira: Persona) -> None:
    put(mira, "Ana has a cat.")
    claim = put(mira, "Ana has a cat.", status=Status.QUARANTINED)
    assert (claim.outcome, claim.node.status) == ("new", Status.QUARANTINED)
    assert put(mira, "Ana has a cat.", status=Status.QUARANTINED).outcome == "repeated"
    assert len(published("memory.event.created")) == 1
    assert [pk for pk, _ in vectors.nearest(mira.pk, toward(0), 9)] != [claim.node.pk]


def test_superseded_nodes_are_kept_and_never_recalled(mira: Persona) -> None:
    old = put(mira, "Ana's interview is on Thursday.").node
    new = put(mira, "Ana's interview is on Friday.", toward(0, 0.99), supersedes=[old]).node
    old.refresh_from_db()
    assert (old.status, old.superseded_by_id) == (Status.SUPERSEDED, new.pk)
    assert [pk for pk, _ in vectors.nearest(mira.pk, toward(0), 9)] == [new.pk]
    assert published("memory.node.updated")[0]["superseded_by"] == str(new.uuid)


def test_a_correction_is_never_swallowed_by_what_it_corrects(mira: Persona) -> None:
    old = put(mira, "Ana has a cat named Milo, not a dog.").node
    assert put(mira, "Ana has a cat, not a dog.", supersedes=[old]).outcome == "new"


def test_nothing_rests_on_what_belongs_to_another_persona(mira: Persona, otto: Persona) -> None:
    foreign = put(otto, "Ben has a dog.").node
    foreign_line = talk(otto, "my dog").messages.get()
    for values in ({"filling": [foreign]}, {"supersedes": [foreign]}, {"evidence": [quote(foreign_line, "dog")]}):
        with pytest.raises(ValueError, match="own persona"):
            put(mira, "Ana has a dog.", **values)
    with pytest.raises(ValueError, match="description"):
        put(mira, "  ")
    foreign.refresh_from_db()
    assert foreign.status == Status.ACTIVE


# --- what was forgotten, put away or put right while a draft was made -----------------------------------------------
@pytest.mark.parametrize("gone", ["deleted", "withheld"])
def test_nothing_is_made_of_a_message_that_is_gone_or_put_away(mira: Persona, gone: str) -> None:
    session = talk(mira, "my cat", "my dog")
    first, second = session.messages.all()
    quotes = [quote(first, "cat"), quote(second, "dog")]
    if gone == "deleted":
        Message.objects.filter(pk=first.pk).delete()
    else:
        Message.objects.filter(pk=first.pk).update(withheld=True)
    assert put(mira, "Ana has a cat and a dog.", evidence=quotes) == WrittenNode(None, "refused")
    assert put(mira, "Ana has a dog.", evidence=quotes[1:]).outcome == "new"


@pytest.mark.parametrize("status", ["hidden", "superseded", "archived", "quarantined", "deleted"])
def test_a_thought_rests_on_what_is_there_still_or_is_none(mira: Persona, status: str) -> None:
    gone, left = put(mira, "Ana has a cat.").node, put(mira, "Ana has a dog.", toward(4)).node
    if status == "deleted":
        ConceptNode.objects.filter(pk=gone.pk).delete()
    else:
        ConceptNode.objects.filter(pk=gone.pk).update(status=status)
    thought = {"kind": Kind.THOUGHT, "source": "slow_cycle"}
    assert put(mira, "She is alone.", toward(8), **thought, filling=[gone]) == WrittenNode(None, "refused")
    written = put(mira, "She is never alone.", toward(8), **thought, filling=[gone, left])
    assert list(written.node.filling.values_list("child", flat=True)) == [left.pk]


def test_what_rests_on_nothing_that_is_true_any_more_is_superseded_too(mira: Persona) -> None:
    thursday, cat = put(mira, "Ana's interview is on Thursday.").node, put(mira, "Ana has a cat.", toward(4)).node
    thought = {"kind": Kind.THOUGHT, "source": "reflection"}
    alone = put(mira, "She dreads Thursday.", toward(8), **thought, filling=[thursday]).node
    above = put(mira, "She dreads her weeks.", toward(12), **thought, filling=[alone]).node
    grounded = put(mira, "She needs the cat now.", toward(16), **thought, filling=[thursday, cat]).node
    line = talk(mira, "I promise!").messages.get()
    promise = put(
        mira, "Mira will ask.", toward(20), kind=Kind.INTENTION, filling=[thursday], evidence=[quote(line, "I")]
    )
    friday = put(mira, "Ana's interview is on Friday.", toward(0, 0.99), supersedes=[thursday]).node
    states = dict(ConceptNode.objects.values_list("pk", "status"))
    assert [states[node.pk] for node in (thursday, alone, above)] == ["superseded"] * 3
    assert [states[node.pk] for node in (cat, grounded, promise.node, friday)] == ["active"] * 4
    assert set(ConceptNode.objects.filter(superseded_by=friday)) == {thursday, alone, above}


def test_values_are_clamped_to_what_the_database_holds(mira: Persona) -> None:
    node = put(
        mira,
        "x" * 3_000,
        emotional_impact=-99,
        confidence=7,
        emotion_tags=["Joy", "joy", "a", "b", "c", "d"],
        relational_tags=["commitment", "nonsense", "unresolved", "correction", "vulnerability"],
    ).node
    node.full_clean(exclude=["external_id"])
    assert (len(node.description), node.emotional_impact, node.confidence) == (2_000, -10, 1.0)
    assert node.emotion_tags == ["joy", "a", "b", "c"]
    assert node.relational_tags == ["commitment", "unresolved", "correction"]


def test_a_thought_rests_on_its_events_and_is_told(mira: Persona) -> None:
    children = [put(mira, "Ana has a cat.").node, put(mira, "Ana has a dog.", toward(4)).node]
    node = put(mira, "She is never alone.", toward(8), kind=Kind.THOUGHT, source="reflection", filling=children).node
    assert list(Filling.objects.filter(parent=node).values_list("child", flat=True)) == [c.pk for c in children]
    assert published("memory.thought.created") == [
        {
            "thought_id": str(node.uuid),
            "type": "thought",
            "subject": "user",
            "description": "She is never alone.",
            "source": "reflection",
            "filling_event_ids": [str(child.uuid) for child in children],
        }
    ]


@each_row(
    ("telling", "known", "nothing_new"),
    [
        ("Ana的爸爸去世了。", "Ana的妈妈去世了。", False),
        ("Ana's father died.", "Ana's mother died.", False),
        ("Ana养了只白猫叫小黑", "Ana养了一只白猫，叫小黑。他很调皮", True),
        ("Ana养了一只黑狗，叫小白。", "Ana养了一只白猫，叫小黑。", False),
        ("Ana adopted a white cat called Whiskers.", "Ana adopted a white cat named Whiskers.", True),
        ("Ana does not like coffee.", "Ana likes coffee.", False),
        ("Ana不喜欢咖啡", "Ana喜欢咖啡", False),
        ("The interview is on Friday.", "The interview is on Thursday.", False),
        ("Ana has two cats.", "Ana has three cats.", False),
        ("Ana moved from Paris to Rome.", "Ana moved from Rome to Paris.", False),
        ("小雨从北京搬到上海。", "小雨从上海搬到北京。", False),
        ("Ana has 2 cats and 3 dogs.", "Ana has 3 cats and 2 dogs.", False),
        ("Ana likes tea, not coffee.", "Ana likes coffee, not tea.", False),
        ("Tom hit Ana's brother.", "Ana's brother hit Tom.", False),
        ("Ana moved to Rome.", "Ana moved from Paris to Rome.", True),
    ],
)
def test_a_telling_is_the_same_only_where_it_says_nothing_new(telling: str, known: str, nothing_new: bool) -> None:
    assert adds_nothing(telling, known) is nothing_new


def test_hashes_ignore_width_case_signs_and_spaces_only() -> None:
    same = ["Ana has a cat", "ana  HAS a cat.", "“Ana has a cat!”", "Ａna has a cat"]
    assert len({content_hash(text) for text in same}) == 1
    assert len({content_hash(text) for text in ["!", "?", "Ana", "Anna", ""]}) == 5


def test_dates_conflict_only_where_they_do_not_touch() -> None:
    def days(first: int, last: int) -> tuple[date, date]:
        return date(2026, 1, first), date(2026, 1, last)

    assert dates_conflict(days(1, 2), days(3, 4))
    assert dates_conflict(days(3, 4), days(1, 2))
    assert not dates_conflict(days(1, 3), days(3, 4))
    assert not dates_conflict(None, days(3, 4))


def test_evidence_and_filling_are_never_doubled(mira: Persona) -> None:
    message = talk(mira, "a cat").messages.get()
    quotes: Sequence[Quote] = [quote(message, "a cat")] * 2
    put(mira, "Ana has a cat.", evidence=quotes)
    put(mira, "Ana has a cat.", evidence=quotes)
    assert Evidence.objects.count() == 1


def test_a_message_without_words_is_no_evidence(mira: Persona) -> None:
    message = talk(mira, "a cat").messages.get()
    written = put(mira, "Ana has a cat.", evidence=[quote(message, "cat"), quote(message, "")])
    assert list(Evidence.objects.values_list("node", "quote")) == [(written.node and written.node.pk, "cat")]
