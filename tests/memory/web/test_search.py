"""Search in memories and in messages."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from memory.models import ConceptNode, Entity, Mention
from memory.web.search import Filters, search_by_domain, search_by_meaning, search_by_words, search_messages
from persona.models import Persona
from tests.table import each_row

Remember = Callable[..., ConceptNode]


def words(persona: Persona, text: str, **filters: Any) -> list[str]:
    return [node.description for node in search_by_words(persona, text, Filters(**filters)).rows]


@pytest.mark.parametrize("text", ["小黑", "白猫叫", "猫", "叫小黑的白", "Snow", "owba", "SNOWBALL", "ow"])
def test_a_piece_of_a_memory_finds_it_however_short_and_wherever_in_a_word(
    mira: Persona, remember: Remember, text: str
) -> None:
    remember(mira, "Snowball（安娜的白猫叫小黑的白爪）")
    remember(mira, "Ana lives in Shanghai.")
    assert len(words(mira, text)) == 1


@pytest.mark.parametrize("text", ["%", "_", "\\", "100%", "'", '"', "a_b", "*", "Snow%"])
def test_signs_of_searching_are_looked_for_as_they_stand(mira: Persona, remember: Remember, text: str) -> None:
    remember(mira, "Snowball sleeps.")
    remember(mira, f"Ana wrote {text} on the wall.")
    assert words(mira, text) == [f"Ana wrote {text} on the wall."]


def test_all_states_are_found_and_each_by_its_filter(mira: Persona, remember: Remember) -> None:
    for status in ConceptNode.Status.values:
        remember(mira, f"A cat that is {status}.", status=status)
    assert len(words(mira, "cat")) == len(ConceptNode.Status.values)
    assert words(mira, "cat", status="hidden") == ["A cat that is hidden."]


def test_filters_narrow_what_is_found(mira: Persona, remember: Remember) -> None:
    heavy = remember(mira, "The wedding.", emotional_impact=9, relational_tags=["turning-point"])
    remember(mira, "A grey day.", emotional_impact=-4, emotion_tags=["tired"])
    remember(mira, "A thought.", kind="thought", pinned=True, verification="confirmed")
    entity = Entity.objects.create(persona=mira, canonical_name="Ben", kind="person")
    Mention.objects.create(node=heavy, entity=entity)
    filters_by_text: dict[str, dict[str, Any]] = {
        "The wedding.": {"weight": "heavy"},
        "A grey day.": {"weight": "sad"},
        "A thought.": {"kind": "thought"},
    }
    assert {text: words(mira, "", **filters) for text, filters in filters_by_text.items()} == {
        text: [text] for text in filters_by_text
    }
    assert words(mira, "", tag="turning-point") == words(mira, "", entity=entity.pk) == ["The wedding."]
    assert words(mira, "", tag="tired") == ["A grey day."]
    assert words(mira, "", pinned=True) == words(mira, "", verification="confirmed") == ["A thought."]


def test_days_are_those_it_is_about_else_those_on_which_it_was_made(mira: Persona, remember: Remember) -> None:
    """Mira's owner lives in Shanghai: 17:00 UTC is the next day there."""
    may = date(2026, 5, 1)
    remember(mira, "The first of May.", event_time_start=may, event_time_end=may)
    remember(mira, "Told late on April 30.", created_at=datetime(2026, 4, 30, 17, tzinfo=UTC))
    remember(mira, "Told early on April 30.", created_at=datetime(2026, 4, 30, 1, tzinfo=UTC))
    assert set(words(mira, "", since=may, until=may)) == {"The first of May.", "Told late on April 30."}
    assert words(mira, "", until=date(2026, 4, 30)) == ["Told early on April 30."]


def test_pages_follow_each_other_without_gap_or_double(mira: Persona, remember: Remember) -> None:
    now = timezone.now()
    nodes = [remember(mira, f"Cat number {number}.", created_at=now) for number in range(7)]
    rows, before = [], None
    for _ in range(3):
        page = search_by_words(mira, "cat number", Filters(), before, limit=3)
        rows += page.rows
        before = page.rows[-1]
    assert rows == nodes[::-1]
    assert not page.has_more


