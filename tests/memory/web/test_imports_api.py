"""Files brought over the API: handed over, looked through, confirmed, taken in; and drafts decided."""

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
from persona.onboarding.drafts import Words
from tests.memory.archive.archives import SMALL
from tests.memory.imports.readers.given import FILES
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db
TALK = "Anna: I have moved to Porto.\nBruno: When?\nAnna: Last week, with my dog Rex.\n"
ROLES = {"Anna": "user", "Bruno": "persona"}


@pytest.fixture
def owner(ana: User, client: Client) -> Client:
    client.force_login(ana)
    return client


def handed(client: Client, address: str, data: bytes | str = TALK, name: str = "talk.txt") -> Any:
    return client.post(address, {"file": SimpleUploadedFile(name, data.encode() if isinstance(data, str) else data)})


def sent(client: Client, address: str, **body: Any) -> Any:
    return client.post(address, body, "application/json")


def worked() -> None:
    """The worker, as often as there is something to do."""
    while waiting := list(ImportJob.objects.at_work()):
        for job in waiting:
            tasks.import_file(job.pk)


def looked_through(client: Client, address: str, *given: Any) -> str:
    """The address of an import that waits for an answer."""
    job = handed(client, address, *given).json()
    worked()
    return f"{address}/{job['id']}"


def test_a_file_is_looked_through_confirmed_and_taken_in(owner: Client, mira: Persona) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    answer = handed(owner, address)
    assert (answer.status_code, answer.json()["status"]) == (202, "looking")
    worked()
    here = f"{address}/{answer.json()['id']}"
    told = owner.get(here).json()
    assert (told["status"], told["format"], told["file_name"]) == ("asking", "transcript", "talk.txt")
    assert {one["name"]: one["lines"] for one in told["found"]["speakers"]} == {"Anna": 2, "Bruno": 1}
    estimate = owner.get(f"{here}/estimate").json()
    assert (estimate["is_connected"], estimate["calls"], estimate["dollars"]) == (False, 0, None)
    assert not mira.messages.exists()
    assert sent(owner, f"{here}/confirm", roles=ROLES, undated="2024-05-17").json()["status"] == "writing"
    worked()
    done = owner.get(here).json()
    assert (done["status"], done["progress"], done["counts"]["lines"]) == ("done", 1.0, 3)
    assert done["estimate"] is None
    assert list(mira.messages.order_by("id").values_list("role", flat=True)) == ["user", "persona", "user"]
    assert not ImportPiece.objects.exists()
    assert [one["id"] for one in owner.get(address).json()["items"]] == [done["id"]]
    assert sent(owner, f"{here}/confirm", roles=ROLES).json()["code"] == "not_asking"
    assert owner.post(f"{here}/cancel").json()["code"] == "over"


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
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    answer = sent(owner, f"{here}/confirm", **body)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert owner.get(here).json()["status"] == "asking"


def test_of_two_people_one_is_what_the_other_is_not(owner: Client, mira: Persona) -> None:
    talk = TALK.replace("Bruno", "Ana").replace("Anna", "Mira")
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports", talk)
    told = sent(owner, f"{here}/confirm", roles={"Mira": "user"}, undated="2024-05-17").json()
    assert told["choices"]["roles"] == {"Mira": "user", "Ana": "other"}


def test_what_was_answered_elsewhere_meanwhile_is_a_conflict(owner: Client, mira: Persona, monkeypatch: Any) -> None:
    address = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    begin_writing = runs.begin_writing

    def overtaken(job: ImportJob, *given: Any) -> None:
        begin_writing(ImportJob.objects.get(pk=job.pk), *given)
        begin_writing(job, *given)

    monkeypatch.setattr(runs, "begin_writing", overtaken)
    answer = sent(owner, f"{address}/confirm", roles=ROLES, undated="2024-01-05")
    assert (answer.status_code, answer.json()["code"], answer.json()["status_now"]) == (409, "not_asking", "writing")


def test_what_cannot_be_read_is_refused_with_its_place(owner: Client, mira: Persona) -> None:
    broken = (FILES / "chatgpt.json").read_bytes()[:700]
    told = owner.get(looked_through(owner, f"/api/personas/{mira.uuid}/imports", broken, "conversations.json")).json()
    assert (told["status"], bool(told["refusal"])) == ("refused", True)
    runner.requeue_stale(timezone.now())
    assert not ImportPiece.objects.exists()


def test_a_file_that_is_missing_empty_or_too_large_is_no_import(owner: Client, mira: Persona, settings: Any) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    missing = owner.post(address, {})
    assert (missing.status_code, missing.json()["fields"]) == (422, ["body.file"])
    assert (handed(owner, address, "").status_code, handed(owner, address, "").json()["code"]) == (422, "empty")
    settings.KNOBS = {"import.upload_megabytes": 1}
    large = handed(owner, address, b"x" * (1024 * 1024 + 1))
    assert (large.status_code, large.json()["code"], large.json()["most_bytes"]) == (413, "too_big", 1024 * 1024)
    assert not ImportJob.objects.exists()


