"""`manage.py eval_memory`: stories are told through the pipeline, and what is kept is compared with the truth."""

import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memory.consolidation import prompt
from memory.evaluation import stories

pytestmark = pytest.mark.django_db(transaction=True)

STORY: dict[str, Any] = {
    "id": "mini",
    "language": "en",
    "persona": "Mira",
    "owner": "Dan",
    "timezone": "Europe/London",
    "sessions": [
        {
            "id": "s1",
            "at": "2025-03-04T20:10:00+00:00",
            "lines": [
                ["owner", "My sister Ruth came over from York, she's a nurse there."],
                ["persona", "Does she stay long?"],
                ["owner", "Till Sunday. I live in Leeds, in a flat above a bakery."],
                ["persona", "That must smell good."],
                ["owner", "My exam is on 14 March. Oh and my grandad died last night, anyway, what's for dinner."],
                ["persona", "Oh Dan. I'm so sorry."],
                ["owner", "I borrowed money from Kevin, 400 pounds."],
                ["persona", "Okay."],
            ],
        },
        {
            "id": "s2",
            "at": "2025-04-10T19:00:00+01:00",
            "lines": [
                ["owner", "Forget that I borrowed money from Kevin, please."],
                ["persona", "Of course."],
                ["owner", "We moved, I live in Sheffield now! New house with a garden."],
                ["persona", "How lovely."],
                ["owner", "I could run a marathon on the moon with this energy, ha."],
                ["persona", "Ha!"],
            ],
        },
    ],
    "facts": [
        {
            "id": "f1",
            "whose": "Ruth",
            "domain": "people",
            "says": "Ruth is a nurse in York.",
            "terms": [["Ruth"], ["York"]],
            "lines": ["s1.1"],
        },
        {
            "id": "f2",
            "whose": "owner",
            "domain": "home",
            "says": "Dan lives in Leeds.",
            "terms": [["Leeds"]],
            "lines": ["s1.3"],
            "until": "s2.3",
        },
        {
            "id": "f3",
            "whose": "owner",
            "domain": "home",
            "says": "Dan lives in Sheffield.",
            "terms": [["Sheffield"]],
            "lines": ["s2.3"],
        },
    ],
    "peaks": [{"kind": "in passing", "terms": [["grandad"]], "lines": ["s1.5"], "sign": -1, "weight": 6}],
    "plans": [
        {
            "id": "p1",
            "says": "The exam",
            "terms": [["exam"]],
            "lines": ["s1.5"],
            "day": ["2025-03-14", "2025-03-14"],
            "ends_as": "planned",
        }
    ],
    "replaced": [{"old": "f2", "new": "f3"}],
    "forgotten": [{"line": "s2.1", "terms": [["Kevin"]]}],
    "people": [{"name": "Ruth", "relation": "sister"}],
    "decoys": [{"lines": ["s2.5"], "terms": [["marathon"]], "why": "a joke"}],
    "questions": [{"ask": "What day was my exam?", "answer": "14 March", "lines": ["s1.5"], "day": "2025-03-14"}],
}
ANSWERS: dict[str, Any] = {
    "s1": {
        "events": [
            {
                "description": "Dan's grandad died.",
                "emotional_impact": -9,
                "subject": "user",
                "evidence": [{"message_id": "s1.5", "quote": "my grandad died last night"}],
                "confidence": 0.9,
            },
            {
                "description": "Dan has an exam on 14 March 2025.",
                "emotional_impact": -2,
                "subject": "user",
                "event_time": {"start": "2025-03-14", "end": "2025-03-14"},
                "evidence": [{"message_id": "s1.5", "quote": "My exam is on 14 March"}],
                "confidence": 0.9,
            },
        ],
        "facts": [
            {
                "description": "Dan's sister Ruth is a nurse in York.",
                "whose": "Ruth",
                "domain": "people",
                "evidence": [
                    {"message_id": "s1.1", "quote": "My sister Ruth came over from York, she's a nurse there"}
                ],
                "confidence": 0.9,
            },
            {
                "description": "Dan lives in Leeds.",
                "whose": "owner",
                "domain": "home",
                "evidence": [{"message_id": "s1.3", "quote": "I live in Leeds"}],
                "confidence": 0.9,
            },
        ],
        "mentioned_entities": [
            {"canonical_name": "Ruth", "kind": "person", "relation": "sister", "in_events": [], "in_facts": [0]}
        ],
    },
    "s2": {
        "events": [],
        "facts": [
            {
                "description": "Dan lives in Sheffield.",
                "whose": "owner",
                "domain": "home",
                "evidence": [{"message_id": "s2.3", "quote": "I live in Sheffield now"}],
                "confidence": 0.9,
                "supersedes": [],
            }
        ],
    },
}


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Any]:
    """Folders of one story, of replies, and of prompts that wait for one."""
    (tmp_path / "stories").mkdir()
    (tmp_path / "stories" / "mini.json").write_text(json.dumps(STORY), encoding="utf-8")
    return {"stories": tmp_path / "stories", "replies": tmp_path / "replies", "record": tmp_path / "inbox"}


