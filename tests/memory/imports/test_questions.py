"""The questions of an import before it reads a file: on the page, in the API and in the command."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from memory import imports
from memory.imports import Choices, analysis, runner
from memory.imports.readers.source import Source
from memory.imports.readers.transcript import Transcript
from memory.imports.readers.types import Entry, ImportRejected, Options, ReaderItem, digest
from memory.models import ConceptNode, ImportJob
from memory.web.import_forms import OWN_TEXT
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.memory.archive.archives import SMALL, write_archive
from tests.memory.imports.importing_files import analyze_file, choices_for, message_lines, whatsapp
from tests.memory.sessions import NOW, Clock

pytestmark = pytest.mark.django_db
TALK = b"Anna: I have moved to Porto.\nBruno: When?\nAnna: Last week, with my dog Rex.\n"


@pytest.fixture
def undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that cannot distinguish a chat from notes."""
    as_chat = Transcript.read

    def read(self: Transcript, source: Source, options: Options) -> Iterator[ReaderItem]:
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
    job = analyze_file(persona, content, name)
    assert job.status == "asking", job.refusal
    return job


def read_again(job: ImportJob) -> ImportJob:
    runner.run(job.pk, Clock())
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
    with pytest.raises(imports.WrongChoice) as error:
        imports.confirm(job, imports.suggest_choices(job), NOW)
    assert error.value.code == "kind"
    imports.confirm(job, imports.Choices(kind="notes"), NOW)
    assert (read_again(job).found["questions"], job.found["counts"]["entries"], job.found["speakers"]) == ([], 1, [])
    imports.confirm(job, choices_for(job, kind="chat"), NOW)
    assert (read_again(job).found["questions"], job.found["counts"]["lines"]) == ([], 3)
    imports.confirm(job, choices_for(job, {"Anna": "user", "Bruno": "other"}), NOW)
    runner.run(job.pk, Clock())
    assert message_lines(mira)[0] == "user: I have moved to Porto."


@pytest.mark.usefixtures("undecided")
def test_the_page_asks_with_two_answers_and_says_what_is_missing(owner: Client, mira: Persona) -> None:
    job = asking(mira)
    url = f"/memory/{mira.uuid}/bring/{job.uuid}/"
    page = owner.get(url).content.decode()
    assert page.count('name="kind"') == 2
    assert 'data-testid="chat-or-notes"' in page
    assert "I have moved to Porto." in page  # the first messages, as a help to decide
    assert 'data-testid="speaker"' not in page
    assert owner.post(url, {"zone": "UTC"}).status_code == 422
    assert owner.post(url, {"zone": "UTC", "kind": "diary"}).status_code == 422
    assert owner.post(url, {"zone": "UTC", "kind": "chat"}).status_code == 302
    read_again(job)
    page = owner.get(url).content.decode()
    assert page.count('data-testid="speaker"') == 2
    assert '<option value="chat" selected>' in page  # and can be changed under "Reading options"


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
    data = owner.get(url).json()
    assert (data["found"]["questions"], data["choices"]["kind"], data["found"]["counts"]["lines"]) == ([], "chat", 3)


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
    return dict(imports.suggest_choices(asking(persona, content, name)).roles)


