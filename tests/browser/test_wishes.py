"""Standing wishes in the browser: said in a conversation, then changed, undone, paused and forgotten; and sessions
later what holds for good."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conversation import STORIES as STORIES_OF_NAMES
from tests.browser.conversation import begin, quiet, say
from tests.browser.test_memory_page import SOON, confirm
from tests.browser.test_requests_in_words import picture
from tests.installation import Installation
from tests.memory.sessions import extraction
from tests.wire.openai_server import OpenAIServer
from tests.wire.scripted_server import Says, prompt_of


def test_a_wish_is_heard_and_its_owner_changes_pauses_and_forgets_it(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin(page, house, "en")
    talk = page.url
    say(page, "When I'm sad, just be with me.")
    page.goto(talk.replace("/chat/", "/memory/") + "wishes/")
    wish = page.get_by_test_id("wish")
    expect(wish).to_contain_text("just be with me")
    wish.get_by_test_id("edit-wish").locator("summary").click()
    wish.locator("[name=text]").fill("When I'm sad, hold my hand.")
    wish.get_by_test_id("save-edit").click()
    expect(wish).to_contain_text("hold my hand")
    wish.get_by_test_id("wish-undo").click()
    expect(wish).to_contain_text("just be with me")
    wish.get_by_test_id("wish-hide").click()
    expect(wish).to_contain_text("not in use")
    wish.get_by_test_id("wish-hide").click()
    expect(wish).not_to_contain_text("not in use")
    wish.get_by_test_id("wish-forget").click()
    confirm(page)
    again = page.context.new_page()
    again.goto(talk.replace("/chat/", "/memory/") + "wishes/")
    expect(again.get_by_test_id("wish")).to_have_count(0, timeout=SOON)
    assert complaints == []


STORIES = {
    "en": {
        "wish": "When I'm sad, just be with me.", "acts": "just be with me", "name": "Call me Sammy.",
        "called": "Sammy", "nuts": "Please remember that I'm allergic to nuts.", "known": "allergic to nuts",
        "feels": "everything feels empty", "says": ("what can't I eat?", "let's order Thai", "hello"),
        "unsure": "(not sure)",
    },
    "zh": {
        "wish": "我难过的时候，你就陪着我。", "acts": "你就陪着我", "name": "叫我小安。", "called": "小安",
        "nuts": "请记住我对坚果过敏。", "known": "坚果过敏", "feels": "心里空荡荡的",
        "says": ("我不能吃什么？", "我们点泰国菜吧", "你好"), "unsure": "（不确定）",
    },
}  # fmt: skip
# 200 memories of other days, as consolidation would store them.
OTHER_DAYS = """
from echovessel.embeddings import embedding
from memory.models import ConceptNode
from memory.store import vectors
from persona.models import Persona
persona = Persona.objects.get()
words = [f"Ana went to the harbour on day {number}." for number in range(200)]
common = {"persona": persona, "kind": "event", "source": "extraction", "emotional_impact": 3}
common["embedding_model"] = embedding.name()
nodes = [ConceptNode.objects.create(**common, description=one, content_hash=one) for one in words]
vectors.index(nodes, embedding.embed(words))
"""


class Listener:
    """A model that listens, and keeps each prompt it is asked to answer."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, body: dict[str, Any]) -> Says:
        wanted = json.dumps(body.get("response_format") or "")
        if "mentioned_entities" in wanted:
            return Says(json.dumps(extraction([], session_mood_signal=None, session_summary="")))
        if "thoughts" in wanted:
            return Says('{"thoughts": []}')
        self.prompts.append(prompt_of(body))
        return Says("I am listening.")

    def wishes(self) -> str:
        """Those that the last prompt tells."""
        return "".join(re.findall(r"<wishes>\n(.*?)</wishes>", self.prompts[-1], re.DOTALL))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_is_asked_once_holds_in_later_sessions_and_doubt_is_said_until_it_is_settled(
    browser: Browser, wired: Installation, model: OpenAIServer, language: str
) -> None:
    page = browser.new_context(locale=language).new_page()
    story, listener, complaints = STORIES[language], Listener(), quiet(page)
    model.respond = listener
    begin(page, wired, language)
    check_always_known(page, wired, listener, story, language)
    assert complaints == []