def measured(**options: Any) -> dict[str, Any]:
    out = io.StringIO()
    call_command("eval_memory", stdout=out, stderr=io.StringIO(), as_json=True, **options)
    figures: dict[str, Any] = json.loads(out.getvalue())
    return figures


@pytest.fixture
def recorded(folders: dict[str, Any], figures_file: Path) -> dict[str, Any]:
    """The folders with replies in them; they are recorded once for all tests of this process."""
    kept = figures_file.with_name("recorded-replies")
    if not kept.exists():
        record(folders, figures_file)
        shutil.copytree(folders["replies"], kept)
    shutil.copytree(kept, folders["replies"], dirs_exist_ok=True)
    return {"stories": folders["stories"], "replies": folders["replies"]}


@pytest.fixture
def figures_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The figures of the run that took the recorded replies over."""
    return tmp_path_factory.getbasetemp() / "recorded-figures.json"


def record(folders: dict[str, Any], figures_file: Path) -> None:
    """Answer each prompt as it comes, as somebody does who stands in for a large model."""
    for session in ("s1", "s2"):
        with pytest.raises(CommandError, match=f"no reply yet: mini.{session}"):
            measured(**folders)
        [asked] = folders["record"].glob(f"mini.{session}.*.prompt.txt")
        answer = json.loads(json.dumps(ANSWERS[session]))
        if session == "s2":
            known = [line for line in asked.read_text(encoding="utf-8").splitlines() if "lives in Leeds" in line]
            answer["facts"][0]["supersedes"] = [known[0].split("]")[0].lstrip("[")]
        asked.with_name(asked.name.replace(".prompt.txt", ".reply.json")).write_text(json.dumps(answer))
    measured(save=figures_file, **folders)


def test_recorded_replies_are_taken_over_and_replayed_to_the_same_figures(
    recorded: dict[str, Any], figures_file: Path
) -> None:
    figures = measured(replay=True, compare=figures_file, **recorded)
    measures = (
        "facts kept",
        "facts that are true",
        "peaks kept",
        "peaks with the right sign",
        "nothing invented",
        "replaced",
        "exact days of plans",
        "wishes to forget obeyed",
        "people kept",
        "in the right language",
    )
    assert {name: figures["all"][name] for name in measures} == dict.fromkeys(measures, 1.0)
    assert (figures["sessions"], figures["outdated"], figures["missing"]) == (2, [], [])


def test_a_prompt_that_changed_fails_the_replay(recorded: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    render = prompt.render
    monkeypatch.setattr(prompt, "render", lambda name, *args, **values: render(name, *args, **values) + " Be brief.")
    with pytest.raises(CommandError, match=r"prompts changed since: mini\.s1\.extraction\.1, mini\.s2\.extraction\.1"):
        measured(replay=True, **recorded)


def test_worse_replies_fail_the_comparison(recorded: dict[str, Any], figures_file: Path) -> None:
    file = recorded["replies"] / "mini.json"
    replies = json.loads(file.read_text(encoding="utf-8"))
    for reply in replies.values():
        reply["answer"]["facts"] = []
    file.write_text(json.dumps(replies), encoding="utf-8")
    with pytest.raises(CommandError, match="figures fell"):
        measured(replay=True, compare=figures_file, **recorded)


def test_without_a_model_a_story_is_told_by_rules(folders: dict[str, Any]) -> None:
    figures = measured(stories=folders["stories"])
    assert figures["model"] == "offline"
    assert figures["all"]["nothing invented"] == figures["all"]["wishes to forget obeyed"] == 1.0


def test_a_story_that_names_a_line_that_is_not_there_is_refused_with_its_file(folders: dict[str, Any]) -> None:
    broken = STORY | {"questions": [{"ask": "?", "answer": "!", "lines": ["s9.1"]}]}
    (folders["stories"] / "mini.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(CommandError, match=r"mini\.json.*no such line: s9\.1"):
        measured(stories=folders["stories"])


def test_the_shipped_stories_can_be_read() -> None:
    shipped = stories.read_stories()
    assert {story.language for story in shipped} == {"en", "zh"}
    assert sum(len(story.sessions) for story in shipped) >= 30
    assert all(len(story.questions) == 15 for story in shipped)


@pytest.mark.campaign  # `test_without_a_model_a_story_is_told_by_rules` tells a short one
@pytest.mark.real_embeddings
def test_a_shipped_story_of_each_language_keeps_its_level_without_a_model() -> None:
    """Measured on 2026-11-23: facts 0.94, peaks 0.80, nothing invented 0.96; less a margin."""
    figures = measured(only=["en-3", "zh-1"])["all"]
    least = {"facts kept": 0.85, "peaks kept": 0.75, "nothing invented": 0.93, "in the right language": 1.0}
    assert {name: figures[name] >= value for name, value in least.items()} == dict.fromkeys(least, True)
