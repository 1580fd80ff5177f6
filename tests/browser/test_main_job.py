"""The main job, as a person does it: from the first-run link to a talk that remembers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conversation import SECONDS, STORIES, end_session, quiet, say
from tests.installation import Installation
from tests.wire.anthropic_server import AnthropicServer
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says, ScriptedServer, prompt_of


def onboard(page: Page, house: Installation, language: str) -> None:
    """First-run link and onboarding, to the empty chat page."""
    *_, user_name, name = STORIES[language]
    page.goto(house.first_run_link)
    page.locator("[name=username]").fill("ana")
    page.locator("[name=password1]").fill("a long word for ana")
    page.locator("[name=password2]").fill("a long word for ana")
    page.get_by_test_id("first-run-form").locator("button").click()
    page.locator("[name=name]").fill(name)
    page.locator("[name=persona]").fill("Calm, curious, loves the sea.")
    page.get_by_test_id("next").click()
    page.locator("[name=user_name]").fill(user_name)
    page.get_by_test_id("next").click()
    page.locator("[name=style]").fill("Short and warm.")
    page.locator(f"[name=language][value={language}], select[name=language]").first.evaluate(
        "(field, value) => { if (field.tagName === 'SELECT') field.value = value; else field.checked = true }", language
    )
    page.get_by_test_id("next").click()
    expect(page.get_by_test_id("persona-name")).to_have_text(name)
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=20 * SECONDS)


def remembers(page: Page, language: str) -> None:
    """The whole story: told, closed, settled in the timeline without a reload, asked for, explained."""
    told, asked, name, *_ = STORIES[language]
    say(page, told)
    end_session(page)
    expect(page.get_by_test_id("timeline-body")).to_contain_text(name)
    say(page, asked)
    reply = page.get_by_test_id("message-persona").last
    expect(reply.get_by_test_id("bubble")).to_contain_text(name)
    reply.get_by_test_id("why").click()
    event = reply.locator("[data-testid=xray-item][data-layer=L3]").first
    expect(event).to_contain_text(name)
    expect(event.get_by_test_id("xray-quote").first).to_contain_text(name)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_first_session_is_remembered_in_the_next(page: Page, house: Installation, language: str) -> None:
    complaints = quiet(page)
    onboard(page, house, language)
    remembers(page, language)
    assert complaints == []


class Mind:
    """A scripted model behind a wire protocol: it distils one story, and answers from what its prompt holds."""

    def __init__(self, language: str) -> None:
        self.told, _asked, self.name, self.user_name, _ = STORIES[language]

    def __call__(self, body: dict[str, Any]) -> Says:
        prompt, wanted = prompt_of(body), json.dumps(body.get("response_format") or body.get("output_config") or "")
        if "mentioned_entities" in wanted:
            return Says(json.dumps(self.extraction(prompt), ensure_ascii=False), pieces=4)
        if "thoughts" in wanted:
            return Says(json.dumps({"thoughts": [self.thought(prompt)]}, ensure_ascii=False), pieces=2)
        recalled = re.split("# (?:What you remember|你记得的事)", prompt)[-1].partition("</memory>")[0]
        known = "<memory>" in recalled and self.name in recalled
        return Says(f"Of course: {self.name}!" if known else "Tell me more, I am listening.", pieces=6, pause_s=0.05)

    def extraction(self, prompt: str) -> dict[str, Any]:
        said = re.search(rf"\[(\w+)\][^\n]*{re.escape(self.told[:8])}", prompt)
        assert said, "the line that was told is not in the extraction prompt"
        event = {
            "description": f"{self.user_name}: {self.name}, a white cat.",
            "emotional_impact": 2,
            "emotion_tags": ["fond"],
            "relational_tags": [],
            "subject": "user",
            "event_time": None,
            "evidence": [{"message_id": said.group(1), "quote": self.told.rstrip(".。")}],
            "supersedes": [],
            "confidence": 0.9,
        }
        return {
            "events": [event],
            "mentioned_entities": [{"canonical_name": self.name, "aliases": [], "kind": "pet", "in_events": [0]}],
            "entity_clarification": None,
            "session_mood_signal": {"mood": "warm", "energy": 6, "last_user_signal": "warm"},
            "session_summary": f"About {self.name}.",
            "self_check_notes": "",
        }

    def thought(self, prompt: str) -> dict[str, Any]:
        events = re.findall(r"\[(\w+)\]", prompt)
        return {
            "description": "Nights are lively there.",
            "emotional_impact": 1,
            "subject": "user",
            "filling": events[:1],
        }


@pytest.mark.parametrize(
    ("server", "provider", "language"),
    [
        (OpenAIServer, "openai", "zh"),
        (AnthropicServer, "anthropic", "en"),
        pytest.param(OpenAIServer, "openai", "en", marks=pytest.mark.campaign),
        pytest.param(AnthropicServer, "anthropic", "zh", marks=pytest.mark.campaign),
    ],
)
def test_the_same_with_a_model_behind_a_wire(
    page: Page, tmp_path: Path, empty: Path, server: type[ScriptedServer], provider: str, language: str
) -> None:
    mind = server()
    mind.respond = Mind(language)
    env = {"LLM_PROVIDER": provider, "LLM_BASE_URL": mind.url, "LLM_API_KEY": "test-key"}
    try:
        with Installation(tmp_path, empty, **env) as house:
            onboard(page, house, language)
            remembers(page, language)
    finally:
        mind.close()
