"""The companion's page: every part is saved by itself, nothing is lost silently, and the picture is its owner's."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from echovessel.outbox.models import OutboxEvent
from memory.forgetting import Target, forget, plan
from persona.models import CoreBlock, Persona, Picture
from persona.onboarding.creation import create_persona
from tests.persona.images import PLACE, jpeg, png
from tests.table import each_row

pytestmark = pytest.mark.django_db


class Tab:
    """The page as one tab shows it: it sends what it was shown, with changes."""

    def __init__(self, client: Client, persona: Persona) -> None:
        self.client, self.url = client, f"/memory/{persona.uuid}/companion/"
        self.parts = client.get(self.url).context["parts"]

    def save(self, part: str, **changes: Any) -> Any:
        form = self.parts[part]["form"]
        fields = {name: form[name].value() for name in form.fields}
        return self.client.post(self.url, {"part": part, **fields, **changes})


@pytest.fixture
def owner(client: Client, mira: Persona) -> Client:
    client.force_login(mira.owner)
    return client


def block(persona: Persona, label: str) -> CoreBlock:
    return CoreBlock.objects.get(persona=persona, label=label)


def test_each_part_is_saved_by_itself_and_open_pages_hear_which_fields_changed(owner: Client, mira: Persona) -> None:
    tab = Tab(owner, mira)
    Persona.objects.filter(pk=mira.pk).update(facts={"likes": ["tea"], "gender": "woman"})
    tab = Tab(owner, mira)
    for part, changes in {
        "look": {"name": "  Mira\u202e \n Lin ", "colour": "plum"},
        "persona": {"persona": "A calm listener.", "occupation": "gardener", "gender": ""},
        "user": {"user_name": "Ann", "user": "Ann paints."},
        "style": {"style": "Short.", "language": "zh"},
        "zone": {"timezone": "里斯本"},
    }.items():
        answer = tab.save(part, **changes)
        assert (answer.status_code, answer.url) == (302, f"{tab.url}#{part}"), part
    mira.refresh_from_db()
    assert (mira.name, mira.colour, mira.user_name, mira.language) == ("Mira Lin", "plum", "Ann", "zh")
    assert mira.timezone == "Europe/Lisbon"
    assert mira.facts == {"likes": ["tea"], "occupation": "gardener"}
    assert [block(mira, label).content for label in ("persona", "user", "style")] == [
        *("A calm listener.", "Ann paints.", "Short."),
    ]
    changed_fields = [
        event.data["changed_fields"] for event in OutboxEvent.objects.filter(name="chat.settings.updated")
    ]
    assert changed_fields == [
        ["colour", "name"],
        ["facts", "persona"],
        ["user", "user_name"],
        ["language", "style"],
        ["timezone"],
    ]
    assert "Saved." in owner.get(tab.url).content.decode()


def test_line_breaks_of_forms_make_no_version_of_a_text_that_stayed(owner: Client, mira: Persona) -> None:
    block(mira, "user").rewrite("Ana\npaints.", mira.owner)
    CoreBlock.objects.filter(persona=mira, label="style").update(content="Short\r\nand dry.")
    count = block(mira, "user").versions.count()
    assert Tab(owner, mira).save("user", user="Ana\r\npaints.", user_name="Ann").status_code == 302
    assert Tab(owner, mira).save("style", style="Short\r\nand dry.", language="zh").status_code == 302
    assert (block(mira, "user").content, block(mira, "user").versions.count()) == ("Ana\npaints.", count)
    assert block(mira, "style").versions.count() == 0
    assert Tab(owner, mira).save("user", user="x\r\n" * 2_500).status_code == 302


def test_a_name_asked_for_in_conversation_is_told_beside_the_field(owner: Client, mira: Persona) -> None:
    Persona.objects.filter(pk=mira.pk).update(asked_name="Annie")
    assert "you asked to be called Annie" in owner.get(f"/memory/{mira.uuid}/companion/").content.decode()


def test_two_tabs_lose_no_change_silently(owner: Client, mira: Persona) -> None:
    first, second = Tab(owner, mira), Tab(owner, mira)
    assert first.save("style", style="Short and dry.").status_code == 302
    assert second.save("look", name="Mirabel").status_code == 302  # another part is no conflict
    refused = second.save("style", style="Long and warm.")
    page = refused.content.decode()
    assert refused.status_code == 409
    assert "Short and dry." in page
    assert "Long and warm." in page
    assert block(mira, "style").content == "Short and dry."
    again = second.save("style", style="Long and warm.", seen=refused.context["parts"]["style"]["seen"])
    assert again.status_code == 302
    assert block(mira, "style").content == "Long and warm."
    assert first.save("style", style="Long and warm.").status_code == 302  # what is saved already is no conflict
    assert "Short and dry." in [version.content for version in block(mira, "style").versions.all()]


def test_an_earlier_version_is_restored_unless_the_text_changed_meanwhile(owner: Client, mira: Persona) -> None:
    block(mira, "user").rewrite("First.", mira.owner)
    block(mira, "user").rewrite("Second.", mira.owner)
    number = block(mira, "user").versions.get(content="First.").version
    tab, late = Tab(owner, mira), Tab(owner, mira)
    assert tab.save("user", restore=str(number)).status_code == 302
    assert block(mira, "user").content == "First."
    block(mira, "user").rewrite("Third.", mira.owner)
    assert late.save("user", restore=str(number)).status_code == 409
    assert block(mira, "user").content == "Third."
    assert late.save("user", restore="999").status_code == 404
    assert late.save("zone", restore="1", timezone="Europe/Rome").status_code == 302


@each_row(
    ("part", "changes", "words"),
    [
        ("look", {"name": ""}, "This field is required."),
        ("look", {"name": "\u202e \u200b"}, "This field is required."),
        ("look", {"name": "n" * 200}, "at most 80 characters (it has 200)"),
        ("look", {"colour": "red; }"}, "red; }"),
        ("persona", {"persona": "x" * 5_001}, "at most 5,000 characters"),
        ("persona", {"occupation": "x" * 201}, "at most 200 characters"),
        ("style", {"language": "de"}, "de"),
        ("zone", {"timezone": "Atlantis"}, "No such place is known here."),
        ("zone", {"timezone": "Etc"}, "No such place is known here."),
        ("zone", {"timezone": "New"}, "More than one place fits"),
        ("zone", {"timezone": ""}, "This field is required."),
    ],
)
def test_what_cannot_be_stored_is_refused_beside_its_field(
    owner: Client, mira: Persona, part: str, changes: dict[str, str], words: str
) -> None:
    answer = Tab(owner, mira).save(part, **changes)
    assert answer.status_code == 422
    errors = str(answer.context["parts"][part]["form"].errors)
    assert words in errors or words in errors.replace("5000", "5,000")
    assert not OutboxEvent.objects.filter(name="chat.settings.updated").exists()


@each_row("name", ["م" * 80, "W" * 80, "شَهْرَزاد", "<script>alert(1)</script>", "👩‍🚀 Zoë", "%(name)s {{ name }}"])
def test_any_name_of_eighty_signs_is_shown_on_every_page(owner: Client, mira: Persona, name: str) -> None:
    assert Tab(owner, mira).save("look", name=name).status_code == 302
    mira.refresh_from_db()
    assert mira.name == name
    pages = (f"/chat/{mira.uuid}/", f"/memory/{mira.uuid}/", f"/memory/{mira.uuid}/companion/", "/account/")
    for address in pages:
        page = owner.get(address).content.decode()
        assert 'dir="auto"' in page
        assert "<script>alert" not in page


# --- the picture ----------------------------------------------------------------------------------------------------
def send(client: Client, persona: Persona, data: bytes, **fields: str) -> Any:
    file = SimpleUploadedFile("../../portrait.svg", data, "image/svg+xml")
    seen_version = Persona.objects.get(pk=persona.pk).picture_version
    url = f"/memory/{persona.uuid}/companion/"
    return client.post(url, {"part": "picture", "picture": file, "seen": seen_version} | fields)


def test_a_picture_is_shown_to_its_owner_alone_and_kept_by_no_cache(
    owner: Client, mira: Persona, ben: User, otto: Persona
) -> None:
    assert owner.get(f"/memory/{mira.uuid}/picture/").status_code == 404
    assert send(owner, mira, jpeg()).status_code == 302
    answer = owner.get(f"/memory/{mira.uuid}/picture/")
    assert PLACE not in answer.content
    assert answer.content.startswith(b"\xff\xd8")
    headers = {name: answer[name] for name in ("Content-Type", "Cache-Control", "X-Content-Type-Options")}
    assert headers == {"Content-Type": "image/jpeg", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    assert answer["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert f"/memory/{mira.uuid}/picture/?" in owner.get(f"/chat/{mira.uuid}/").content.decode()
    stranger = Client()
    assert stranger.get(f"/memory/{mira.uuid}/picture/").status_code == 302
    stranger.force_login(ben)
    assert stranger.get(f"/memory/{mira.uuid}/picture/").status_code == 404
    assert send(stranger, mira, png()).status_code == 404
    assert Picture.objects.get().format == "jpeg"
    owner.post("/logout/")
    assert owner.get(f"/memory/{mira.uuid}/picture/").status_code == 302


def test_a_picture_that_another_tab_changed_is_not_replaced_silently(owner: Client, mira: Persona) -> None:
    assert send(owner, mira, png()).status_code == 302
    for fields in ({"seen": ""}, {"seen": "", "remove": "1"}):
        answer = send(owner, mira, jpeg(), **fields)
        assert answer.status_code == 409
        assert "another tab" in answer.content.decode()
    assert Picture.objects.get().format == "png"
    assert send(owner, mira, b"", remove="1").status_code == 302
    assert not Picture.objects.exists()


@each_row(
    ("data", "words"),
    [
        (
            b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
            "SVG drawings can contain programs",
        ),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * (11 * 1024 * 1024), "larger than 10 MB"),
        (b"GIF89a", "not a PNG, JPEG or WebP"),
        (png()[:-9], "damaged"),
        (png(20_000, 20_000), "too many pixels"),
    ],
)
def test_a_picture_that_is_not_taken_says_why(owner: Client, mira: Persona, data: bytes, words: str) -> None:
    answer = send(owner, mira, data)
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Picture.objects.exists()


def test_without_a_file_the_page_asks_for_one(owner: Client, mira: Persona) -> None:
    answer = owner.post(f"/memory/{mira.uuid}/companion/", {"part": "picture", "seen": ""})
    assert (answer.status_code, "Choose a picture first." in answer.content.decode()) == (422, True)
    assert owner.post(f"/memory/{mira.uuid}/companion/", {"part": "nose"}).status_code == 404


def test_the_picture_goes_with_the_companion(owner: Client, mira: Persona) -> None:
    other = create_persona(mira.owner, "Lin")
    for persona in (mira, other):
        send(owner, persona, png())
    forget(plan([Target("persona", mira.pk)]), mira.owner, timezone.now())
    assert [picture.persona for picture in Picture.objects.all()] == [other]
