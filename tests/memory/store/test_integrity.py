"""However something is deleted, nothing is left that stood on it alone."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from memory.entities import merge
from memory.entities.resolve import learn_aliases, link
from memory.models import Alias, ConceptNode, Entity, Event, Evidence, Filling, Mention, NodeVersion, Thought
from memory.store import checks
from persona.models import Persona

pytestmark = pytest.mark.django_db
NOW = timezone.now()
Remember = Callable[..., ConceptNode]


@dataclass
class Life:
    """Two talks of a line and an event each. Of the first: a thought, a thought on that, an earlier telling, Tom, and
    Thomas who was merged into Tom. A third thought rests on both events, and the second event names Ann."""

    owner: User
    persona: Persona
    lines: list[Message]
    events: list[ConceptNode]
    thoughts: list[ConceptNode]
    tom: Entity
    thomas: Entity


@pytest.fixture
def life(ana: User, mira: Persona, remember: Remember) -> Life:
    lines = [receive_message(mira, f"I met them {place}.", None, place, NOW).message for place in ("here", "there")]
    Turn.objects.update(status="done")
    events = [remember(mira, "Ana met Tom, Thomas Hill."), remember(mira, "Ana met Ann.")]
    for event, line in zip(events, lines, strict=True):
        Evidence.objects.create(node=event, message=line, quote="I met", start=0, end=5)
    one, on_that, on_both = (
        remember(mira, words, kind="thought", source="reflection")
        for words in ("Company.", "Much company.", "Friends.")
    )
    for parent, child in ((one, events[0]), (on_that, one), (on_both, events[0]), (on_both, events[1])):
        Filling.objects.create(parent=parent, child=child)
    earlier = remember(mira, "Ana met somebody.", status="superseded", superseded_by=events[0])
    Evidence.objects.create(node=earlier, message=lines[1], quote="met", start=2, end=5)
    before = {"description": "Ana met Tim.", "emotional_impact": 0, "verification": "unverified", "edited_at": NOW}
    NodeVersion.objects.create(node=events[0], version=1, **before)
    tom, thomas, ann = (_named(mira, name) for name in ("Tom", "Thomas Hill", "Ann"))
    link(tom, [events[0]])
    link(thomas, [events[0]])
    link(ann, [events[1]])
    assert merge.merge(merge.propose(mira, tom, thomas, 0.7, []), None, NOW)
    assert checks.broken_invariants(NOW) == {}
    return Life(ana, mira, lines, events, [one, on_that, on_both], tom, thomas)


def _named(persona: Persona, name: str) -> Entity:
    entity = Entity.objects.create(persona=persona, canonical_name=name)
    learn_aliases(entity, [name])
    return entity


def by_sql(table: str, key: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE id = %s", [key])


OF_A_NODE = {
    "instance": lambda node: node.delete(),
    "queryset": lambda node: ConceptNode.objects.filter(pk=node.pk).delete(),
    "proxy": lambda node: Event.objects.get(pk=node.pk).delete(),
    "in bulk": lambda node: ConceptNode.objects.filter(pk__in=[node.pk])._raw_delete("default"),
    "sql": lambda node: by_sql("memory_conceptnode", node.pk),
}


@pytest.mark.parametrize("delete", OF_A_NODE.values(), ids=OF_A_NODE)
def test_with_an_event_goes_what_rested_on_it_alone(life: Life, delete: Callable[[ConceptNode], object]) -> None:
    delete(life.events[0])
    assert set(ConceptNode.objects.values_list("description", flat=True)) == {
        "Ana met Ann.",
        "Friends.",
        "Ana met somebody.",
    }
    assert [*Entity.objects.values_list("canonical_name", flat=True)] == ["Ann"]
    assert [*Alias.objects.values_list("text", flat=True)] == ["Ann"]
    assert not NodeVersion.objects.exists()
    assert not ConceptNode.objects.exclude(superseded_by=None).exists()
    assert checks.broken_invariants(NOW) == {}


OF_A_LINE = {
    "instance": lambda line: line.delete(),
    "queryset": lambda line: Message.objects.filter(pk=line.pk).delete(),
    "sql": lambda line: by_sql("chat_message", line.pk),
    "its talk": lambda line: line.session.delete(),
    "its talk in bulk": lambda line: Session.objects.filter(pk=line.session_id).delete(),
}


@pytest.mark.parametrize("delete", OF_A_LINE.values(), ids=OF_A_LINE)
def test_with_a_message_goes_what_was_made_of_it_alone(life: Life, delete: Callable[[Message], object]) -> None:
    delete(life.lines[0])
    assert "Ana met Tom, Thomas Hill." not in ConceptNode.objects.values_list("description", flat=True)
    assert [*Entity.objects.values_list("canonical_name", flat=True)] == ["Ann"]
    assert ConceptNode.objects.count() == 3
    assert checks.broken_invariants(NOW) == {}


def test_a_turn_goes_with_its_last_message_and_not_while_it_is_under_way(life: Life) -> None:
    Turn.objects.filter(pk=life.lines[1].turn_id).update(status="collecting")
    for line in life.lines:
        line.delete()
    assert [*Turn.objects.values_list("status", flat=True)] == ["collecting"]


OF_A_PERSON = {
    "persona": lambda life: life.persona.delete(),
    "personas": lambda life: Persona.objects.all().delete(),
    "owner": lambda life: life.owner.delete(),
    "owners": lambda life: User.objects.filter(pk=life.owner.pk).delete(),
}


@pytest.mark.parametrize("delete", OF_A_PERSON.values(), ids=OF_A_PERSON)
def test_with_a_persona_or_an_owner_goes_everything(life: Life, delete: Callable[[Life], object]) -> None:
    delete(life)
    models = [model for app in ("chat", "memory") for model in apps.get_app_config(app).get_models()]
    tables = {model._meta.db_table for model in models} - {"memory_embeddingmodel"}
    tables |= {
        "memory_nodevec",
        "memory_vectorstate",
        "memory_nodetext_size",
        "chat_linestate",
        "chat_messagetext_size",
    }
    with connection.cursor() as cursor:
        for table in sorted(tables):
            cursor.execute(f"SELECT count(*) FROM {table}")
            assert (table, cursor.fetchone()) == (table, (0,))
    assert checks.broken_invariants(NOW) == {}


def test_a_thought_stays_with_evidence_of_its_own_or_another_event(life: Life) -> None:
    Evidence.objects.create(node=life.thoughts[0], message=life.lines[1], quote="met", start=2, end=5)
    life.events[0].delete()
    kept = set(Thought.objects.values_list("description", flat=True))
    assert kept == {"Company.", "Much company.", "Friends."}
    assert checks.broken_invariants(NOW) == {}


def test_an_edge_that_is_cut_holds_nothing_up(life: Life) -> None:
    Filling.objects.filter(parent=life.thoughts[2], child=life.events[1]).update(child=None, orphaned=True)
    life.events[0].delete()
    assert "Friends." not in ConceptNode.objects.values_list("description", flat=True)
    assert checks.broken_invariants(NOW) == {}


def test_a_chain_of_thoughts_goes_to_its_end(life: Life, remember: Remember) -> None:
    last = life.thoughts[1]
    for number in range(60):
        above = remember(life.persona, f"Thought {number}.", kind="thought", source="reflection")
        Filling.objects.create(parent=above, child=last)
        last = above
    by_sql("memory_conceptnode", life.events[0].pk)
    assert not ConceptNode.objects.filter(description__startswith="Thought").exists()
    assert checks.broken_invariants(NOW) == {}


def test_a_memory_imported_without_evidence_stays(life: Life, remember: Remember) -> None:
    remember(life.persona, "Ana has bees.", source="import", external_id="node-1")
    life.events[0].delete()
    assert ConceptNode.objects.filter(description="Ana has bees.").exists()


@pytest.mark.parametrize(
    "delete",
    [
        lambda entity: entity.delete(),
        lambda entity: Entity.objects.filter(pk=entity.pk).delete(),
        lambda entity: by_sql("memory_entity", entity.pk),
        lambda entity: Mention.objects.filter(entity=entity).delete(),
        lambda entity: [by_sql("memory_mention", mention.pk) for mention in entity.mentions.all()],
    ],
    ids=["instance", "queryset", "sql", "its mentions", "its mentions by sql"],
)
def test_with_an_entity_goes_whom_it_absorbed(life: Life, delete: Callable[[Entity], object]) -> None:
    delete(life.tom)
    assert [*Entity.objects.values_list("canonical_name", flat=True)] == ["Ann"]
    assert ConceptNode.objects.count() == 6
    assert checks.broken_invariants(NOW) == {}


def test_whom_a_person_described_stays_without_a_mention(life: Life) -> None:
    Entity.objects.filter(pk=life.tom.pk).update(described_by="person", description="My oldest friend.")
    life.events[0].delete()
    assert {*Entity.objects.values_list("canonical_name", flat=True)} == {"Tom", "Thomas Hill", "Ann"}
    assert checks.broken_invariants(NOW) == {}


def test_another_persona_is_untouched(life: Life, otto: Persona, remember: Remember) -> None:
    line = receive_message(otto, "I met Tom.", None, "web", NOW).message
    Turn.objects.update(status="done")
    event = remember(otto, "Ben met Tom.")
    Evidence.objects.create(node=event, message=line, quote="Tom", start=6, end=9)
    link(_named(otto, "Tom"), [event])
    life.persona.delete()
    assert (ConceptNode.objects.count(), Entity.objects.count(), Message.objects.count()) == (1, 1, 1)
    assert checks.broken_invariants(NOW) == {}
