"""Lines that say what is not so any more are not shown; all others are."""

from memory.store.corrections import ReplacedText, Resting, outdated_message_ids, repeats, unsure_message_ids

THURSDAY, FRIDAY = "Ana's interview is on Thursday.", "Ana's interview is on Friday."


def kept_out(
    said: dict[int, str],
    following: dict[int, str] | None = None,
    answering: dict[int, int] | None = None,
    resting: tuple[Resting, ...] = (),
    replaced: tuple[ReplacedText, ...] = (),
) -> set[int]:
    return outdated_message_ids(said, following or {}, answering or {}, resting, replaced, ("Ana", "Mira"))


def test_a_message_corrected_by_the_next_is_kept_out() -> None:
    said = {1: "My interview is on Thursday.", 2: "My cat broke a vase on Monday."}
    assert kept_out(said, {1: "No, on Friday.", 2: "He is sorry."}) == {1}


def test_a_message_of_outdated_memories_alone_is_kept_out() -> None:
    said = {1: "So much to do.", 2: "And more.", 3: "And yet more.", 4: "Nothing rests on this."}
    resting = (
        Resting(1, 7, "superseded", THURSDAY, FRIDAY),
        Resting(2, 8, "hidden", None, "Ana drinks."),
        Resting(3, 7, "superseded", THURSDAY, FRIDAY),
        Resting(3, 9, "active", None, "Ana has much to do."),
    )
    assert kept_out(said, resting=resting) == {1, 2}


def test_what_is_archived_or_doubted_takes_no_message_away() -> None:
    said = {1: "I bought bread.", 2: "I flew."}
    resting = (Resting(1, 7, "archived", None, "Ana bought bread."), Resting(2, 8, "quarantined", None, "Ana flew."))
    assert not kept_out(said, resting=resting)


def test_a_message_behind_a_corrected_memory_is_only_where_it_holds_what_was_corrected() -> None:
    said = {1: "My interview is on Thursday.", 2: "I wait for the interview."}
    resting = (Resting(1, 7, "active", THURSDAY, FRIDAY), Resting(2, 7, "active", THURSDAY, FRIDAY))
    assert kept_out(said, resting=resting) == {1}


def test_a_reply_that_repeats_what_was_taken_back_is() -> None:
    said = {2: "“On Thursday”, I see.", 3: "I see.", 4: "On Friday, not Thursday?"}
    before, now = (f"Ana sees Bob in Rome at the harbour on {day}." for day in ("Thursday", "Friday"))
    answering = {2: 1, 3: 1, 4: 1}
    assert kept_out(said, answering=answering, resting=(Resting(1, 7, "superseded", before, now),)) == {2}
    otherwise = Resting(1, 7, "superseded", before, "Ana is in Berlin now.")
    assert not kept_out(said, answering=answering, resting=(otherwise,))


def test_messages_that_repeat_replaced_text_are_kept_out() -> None:
    said = {
        1: "I remember you told me: Your interview is on Thursday.",
        2: "On Thursday I swim.",
        3: "The interview is on Friday, not on Thursday.",
        4: "你周四有个面试。",
    }
    replaced = (ReplacedText(THURSDAY, FRIDAY), ReplacedText("Ana周四有个面试。", "Ana周五有个面试。"))
    assert kept_out(said, replaced=replaced) == {1, 4}


def test_what_has_nothing_in_common_with_what_replaced_it_takes_no_message_away() -> None:
    assert not kept_out({1: "I loved Paris."}, replaced=(ReplacedText("Ana lives in Paris.", "Ana moved to Berlin."),))
    assert not repeats("Ana loved it.", ReplacedText(THURSDAY, THURSDAY))


def test_a_message_is_as_unsure_as_a_memory_in_use_that_rests_on_it() -> None:
    contents = {1: "I can't eat nuts.", 2: "I swim.", 3: "No nuts for you, I see.", 4: "I see.", 5: "I flew."}
    nuts = "Ana can't eat nuts."
    resting = (
        Resting(1, 7, "active", None, nuts, is_unsure=True),
        Resting(1, 8, "active", None, "Ana eats."),
        Resting(2, 9, "active", None, "Ana swims."),
        Resting(5, 10, "hidden", None, "Ana flew.", is_unsure=True),
    )
    assert unsure_message_ids(contents, {4: 1}, resting) == {1}
    assert unsure_message_ids(contents, {3: 1, 4: 1}, (Resting(1, 7, "active", None, "No nuts.", True),)) == {1, 3}
    assert unsure_message_ids({3: contents[3]}, {3: 1}, (Resting(1, 7, "active", None, "No nuts.", True),)) == {3}
