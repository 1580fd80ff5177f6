"""What an import asks before it reads a file, at each of its doors: the page, the API and the command."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from memory import importing
from memory.importers.source import Source
from memory.importers.transcript import Transcript
from memory.importers.types import Entry, Found, ImportRejected, Options, digest
from memory.importing import running
from memory.models import ImportJob
from persona.models import Persona
from tests.memory.bringing import answered, lines_of, looked_through, whatsapp
from tests.memory.talks import NOW, Clock

pytestmark = pytest.mark.django_db
TALK = b"Anna: I have moved to Porto.\nBruno: When?\nAnna: Last week, with my dog Rex.\n"


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that cannot tell a chat from notes."""
    as_chat = Transcript.read

    def read(self: Transcript, source: Source, options: Options) -> Iterator[Found]:
        if options.kind is None:
            raise ImportRejected("ask_chat_or_notes")
        if options.kind == "chat":
            yield from as_chat(self, source, options)
        else:
            text = "".join(source.texts())
            yield Entry("", text, None, None, digest(text), "line 1")

    monkeypatch.setattr(Transcript, "read", read)


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


def asking(persona: Persona, content: bytes = TALK, name: str = "talk.txt") -> ImportJob:
    job = looked_through(persona, content, name)
    assert job.status == "asking", job.refusal
    return job


def read_again(job: ImportJob) -> ImportJob:
    running.run(job.pk, Clock())
    job.refresh_from_db()
    assert job.status == "asking", job.refusal
    return job


def command(persona: Persona, content: bytes, folder: Path, **options: Any) -> str:
    (folder / "talk.txt").write_bytes(content)
    out = io.StringIO()
    file = str(folder / "talk.txt")
    call_command("import_memories", file, persona=str(persona.uuid), stdout=out, stderr=io.StringIO(), **options)
    return out.getvalue()


# --- a chat, or notes -------------------------------------------------------------------------------------------------
@pytest.mark.usefixtures("undecided")
def test_whether_it_is_a_chat_or_notes_is_asked_and_a_wrong_answer_is_turned_back(mira: Persona) -> None:
    job = asking(mira)
    assert job.found["questions"] == ["kind"]
    with pytest.raises(importing.WrongChoice) as error:
        importing.confirm(job, importing.suggested(job), NOW)
    assert error.value.code == "kind"
    importing.confirm(job, importing.Choices(kind="notes"), NOW)
    assert (read_again(job).found["questions"], job.found["counts"]["entries"], job.found["speakers"]) == ([], 1, [])
    importing.confirm(job, answered(job, kind="chat"), NOW)
    assert (read_again(job).found["questions"], job.found["counts"]["lines"]) == ([], 3)
    importing.confirm(job, answered(job, {"Anna": "user", "Bruno": "other"}), NOW)
    running.run(job.pk, Clock())
    assert lines_of(mira)[0] == "user: I have moved to Porto."


@pytest.mark.usefixtures("undecided")
def test_the_page_asks_with_two_answers_and_says_what_is_missing(owner: Client, mira: Persona) -> None:
    job = asking(mira)
    url = f"/memory/{mira.uuid}/bring/{job.uuid}/"
    page = owner.get(url).content.decode()
    assert page.count('name="kind"') == 2
    assert 'data-testid="chat-or-notes"' in page
    assert 'data-testid="speaker"' not in page
    assert owner.post(url, {"zone": "UTC"}).status_code == 422
    assert owner.post(url, {"zone": "UTC", "kind": "diary"}).status_code == 422
    assert owner.post(url, {"zone": "UTC", "kind": "chat"}).status_code == 302
    read_again(job)
    page = owner.get(url).content.decode()
    assert page.count('data-testid="speaker"') == 2
    assert '<option value="chat" selected>' in page  # and can be turned back under "How to read it"


