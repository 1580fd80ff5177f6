"""Importing memories through the pages, without JavaScript."""

import base64
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone, translation
from django_q.models import OrmQ

from chat.messages import add_message, open_session
from chat.models import Message
from echovessel.api import tokens
from echovessel.api.tokens.models import ApiToken
from memory import knobs
from memory.imports import runner
from memory.imports.readers import png
from memory.models import ConceptNode, Evidence, ImportJob, ImportPiece
from memory.web.presenters.forgetting import describe_counts
from memory.web.presenters.imports import ImportStory
from memory.web.views import onboarding
from persona.companion import pictures
from persona.companion.pictures import PictureRefused
from persona.models import CoreBlock, CoreDraft, Persona
from persona.onboarding import drafts
from persona.onboarding.drafts import DraftSource
from tests.memory.imports.importing_files import analyze_file, import_file, message_lines, whatsapp
from tests.memory.imports.readers.sources import zip_of
from tests.memory.sessions import NOW, turn
from tests.persona import images
from tests.table import each_row

pytestmark = pytest.mark.django_db
CARDS = Path(__file__).parent.parent / "imports" / "readers" / "files"
CHAT = whatsapp("Ana: I met Tomas at the harbour.", "Mira: How was it?", "Kim: hello", "Ana: Warm.")
HOSTILE = "<img src=x onerror=alert(1)>"
FETCHED = {"X-Requested-With": "fetch"}
PASSWORD = "a long word for ana"


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    """The owner's browser."""
    client.force_login(mira.owner)
    return client


def at(persona: Persona, job: ImportJob | None = None) -> str:
    return f"/memory/{persona.uuid}/bring/" + (f"{job.uuid}/" if job else "")


def upload_form(content: bytes, name: str = "chat.txt") -> dict[str, Any]:
    return {"file": SimpleUploadedFile(name, content)}


def create_asking_job(persona: Persona | None, content: bytes = CHAT, name: str = "chat.txt", **rest: Any) -> ImportJob:
    job = analyze_file(persona, content, name, **rest)
    assert job.status == "asking", job.refusal
    return job


def role_answers(job: ImportJob, **roles: str) -> dict[str, str]:
    """The answers of a form about who is who."""
    names = [speaker["name"] for speaker in job.found["speakers"]]
    return {f"role_{number}": roles[name] for number, name in enumerate(names)} | {"zone": "Asia/Shanghai"}


# --- upload ---------------------------------------------------------------------------------------------------------
def test_a_file_that_is_handed_over_is_kept_and_queued_and_leads_to_its_page(owner: Client, mira: Persona) -> None:
    answer = owner.post(at(mira), upload_form(CHAT, "WhatsApp Chat with Mira.txt"))
    job = ImportJob.objects.get()
    assert answer.headers["location"] == at(mira, job)
    assert (job.persona, job.owner, job.file_name) == (mira, mira.owner, "WhatsApp Chat with Mira.txt")
    assert b"".join(bytes(piece.content) for piece in ImportPiece.objects.order_by("number")) == CHAT
    assert OrmQ.objects.count() == 1
    page = owner.get(at(mira, job)).content.decode()
    assert "Checking the file" in page
    assert 'http-equiv="refresh"' in page


def test_a_script_is_told_where_the_page_is_or_why_not(owner: Client, mira: Persona) -> None:
    response = owner.post(at(mira), upload_form(CHAT), headers=FETCHED)
    assert (response.status_code, response.json()) == (201, {"url": at(mira, ImportJob.objects.get())})
    refused = owner.post(at(mira), upload_form(b""), headers=FETCHED)
    assert (refused.status_code, refused.json()) == (422, {"message": "The file is empty."})


def test_nothing_handed_over_and_an_empty_file_are_told_in_place(owner: Client, mira: Persona) -> None:
    for posted, words in (({}, b"Please choose a file."), (upload_form(b""), b"The file is empty.")):
        answer = owner.post(at(mira), posted)
        assert (answer.status_code, words in answer.content) == (422, True)
    assert not ImportJob.objects.exists()


