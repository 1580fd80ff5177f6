"""What holds again when news is forgotten, withheld or taken back, and what stays as the owner left it."""

from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from chat.models import Message
from echovessel.outbox import events
from memory import forgetting
from memory.curation import actions
from memory.curation.correct import Correction, correct
from memory.forgetting import REVERT_IMPORT, Choice, Target
from memory.models import ConceptNode, Filling, ImportRun
from memory.requests.withhold import ASKED, restore_message, withhold
from memory.store.writing import supersede
from persona.models import Persona
from tests.memory.requests.test_versions import answer, rest_on, say
from tests.memory.sessions import talk

pytestmark = pytest.mark.django_db

TEXTS = {"A": "weld at Kone", "B": "lead at Otis", "C": "sail with Ben", "D": "knit for Zoe"}
# "A>B": B superseded A. "A!B": news B ended the fact A; "A~B": it carried out the plan A. "A/B": A is what news B left
# of the fact that A superseded. "A<B": the thought A was concluded from B. Then a memory and what was done about it.
CASES = {
    "an end taken back leaves what was replaced before it": ("A>B B!C withhold:C", "A superseded, B active, C hidden"),
    "so does an end that is forgotten": ("A>B B!C forget:C", "A superseded, B active"),
    "and one that the owner calls wrong": ("A>B B!C reinstate:C", "A superseded, B active, C hidden"),
    "a plan that was moved and then carried out": ("A>B B~C forget:C", "A superseded, B active planned"),
    "what was left of a memory gives way to it": ("A>B B/C withhold:C", "A active, B hidden, C hidden"),
    "what was left gives way when the news is forgotten": ("A>B B/C forget:C", "A active, B hidden"),
    "what the owner hid of the rest stays hidden": ("A>B B/C hide:B withhold:C", "A superseded, B hidden, C hidden"),
    "a withheld memory stays away": ("A>B withhold:A withhold:B", "A superseded, B hidden"),
    "also when what replaced it is forgotten": ("A>B withhold:A forget:B", "A superseded"),
    "what a withheld one replaced holds": ("A>B B>C withhold:B withhold:C", "A active, B superseded, C hidden"),
    "put back with its news gone, it holds": ("A>B withhold:A forget:B restore:A", "A active"),
    "put back before its news, it holds": ("A>B withhold:A withhold:B restore:A", "A active, B hidden"),
    "put back after its news, it does not": (
        "A>B withhold:A withhold:B restore:B restore:A",
        "A superseded, B active",
    ),
    "a conclusion from withheld words stays away": (
        "D<A A>B withhold:A withhold:B",
        "A superseded, B hidden, D superseded",
    ),
    "a conclusion comes back with its ground": ("D<A A>B withhold:B", "A active, B hidden, D active"),
    "what the owner hid is not superseded": ("hide:A A>B forget:B", "A hidden"),
    "nor is a conclusion that they hid": ("D<A hide:D A>B forget:B", "A active, D hidden"),
    "of a chain the first holds when all others are gone": ("A>B B>C forget:B forget:C", "A active"),
    "and is superseded by the one that is left": ("A>B B>C forget:B", "A superseded, C active"),
    "an end is put back with its news": ("A!B withhold:B restore:B", "A active until, B active"),
    "and a plan that was carried out": ("A~B withhold:B restore:B", "A active done, B active"),
    "and what was left of a memory": ("A>B B/C withhold:C restore:C", "A superseded, B active, C active"),
    "what ended otherwise meanwhile stays so": ("A!B withhold:B until:A restore:B", "A active 2025, B active"),
    "an end that the owner dated stays": ("A!B until:A forget:B", "A active 2025"),
    "and one that they took back": ("A!B present:A withhold:B", "A active, B hidden"),
}


@pytest.mark.parametrize("case", CASES)
def test_restored_facts_follow_each_order_of_steps(mira: Persona, remember: Any, case: str) -> None:
    steps, expected = CASES[case]
    life = Life(mira, remember)
    for step in steps.split():
        life.take(step)
    assert life.states() == dict(words.split(" ", 1) for words in expected.split(", "))


