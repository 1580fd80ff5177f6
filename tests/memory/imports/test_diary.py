"""Import a diary without a model: its sentences become events with their days, and nothing is inferred."""

from collections.abc import Mapping
from datetime import date

import pytest
from django.contrib.auth.models import User

from echovessel.llm.models import LLMCall
from memory.models import ConceptNode
from memory.store.checks import broken_invariants
from persona.models import CoreBlock, CoreDraft, Persona
from persona.onboarding.creation import create_persona
from tests.memory.imports import importing_files
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db

ENGLISH = """# 2024-03-01

My dog Otto died this morning. I cried for hours.

# 2024-03-09

I work as a nurse in Lisbon. My sister Anna got engaged yesterday!

# 2024-03-20

It rained. We had tea.
"""
CHINESE = """2024年3月1日

小黑昨天死了，我哭了一整天。

2024年3月9日

我是护士，在里斯本工作。我妹妹安娜订婚了！

2024年3月20日

下雨。
"""


@pytest.fixture
def offline(settings: object) -> None:
    settings.LLM_PROVIDER = "offline"  # type: ignore[attr-defined]


def days(persona: Persona) -> Mapping[str, date | None]:
    events = ConceptNode.objects.filter(persona=persona, kind="event")
    return dict(events.values_list("evidence__quote", "event_time_start"))


@pytest.mark.parametrize(
    ("language", "name", "content", "expected"),
    [
        (
            "en",
            "diary.md",
            ENGLISH,
            {
                "My dog Otto died this morning.": date(2024, 3, 1),
                "I cried for hours.": None,
                "My sister Anna got engaged yesterday!": date(2024, 3, 8),
                "I work as a nurse in Lisbon.": None,
            },
        ),
        (
            "zh",
            "日记.txt",
            CHINESE,
            {
                "小黑昨天死了，我哭了一整天。": date(2024, 2, 29),
                "我妹妹安娜订婚了！": None,
                "我是护士，在里斯本工作。": None,
            },
        ),
    ],
    ids=["en", "zh"],
)
def test_a_diary_becomes_quotations_with_days(
    ana: User, offline: None, language: str, name: str, content: str, expected: Mapping[str, date | None]
) -> None:
    mira = create_persona(ana, "Mira", user_name="Ana", timezone="Asia/Shanghai", language=language)
    before = list(CoreBlock.objects.values())
    job = importing_files.import_file(mira, content.encode(), name)
    assert (job.status, job.failure) == ("done", "")
    assert days(mira) == expected
    for node in ConceptNode.objects.filter(persona=mira, kind="event"):
        evidence = node.evidence.get()
        assert evidence.message.content[evidence.start : evidence.end] == evidence.quote
        assert evidence.message.session.channel == "journal"
        assert node.created_at.year == 2024
        assert node.description in (f"Ana: “{evidence.quote}”", f"Ana：“{evidence.quote}”")
    assert not ConceptNode.objects.filter(persona=mira).exclude(kind="event").exists()
    quotations = ConceptNode.objects.filter(persona=mira).values_list("evidence__message__content", flat=True)
    for draft in CoreDraft.objects.all():
        assert draft.label == "user"
        assert any(draft.text.split("“")[1].rstrip("”") in content for content in quotations)
    assert list(CoreBlock.objects.values()) == before
    assert set(LLMCall.objects.values_list("purpose", flat=True)) == {"import", "onboarding"}
    assert broken_invariants(NOW) == {}


def test_the_same_diary_again_adds_nothing_and_asks_nobody(mira: Persona, offline: None) -> None:
    importing_files.import_file(mira, ENGLISH.encode(), "diary.md")
    node_count, call_count = ConceptNode.objects.count(), LLMCall.objects.count()
    again = importing_files.import_file(mira, ENGLISH.encode(), "diary again.md")
    assert again.status == "done"
    assert ConceptNode.objects.count() == node_count
    assert LLMCall.objects.count() == call_count