def test_a_file_that_is_too_large_is_told_in_place_and_not_kept(owner: Client, mira: Persona, settings: Any) -> None:
    settings.KNOBS = {knobs.import_upload_megabytes.name: 1}
    large = b"x" * (1024**2 + 1)
    for address in (at(mira), "/welcome/persona/material/"):
        answer = owner.post(address, upload_form(large))
        assert (answer.status_code, b"larger than 1 MB" in answer.content) == (413, True)
    response = owner.post(at(mira), upload_form(large), headers=FETCHED)
    assert (response.status_code, response.json()) == (413, {"message": "The file is larger than 1 MB."})
    assert not ImportJob.objects.exists()


def test_a_file_that_cannot_be_read_says_why_and_where(owner: Client, mira: Persona) -> None:
    job = analyze_file(mira, b'[{"mapping": {"a": {', "broken.json")
    page = owner.get(at(mira, job)).content.decode()
    assert "This is not JSON, or it is damaged or cut off." in page
    assert "the end of the file" in page


# --- questions about the file ---------------------------------------------------------------------------------------
def test_what_was_found_is_shown_and_who_is_who_is_asked(owner: Client, mira: Persona) -> None:
    page = owner.get(at(mira, create_asking_job(mira))).content.decode()
    assert page.count('data-testid="speaker"') == 3
    assert 'data-testid="estimate"' in page
    assert "25 March 2023" in page
    assert page.count('value="user" checked') == 1  # Ana is recognised by name
    assert page.count('value="other" checked') == 2


def test_names_of_speakers_and_files_are_words_and_nothing_else(owner: Client, mira: Persona) -> None:
    job = create_asking_job(mira, whatsapp(f"{HOSTILE}: hello", "Ana: hi", "Mira: hi"), f"a {HOSTILE}.txt")
    for address in (at(mira, job), at(mira)):
        page = owner.get(address).content.decode()
        assert HOSTILE not in page
        assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_an_answer_that_is_missing_is_asked_for_in_place_and_nothing_goes_on(owner: Client, mira: Persona) -> None:
    job = create_asking_job(mira)
    answer = owner.post(at(mira, job), {"role_0": "user", "role_1": "persona", "zone": "UTC"})
    assert (answer.status_code, b"Please say who that is." in answer.content) == (422, True)
    job.refresh_from_db()
    assert job.status == "asking"


def test_the_confirmed_roles_decide_the_imported_messages(owner: Client, mira: Persona) -> None:
    job = create_asking_job(mira)
    answer = owner.post(at(mira, job), role_answers(job, Ana="user", Mira="persona", Kim="skip"))
    assert answer.headers["location"] == at(mira, job)
    while runner.run(job.pk) == runner.Outcome.GOES_ON:
        pass
    assert message_lines(mira) == ["user: I met Tomas at the harbour.", "persona: How was it?", "user: Warm."]
    page = owner.get(at(mira, job)).content.decode()
    assert 'data-status="done"' in page
    forget = f"/memory/{mira.uuid}/forget/?import={job.uuid}"
    assert forget in page
    assert 'data-testid="forget-import-limit"' in owner.get(forget).content.decode()
    assert 'http-equiv="refresh"' not in page


def test_the_order_of_day_and_month_is_asked_before_who_is_who(owner: Client, mira: Persona) -> None:
    job = create_asking_job(mira, b"03/04/2023, 21:01 - Ana: hello\n03/04/2023, 21:02 - Mira: hi\n")
    page = owner.get(at(mira, job)).content.decode()
    assert 'data-testid="day-first"' in page
    assert 'data-testid="speaker"' not in page
    assert owner.post(at(mira, job), {"zone": "UTC"}).status_code == 422
    owner.post(at(mira, job), {"zone": "UTC", "day_first": "month"})
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.found["first_day"]) == ("asking", "2023-03-04")
    assert 'data-testid="speaker"' in owner.get(at(mira, job)).content.decode()


def test_fields_that_were_guessed_are_shown_and_can_be_corrected(owner: Client, mira: Persona) -> None:
    table = b"when_it_was,person,blurb\n2023-05-01 10:00,Ana,I have a dog named Rex and he is old.\n"
    job = create_asking_job(mira, table, "old.csv")
    page = owner.get(at(mira, job)).content.decode()
    assert 'data-testid="mapping"' in page
    fields = {"map_text": "blurb", "map_speaker": "person", "map_at": "when_it_was", "zone": "UTC"}
    assert owner.post(at(mira, job), fields | {"map_text": ""}).status_code == 422
    owner.post(at(mira, job), fields)
    runner.run(job.pk)
    job.refresh_from_db()
    assert [speaker["name"] for speaker in job.found["speakers"]] == ["Ana"]


