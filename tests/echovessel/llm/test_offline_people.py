"""People whom a session names without a word for who they are."""

from echovessel.llm.offline.extraction import extract
from echovessel.llm.offline.people import people_in
from tests.echovessel.llm.offline import kept, session
from tests.table import each_row


@each_row(
    ("texts", "names"),
    [
        (["Jess is a florist, and I told Ben about it."], ["Jess", "Ben"]),
        (["They're getting married, he and Priscilla, whom nobody likes."], ["Priscilla"]),
        (["They're Maeve and Otis, both three."], ["Maeve", "Otis"]),
        (["Mick. 54, been doing it for ever."], ["Mick"]),
        (["mick. 54, been doing it for ever"], ["mick"]),
        (["i told pete. pete reckons its mould", "pete snores"], ["pete"]),
        (["王莉的儿子考上大学了"], ["王莉"]),
        (["跟陈默约好周六去看展，陈默说他请客"], ["陈默"]),
        (["Maya and I went out. Maya forgot her keys."], ["Maya"]),
        (["Owen turned 40, and he danced all night."], ["Owen"]),
        (["我和阿杰说好了", "思思说她怀孕了"], ["阿杰", "思思"]),
    ],
)
def test_a_person_is_known_by_what_only_people_do(texts: list[str], names: list[str]) -> None:
    assert people_in(texts) == names


@each_row(
    "text",
    [
        "Google says it's fine and Tesco told me no.",
        "I'm in London, and London loves a queue.",
        "The Bible says so. Everyone laughed. Landlord said no.",
        "Tuesdays are hard, and March goes slowly.",
        "work said no and work reckons im late",
        "everyone says so and nobody cried",
        "Work reckons I'm late, and I hate work.",
        "my head hurts. fever. 39, been in bed since morning",
        "Flu. 39, in bed. Covid. 12, days. Temp. 38, pulse. 90, weight. 71, insulin. 12, all day.",
        "Deliveroo forgot my order again",
        "Uber turned 10 this week.",
        "London and I have history",
        "高兴说不出来，马上结婚了",
        "天天说这个，方便说一下吗",
        "老板说我不行，周末结婚的人多",
    ],
)
def test_a_brand_a_place_or_a_word_is_no_person(text: str) -> None:
    assert people_in([text]) == []


def test_what_is_told_of_a_person_without_a_relation_is_kept_with_the_person() -> None:
    line = "home is a share house w jess and jez. jess is a florist, jez does sound for bands"
    people = extract(session(line))["mentioned_entities"]
    assert {(person["canonical_name"], person["kind"]) for person in people} == {("Jess", "person"), ("Jez", "person")}


def test_a_name_alone_before_an_age_stays_with_it() -> None:
    assert kept("mick. 54, been driving since before i was born") == [
        "“mick. 54, been driving since before i was born”"
    ]