@pytest.mark.usefixtures("undecided")
def test_the_api_names_the_question_and_takes_the_answer(owner: Client, mira: Persona) -> None:
    job = asking(mira)
    url = f"/api/personas/{mira.uuid}/imports/{job.uuid}"
    assert owner.get(url).json()["found"]["questions"] == ["kind"]
    answer = owner.post(f"{url}/confirm", {}, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (422, "kind")
    assert owner.post(f"{url}/confirm", {"kind": "diary"}, "application/json").status_code == 422
    assert owner.post(f"{url}/confirm", {"kind": "chat"}, "application/json").json()["status"] == "looking"
    read_again(job)
    told = owner.get(url).json()
    assert (told["found"]["questions"], told["choices"]["kind"], told["found"]["counts"]["lines"]) == ([], "chat", 3)


@pytest.mark.usefixtures("undecided")
def test_the_command_asks_which_flag_to_give(mira: Persona, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--kind chat or --kind notes"):
        command(mira, TALK, tmp_path)
    assert not ImportJob.objects.exists()
    assert "lines" in command(mira, TALK, tmp_path, kind="chat", dry_run=True, user_is=["Anna"])
    assert "entries" in command(mira, TALK, tmp_path, kind="notes", dry_run=True)


# --- chats between people ---------------------------------------------------------------------------------------------
def roles_of(persona: Persona, content: bytes | str, name: str = "chat.txt") -> dict[str, str]:
    content = content.encode() if isinstance(content, str) else content
    return dict(importing.suggested(asking(persona, content, name)).roles)


def telegram(people: dict[str, str], **chat: Any) -> str:
    """A chat in which each person says something; ids by name."""
    messages = [
        {"id": number, "type": "message", "date": f"2024-01-05T10:00:0{number}", "from": name, "from_id": f"user{who}"}
        | {"text": f"I am {name}"}
        for number, (name, who) in enumerate(people.items(), 1)
    ]
    return json.dumps({"name": "Ben", "type": "personal_chat", "id": 7, "messages": messages} | chat)


def test_in_a_chat_between_people_nobody_is_the_persona_and_one_at_most_is_the_owner(mira: Persona) -> None:
    mira.user_name = "Ana"
    mira.owner.first_name = "Anna Maria"
    mira.owner.save()
    told = {
        "the title names the other one": (whatsapp("Al: hi", "Ben: hello"), "WhatsApp Chat with Ben.txt"),
        "the name of the persona": (whatsapp("Al: hi", "Mira: hello"), "WhatsApp Chat with Mira.txt"),
        "the name of the owner": (whatsapp("ana: hi", "Ben: hello"), "chat.txt"),
        "the first name of the owner": (whatsapp("Ana Lopes: hi", "Ben: hello", "Kim: oh"), "chat.txt"),
        "the name of the account": (whatsapp("anna maria: hi", "Ben: hello"), "chat.txt"),
        "a name like an assistant's": (whatsapp("Ana: hi", "Claude: hello"), "chat.txt"),
        "nothing": (whatsapp("Al: hi", "Ben: hello"), "chat.txt"),
        "nothing, of many": (whatsapp("Al: hi", "Ben: hello", "Kim: oh"), "chat.txt"),
        "two of that name": (whatsapp("Ana L: hi", "Ana B: hello"), "chat.txt"),
        "ids that tell": (telegram({"Al": "1", "Benny": "7"}), "result.json"),
        "ids that do not": (telegram({"Al": "1", "Benny": "2"}), "result.json"),
        "ids that do not, and a title": (telegram({"Al": "1", "Ben": "2"}), "result.json"),
    }
    mira.save()
    assert {why: roles_of(mira, *file) for why, file in told.items()} == {
        "the title names the other one": {"Al": "user", "Ben": "other"},
        "the name of the persona": {"Al": "user", "Mira": "other"},
        "the name of the owner": {"ana": "user", "Ben": "other"},
        "the first name of the owner": {"Ana Lopes": "user", "Ben": "other", "Kim": "other"},
        "the name of the account": {"anna maria": "user", "Ben": "other"},
        "a name like an assistant's": {"Ana": "user", "Claude": "other"},
        "nothing": {"Al": "", "Ben": ""},
        "nothing, of many": {"Al": "", "Ben": "", "Kim": ""},
        "two of that name": {"Ana L": "", "Ana B": ""},
        "ids that tell": {"Al": "user", "Benny": "other"},
        "ids that do not": {"Al": "", "Benny": ""},
        "ids that do not, and a title": {"Al": "user", "Ben": "other"},
    }


def test_who_speaks_in_all_of_several_chats_took_them_along(mira: Persona) -> None:
    chats = [
        json.loads(telegram({"Al": "4", "Ben": "5"}, id=1, type="private_group", name="A")),
        json.loads(telegram({"Al": "4", "Kim": "6"}, id=2, type="private_group", name="B")),
    ]
    data = json.dumps({"about": "…", "chats": {"about": "…", "list": chats}})
    assert roles_of(mira, data, "result.json") == {"Al": "user", "Ben": "other", "Kim": "other"}


def test_one_answer_is_enough_and_the_persona_may_be_chosen(owner: Client, mira: Persona, tmp_path: Path) -> None:
    group = whatsapp("Al: I have a cat.", "Ben: hello", "Kim: oh")
    with pytest.raises(CommandError, match=r"--user-is NAME: 'Al' .*, 'Ben' .*, 'Kim'"):
        command(mira, group, tmp_path)
    told = command(mira, group, tmp_path, dry_run=True, user_is=["Al"])
    assert [line.split() for line in told.splitlines()][-2:] == [
        ["'Ben'", "other,", "1", "lines"], ["'Kim'", "other,", "1", "lines"],
    ]  # fmt: skip
    job = asking(mira, group)
    url = f"/api/personas/{mira.uuid}/imports/{job.uuid}/confirm"
    assert owner.post(url, {}, "application/json").json()["code"] in ("roles", "nobody_is_you")
    assert owner.post(url, {"roles": {"Al": "user", "Ben": "persona"}}, "application/json").status_code == 200
    job.refresh_from_db()
    assert job.choices["roles"] == {"Al": "user", "Ben": "persona", "Kim": "other"}


def test_the_page_has_somebody_else_chosen_and_asks_who_is_the_owner(owner: Client, mira: Persona) -> None:
    job = asking(mira, whatsapp("Al: I have a cat.", "Ben: hello"))
    url = f"/memory/{mira.uuid}/bring/{job.uuid}/"
    page = owner.get(url).content.decode()
    assert page.count('value="other" checked') == 2
    assert 'data-testid="between-people"' in page
    answer = owner.post(url, {"zone": "UTC", "role_0": "other", "role_1": "other", "called": "Al"})
    assert (answer.status_code, 'role="alert"' in answer.content.decode()) == (422, True)
    assert owner.post(url, {"zone": "UTC", "role_0": "user", "role_1": "other", "called": "Al"}).status_code == 302