def test_a_file_may_be_read_as_something_else_before_anybody_says_who_is_who(owner: Client, mira: Persona) -> None:
    job = create_asking_job(mira)
    owner.post(at(mira, job), {"again": "1", "format": "journal", "zone": "UTC"})
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.status, job.format, job.found["speakers"]) == ("asking", "journal", [])


def test_where_it_cannot_be_read_as_something_else_it_says_why_in_place_and_asks_on(
    owner: Client, mira: Persona
) -> None:
    job = create_asking_job(mira)
    owner.post(at(mira, job), role_answers(job, Ana="user", Mira="persona", Kim="other") | {"format": "chatgpt"})
    runner.run(job.pk)
    page = owner.get(at(mira, job)).content.decode()
    assert 'data-testid="read-otherwise"' in page
    assert "It cannot be read as “ChatGPT export" in page
    assert "This is not JSON" in page
    assert page.count('data-testid="speaker"') == 3
    owner.post(at(mira, job), role_answers(job, Ana="user", Mira="persona", Kim="other") | {"format": "auto"})
    job.refresh_from_db()
    assert (job.status, job.refusal) == ("writing", {})


def test_what_is_left_out_is_counted_with_its_reasons_when_it_is_over(owner: Client, mira: Persona) -> None:
    chat = CHAT + b"\n25/03/2023, 21:09 - Ana: <Media omitted>"
    page = owner.get(at(mira, import_file(mira, chat, "chat.txt", {"Kim": "skip"}))).content.decode()
    assert "<dt>message of people you left out</dt><dd>1</dd>" in page
    assert 'data-testid="skipped"' in page


# --- progress -------------------------------------------------------------------------------------------------------
def test_a_script_gets_the_piece_that_changes(owner: Client, mira: Persona) -> None:
    job = import_file(mira, CHAT, "chat.txt")
    piece = owner.get(at(mira, job), headers=FETCHED).content.decode()
    assert piece.lstrip().startswith("<section")
    assert 'data-status="done"' in piece
    assert "data-live" not in piece


def test_an_import_is_cancelled_by_its_button_alone(owner: Client, mira: Persona) -> None:
    job = create_asking_job(mira)
    assert owner.get(at(mira, job) + "cancel/").status_code == 405
    owner.post(at(mira, job) + "cancel/")
    job.refresh_from_db()
    assert job.status == "cancelled"
    assert not ImportPiece.objects.exists()
    assert "Stopped" in owner.get(at(mira, job)).content.decode()


def test_an_import_that_brought_nothing_new_says_so(owner: Client, mira: Persona) -> None:
    import_file(mira, CHAT, "chat.txt")
    again = import_file(mira, CHAT, "chat.txt")
    assert "already here" in owner.get(at(mira, again)).content.decode()


def test_what_a_file_brought_is_reverted_after_a_look_and_the_file_comes_again(owner: Client, mira: Persona) -> None:
    job = import_file(mira, CHAT, "chat.txt", {"Ana": "persona", "Mira": "user"})
    address = f"/memory/{mira.uuid}/forget/"
    for page_url in (at(mira), at(mira, job), f"/memory/{mira.uuid}/receipts/"):
        assert f"{address}?import={job.uuid}&amp;take_back=1" in owner.get(page_url).content.decode()
    preview = owner.get(address, {"import": job.uuid, "take_back": "1"})
    page = preview.content.decode()
    assert "you can import the same file again" in page
    assert "refused from then on" not in page
    assert 'name="dependents"' not in page
    digest = preview.context["preview"]["digest"]
    answer = owner.post(address, {"import": job.uuid, "take_back": "1", "digest": digest, "confirm": "1"})
    receipt = owner.get(answer.headers["location"]).content.decode()
    assert "Import undone" in receipt
    assert f'href="{at(mira)}"' in receipt
    assert message_lines(mira) == []
    assert import_file(mira, CHAT, "chat.txt").counts["lines"] == 4
    assert "undone" in owner.get(f"/memory/{mira.uuid}/receipts/").content.decode()


