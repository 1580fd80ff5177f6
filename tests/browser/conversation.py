"""What tests do with a conversation in a browser: begin one, say something, end it."""

from playwright.sync_api import Page, expect

from tests.installation import Installation

SECONDS = 1_000
PASSWORD = "a long word for {}"
CAT_ZH = "我养了只白猫,叫小黑。他超调皮,老在半夜跳到我脸上。"
CAT_EN = "I adopted a white cat named Snowball. He is so naughty, he jumps on my face at midnight."
STORIES = {
    "zh": (CAT_ZH, "你还记得我的猫吗", "小黑", "安娜", "米拉"),
    "en": (CAT_EN, "Do you remember my cat?", "Snowball", "Ana", "Mira"),
}
# The account as the first-run link makes it, where there is none, and a session of it.
SIGN_IN = """
from django.contrib.auth.models import User
from django.test import Client
user = User.objects.filter(username=name).first() or User.objects.create_superuser(name, password=password)
client = Client()
client.force_login(user)
print(client.cookies["sessionid"].value)
"""
COMPANION = """
from django.contrib.auth.models import User
from persona.onboarding.creation import create_persona
blocks = {"persona": "Calm, curious, loves the sea.", "style": "Short and warm."}
print(create_persona(User.objects.get(username="ana"), blocks=blocks, **persona).uuid)
"""


def sign_in(page: Page, house: Installation, name: str = "ana") -> None:
    """By a cookie in place of the form; somebody who is not there yet becomes a superuser."""
    session = house.run(SIGN_IN, name=name, password=PASSWORD.format(name)).strip()
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": house.url}])


def begin(page: Page, house: Installation, language: str) -> None:
    """Ana and her companion, as onboarding leaves them, and the empty chat page."""
    *_, user_name, name = STORIES[language]
    sign_in(page, house)
    persona = {"name": name, "user_name": user_name, "language": language, "timezone": "UTC"}
    page.goto(f"{house.url}/chat/{house.run(COMPANION, persona=persona).strip()}/")
    expect(page.get_by_test_id("persona-name")).to_have_text(name)
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=20 * SECONDS)


def say(page: Page, words: str) -> None:
    replies = page.get_by_test_id("message-persona").count()
    page.get_by_test_id("composer-input").fill(words)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("message-persona")).to_have_count(replies + 1, timeout=30 * SECONDS)
    expect(page.get_by_test_id("message-persona").last.get_by_test_id("why")).to_be_visible(timeout=30 * SECONDS)


def end_session(page: Page) -> None:
    page.get_by_test_id("end-talk").click()
    for kind in ("event", "entity", "mood"):
        row = page.locator(f"[data-testid=timeline-row][data-kind={kind}]").first
        expect(row).to_be_attached(timeout=60 * SECONDS)


def quiet(page: Page) -> list[str]:
    """What the browser complains of from now on: script errors, CSP violations, failed loads."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints
