"""The outcome for a stored memory that an answer replaces."""

from datetime import date

from memory.consolidation.replacing import Effect, News, ReplacedMemory, effect
from tests.table import each_row

MARCH = date(2025, 3, 2)


def create_replaced(
    *, event: bool = False, planned: bool = False, impact: int = 0, day: date | None = None, told_on: date = MARCH
) -> ReplacedMemory:
    return ReplacedMemory(event, planned, impact, (day, day) if day else None, told_on)


def news(*words: str, on: date, state: str = "", corrects: bool = False) -> News:
    return News(words, on, state, corrects)


KNEE = create_replaced(planned=True, day=date(2025, 3, 25))
EXAM = create_replaced(event=True, day=date(2025, 3, 20), impact=-2)
LUMP = create_replaced(event=True, impact=-6)
HOME = create_replaced()
FALL = create_replaced(event=True, day=date(2025, 2, 27), impact=-4)
APRIL = date(2025, 4, 19)


@each_row(
    ("memory", "item", "becomes"),
    [
        (KNEE, news("The knee's in since the 25th, and it clicks.", on=APRIL), "came about"),
        (KNEE, news("They've moved the knee, it's the 8th of April now.", on=date(2025, 3, 20)), "replaced"),
        (KNEE, news("It was postponed, they only did it on the 9th.", on=APRIL), "replaced"),
        (KNEE, news("手术推迟了一个礼拜，是四月一号做的，不是二十五号", on=APRIL), "replaced"),
        (KNEE, news("I'd rather keep my old knee.", on=APRIL, state="cancelled"), "replaced"),
        (create_replaced(event=True, day=date(2025, 4, 11)), news("We moved last Saturday.", on=APRIL), "came about"),
        (KNEE, news("All done, a week early!", on=date(2025, 3, 18), state="done"), "came about"),
        (KNEE, news("It will be a hospital in Leeds.", on=date(2025, 3, 10)), "replaced"),
        (EXAM, news("They offered me five days and a raise.", on=APRIL), "came about"),
        (EXAM, news("考完了，理论悬", on=APRIL), "came about"),
        (EXAM, news("The review fell through.", on=APRIL), "replaced"),
        (LUMP, news("Dot's tests came back clear.", on=APRIL), "stays"),
        (LUMP, news("老蒋七月走的，我没去成。面馆现在两层了", on=APRIL), "stays"),
        (LUMP, news("No, I was wrong, it was Joan's lump.", on=APRIL), "replaced"),
        (LUMP, news("It wasn't a lump.", on=APRIL, corrects=True), "replaced"),
        (FALL, news("My leg is fine now.", on=APRIL), "stays"),
        (FALL, news("Actually it was on the 26th that I fell.", on=APRIL), "replaced"),
        (HOME, news("We live in Sandsend.", on=APRIL), "replaced"),
        (create_replaced(event=True), news("These days Tom lives in York.", on=APRIL), "replaced"),
        (create_replaced(event=True, impact=4), news("I live in York now.", on=APRIL), "replaced"),
        (create_replaced(planned=True), news("Signed the lease!", on=APRIL), "replaced"),
        (create_replaced(planned=True), news("Signed the lease!", on=APRIL, state="done"), "came about"),
    ],
)
def test_what_happened_stays_and_what_was_wrong_or_is_over_is_replaced(
    memory: ReplacedMemory, item: News, becomes: Effect
) -> None:
    assert effect(memory, item) == becomes