def create_replies(mira: Persona, job: ImportJob) -> list[Message]:
    """Two replies for which a memory of the import was recalled; the first tells it."""
    message = mira.messages.filter(import_uuid__isnull=False, role="user").order_by("id")[0]
    node = ConceptNode.objects.create(
        persona=mira, kind="event", source="extraction", description=message.content, session=message.session,
        content_hash="brought", embedding_model="none", import_uuid=message.import_uuid,
    )  # fmt: skip
    Evidence.objects.create(node=node, message=message, quote=message.content, start=0, end=len(message.content))
    session = open_session(mira, "web", NOW)
    xray = {"recollections": {"chosen": [{"id": str(node.uuid), "layer": "L3"}]}}
    return [
        add_message(session, "persona", text, NOW, turn=turn(session, "done", xray=xray))
        for text in (f"You told me: {message.content}", "How are you today?")
    ]


def test_replies_that_told_what_an_undone_file_brought_are_withheld_with_one_press_and_shown_with_another(
    owner: Client, mira: Persona, ben: User
) -> None:
    job = import_file(mira, CHAT, "chat.txt")
    replies = create_replies(mira, job)
    address, params = f"/memory/{mira.uuid}/forget/", {"import": job.uuid, "take_back": "1"}
    digest = owner.get(address, params).context["preview"]["digest"]
    receipt = owner.post(address, params | {"digest": digest, "confirm": "1"}).headers["location"]
    assert "One reply of your conversation tells something of it." in owner.get(receipt).content.decode()
    stranger = Client()
    stranger.force_login(ben)
    assert stranger.post(f"{receipt}replies/").status_code == 404
    for data, withheld, says in (
        ({}, True, "never brought up"),
        ({}, True, "Undo"),
        ({"show": "1"}, False, "Never bring"),
    ):
        assert says in owner.post(f"{receipt}replies/", data, follow=True).content.decode()
        assert list(Message.objects.filter(withheld=True)) == ([replies[0]] if withheld else [])
    replies[0].delete()
    assert "retold" not in owner.get(receipt).content.decode(), "a reply that is gone is offered no longer"


def test_the_api_too_withholds_replies_that_told_what_an_undone_file_brought(
    owner: Client, mira: Persona, ben: User
) -> None:
    job = import_file(mira, CHAT, "chat.txt")
    reply, _other = create_replies(mira, job)
    base = f"/api/personas/{mira.uuid}"
    receipt = owner.post(f"{base}/imports/{job.uuid}/take-back").json()
    address = f"{base}/receipts/{receipt['id']}/replies"
    assert owner.get(address).json() == {"count": 1, "withheld": False}
    stranger = Client()
    stranger.force_login(ben)
    assert stranger.post(f"{address}/withhold").status_code == 404
    for action, withheld in (("withhold", True), ("withhold", True), ("show", False)):
        assert owner.post(f"{address}/{action}").json() == {"count": 1, "withheld": withheld}
        assert list(Message.objects.filter(withheld=True)) == ([reply] if withheld else [])
    reply.delete()
    assert owner.get(address).status_code == owner.post(f"{address}/withhold").status_code == 404


def test_nothing_but_a_file_is_reverted(owner: Client, mira: Persona) -> None:
    job = import_file(mira, CHAT, "chat.txt")
    message = mira.messages.first()
    assert message is not None
    for params in ({"message": message.uuid}, {"import": job.uuid, "message": message.uuid}):
        assert owner.get(f"/memory/{mira.uuid}/forget/", params | {"take_back": "1"}).status_code == 404


def test_an_import_without_new_rows_offers_no_revert(owner: Client, mira: Persona) -> None:
    import_file(mira, CHAT, "chat.txt")
    again = import_file(mira, CHAT, "chat.txt")
    page = owner.get(at(mira, again)).content.decode()
    assert 'data-testid="take-back"' not in page
    assert 'data-testid="forget-import"' not in page


def test_the_page_of_what_was_forgotten_names_the_file_that_came_in(owner: Client, mira: Persona) -> None:
    job = import_file(mira, CHAT, "harbour.txt")
    page = owner.get(f"/memory/{mira.uuid}/receipts/").content.decode()
    assert at(mira, job) in page
    assert "harbour.txt" in page


# --- a persona created from a file ------------------------------------------------------------------------------------
@pytest.fixture
def newcomer(ana: User, client: Client) -> Client:
    client.force_login(ana)
    return client


NAMED = {"name": "Mira", "user_name": "Ana", "language": "en"}