def check_always_known(page: Page, house: Installation, model: Listener, story: dict[str, Any], language: str) -> None:
    talk = page.url
    memory = talk.replace("/chat/", "/memory/")
    for text in (story["wish"], story["name"]):
        say(page, text)
    say(page, story["nuts"])
    assert story["called"] in model.prompts[-1]
    expect(page.get_by_test_id("kept").filter(has_text=story["known"])).to_be_visible(timeout=SOON)
    house.run(OTHER_DAYS)
    for text in story["says"]:
        house.call("close_sessions", "--all")
        say(page, text)
        assert story["known"] in model.prompts[-1], text
        assert story["acts"] not in model.wishes(), text
    house.call("close_sessions", "--all")
    say(page, story["feels"])
    assert story["acts"] in model.wishes()
    reply = page.get_by_test_id("message-persona").last
    reply.get_by_test_id("why").click()
    expect(reply.get_by_test_id("xray-wishes")).to_contain_text(story["acts"], timeout=SOON)
    expect(reply.get_by_test_id("xray-sheet")).to_contain_text(story["known"])
    picture(page, f"why-{language}")

    page.goto(f"{memory}wishes/")
    expect(page.get_by_test_id("always-known")).to_contain_text(story["known"])
    picture(page, f"wishes-{language}")
    page.get_by_test_id("always-known").get_by_role("link", name=re.compile(story["known"])).click()
    node = page.url
    for action, unsure in (("dispute", True), ("confirm", False)):
        page.goto(node)
        page.get_by_test_id(f"action-{action}").click()
        expect(page.get_by_test_id("state-unsure")).to_have_count(1 if unsure else 0)
        picture(page, f"node-{action}-{language}")
        page.goto(talk)
        say(page, story["says"][0])
        line = next(one for one in model.prompts[-1].splitlines() if story["known"] in one and one.startswith("-"))
        assert (story["unsure"] in line) == unsure, line

    # Each is undone: the memory hidden, the wish paused, the name taken back.
    page.goto(node)
    page.get_by_test_id("action-hide").click()
    page.goto(f"{memory}wishes/")
    for _ in range(2):
        page.get_by_test_id("wish").filter(has_not=page.locator(".tag--state")).first.get_by_test_id(
            "wish-hide"
        ).click()
        page.wait_for_load_state()
    expect(page.get_by_test_id("wish").locator(".tag--state")).to_have_count(2)
    page.goto(talk)
    house.call("close_sessions", "--all")
    say(page, story["feels"])
    assert story["acts"] not in model.wishes()
    assert STORIES_OF_NAMES[language][3] in model.prompts[-1].split("\n#")[0]


# A memory that a model put in the place of an older one, as consolidation would store it.
REPLACED = """
from echovessel.embeddings import embedding
from echovessel.outbox import events
from memory.models import ConceptNode
from memory.store import vectors
from persona.models import Persona
persona = Persona.objects.get()
words = {words}
common = {{"persona": persona, "kind": "event", "source": "extraction", "embedding_model": embedding.name()}}
old, new = [ConceptNode.objects.create(**common, description=one, content_hash=one) for one in words]
vectors.index([old, new], embedding.embed(words))
ConceptNode.objects.filter(pk=old.pk).update(status="superseded", superseded_by=new)
ids = {{"node_id": str(old.uuid), "superseded_by": str(new.uuid)}}
events.publish(persona.uuid, "memory.node.updated", kind="event", change="superseded", **ids)
"""
OPEN = {
    "en": ("Just Sammy is fine.", "Should I call you Sammy?", ["Ruth lives in Leeds.", "Ruth lives in York."]),
    "zh": ("聊到我爸就打住哈", "以后要我照这样做吗？", ["露丝住在利兹。", "露丝住在约克。"]),
}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_open_question_waits_on_the_page_of_wishes_and_what_was_replaced_survives_a_reload(
    browser: Browser, house: Installation, language: str
) -> None:
    page, (message, question, words) = browser.new_context(locale=language).new_page(), OPEN[language]
    complaints = quiet(page)
    begin(page, house, language)
    talk = page.url
    say(page, message)
    expect(page.get_by_test_id("may-be-asked")).to_contain_text(question, timeout=SOON)
    page.goto(talk.replace("/chat/", "/memory/") + "wishes/")
    expect(page.get_by_test_id("open-question")).to_contain_text(question)
    picture(page, f"open-{language}")
    page.get_by_test_id("open-question-yes").click()
    expect(page.get_by_test_id("wish")).to_have_count(1)
    expect(page.get_by_test_id("open-question")).to_have_count(0)

    house.run(REPLACED.format(words=words))
    for _ in range(2):
        page.goto(talk)
        expect(page.get_by_test_id("superseded")).to_contain_text(words[1], timeout=SOON)
    picture(page, f"replaced-{language}")
    with page.expect_response(lambda answer: "settle" in answer.url):
        page.get_by_test_id("superseded-seen").click()
    page.goto(talk)
    expect(page.get_by_test_id("message-persona").last).to_be_visible()
    expect(page.get_by_test_id("superseded")).to_have_count(0)
    assert complaints == []