class Life:
    """Facts of a persona, each of its own message and session, by letter."""

    def __init__(self, persona: Persona, remember: Any) -> None:
        self.persona, self.remember = persona, remember
        self.keys: dict[str, int] = {}
        self.messages: dict[str, Message] = {}

    def node(self, name: str) -> ConceptNode:
        if name not in self.keys:
            node = self.remember(self.persona, f"Ana {TEXTS[name]}.", kind="fact", domain="work")
            self.keys[name] = node.pk
            self.messages[name] = say(self.persona, f"I {TEXTS[name]}.")
            answer(self.persona, "I see.")
            rest_on(node, self.messages[name])
            self._set(name, session=talk(self.persona, "It rains."))
        return ConceptNode.objects.select_related("persona").get(pk=self.keys[name])

    def _set(self, name: str, **values: Any) -> None:
        ConceptNode.objects.filter(pk=self.keys[name]).update(**values)

    def states(self) -> dict[str, str]:
        nodes = ConceptNode.objects.in_bulk([*self.keys.values()])
        return {name: self._state(nodes[pk]) for name, pk in self.keys.items() if pk in nodes}

    def _state(self, node: ConceptNode) -> str:
        until = {"": "", "2025-11": "2025"}.get(node.until, "until")
        return " ".join(word for word in (node.status, node.plan_state or until) if word)

    def take(self, step: str) -> None:
        if ":" in step:
            deed, name = step.split(":")
            getattr(self, f"_{deed}")(name)
            return
        one, link, other = step
        if link == "<":
            thought = self.remember(self.persona, f"Ana would {TEXTS[one]}.", kind="thought", source="reflection")
            Filling.objects.create(parent=thought, child=self.node(other))
            self.keys[one] = thought.pk
            return
        first, second = self.node(one), self.node(other)
        if link == ">":
            supersede(self.persona, [first], second)
        else:
            ended = {"!": {"until": "2026-03"}, "~": {"domain": "plans", "plan_state": "done"}, "/": {}}[link]
            self._set(one, resolved_by=second, **ended)

    def _withhold(self, name: str) -> None:
        message = Message.objects.select_related("turn").get(pk=self.messages[name].pk)
        ids, hidden = withhold(message)
        assert message.turn
        withheld = [str(uuid) for uuid in ids]
        events.publish(self.persona.uuid, ASKED, turn_id=str(message.turn.uuid), withheld_ids=withheld, **hidden)

    def _restore(self, name: str) -> None:
        turn = self.messages[name].turn
        assert turn
        assert restore_message(self.persona, turn.uuid)

    def _forget(self, name: str) -> None:
        target = Target("node", self.keys[name])
        forgetting.forget(forgetting.plan([target], Choice()), self.persona.owner, timezone.now())

    def _hide(self, name: str) -> None:
        assert actions.hide(self.node(name))

    def _reinstate(self, name: str) -> None:
        assert actions.reinstate(self.node(name))

    def _until(self, name: str) -> None:
        correct(self.node(name), Correction(until="2025-11"), self.persona.owner, timezone.now())

    def _present(self, name: str) -> None:
        correct(self.node(name), Correction(until=""), self.persona.owner, timezone.now())


@pytest.mark.parametrize("choice", [Choice(), Choice("orphan"), REVERT_IMPORT])
def test_what_was_left_of_an_imported_memory_goes_with_its_import(mira: Persona, remember: Any, choice: Choice) -> None:
    run = ImportRun.objects.create(persona=mira, uuid=uuid4(), at=timezone.now())
    health = {"kind": "fact", "domain": "health"}
    whole = remember(mira, "Ana is allergic to prawns but eats crab.", import_uuid=run.uuid, **health)
    rest, news = (remember(mira, text, **health) for text in ("Ana is allergic to prawns.", "Ana eats no meat."))
    supersede(mira, [whole], rest)
    ConceptNode.objects.filter(pk=rest.pk).update(resolved_by=news)
    forgetting.forget(forgetting.plan([Target("import", run.pk)], choice), mira.owner, timezone.now())
    assert list(ConceptNode.objects.all()) == [news]