def test_one_begins_with_a_file_and_finds_it_again_when_one_comes_back(newcomer: Client, ana: User) -> None:
    assert b"/welcome/persona/material/" in newcomer.get("/welcome/persona/").content
    answer = newcomer.post("/welcome/persona/material/", upload_form(CHAT, "harbour.txt"))
    job = ImportJob.objects.get()
    assert answer.headers["location"] == f"/welcome/persona/material/{job.uuid}/"
    assert (job.owner, job.persona) == (ana, None)
    page = newcomer.get("/welcome/persona/material/").content.decode()
    assert f"/welcome/persona/material/{job.uuid}/" in page


def test_the_answers_make_a_companion_of_whom_nothing_is_written_yet(newcomer: Client, ana: User) -> None:
    job = create_asking_job(None, owner=ana)
    address = f"/welcome/persona/material/{job.uuid}/"
    assert 'data-testid="called"' in newcomer.get(address).content.decode()
    newcomer.post(address, role_answers(job, Ana="user", Mira="persona", Kim="other") | NAMED)
    mira = Persona.objects.get()
    assert (mira.name, mira.user_name, mira.timezone, mira.owner) == ("Mira", "Ana", "Asia/Shanghai", ana)
    assert set(CoreBlock.objects.values_list("content", flat=True)) == {""}
    job.refresh_from_db()
    assert (job.persona, job.status) == (mira, "writing")
    assert newcomer.get(address).headers["location"] == at(mira, job)


