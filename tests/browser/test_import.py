"""Memories from elsewhere, in a browser: beginning with a chat, bringing more, and what hostile files cannot do."""

import json
import re

from playwright.sync_api import Browser, Page, expect

from tests.browser.conversation import SECONDS, quiet, say, sign_in
from tests.installation import Installation

SOON = 20 * SECONDS
LATER = 90 * SECONDS
SAID = [
    ("Ana", "I adopted a white cat named Snowball. He is so naughty, he jumps on my face at midnight."),
    ("Mira", "Oh no! Is he sleeping now?"),
    ("Kim", "Who brings the salad on Sunday?"),
    ("Ana", "My sister Rosa lives in Lisbon and works as a nurse."),
]
CHAT = "\n".join(f"31/12/2023, 21:0{n} - {who}: {words}" for n, (who, words) in enumerate(SAID))
DIARY = "# 2024-01-03\n\nI moved to Lyon last week and I start at the library on Monday.\n"
PAYLOAD = "<img src=x onerror=alert(1)><script>alert(2)</script>"
# A chat copied without its dates, or notes with headings.
COPIED = "\n".join(f"21:0{n} {who}: {words}" for n, (who, words) in enumerate([*SAID, *SAID]))
NAMES = [PAYLOAD, '" onmouseover="alert(3)', "\u202eecila", "A" * 300, "{{ persona }}{% now 'Y' %}", "安娜 🌊"]


def begin_before_the_first_companion(page: Page, house: Installation) -> None:
    sign_in(page, house)
    page.goto(house.url)


def hand_over(page: Page, name: str, content: str) -> None:
    page.get_by_test_id("file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": content.encode()})
    page.get_by_test_id("hand-over-button").click()
    page.wait_for_url(re.compile(r"/(material|bring)/[0-9a-f-]+/$"))


def choose(page: Page, name: str, side: str) -> None:
    one = page.get_by_test_id("speaker").filter(has=page.locator(".who__name", has_text=name))
    one.get_by_label(side, exact=True).check()


def done(page: Page) -> None:
    expect(page.locator("[data-testid=import][data-status=done]")).to_be_visible(timeout=LATER)


def test_a_whatsapp_chat_is_imported_before_the_first_companion_and_recalled_in_the_session(
    page: Page, house: Installation
) -> None:
    complaints = quiet(page)
    begin_before_the_first_companion(page, house)
    page.get_by_test_id("from-material").click()
    hand_over(page, "WhatsApp Chat with Mira.txt", CHAT)
    expect(page.get_by_test_id("speaker")).to_have_count(3, timeout=SOON)
    choose(page, "Ana", "me")
    choose(page, "Mira", "my companion")
    choose(page, "Kim", "somebody else")
    expect(page.get_by_label("Your companion's name")).to_have_value("Mira")
    expect(page.get_by_label("What they should call you")).to_have_value("Ana")
    page.get_by_test_id("confirm-import").click()
    done(page)  # without anybody asking anew

    # Without a model only what says who the owner is would be drafted, word for word: nothing here does.
    expect(page.get_by_test_id("to-drafts")).to_have_count(0)
    page.get_by_test_id("to-talk").click()
    expect(page.get_by_test_id("log")).to_contain_text("Who brings the salad")
    expect(page.get_by_test_id("chat")).to_have_attribute("data-state", "online", timeout=SOON)
    say(page, "Do you remember my cat?")
    expect(page.get_by_test_id("message-persona").last).to_contain_text("Snowball")

    page.get_by_test_id("menu").click()
    page.get_by_test_id("bring-link").click()
    hand_over(page, "diary.md", DIARY)
    expect(page.get_by_test_id("only-prose")).to_be_visible(timeout=SOON)
    page.get_by_test_id("more").locator("summary").click()
    page.locator("[name=format]").select_option("chatgpt")
    page.get_by_test_id("look-again").click()
    expect(page.get_by_test_id("read-otherwise")).to_contain_text("This is not JSON", timeout=SOON)
    page.get_by_test_id("confirm-import").click()
    done(page)
    page.get_by_test_id("take-back").click()
    dialog = page.get_by_test_id("dialog")
    expect(dialog.get_by_test_id("take-back-lead")).to_be_visible(timeout=SOON)
    expect(dialog.get_by_test_id("plan-going")).to_contain_text("Lyon")
    dialog.get_by_test_id("forget-confirm").click()
    expect(dialog.get_by_test_id("bring-again")).to_be_visible(timeout=SOON)
    expect(page.get_by_test_id("import-says")).to_have_text("Import undone")
    dialog.get_by_test_id("bring-again").get_by_role("link").click()
    hand_over(page, "diary.md", DIARY)
    expect(page.get_by_test_id("only-prose")).to_be_visible(timeout=SOON)
    page.get_by_test_id("confirm-import").click()
    done(page)
    expect(page.get_by_test_id("counts")).to_contain_text(re.compile("conversations? remembered"))
    page.get_by_test_id("forget-import").click()
    expect(dialog.get_by_test_id("plan-going")).to_contain_text("Lyon", timeout=SOON)
    dialog.get_by_test_id("forget-confirm").click()
    expect(dialog.get_by_test_id("receipt")).to_be_visible(timeout=SOON)
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_test_id("memory-row").first).to_be_visible(timeout=SOON)
    expect(page.get_by_test_id("memory")).not_to_contain_text("Lyon")
    assert complaints == []


