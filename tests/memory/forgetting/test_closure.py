"""The dependency closure, on small graphs written by hand and on generated ones."""

from hypothesis import given
from hypothesis import strategies as st

from memory.forgetting.closure import ForgetDecision, ForgetRequest, Graph, GraphMessage, MemoryNode, decide
from memory.forgetting.types import REVERT_IMPORT, Choice

CASCADE, ORPHAN = Choice("cascade"), Choice("orphan")


def memories(**rests: tuple[set[int], set[int]]) -> dict[int, MemoryNode]:
    return {
        int(pk[1:]): MemoryNode(frozenset(messages), frozenset(filling)) for pk, (messages, filling) in rests.items()
    }


def decide_forgetting(
    graph: Graph, *chosen_keys: int, choice: Choice = CASCADE, messages: tuple[int, ...] = ()
) -> ForgetDecision:
    return decide(graph, ForgetRequest(dict.fromkeys(chosen_keys, "chosen"), dict.fromkeys(messages, "chosen")), choice)


def test_what_was_concluded_from_it_goes_however_many_steps_away() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=(set(), {1}), m3=(set(), {2}), m4=({9}, set())))
    assert decide_forgetting(graph, 1).memories == {1: "chosen", 2: "rests_on", 3: "rests_on"}


def test_with_orphan_what_has_other_ground_stays_and_what_has_none_goes() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=({2}, set()), m3=(set(), {1}), m4=(set(), {1, 2})))
    decision = decide_forgetting(graph, 1, choice=ORPHAN)
    assert decision.memories == {1: "chosen", 3: "no_ground"}
    assert decision.staying == {4: "other_ground"}


def test_deleted_evidence_keeps_no_memory() -> None:
    graph = Graph(memories(m1=({1}, set()), m3=(set(), {1}), m4=(set(), {1, 3})))
    assert set(decide_forgetting(graph, 1, choice=ORPHAN).memories) == {1, 3, 4}


def test_an_earlier_telling_goes_with_its_correction_and_not_the_other_way_round() -> None:
    graph = Graph({1: MemoryNode(frozenset({1}), superseded_by=2), 2: MemoryNode(frozenset({2}))})
    assert decide_forgetting(graph, 2, choice=ORPHAN).memories == {2: "chosen", 1: "earlier"}
    assert decide_forgetting(graph, 2).messages.keys() == {1, 2}
    assert decide_forgetting(graph, 1).memories == {1: "chosen"}


def test_what_was_left_of_a_memory_goes_with_it_and_not_the_other_way_round() -> None:
    graph = Graph({1: MemoryNode(frozenset({1})), 2: MemoryNode(frozenset({1}), remainder_of=frozenset({1}))})
    for choice in (CASCADE, ORPHAN, REVERT_IMPORT):
        assert decide_forgetting(graph, 1, choice=choice).memories == {1: "chosen", 2: "rests_on"}
    assert decide_forgetting(graph, 2, choice=ORPHAN).memories == {2: "chosen"}


def test_a_message_that_two_memories_share_goes_with_cascade_and_is_put_away_with_orphan() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=({1, 2}, set())))
    cascade, orphan = decide_forgetting(graph, 1), decide_forgetting(graph, 1, choice=ORPHAN)
    assert (cascade.memories, cascade.messages) == ({1: "chosen", 2: "same_lines"}, {1: "words_of"})
    assert (orphan.memories, orphan.messages, orphan.withheld) == ({1: "chosen"}, {}, {1: "still_needed"})


def test_what_goes_only_for_a_shared_message_takes_no_further_messages_with_it() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=({1, 2}, set()), m3=({2}, set())))
    decision = decide_forgetting(graph, 1)
    assert set(decision.memories) == {1, 2}
    assert set(decision.messages) == {1}


def test_with_withhold_nothing_is_deleted_under_another_memory() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=({1}, set())))
    decision = decide_forgetting(graph, 1, choice=Choice("cascade", "withhold"))
    assert (decision.memories, decision.messages, decision.withheld) == ({1: "chosen"}, {}, {1: "put_away"})


def test_a_chosen_message_goes_in_any_case_and_its_memory_stays_by_another_message_alone() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=({1, 2}, set())))
    cascade, orphan = decide_forgetting(graph, messages=(1,)), decide_forgetting(graph, messages=(1,), choice=ORPHAN)
    assert (set(cascade.memories), set(cascade.messages)) == ({1, 2}, {1})
    assert (orphan.memories, orphan.staying, set(orphan.messages)) == ({1: "no_ground"}, {2: "other_ground"}, {1})


def test_a_single_memory_may_stay_against_cascade() -> None:
    graph = Graph(memories(m1=({1}, set()), m2=({2}, set()), m3=(set(), {1, 2}), m4=(set(), {1, 2})))
    decision = decide_forgetting(graph, 1, choice=Choice(staying=frozenset({3})))
    assert set(decision.memories) == {1, 4}
    assert decision.staying == {3: "other_ground"}