def test_an_import_is_stopped(owner: Client, mira: Persona) -> None:
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    assert owner.post(f"{here}/cancel").json()["status"] == "cancelled"
    assert not ImportPiece.objects.exists()
    assert owner.post(f"{here}/cancel").status_code == 409


def test_what_a_file_brought_is_forgotten_as_a_whole(owner: Client, mira: Persona) -> None:
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    assert owner.get(f"{here}/forget").status_code == 404
    sent(owner, f"{here}/confirm", roles=ROLES)
    worked()
    plan = owner.get(f"{here}/forget").json()
    assert plan["counts"]["chat_message"] == 3
    receipt = owner.delete(f"{here}?confirm={plan['digest']}")
    assert receipt.status_code == 200
    assert not mira.messages.exists()


def test_what_a_file_brought_is_reverted_and_the_file_comes_again(owner: Client, mira: Persona, otto: Persona) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    here = looked_through(owner, address)
    assert owner.get(f"{here}/take-back").status_code == 404
    sent(owner, f"{here}/confirm", roles={"Anna": "persona", "Bruno": "user"})
    worked()
    plan = owner.get(f"{here}/take-back").json()
    assert plan["counts"]["chat_message"] == 3
    assert owner.post(f"{here}/take-back?confirm={owner.get(f'{here}/forget').json()['digest']}").status_code == 409
    assert owner.post(here.replace(str(mira.uuid), str(otto.uuid)) + "/take-back").status_code == 404
    assert sent(owner, f"{here}/take-back", confirm=plan["digest"]).status_code == 422  # it would be passed over
    receipt = owner.post(f"{here}/take-back?confirm={plan['digest']}")
    assert (receipt.status_code, receipt.json()["counts"]) == (200, plan["counts"])
    assert owner.post(f"{here}/take-back").status_code == 404
    assert not mira.messages.exists()
    again = looked_through(owner, address)
    sent(owner, f"{again}/confirm", roles=ROLES)
    worked()
    assert owner.get(again).json()["counts"]["lines"] == 3


def test_lines_of_whom_one_leaves_out_are_counted(owner: Client, mira: Persona) -> None:
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    sent(owner, f"{here}/confirm", roles=ROLES | {"Bruno": "skip"})
    worked()
    counts = owner.get(here).json()["counts"]
    assert (counts["lines"], counts["left_out"]) == (2, 1)


def test_read_as_what_it_is_not_it_waits_on_and_says_why(owner: Client, mira: Persona) -> None:
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    before = owner.get(here).json()["found"]
    assert sent(owner, f"{here}/confirm", format="chatgpt", roles=ROLES).json()["status"] == "looking"
    worked()
    told = owner.get(here).json()
    assert (told["status"], told["format"], told["found"]) == ("asking", "transcript", before)
    assert told["refusal"] == "This is not JSON, or it is damaged or cut off."
    assert sent(owner, f"{here}/confirm", roles=ROLES).json()["refusal"] == ""


def test_an_estimate_waits_for_the_look(owner: Client, mira: Persona) -> None:
    address = f"/api/personas/{mira.uuid}/imports"
    job = handed(owner, address).json()
    assert owner.get(f"{address}/{job['id']}/estimate").json()["code"] == "not_asking"


def test_an_archive_comes_by_the_same_door(owner: Client, mira: Persona) -> None:
    data = b"\n".join(json.dumps(line).encode() for line in SMALL)
    here = looked_through(owner, f"/api/personas/{mira.uuid}/imports", data, "mira.jsonl")
    assert sent(owner, f"{here}/confirm").status_code == 200
    worked()
    done = owner.get(here).json()
    assert (done["status"], done["counts"]["lines"], mira.nodes.count()) == ("done", 3, 3)
    assert {one["status"] for one in owner.get(f"/api/personas/{mira.uuid}/drafts").json()["items"]} == {"open"}


# --- before there is a persona ----------------------------------------------------------------------------------------
def test_a_persona_begins_with_what_was_brought(owner: Client, ana: User) -> None:
    here = looked_through(owner, "/api/imports")
    assert owner.get(here).json()["persona_id"] is None
    assert sent(owner, f"{here}/confirm", roles=ROLES).json()["code"] == "no_persona"
    told = sent(owner, f"{here}/confirm", roles=ROLES, persona={"name": "Bruno", "user_name": "Anna"}).json()
    persona = Persona.objects.get(owner=ana)
    assert (persona.name, told["persona_id"]) == ("Bruno", str(persona.uuid))
    worked()
    assert owner.get(here).json()["status"] == "done"
    assert persona.messages.count() == 3
    assert [one["id"] for one in owner.get("/api/imports").json()["items"]] == [told["id"]]


