"""The grounds of a conclusion: the memories that it cites and those whose words it repeats."""

from memory.consolidation.evidence_checks import grounds
from memory.models import ConceptNode

NAMES = frozenset({"mira", "ana"})


def create_node(pk: int, description: str) -> ConceptNode:
    return ConceptNode(pk=pk, description=description)


VINEYARD = create_node(1, "Ana's brother Tom bought a vineyard near Siena in secret.")
DINNER = create_node(2, "Ana cooked risotto for her neighbours.")
BOTH = [VINEYARD, DINNER]


def test_an_uncited_event_that_the_thought_repeats_is_evidence() -> None:
    assert grounds([DINNER], "Tom will show them the secret vineyard near Siena.", BOTH, NAMES) == [DINNER, VINEYARD]


def test_an_event_that_the_thought_does_not_repeat_is_no_evidence() -> None:
    assert grounds([DINNER], "Cooking for others makes Ana quiet and glad.", BOTH, NAMES) == [DINNER]


def test_the_names_of_the_two_repeat_nothing() -> None:
    assert grounds([DINNER], "Ana and Mira will see.", BOTH, NAMES) == [DINNER]


def test_a_thought_that_cites_no_event_has_no_evidence() -> None:
    assert grounds([], "Tom will show them the secret vineyard near Siena.", BOTH, NAMES) == []
