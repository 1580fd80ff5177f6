"""Imports through the API: upload, analysis, confirmation and import of a file; and decisions on drafts."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from memory import tasks
from memory.imports import runner, runs
from memory.imports.readers.pam import STORE_NAME
from memory.models import ImportJob, ImportPiece
from persona.models import CoreDraft, Persona
from persona.onboarding import drafts
from persona.onboarding.drafts import DraftSource
from tests.memory.archive.archives import SMALL
from tests.memory.imports.readers.sources import FILES
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db
TALK = "Anna: I have moved to Porto.\nBruno: When?\nAnna: Last week, with my dog Rex.\n"
ROLES = {"Anna": "user", "Bruno": "persona"}


@pytest.fixture
def owner(ana: User, client: Client) -> Client:
    client.force_login(ana)
    return client


def upload(client: Client, address: str, data: bytes | str = TALK, name: str = "talk.txt") -> Any:
    return client.post(address, {"file": SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)})


def post_json(client: Client, address: str, **body: Any) -> Any:
    return client.post(address, body, "application/json")


def run_imports() -> None:
    """Run the import task until no job is at work."""
    while waiting := list(ImportJob.objects.at_work()):
        for job in waiting:
            tasks.import_file(job.pk)


def create_asking_import(client: Client, address: str, *file: Any) -> str:
    """Upload a file and return the address of the import, which then awaits confirmation."""
    job = upload(client, address, *file).json()
    run_imports()
    return f"{address}/{job['id']}"


def test_a_file_is_looked_through_confirmed_and_taken_in(owner: Client, mira: Persona) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    answer = upload(owner, address)
    assert (answer.status_code, answer.json()["status"]) == (202, "looking")
    run_imports()
    import_url = f"{address}/{answer.json()['id']}"
    job = owner.get(import_url).json()
    assert (job["status"], job["format"], job["file_name"]) == ("asking", "transcript", "talk.txt")
    assert {speaker["name"]: speaker["lines"] for speaker in job["found"]["speakers"]} == {"Anna": 2, "Bruno": 1}
    estimate = owner.get(f"{import_url}/estimate").json()
    assert (estimate["is_connected"], estimate["calls"], estimate["dollars"]) == (False, 0, None)
    assert not mira.messages.exists()
    assert post_json(owner, f"{import_url}/confirm", roles=ROLES, undated="2024-05-17").json()["status"] == "writing"
    run_imports()
    finished = owner.get(import_url).json()
    assert (finished["status"], finished["progress"], finished["counts"]["lines"]) == ("done", 1.0, 3)
    assert finished["estimate"] is None
    assert list(mira.messages.order_by("id").values_list("role", flat=True)) == ["user", "persona", "user"]
    assert not ImportPiece.objects.exists()
    assert [item["id"] for item in owner.get(address).json()["items"]] == [finished["id"]]
    assert post_json(owner, f"{import_url}/confirm", roles=ROLES).json()["code"] == "not_asking"
    assert owner.post(f"{import_url}/cancel").json()["code"] == "over"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "roles"),
        ({"roles": {"Zoé": "user"}}, "unknown_speaker"),
        ({"roles": {"Anna": "skip", "Bruno": "persona"}}, "nobody_is_you"),
        ({"roles": ROLES, "zone": "Mars/Olympus"}, "zone"),
        ({"roles": ROLES, "undated": "2999-01-01"}, "undated"),
        ({"roles": ROLES, "format": "scroll"}, "format"),
        ({"roles": {"Anna": "king"}}, "invalid"),
        ({"roles": ROLES, "mood": "good"}, "invalid"),
    ],
)
def test_what_does_not_fit_the_file_is_refused_and_it_goes_on_waiting(
    owner: Client, mira: Persona, body: dict[str, Any], code: str
) -> None:
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    answer = post_json(owner, f"{import_url}/confirm", **body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert owner.get(import_url).json()["status"] == "asking"


def test_naming_the_role_of_one_speaker_leaves_the_other_as_other(owner: Client, mira: Persona) -> None:
    transcript = TALK.replace("Bruno", "Ana").replace("Anna", "Mira")
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports", transcript)
    job = post_json(owner, f"{import_url}/confirm", roles={"Mira": "user"}, undated="2024-05-17").json()
    assert job["choices"]["roles"] == {"Mira": "user", "Ana": "other"}


def test_what_was_answered_elsewhere_meanwhile_is_a_conflict(owner: Client, mira: Persona, monkeypatch: Any) -> None:
    address = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    begin_writing = runs.begin_writing

    def begin_writing_twice(job: ImportJob, *answers: Any) -> None:
        begin_writing(ImportJob.objects.get(pk=job.pk), *answers)
        begin_writing(job, *answers)

    monkeypatch.setattr(runs, "begin_writing", begin_writing_twice)
    answer = post_json(owner, f"{address}/confirm", roles=ROLES, undated="2024-01-05")
    assert (answer.status_code, answer.json()["code"], answer.json()["status_now"]) == (409, "not_asking", "writing")


def test_what_cannot_be_read_is_refused_with_its_place(owner: Client, mira: Persona) -> None:
    broken = (FILES / "chatgpt.json").read_bytes()[:700]
    job = owner.get(
        create_asking_import(owner, f"/api/personas/{mira.uuid}/imports", broken, "conversations.json")
    ).json()
    assert (job["status"], bool(job["refusal"])) == ("refused", True)
    runner.requeue_stale(timezone.now())
    assert not ImportPiece.objects.exists()


def test_a_file_that_is_missing_empty_or_too_large_is_no_import(owner: Client, mira: Persona, settings: Any) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    missing = owner.post(address, {})
    assert (missing.status_code, missing.json()["fields"]) == (422, ["body.file"])
    assert (upload(owner, address, "").status_code, upload(owner, address, "").json()["code"]) == (422, "empty")
    settings.KNOBS = {"import.upload_megabytes": 1}
    large = upload(owner, address, b"x" * (1024 * 1024 + 1))
    assert (large.status_code, large.json()["code"], large.json()["most_bytes"]) == (413, "too_big", 1024 * 1024)
    assert not ImportJob.objects.exists()


def test_an_import_is_stopped(owner: Client, mira: Persona) -> None:
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    assert owner.post(f"{import_url}/cancel").json()["status"] == "cancelled"
    assert not ImportPiece.objects.exists()
    assert owner.post(f"{import_url}/cancel").status_code == 409


def test_what_a_file_brought_is_forgotten_as_a_whole(owner: Client, mira: Persona) -> None:
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    assert owner.get(f"{import_url}/forget").status_code == 404
    post_json(owner, f"{import_url}/confirm", roles=ROLES)
    run_imports()
    plan = owner.get(f"{import_url}/forget").json()
    assert plan["counts"]["chat_message"] == 3
    receipt = owner.delete(f"{import_url}?confirm={plan['digest']}")
    assert receipt.status_code == 200
    assert not mira.messages.exists()


def test_what_a_file_brought_is_reverted_and_the_file_comes_again(owner: Client, mira: Persona, otto: Persona) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    import_url = create_asking_import(owner, address)
    assert owner.get(f"{import_url}/take-back").status_code == 404
    post_json(owner, f"{import_url}/confirm", roles={"Anna": "persona", "Bruno": "user"})
    run_imports()
    plan = owner.get(f"{import_url}/take-back").json()
    assert plan["counts"]["chat_message"] == 3
    assert (
        owner.post(f"{import_url}/take-back?confirm={owner.get(f'{import_url}/forget').json()['digest']}").status_code
        == 409
    )
    assert owner.post(import_url.replace(str(mira.uuid), str(otto.uuid)) + "/take-back").status_code == 404
    assert (
        post_json(owner, f"{import_url}/take-back", confirm=plan["digest"]).status_code == 422
    )  # a body would be ignored
    receipt = owner.post(f"{import_url}/take-back?confirm={plan['digest']}")
    assert (receipt.status_code, receipt.json()["counts"]) == (200, plan["counts"])
    assert owner.post(f"{import_url}/take-back").status_code == 404
    assert not mira.messages.exists()
    again = create_asking_import(owner, address)
    post_json(owner, f"{again}/confirm", roles=ROLES)
    run_imports()
    assert owner.get(again).json()["counts"]["lines"] == 3


def test_lines_of_whom_one_leaves_out_are_counted(owner: Client, mira: Persona) -> None:
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    post_json(owner, f"{import_url}/confirm", roles=ROLES | {"Bruno": "skip"})
    run_imports()
    counts = owner.get(import_url).json()["counts"]
    assert (counts["lines"], counts["left_out"]) == (2, 1)


def test_a_wrong_format_choice_is_refused_and_the_import_asks_again(owner: Client, mira: Persona) -> None:
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    before = owner.get(import_url).json()["found"]
    assert post_json(owner, f"{import_url}/confirm", format="chatgpt", roles=ROLES).json()["status"] == "looking"
    run_imports()
    job = owner.get(import_url).json()
    assert (job["status"], job["format"], job["found"]) == ("asking", "transcript", before)
    assert job["refusal"] == "This is not JSON, or it is damaged or cut off."
    assert post_json(owner, f"{import_url}/confirm", roles=ROLES).json()["refusal"] == ""


def test_an_estimate_waits_for_the_look(owner: Client, mira: Persona) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    job = upload(owner, address).json()
    assert owner.get(f"{address}/{job['id']}/estimate").json()["code"] == "not_asking"


def test_an_archive_comes_by_the_same_door(owner: Client, mira: Persona) -> None:
    data = b"\n".join(json.dumps(record).encode() for record in SMALL)
    import_url = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports", data, "mira.jsonl")
    assert post_json(owner, f"{import_url}/confirm").status_code == 200
    run_imports()
    finished = owner.get(import_url).json()
    assert (finished["status"], finished["counts"]["lines"], mira.nodes.count()) == ("done", 3, 3)
    assert {item["status"] for item in owner.get(f"/api/personas/{mira.uuid}/drafts").json()["items"]} == {"open"}


# --- before there is a persona ----------------------------------------------------------------------------------------
def test_a_persona_begins_with_what_was_brought(owner: Client, ana: User) -> None:
    import_url = create_asking_import(owner, "/api/imports")
    assert owner.get(import_url).json()["persona_id"] is None
    assert post_json(owner, f"{import_url}/confirm", roles=ROLES).json()["code"] == "no_persona"
    job = post_json(owner, f"{import_url}/confirm", roles=ROLES, persona={"name": "Bruno", "user_name": "Anna"}).json()
    persona = Persona.objects.get(owner=ana)
    assert (persona.name, job["persona_id"]) == ("Bruno", str(persona.uuid))
    run_imports()
    assert owner.get(import_url).json()["status"] == "done"
    assert persona.messages.count() == 3
    assert [item["id"] for item in owner.get("/api/imports").json()["items"]] == [job["id"]]


def test_nobody_is_made_where_the_choices_do_not_fit(owner: Client) -> None:
    import_url = create_asking_import(owner, "/api/imports")
    assert (
        post_json(owner, f"{import_url}/confirm", roles={"Zoé": "user"}, persona={"name": "Bruno"}).status_code == 422
    )
    assert not Persona.objects.exists()
    assert owner.get(import_url).json() | {"status": "asking", "persona_id": None} == owner.get(import_url).json()


def test_a_beginning_for_somebody_who_is_there_already_is_none(owner: Client, mira: Persona) -> None:
    address = create_asking_import(owner, f"/api/personas/{mira.uuid}/imports")
    import_url = f"/api/imports/{address.rpartition('/')[2]}"
    assert (
        post_json(owner, f"{import_url}/confirm", roles=ROLES, persona={"name": "Bruno"}).json()["code"]
        == "has_persona"
    )
    assert owner.get(f"{import_url}/estimate").status_code == 200
    assert post_json(owner, f"{import_url}/confirm", roles=ROLES).json()["status"] == "writing"
    assert owner.post(f"{import_url}/cancel").json()["status"] == "cancelled"


def test_the_first_persona_is_met_with_material_by_the_path_of_the_seeds(owner: Client, ben: User) -> None:
    job = create_asking_import(owner, "/api/imports").rpartition("/")[2]
    meet = "/api/admin/persona/onboarding"
    assert post_json(owner, meet, name="Bruno", material=str(ben.pk)).status_code == 422
    response = post_json(owner, meet, name="Bruno", material=job, choices={"roles": ROLES})
    assert (response.status_code, response.json()["name"]) == (201, "Bruno")
    run_imports()
    assert Persona.objects.get().messages.count() == 3
    assert post_json(owner, meet, name="Zoé").json()["code"] == "met_already"


# --- drafts -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def draft(mira: Persona) -> CoreDraft:
    created_draft = drafts.propose(
        mira, "user", "Ana bakes bread.", [DraftSource("I bake bread.", where="line 1")], None, NOW
    )
    assert created_draft is not None
    return created_draft


def test_a_draft_comes_into_its_block_by_a_persons_hand(owner: Client, mira: Persona, draft: CoreDraft) -> None:
    address = f"/api/personas/{mira.uuid}/drafts"
    (item,) = owner.get(f"{address}?status=open").json()["items"]
    assert (item["text"], item["label"], item["quotes"][0]["quote"]) == ("Ana bakes bread.", "user", "I bake bread.")
    assert item["room"] == drafts.room(mira, "user")
    answer = post_json(owner, f"{address}/{draft.uuid}/accept", text="Ana is a baker.").json()
    block = mira.core_blocks.get(label="user")
    assert (answer["status"], block.content) == ("accepted", "Ana lives in Shanghai.\nAna is a baker.")
    assert block.edited_by == mira.owner
    assert post_json(owner, f"{address}/{draft.uuid}/accept").status_code == 409
    assert owner.get(f"{address}?status=open").json()["items"] == []


def test_a_draft_is_rejected_once_and_for_all(owner: Client, mira: Persona, draft: CoreDraft) -> None:
    draft_url = f"/api/personas/{mira.uuid}/drafts/{draft.uuid}"
    assert owner.post(f"{draft_url}/reject").json()["status"] == "rejected"
    assert owner.post(f"{draft_url}/reject").json()["code"] == "decided"
    assert mira.core_blocks.get(label="user").content == "Ana lives in Shanghai."


@pytest.mark.parametrize(("text", "code"), [(" ", "empty"), ("x" * 4_990, "too_long")])
def test_a_draft_without_words_or_room_is_refused(
    owner: Client, mira: Persona, draft: CoreDraft, text: str, code: str
) -> None:
    answer = post_json(owner, f"/api/personas/{mira.uuid}/drafts/{draft.uuid}/accept", text=text)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    draft.refresh_from_db()
    assert draft.status == "open"


# --- exports --------------------------------------------------------------------------------------------------------
def test_a_persona_is_taken_along_in_each_format(owner: Client, mira: Persona, otto: Persona) -> None:
    export_url = f"/api/personas/{mira.uuid}/export"
    files = {way: b"".join(owner.get(f"{export_url}?format={way}")) for way in ("archive", "pam", "card", "card_png")}
    assert json.loads(files["archive"].splitlines()[1])["name"] == "Mira"
    assert STORE_NAME in zipfile.ZipFile(io.BytesIO(files["pam"])).namelist()
    assert json.loads(files["card"])["data"]["name"] == "Mira"
    assert files["card_png"].startswith(b"\x89PNG")
    assert owner.get(export_url)["Content-Disposition"].startswith('attachment; filename="echovessel-')
    assert owner.get(f"{export_url}?format=scroll").status_code == 422
    assert owner.get(f"/api/personas/{otto.uuid}/export").status_code == 404