def test_a_card_in_a_picture_makes_a_companion_with_its_name_its_portrait_and_its_greeting(
    newcomer: Client, ana: User
) -> None:
    data = {"name": "Lin", "description": "{{char}} likes rain.", "first_mes": "<START>\nHi {{user}}."}
    card = base64.b64encode(json.dumps({"spec": "chara_card_v2", "data": data}).encode())
    content = b"".join(png.with_texts(io.BytesIO(png.plain(2, 2, (9, 9, 9))), {"chara": card}, ()))
    job = create_asking_job(None, content, "lin.png", owner=ana)
    address = f"/welcome/persona/material/{job.uuid}/"
    assert 'value="Lin"' in newcomer.get(address).content.decode()
    newcomer.post(address, {"zone": "UTC"} | NAMED | {"name": "Lin"})
    lin = Persona.objects.get()
    assert lin.picture.format == "png"
    assert b"chara" not in bytes(lin.picture.content)
    while runner.run(job.pk, timezone.now) == runner.Outcome.GOES_ON:
        pass
    lin.refresh_from_db()
    assert lin.greeting == "Hi Ana."
    assert "Hi Ana." in newcomer.get(f"/chat/{lin.uuid}/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_charx_brings_its_portrait_and_says_why_one_was_left_out(newcomer: Client, ana: User) -> None:
    icon = {"type": "icon", "name": "main", "uri": "embeded://assets/icon/images/main.webp", "ext": "webp"}
    document = {"spec": "chara_card_v3", "spec_version": "3.0", "data": {"name": "Lin", "assets": [icon]}}
    for picture, code in ((images.webp(), ""), (images.webp(is_animated=True), "animated"), (b"<svg/>", "vector")):
        content = zip_of({"card.json": json.dumps(document), "assets/icon/images/main.webp": picture})
        job = create_asking_job(None, content, "lin.charx", owner=ana)
        address = f"/welcome/persona/material/{job.uuid}/"
        page = newcomer.post(address, {"zone": "UTC"} | NAMED | {"name": "Lin"}, follow=True).content.decode()
        lin = Persona.objects.latest("pk")
        portrait = bytes(lin.picture.content) if hasattr(lin, "picture") else b""
        assert (portrait == b"") == bool(code)
        assert images.PLACE not in portrait
        assert ("The picture of the card was left out" in page) == bool(code), code
        assert not code or pictures.explain(PictureRefused(code)) in page


def test_what_an_import_left_is_told_with_what_one_may_do(owner: Client, mira: Persona) -> None:
    job = import_file(mira, (CARDS / "card_v2.json").read_bytes(), "card_v2.json")
    page = owner.get(at(mira, job)).content.decode()
    assert 'data-testid="import-story"' in page
    for way in ("to-talk", "to-memories", "take-back"):
        assert f'data-testid="{way}"' in page
    empty = import_file(mira, (CARDS / "card_v2.json").read_bytes(), "card_v2.json")
    assert 'data-testid="import-story"' not in owner.get(at(mira, empty)).content.decode()


@each_row(
    ("counts", "english", "chinese"),
    [
        ((6, 14, 2), "6 people, 14 things, 2 questions", "6 个人、14 件事、2 个问题"),
        ((1, 1, 1), "1 person, 1 thing, 1 question", "1 个人、1 件事、1 个问题"),
        ((0, 3, 0), "3 things", "3 件事"),
        ((0, 0, 2), "2 questions", "2 个问题"),
    ],
)
def test_the_story_of_an_import_names_what_there_is(counts: tuple[int, int, int], english: str, chinese: str) -> None:
    story = ImportStory([], [], *counts)
    assert story.title == english
    with translation.override("zh-hans"):
        assert story.title == chinese


def test_one_chat_of_two_conversations_is_told_as_such_and_one_of_a_kind_in_the_singular(
    newcomer: Client, ana: User
) -> None:
    lines = ["[2026-01-03, 21:04:05] Ana: I met Tomas.", "[2026-01-09, 21:04:05] Mira: How was it?"]
    parts = "conversations, divided by long pauses"
    for content, contents in ((lines, {"chat": 1, parts: 2, "messages": 2}), (lines[:1], {"chat": 1, "message": 1})):
        job = create_asking_job(None, "\n".join(content).encode(), "chat.txt", owner=ana)
        context = newcomer.get(f"/welcome/persona/material/{job.uuid}/").context
        assert dict(context["contents"]) == contents
    assert dict(describe_counts({"chat_message": 1, "memory_alias": 2})) == {"message": 1, "names": 2}


def test_without_a_name_or_with_a_wrong_answer_nobody_is_made(newcomer: Client, ana: User, monkeypatch: Any) -> None:
    job = create_asking_job(None, owner=ana)
    address = f"/welcome/persona/material/{job.uuid}/"
    answers = role_answers(job, Ana="user", Mira="persona", Kim="other")
    assert newcomer.post(address, answers | NAMED | {"name": ""}).status_code == 422
    nobody = role_answers(job, Ana="skip", Mira="skip", Kim="skip")
    assert newcomer.post(address, nobody | NAMED).status_code == 422
    assert not Persona.objects.exists()
    job.refresh_from_db()
    assert (job.persona, job.status) == (None, "asking")


def test_who_has_it_looked_through_again_meets_nobody_yet(newcomer: Client, ana: User) -> None:
    job = create_asking_job(None, owner=ana)
    address = f"/welcome/persona/material/{job.uuid}/"
    answer = newcomer.post(address, NAMED | {"again": "1", "zone": "UTC"})
    assert answer.headers["location"] == address
    job.refresh_from_db()
    assert (job.persona, job.status) == (None, "looking")
    assert not Persona.objects.exists()


def test_who_is_met_in_two_tabs_is_met_once(newcomer: Client, ana: User, monkeypatch: Any) -> None:
    job = create_asking_job(None, owner=ana)
    answers = role_answers(job, Ana="user", Mira="persona", Kim="other") | NAMED
    meet = onboarding.create_persona

    def create_persona_twice(*args: Any, **kwargs: Any) -> Persona:
        persona = meet(*args, **kwargs)
        ImportJob.objects.filter(pk=job.pk).update(persona=meet(ana, "Nora"))
        return persona

    monkeypatch.setattr(onboarding, "create_persona", create_persona_twice)
    answer = newcomer.post(f"/welcome/persona/material/{job.uuid}/", answers)
    assert answer.status_code == 422
    assert "no longer waiting for an answer" in answer.content.decode()
    assert not Persona.objects.exists()  # the rollback here also undoes the persona of the other tab


def test_cancelling_a_begun_import_deletes_its_file(newcomer: Client, ana: User) -> None:
    job = create_asking_job(None, owner=ana)
    newcomer.post(f"/welcome/persona/material/{job.uuid}/cancel/")
    job.refresh_from_db()
    assert job.status == "cancelled"
    assert not ImportPiece.objects.exists()
    assert str(job.uuid) not in newcomer.get("/welcome/persona/material/").content.decode()


# --- drafts ---------------------------------------------------------------------------------------------------------
def propose_draft(persona: Persona, text: str, label: str = "user", quote: str = "") -> CoreDraft:
    draft = drafts.propose(persona, label, text, [DraftSource(quote or text, where="line 3")], None, timezone.now())
    assert draft is not None
    return draft


def block(persona: Persona, label: str = "user") -> str:
    return CoreBlock.objects.get(persona=persona, label=label).content


def action(draft: CoreDraft, name: str) -> str:
    return f"/memory/{draft.persona.uuid}/drafts/{draft.uuid}/{name}/"


def test_a_draft_stands_beside_its_block_with_the_words_it_rests_on(owner: Client, mira: Persona) -> None:
    propose_draft(mira, f"Ana is a nurse {HOSTILE}.", quote=f"I am a nurse {HOSTILE}")
    page = owner.get(f"/memory/{mira.uuid}/drafts/").content.decode()
    assert "&lt;img" in page
    assert HOSTILE not in page
    assert 'data-testid="draft-quote"' in page
    assert "line 3" in page
    assert "One draft is waiting" in owner.get(f"/memory/{mira.uuid}/").content.decode()


def test_accepting_writes_the_block_rejecting_does_not(owner: Client, mira: Persona) -> None:
    before, accepted, rejected = (
        block(mira),
        propose_draft(mira, "Ana is a nurse."),
        propose_draft(mira, "Ana is a pilot."),
    )
    owner.post(action(accepted, "accept"))
    owner.post(action(rejected, "reject"))
    assert block(mira) == f"{before}\nAna is a nurse.".strip()
    assert CoreBlock.objects.get(persona=mira, label="user").edited_by == mira.owner
    assert not CoreDraft.objects.open().exists()
    assert owner.post(action(rejected, "accept")).status_code == 409


def test_a_draft_is_accepted_in_other_words_and_one_that_is_too_long_keeps_them(owner: Client, mira: Persona) -> None:
    draft = propose_draft(mira, "Ana is a nurse.")
    answer = owner.post(action(draft, "accept"), {"text": "y" * 5_001})
    assert (answer.status_code, "y" * 5_001 in answer.content.decode()) == (422, True)
    owner.post(action(draft, "accept"), {"text": "Ana was a nurse."})
    assert "Ana was a nurse." in block(mira)
    assert "Ana is a nurse." not in block(mira)


def test_all_that_is_shown_for_a_block_is_accepted_at_once_and_nothing_else(owner: Client, mira: Persona) -> None:
    listed_drafts = [propose_draft(mira, "Ana is a nurse."), propose_draft(mira, "Ana lives in Lyon.")]
    later, other_block = propose_draft(mira, "Ana is tall."), propose_draft(mira, "Mira is calm.", "persona")
    ids = [draft.uuid for draft in [*listed_drafts, other_block]]
    owner.post(f"/memory/{mira.uuid}/drafts/user/accept/", {"draft": ids})
    assert "Ana is a nurse.\nAna lives in Lyon." in block(mira)
    assert set(CoreDraft.objects.open()) == {later, other_block}


# --- tokens ---------------------------------------------------------------------------------------------------------
def test_a_token_is_made_against_the_password_and_its_secret_is_shown_once(owner: Client, mira: Persona) -> None:
    mira.owner.set_password(PASSWORD)
    mira.owner.save()
    owner.force_login(mira.owner)
    wrong = owner.post("/account/tokens/", {"name": "chat", "days": "30", "password": "no"})
    assert (wrong.status_code, ApiToken.objects.count()) == (422, 0)
    response = owner.post("/account/tokens/", {"name": "chat", "days": "30", "password": PASSWORD})
    token = ApiToken.objects.get()
    now = timezone.now()
    secret = response.context["secret"]
    assert secret in response.content.decode()
    assert "no-store" in response.headers["cache-control"]
    assert tokens.owner_of(secret, now) == mira.owner
    assert token.expires_at is not None
    assert timedelta(days=29) < token.expires_at - now < timedelta(days=31)
    assert secret not in owner.get("/account/").content.decode()
    assert token.prefix in owner.get("/account/").content.decode()


def test_a_token_may_open_until_it_is_revoked(owner: Client, mira: Persona) -> None:
    mira.owner.set_password(PASSWORD)
    mira.owner.save()
    owner.force_login(mira.owner)
    owner.post("/account/tokens/", {"name": "backup", "days": "0", "password": PASSWORD})
    assert ApiToken.objects.get().expires_at is None