def test_what_is_near_in_meaning_is_found_put_away_or_not(mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana adopted a kitten.")
    remember(mira, "Ana's cat had to see the vet.", status="hidden")
    remember(mira, "The tax office wrote a letter.")
    texts = [node.description for node in search_by_meaning(mira, "Ana has a cat at home", Filters())]
    assert set(texts) == {"Ana adopted a kitten.", "Ana's cat had to see the vet."}
    hidden = search_by_meaning(mira, "Ana has a cat at home", Filters(status="hidden"))
    assert [node.description for node in hidden] == ["Ana's cat had to see the vet."]


def test_searching_by_meaning_ends_at_the_floor_of_recall(mira: Persona, remember: Remember, settings: Any) -> None:
    remember(mira, "Ana adopted a kitten.")
    settings.KNOBS = {"memory.minimum_relevance": 0.99}
    assert search_by_meaning(mira, "Ana has a cat at home", Filters()) == []
    assert [node.description for node in search_by_meaning(mira, "Ana adopted a kitten.", Filters())] != []


@each_row(
    "text, description",
    [
        ("my job", "Ana: “I'm a night nurse at the infirmary.”"),
        ("我的工作", "安娜：“我在医院当护士，上夜班。”"),
        ("我的工作", "安娜：“我开出租车十年了。”"),
        ("where I live", "Ana: “We moved to a flat near the docks.”"),
        ("我的年龄", "安娜：“我上个月满三十二岁。”"),
    ],
)
def test_what_tells_of_the_part_of_life_that_is_named_is_found(
    mira: Persona, client: Client, remember: Remember, text: str, description: str
) -> None:
    ConceptNode.objects.all().delete()
    node = remember(mira, description)
    remember(mira, "Ana: “The ferry was late.”")
    assert search_by_domain(mira, text, Filters()) == [node]
    client.force_login(mira.owner)
    assert f"/nodes/{node.uuid}/" in client.get(f"/memory/{mira.uuid}/", {"text": text}).content.decode()


def test_lines_are_found_in_what_was_said_and_nobody_elses(mira: Persona, otto: Persona) -> None:
    now = timezone.now()
    for persona in (mira, otto):
        receive_message(persona, f"我的白猫叫小黑, says {persona.name}", None, "web", now)
    rows = search_messages(mira, "小黑").rows
    assert [message.content for message in rows] == ["我的白猫叫小黑, says Mira"]
    assert search_messages(mira, "white").rows == []
    assert words(otto, "小黑") == []


def test_memories_are_found_by_how_they_felt(mira: Persona, remember: Remember, client: Client) -> None:
    grief = remember(mira, "Ana's aunt died.", emotion_tags=["grief"])
    wept = remember(mira, "Ana wept all night.", emotional_impact=-5)
    glad = remember(mira, "安娜升职了。", emotion_tags=["开心", "proud"], emotional_impact=6)
    remember(mira, "Ana bought a sad-looking lamp.")  # not felt
    for feeling, expected in (
        ("sad", [wept, grief]),
        ("happy", [glad]),
        ("PROUD", [glad]),
        ("lonely", []),
        ('"; --', []),
    ):
        assert list(search_by_words(mira, "", Filters(feeling=feeling)).rows) == expected
    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/?feeling=sad").content.decode()
    assert "Ana wept all night." in page
    assert "安娜升职了" not in page
    api = client.get(f"/api/personas/{mira.uuid}/nodes?feeling=happy").json()
    assert [node["description"] for node in api["items"]] == [glad.description]


def test_the_admin_filters_by_feeling(mira: Persona, remember: Remember, admin_client: Client) -> None:
    remember(mira, "Ana wept all night.", emotional_impact=-5)
    remember(mira, "Ana ate plums.", emotional_impact=2)
    page = admin_client.get("/admin/memory/event/?feeling=sad").content.decode()
    assert "Ana wept" in page
    assert "plums" not in page