def test_a_reply_shares_the_fate_of_the_message_it_replied_to() -> None:
    messages = {
        1: GraphMessage(7),
        2: GraphMessage(7, is_reply=True),
        3: GraphMessage(8),
        4: GraphMessage(8, is_reply=True),
    }
    graph = Graph(memories(m1=({1}, set()), m2=({1}, set())), messages)
    assert decide_forgetting(graph, 1).messages == {1: "words_of", 2: "reply"}
    assert decide_forgetting(graph, 1, choice=ORPHAN).withheld == {1: "still_needed", 2: "still_needed"}
    assert set(decide_forgetting(graph, messages=(3,), choice=Choice("cascade", "withhold")).messages) == {3, 4}


# --- laws -----------------------------------------------------------------------------------------------------------
PLACES = st.integers(1, 8)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Graphs of memories with messages and older memories as their grounds."""
    nodes = {}
    for pk in range(1, draw(st.integers(1, 8)) + 1):
        quoted = draw(st.frozensets(PLACES, max_size=3))
        filling = draw(st.frozensets(st.integers(1, pk - 1), max_size=3)) if pk > 1 else frozenset()
        nodes[pk] = MemoryNode(quoted, filling, draw(st.none() | st.integers(pk + 1, 9)))
    turns = draw(st.dictionaries(PLACES, st.builds(GraphMessage, st.none() | st.integers(1, 4), st.booleans())))
    return Graph(nodes, turns)


ASKED = st.builds(
    ForgetRequest,
    st.dictionaries(PLACES, st.just("chosen"), max_size=2),
    st.dictionaries(PLACES, st.just("chosen"), max_size=2),
    st.dictionaries(PLACES, st.just("echo"), max_size=2),
)
CHOICES = st.builds(
    Choice,
    st.sampled_from(["cascade", "orphan"]),
    st.sampled_from(["forget", "withhold"]),
    st.frozensets(PLACES),
    st.booleans(),
)


@given(graphs(), ASKED, CHOICES)
def test_no_memory_or_message_is_both_deleted_and_kept(graph: Graph, request: ForgetRequest, choice: Choice) -> None:
    decision = decide(graph, request, choice)
    assert not decision.memories.keys() & decision.staying.keys()
    assert not decision.messages.keys() & decision.withheld.keys()
    assert decision.memories.keys() >= request.memories.keys() & graph.memories.keys()
    assert decision.messages.keys() >= request.messages.keys()


@given(graphs(), ASKED, CHOICES)
def test_every_kept_memory_keeps_some_evidence(graph: Graph, request: ForgetRequest, choice: Choice) -> None:
    decision = decide(graph, request, choice)
    for pk, memory in graph.memories.items():
        if pk not in decision.memories and (memory.filling or memory.messages):
            assert memory.filling - decision.memories.keys() or memory.messages - decision.messages.keys()


@given(graphs(), ASKED, CHOICES)
def test_only_a_chosen_message_is_deleted_under_what_stays(
    graph: Graph, request: ForgetRequest, choice: Choice
) -> None:
    decision = decide(graph, request, choice)
    quoted = {
        message for pk, memory in graph.memories.items() if pk not in decision.memories for message in memory.messages
    }
    assert quoted & decision.messages.keys() <= request.messages.keys()


@given(graphs(), ASKED, CHOICES)
def test_cascade_takes_all_that_orphan_takes(graph: Graph, request: ForgetRequest, choice: Choice) -> None:
    cascade = decide(graph, request, Choice("cascade", choice.messages))
    orphan = decide(graph, request, Choice("orphan", choice.messages))
    some = decide(graph, request, Choice("cascade", choice.messages, choice.staying))
    assert cascade.memories.keys() >= some.memories.keys() >= orphan.memories.keys()
    assert cascade.messages.keys() >= orphan.messages.keys()


@given(graphs(), ASKED)
def test_what_is_reverted_takes_less_along_than_what_is_forgotten(graph: Graph, request: ForgetRequest) -> None:
    forgotten, taken_back = decide(graph, request, Choice("orphan")), decide(graph, request, REVERT_IMPORT)
    assert taken_back.memories.keys() <= forgotten.memories.keys()
    assert taken_back.messages.keys() <= forgotten.messages.keys()
    assert not taken_back.content_matches


@given(graphs(), ASKED, CHOICES)
def test_forgetting_again_deletes_nothing_more(graph: Graph, request: ForgetRequest, choice: Choice) -> None:
    decision = decide(graph, request, choice)
    remaining = {
        pk: MemoryNode(
            memory.messages - decision.messages.keys(), memory.filling - decision.memories.keys(), memory.superseded_by
        )
        for pk, memory in graph.memories.items()
        if pk not in decision.memories
    }
    again = decide(Graph(remaining, graph.messages), ForgetRequest(request.memories), choice)
    assert not again.memories
    assert not again.messages


@given(graphs(), ASKED, CHOICES)
def test_a_smaller_graph_deletes_no_more_memories(graph: Graph, request: ForgetRequest, choice: Choice) -> None:
    known_memories = {pk: memory for pk, memory in graph.memories.items() if pk % 2}
    part = decide(Graph(known_memories, graph.messages), request, choice)
    assert part.memories.keys() <= decide(graph, request, choice).memories.keys()