def telegram(people: dict[str, str], **chat: Any) -> str:
    """A Telegram chat with one message of each person; ids by name."""
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
    files = {
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
    assert {why: roles_of(mira, *file) for why, file in files.items()} == {
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
    with pytest.raises(CommandError, match=r"--user-is NAME, or --without-owner .*: 'Al' .*, 'Ben' .*, 'Kim'"):
        command(mira, group, tmp_path)
    output = command(mira, group, tmp_path, dry_run=True, user_is=["Al"])
    assert [line.split() for line in output.splitlines()][-2:] == [
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


# --- the name of the owner --------------------------------------------------------------------------------------------
DIARY = b"# 2024-03-02\n\nI was born in Los Angeles and I have a cat named Milo.\n"


@pytest.fixture
def nameless(db: None, client: Client) -> Persona:
    """A persona that knows only the name of the owner's account."""
    account = User.objects.create_user("owner", password="a long word for them")
    client.force_login(account)
    return create_persona(account, "Mira")


def memories(persona: Persona) -> str:
    return " ".join(ConceptNode.objects.of(persona).values_list("description", flat=True))


def test_the_page_asks_what_the_owner_is_called_where_only_an_account_is_known(
    nameless: Persona, client: Client
) -> None:
    job = asking(nameless, DIARY, "diary.md")
    url = f"/memory/{nameless.uuid}/bring/{job.uuid}/"
    assert 'data-testid="called"' in client.get(url).content.decode()
    answer = client.post(url, {"zone": "UTC", "called": " ", "limit": "7"})
    assert answer.status_code == 422
    assert "Please enter your name." in answer.content.decode()
    assert 'value="7"' in answer.content.decode()  # answers are kept
    assert client.post(url, {"zone": "UTC", "called": "Ana"}).status_code == 302
    nameless.refresh_from_db()
    assert nameless.user_name == "Ana"
    job = asking(nameless, DIARY + b"more", "diary.md")
    assert 'data-testid="called"' not in client.get(f"/memory/{nameless.uuid}/bring/{job.uuid}/").content.decode()


def test_the_name_under_which_the_owner_speaks_in_the_file_is_taken(nameless: Persona, client: Client) -> None:
    job = asking(nameless, whatsapp("Anna Maria: I have a cat.", "Ben: hello"), "WhatsApp Chat with Ben.txt")
    url = f"/api/personas/{nameless.uuid}/imports/{job.uuid}"
    assert client.get(url).json()["called"] == "Anna Maria"
    assert client.post(f"{url}/confirm", {}, "application/json").status_code == 200
    nameless.refresh_from_db()
    assert nameless.user_name == "Anna Maria"


def test_the_command_takes_a_name_and_no_memory_has_that_of_the_account(nameless: Persona, tmp_path: Path) -> None:
    (tmp_path / "diary.md").write_bytes(DIARY)
    output, trouble = io.StringIO(), io.StringIO()
    file, which = str(tmp_path / "diary.md"), str(nameless.uuid)
    call_command("import_memories", file, persona=which, stdout=output, stderr=trouble)
    assert "--called NAME" in trouble.getvalue()
    assert "born in Los Angeles" in memories(nameless)
    assert "owner" not in memories(nameless).casefold()
    (tmp_path / "diary.md").write_bytes(DIARY.replace(b"Los Angeles", b"Porto").replace(b"03-02", b"03-05"))
    call_command("import_memories", file, persona=which, called="Ana", stdout=output, stderr=trouble)
    assert "Ana: “I was born in Porto" in memories(nameless)


def test_an_archive_tells_how_the_owner_is_called(nameless: Persona, tmp_path: Path) -> None:
    file = write_archive(tmp_path / "mira.jsonl", SMALL)
    call_command("import_memories", str(file), persona=str(nameless.uuid), stdout=io.StringIO(), stderr=io.StringIO())
    nameless.refresh_from_db()
    assert nameless.user_name == "Ana"


# --- records without a field for the speaker --------------------------------------------------------------------------
RECORDS = json.dumps(
    [{"blurb": f"I have a dog and he is {age} years old.", "person": name} for age, name in ((3, "Ana"), (4, "Ben"))]
).encode()


def test_records_without_a_speaker_are_never_taken_for_the_owners_unasked(
    owner: Client, mira: Persona, tmp_path: Path
) -> None:
    job = asking(mira, RECORDS, "rows.json")
    assert job.found["questions"] == ["mapping"]
    mapping = {"text": "blurb", "records": "item"}
    url = f"/api/personas/{mira.uuid}/imports/{job.uuid}/confirm"
    assert owner.post(url, {"mapping": mapping}, "application/json").json()["code"] == "speaker"
    page = f"/memory/{mira.uuid}/bring/{job.uuid}/"
    answer = owner.post(page, {"zone": "UTC", "map_text": "blurb", "map_speaker": ""})
    assert answer.status_code == 422
    assert 'value="blurb" selected' in answer.content.decode()
    (tmp_path / "rows.json").write_bytes(RECORDS)
    with pytest.raises(CommandError, match="--mapping speaker=FIELD; or --kind notes"):
        call_command("import_memories", str(tmp_path / "rows.json"), persona=str(mira.uuid), mapping=["text=blurb"])
    # A wrong answer is changed: first all texts are the owner's, then a field names the speaker.
    assert owner.post(page, {"zone": "UTC", "map_text": "blurb", "map_speaker": OWN_TEXT}).status_code == 302
    assert read_again(job).found["counts"]["entries"] == 2
    assert f'value="{OWN_TEXT}" selected' in owner.get(page).content.decode()
    assert owner.post(page, {"zone": "UTC", "map_text": "blurb", "map_speaker": "person"}).status_code == 302
    assert (read_again(job).found["counts"]["lines"], [speaker["name"] for speaker in job.found["speakers"]]) == (
        2, ["Ana", "Ben"],
    )  # fmt: skip


def test_a_second_tab_is_told_that_it_was_answered_before(owner: Client, mira: Persona) -> None:
    job = asking(mira, whatsapp("Ana: I have a cat.", "Ben: hello"))
    page = f"/memory/{mira.uuid}/bring/{job.uuid}/"
    answers = {"zone": "UTC", "role_0": "user", "role_1": "other"}
    assert owner.post(page, answers).status_code == 302
    second = owner.post(page, answers | {"role_1": "persona"})
    assert (second.status_code, 'data-status="asking"' in second.content.decode()) == (200, False)
    job.refresh_from_db()
    assert job.choices["roles"] == {"Ana": "user", "Ben": "other"}


def test_records_that_follow_each_other_within_minutes_are_no_diary_unasked(mira: Persona) -> None:
    content = "\n".join(f"2024-01-05T10:0{minute}:00,I am here" for minute in range(4))
    assert asking(mira, f"time,content\n{content}".encode(), "rows.csv").found["questions"] == ["kind"]
    days = "\n".join(f"2024-01-0{day}T10:00:00,I was here" for day in range(1, 5))
    assert asking(mira, f"time,entry\n{days}".encode(), "rows.csv").found["questions"] == []


# --- records that do not say who speaks, and chats in which the owner does not speak ----------------------
def test_records_without_a_speaker_are_asked_about_unless_something_calls_them_a_diary(mira: Persona) -> None:
    rows = "2024-03-01 10:00,Your present is here.\n2024-03-04 11:00,I miss you.\n2024-03-09 12:00,Come on Sunday.\n"
    record = '[{"time": "2024-03-01 10:00", "%s": "I miss you."}, {"time": "2024-03-09 10:00", "%s": "Come."}]'
    cases = [
        ("kept.csv", f"time,content\n{rows}", ["kind"]),
        ("kept.csv", f"时间,内容\n{rows}", ["kind"]),
        ("kept.csv", f"country,content\n{rows}", ["kind"]),
        ("kept.csv", f"time,entry\n{rows}", []),
        ("kept.csv", f"日期,日记\n{rows}", []),
        ("my diary.csv", f"time,content\n{rows}", []),
        ("kept.json", record % ("content", "content"), ["mapping"]),
    ]
    for name, content, questions in cases:
        survey = analysis.survey(Source(io.BytesIO(content.encode()), name), Choices())
        assert survey["questions"] == questions, (name, content)
        if questions == ["kind"]:
            answered_so = analysis.survey(Source(io.BytesIO(content.encode()), name), Choices(kind="notes"))
            assert answered_so["counts"]["entries"] > 1, (name, content)


def test_a_chat_in_which_only_others_speak_is_taken_in_when_the_owner_says_so(
    mira: Persona, owner: Client, tmp_path: Path
) -> None:
    only_tom = whatsapp("Tom: I am back from Porto.", "Tom: Call me.")
    job = asking(mira, only_tom, "WhatsApp Chat with Tom.txt")
    address = f"/memory/{mira.uuid}/bring/{job.uuid}/"
    answers = {"role_0": "other", "zone": "UTC", "format": "", "undated": "2024-01-01", "called": "Ana"}
    page = owner.post(address, answers)
    assert (page.status_code, "or that none of them is" in page.content.decode()) == (422, True)
    assert owner.post(address, answers | {"without_owner": "on"}).status_code == 302
    job.refresh_from_db()
    assert job.choices["without_owner"]
    runner.run(job.pk, Clock())
    assert [(message.role, message.speaker) for message in mira.messages.all()] == [("system", "Tom")] * 2