def test_the_import_page_asks_open_questions_and_rejects_a_wrong_answer(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    begin_before_the_first_companion(page, house)
    house.call("create_persona", "--owner", "ana", "Mira")  # knows only the name of the account
    page.goto(f"{house.url}/")
    page.goto(page.url.replace("/chat/", "/memory/") + "bring/")
    page.set_viewport_size({"width": 390, "height": 800})

    # Records of which no field says who speaks: all of it is the owner's own, or a field says it.
    rows = [
        {"blurb": f"I have a dog and he is {age} years old.", "person": name} for age, name in ((3, "Al"), (4, "Ben"))
    ]
    hand_over(page, "rows.json", json.dumps(rows))
    expect(page.get_by_test_id("mapping")).to_be_visible(timeout=SOON)
    page.get_by_label("Sender").select_option(label="nobody else: all of it is mine")
    page.get_by_test_id("confirm-import").click()
    expect(page.get_by_test_id("only-prose")).to_be_visible(timeout=SOON)
    expect(page.get_by_label("What is your name?")).to_be_visible()
    expect(page.get_by_test_id("no-model")).to_contain_text("No model is connected")
    page.get_by_test_id("confirm-import").click()
    expect(page.get_by_test_id("called")).to_contain_text("Please enter your name.")
    page.get_by_test_id("mapping").locator("summary").click()
    page.get_by_label("Sender").select_option("person")
    page.get_by_test_id("confirm-import").click()
    expect(page.get_by_test_id("speaker")).to_have_count(2, timeout=SOON)
    choose(page, "Al", "me")
    choose(page, "Ben", "somebody else")
    expect(page.get_by_label("What is your name?")).to_have_value("Al")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    page.get_by_test_id("confirm-import").click()
    done(page)

    # A chat between people: nobody is the persona, and who of them is the owner is known by the name by now.
    page.goto(page.url.rpartition("/bring/")[0] + "/bring/")
    hand_over(page, "chat.txt", CHAT.replace("Ana", "Al").replace("Mira", "Rosa"))
    expect(page.get_by_test_id("between-people")).to_be_visible(timeout=SOON)
    expect(page.get_by_test_id("called")).to_have_count(0)
    for name, side in (("Al", "me"), ("Rosa", "somebody else"), ("Kim", "somebody else")):
        one = page.get_by_test_id("speaker").filter(has=page.locator(".who__name", has_text=name))
        expect(one.get_by_label(side, exact=True)).to_be_checked()
    page.get_by_test_id("confirm-import").click()
    done(page)

    # Copied out of a chat, or notes: nobody can tell but the owner.
    page.goto(page.url.rpartition("/bring/")[0] + "/bring/")
    hand_over(page, "copied.txt", COPIED)
    expect(page.get_by_test_id("chat-or-notes")).to_be_visible(timeout=SOON)
    page.get_by_label("My own notes").check()
    page.get_by_test_id("confirm-import").click()
    expect(page.get_by_test_id("only-prose")).to_be_visible(timeout=SOON)
    page.get_by_test_id("more").locator("summary").click()
    page.get_by_label("What it is").select_option("chat")
    page.get_by_test_id("look-again").click()
    expect(page.get_by_test_id("speaker").first).to_be_visible(timeout=SOON)
    assert [one for one in complaints if "422" not in one] == []  # of the answer that was missing


def test_what_a_hostile_file_says_is_shown_and_does_nothing(page: Page, house: Installation) -> None:
    complaints = quiet(page)
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    begin_before_the_first_companion(page, house)
    page.get_by_test_id("from-material").click()
    messages = [
        {
            "id": n,
            "type": "message",
            "date": f"2023-01-01T10:00:{n:02}",
            "from": name,
            "from_id": f"user{n}",
            "text": name,
        }
        for n, name in enumerate(NAMES)
    ]
    chat = {"name": PAYLOAD, "type": "personal_chat", "id": 1, "messages": messages}
    hand_over(page, f"{PAYLOAD[:28]}.json", json.dumps(chat))
    expect(page.get_by_test_id("speaker")).to_have_count(len(NAMES), timeout=SOON)
    expect(page.get_by_test_id("speaker").first).to_contain_text("<img src=x onerror=alert(1)>")
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for one in page.get_by_test_id("speaker").all():
        one.get_by_label("somebody else", exact=True).check()
    page.get_by_test_id("speaker").first.get_by_label("my companion", exact=True).check()
    page.get_by_test_id("speaker").last.get_by_label("me", exact=True).check()
    page.get_by_label("Your companion's name").fill(PAYLOAD)
    page.get_by_test_id("confirm-import").click()
    done(page)
    page.get_by_test_id("to-talk").click()
    expect(page.get_by_test_id("log")).to_contain_text("onerror=alert(1)")
    assert complaints == []


def test_without_a_script_a_file_is_handed_over_asked_about_and_taken_in(browser: Browser, house: Installation) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    begin_before_the_first_companion(page, house)
    page.get_by_test_id("from-material").click()
    hand_over(page, "broken.json", '[{"mapping": {')
    expect(page.get_by_test_id("refusal")).to_contain_text("damaged or cut off", timeout=SOON)
    page.get_by_role("link", name="Choose another file").click()
    hand_over(page, "WhatsApp Chat with Mira.txt", CHAT)
    expect(page.get_by_test_id("speaker")).to_have_count(3, timeout=SOON)  # the page asks anew by itself
    ana = page.get_by_test_id("speaker").filter(has=page.locator(".who__name", has_text="Ana"))
    expect(ana.get_by_label("me", exact=True)).to_be_checked()  # she has the name of her account
    choose(page, "Ana", "somebody else")
    page.get_by_test_id("confirm-import").click()
    expect(page.get_by_role("alert")).to_contain_text("Please say which of them is you, or that none of them is.")
    choose(page, "Ana", "me")
    choose(page, "Mira", "my companion")
    choose(page, "Kim", "leave out")
    page.get_by_label("Your companion's name").fill("Mira")
    page.get_by_label("What they should call you").fill("Ana")
    page.get_by_test_id("confirm-import").click()
    done(page)
    context.close()