def test_nobody_is_made_where_the_choices_do_not_fit(owner: Client) -> None:
    here = looked_through(owner, "/api/imports")
    assert sent(owner, f"{here}/confirm", roles={"Zoé": "user"}, persona={"name": "Bruno"}).status_code == 422
    assert not Persona.objects.exists()
    assert owner.get(here).json() | {"status": "asking", "persona_id": None} == owner.get(here).json()


def test_a_beginning_for_somebody_who_is_there_already_is_none(owner: Client, mira: Persona) -> None:
    address = looked_through(owner, f"/api/personas/{mira.uuid}/imports")
    here = f"/api/imports/{address.rpartition('/')[2]}"
    assert sent(owner, f"{here}/confirm", roles=ROLES, persona={"name": "Bruno"}).json()["code"] == "has_persona"
    assert owner.get(f"{here}/estimate").status_code == 200
    assert sent(owner, f"{here}/confirm", roles=ROLES).json()["status"] == "writing"
    assert owner.post(f"{here}/cancel").json()["status"] == "cancelled"


def test_the_first_persona_is_met_with_material_by_the_path_of_the_seeds(owner: Client, ben: User) -> None:
    job = looked_through(owner, "/api/imports").rpartition("/")[2]
    meet = "/api/admin/persona/onboarding"
    assert sent(owner, meet, name="Bruno", material=str(ben.pk)).status_code == 422
    made = sent(owner, meet, name="Bruno", material=job, choices={"roles": ROLES})
    assert (made.status_code, made.json()["name"]) == (201, "Bruno")
    worked()
    assert Persona.objects.get().messages.count() == 3
    assert sent(owner, meet, name="Zoé").json()["code"] == "met_already"


# --- drafts -----------------------------------------------------------------------------------------------------------
@pytest.fixture
def draft(mira: Persona) -> CoreDraft:
    made = drafts.propose(mira, "user", "Ana bakes bread.", [Words("I bake bread.", where="line 1")], None, NOW)
    assert made is not None
    return made


def test_a_draft_comes_into_its_block_by_a_persons_hand(owner: Client, mira: Persona, draft: CoreDraft) -> None:
    address = f"/api/personas/{mira.uuid}/drafts"
    (told,) = owner.get(f"{address}?status=open").json()["items"]
    assert (told["text"], told["label"], told["quotes"][0]["quote"]) == ("Ana bakes bread.", "user", "I bake bread.")
    assert told["room"] == drafts.room(mira, "user")
    answer = sent(owner, f"{address}/{draft.uuid}/accept", text="Ana is a baker.").json()
    block = mira.core_blocks.get(label="user")
    assert (answer["status"], block.content) == ("accepted", "Ana lives in Shanghai.\nAna is a baker.")
    assert block.edited_by == mira.owner
    assert sent(owner, f"{address}/{draft.uuid}/accept").status_code == 409
    assert owner.get(f"{address}?status=open").json()["items"] == []


def test_a_draft_is_rejected_once_and_for_all(owner: Client, mira: Persona, draft: CoreDraft) -> None:
    here = f"/api/personas/{mira.uuid}/drafts/{draft.uuid}"
    assert owner.post(f"{here}/reject").json()["status"] == "rejected"
    assert owner.post(f"{here}/reject").json()["code"] == "decided"
    assert mira.core_blocks.get(label="user").content == "Ana lives in Shanghai."


@pytest.mark.parametrize(("text", "code"), [(" ", "empty"), ("x" * 4_990, "too_long")])
def test_a_draft_without_words_or_room_is_refused(
    owner: Client, mira: Persona, draft: CoreDraft, text: str, code: str
) -> None:
    answer = sent(owner, f"/api/personas/{mira.uuid}/drafts/{draft.uuid}/accept", text=text)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    draft.refresh_from_db()
    assert draft.status == "open"


# --- ways out ---------------------------------------------------------------------------------------------------------
def test_a_persona_is_taken_along_in_each_format(owner: Client, mira: Persona, otto: Persona) -> None:
    here = f"/api/personas/{mira.uuid}/export"
    files = {way: b"".join(owner.get(f"{here}?format={way}")) for way in ("archive", "pam", "card", "card_png")}
    assert json.loads(files["archive"].splitlines()[1])["name"] == "Mira"
    assert STORE_NAME in zipfile.ZipFile(io.BytesIO(files["pam"])).namelist()
    assert json.loads(files["card"])["data"]["name"] == "Mira"
    assert files["card_png"].startswith(b"\x89PNG")
    assert owner.get(here)["Content-Disposition"].startswith('attachment; filename="echovessel-')
    assert owner.get(f"{here}?format=scroll").status_code == 422
    assert owner.get(f"/api/personas/{otto.uuid}/export").status_code == 404
