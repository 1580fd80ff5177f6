"""Actions on a memory that keep its words: each is done once, published once, and can be undone."""

from collections.abc import Callable

import pytest

from memory.curation import actions
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.store.test_writing import published

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
Action = Callable[[ConceptNode], bool]


def state(node: ConceptNode) -> tuple[str, str, bool, str]:
    node.refresh_from_db()
    return node.status, node.verification, node.pinned, node.archived_because


AT_FIRST = ("active", "unverified", False, "")


@pytest.mark.parametrize(
    ("action", "change", "then", "undo"),
    [
        (actions.hide, "hidden", ("hidden", "unverified", False, ""), actions.show),
        (actions.pin, "pinned", ("active", "unverified", True, ""), actions.unpin),
        (actions.archive, "archived", ("archived", "unverified", False, "person"), actions.unarchive),
        (actions.confirm, "confirmed", ("active", "confirmed", False, ""), actions.dispute),
        (actions.dispute, "disputed", ("active", "disputed", False, ""), actions.confirm),
    ],
)
def test_each_action_is_done_and_told_once(
    mira: Persona, remember: Remember, action: Action, change: str, then: tuple[str, str, bool, str], undo: Action
) -> None:
    node = remember(mira, "Ana has a cat.")
    assert [action(node), action(node)] == [True, False]
    assert state(node) == then
    assert [undo(node), undo(node)] == [True, False]
    if undo not in (actions.confirm, actions.dispute):
        assert state(node) == AT_FIRST
    first, *later = published("memory.node.updated")
    assert first == {"node_id": str(node.uuid), "kind": "event", "change": change}
    assert len(later) == 1


def test_what_was_quarantined_can_be_let_in(mira: Persona, remember: Remember) -> None:
    node = remember(mira, "Ana has a cat.", status="quarantined")
    assert [actions.release_from_quarantine(node), actions.release_from_quarantine(node)] == [True, False]
    assert state(node) == AT_FIRST


@pytest.mark.parametrize("status", ["hidden", "superseded", "quarantined", "archived"])
def test_only_what_may_be_recalled_can_be_hidden_or_archived(mira: Persona, remember: Remember, status: str) -> None:
    node = remember(mira, "Ana has a cat.", status=status)
    assert not actions.hide(node)
    assert not actions.archive(node)
    assert state(node) == (status, "unverified", False, "")
    assert not published("memory.node.updated")
