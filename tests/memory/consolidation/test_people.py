"""People in an answer: their relation to the owner, no typing errors, no books, and nobody left out."""

from datetime import date
from typing import Any

from django.test import Client

from memory import forgetting
from memory.consolidation import runner
from memory.consolidation.answer_schema import ExtractionAnswer
from memory.consolidation.fact_checks import Names, SaidMessage
from memory.consolidation.people_checks import believed_people
from memory.entities.resolve import other_names
from memory.forgetting import Target, plan
from memory.models import Entity, MergeProposal
from persona.models import Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.sessions import NOW, Clock, cite, extraction, talk
from tests.scripted import Script
from tests.table import each_row

NAMES = Names("Ana", "Mira")


def create_entity(name: str, *aliases: str, **values: Any) -> dict[str, Any]:
    return {"canonical_name": name, "aliases": list(aliases), "kind": "person"} | values


def read(entities: list[dict[str, Any]], *texts: str, facts: list[dict[str, Any]] | None = None) -> tuple[Any, int]:
    messages = {number: SaidMessage(text, True, date(2026, 3, 5)) for number, text in enumerate(texts, 1)}
    answer = ExtractionAnswer.model_validate({"events": [], "mentioned_entities": entities, "facts": facts or []})
    believed, mistakes = believed_people(answer, messages, NAMES)
    return [
        (entity.canonical_name, entity.kind, entity.relation, entity.aliases) for entity in believed.mentioned_entities
    ], mistakes


@each_row(
    ("entity", "text", "expected"),
    [
        (create_entity("Rosa", relation="sister"), "My sister Rosa called.", ("Rosa", "person", "sister", [])),
        (create_entity("Lorraine", relation="mother"), "My mum Lorraine called.", ("Lorraine", "person", "mother", [])),
        (create_entity("Rosa", relation="boss"), "My sister Rosa called.", ("Rosa", "person", "", [])),
        (create_entity("Tom", relation="ex-boyfriend"), "Tom and I broke up.", ("Tom", "person", "ex-boyfriend", [])),
        (create_entity("小雨", relation="妹妹"), "我妹妹小雨来了。", ("小雨", "person", "妹妹", [])),
        (create_entity("Katherine", "Kathrine"), "Kathrine came. Katherine left.", ("Katherine", "person", "", [])),
        (create_entity("Robert", "Bob"), "Bob, I mean Robert.", ("Robert", "person", "", ["Bob"])),
        (create_entity("Emma"), "I'm reading Emma again.", ("Emma", "other", "", [])),
        (create_entity("Emma"), "I was reading to Emma.", ("Emma", "person", "", [])),
        (create_entity("Rebecca"), "The book Rebecca, by du Maurier.", ("Rebecca", "other", "", [])),
        (create_entity("阿甘"), "我看了电影《阿甘》。", ("阿甘", "other", "", [])),
        (create_entity("Emma"), "I watched Emma sleep.", ("Emma", "person", "", [])),
    ],
)
def test_names_are_put_right(entity: dict[str, Any], text: str, expected: tuple[Any, ...]) -> None:
    assert read([entity], text)[0] == [expected]


def test_who_is_called_after_another_does_not_become_that_other() -> None:
    people = [create_entity("Lorraine"), create_entity("Rainy", "Lorraine", "Little Rain")]
    entities, mistakes = read(people, "She is Lorraine after mum, but they call her Rainy. Little Rain!")
    assert [(name, aliases) for name, _kind, _relation, aliases in entities] == [
        ("Lorraine", []),
        ("Rainy", ["Little Rain"]),
    ]
    assert mistakes == 1


def test_a_partner_named_in_three_messages_is_a_person_though_the_model_left_them_out() -> None:
    texts = ("My boyfriend Tom cooks.", "Tom burnt it.", "I forgave Tom.")
    assert read([], *texts)[0] == [("Tom", "person", "", [])]
    assert read([], *texts[:2])[0] == []


def test_the_subject_of_a_fact_becomes_a_named_entity() -> None:
    facts = [fact("Rex is Ana's dog.", whose="Rex", domain="belongings"), fact("Ana is a nurse.")]
    assert read([], "Rex is my dog.", facts=facts)[0] == [("Rex", "pet", "", [])]


def test_a_relation_is_kept_shown_changed_and_forgotten_with_what_tells_it(
    mira: Persona, model: Script, clock: Clock, client: Client
) -> None:
    session = talk(mira, "Tom is my boyfriend.", "Tom works in York.", "I like it.")
    tom, york, _ = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Tom is Ana's boyfriend.", cite(tom), domain="people", whose="Tom"),
                fact("Tom works in York.", cite(york), domain="work", whose="Tom"),
            ],
            mentioned_entities=[create_entity("Tom", relation="boyfriend", in_facts=[0, 1])],
        )
    )
    runner.run(session.pk, clock)
    entity = Entity.objects.get()
    assert (entity.canonical_name, entity.relation) == ("Tom", "boyfriend")
    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/people/{entity.uuid}/").content.decode()
    assert "boyfriend" in page
    assert 'data-testid="last-heard"' in page
    node = entity.nodes.get(description__contains="boyfriend")
    forgetting.forget(plan([Target("node", node.pk)]), None, NOW)
    entity.refresh_from_db()
    assert entity.relation == ""
    client.post(f"/memory/{mira.uuid}/people/{entity.uuid}/relate/", {"relation": "an old friend"})
    entity.refresh_from_db()
    assert entity.relation == "an old friend"


def test_two_who_bear_one_name_are_asked_about_and_never_joined(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "Sam from work is my boss.", "My cousin Sam has a farm.", "I like both.")
    boss, cousin, _ = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Sam from work is Ana's boss.", cite(boss), domain="people", whose="Sam"),
                fact("Ana's cousin Sam has a farm.", cite(cousin), domain="people", whose="Sam"),
            ],
            mentioned_entities=[
                create_entity("Sam", relation="boss", in_facts=[0]),
                create_entity("Sam", relation="cousin", in_facts=[1]),
            ],
        )
    )
    runner.run(session.pk, clock)
    assert Entity.objects.filter(canonical_name="Sam").count() == 2
    assert MergeProposal.objects.get().status == "open"


def test_another_name_of_the_owner_is_nobody_else(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "My friends call me Annie.", "Annie is what my gran said, too.", "I like it.")
    first, second, _ = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana is also called Annie by her friends.", cite(first), domain="about"),
                fact("Ana's gran said Annie, too.", cite(second), domain="people"),
            ],
            mentioned_entities=[create_entity("Annie", in_facts=[0])],
        )
    )
    runner.run(session.pk, clock)
    assert other_names(mira) == {"Annie"}
    assert not Entity.objects.exists()
