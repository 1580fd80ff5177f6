"""Verification finds the words in every column and encoding, and reports nothing that is not there."""

import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session as SignIn
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ, Task
from django_q.signing import SignedPackage

from chat import search
from chat.messages import receive_message
from chat.models import Message, MessageText, Turn
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from memory.erasure import receipts
from memory.forgetting import verify
from memory.models import ConceptNode, Evidence, Extraction, NodeText, NodeVector, Receipt, StagedVector
from memory.store import active_model
from memory.store.deduplication import content_hash
from persona.models import CoreBlock, Persona

pytestmark = pytest.mark.django_db
NOW = timezone.now()
WORDS = "the zebra quilt of Qoloba & Tom's 斑马被子"
Remember = Callable[..., ConceptNode]


@pytest.fixture
def mine(mira: Persona, remember: Remember) -> ConceptNode:
    """A memory, in a life without a message about it."""
    receive_message(mira, "I keep bees, and a quilt of Tom's.", None, "web", NOW)
    return remember(mira, "Ana keeps bees.")


def find_traces(*texts: str) -> set[tuple[str, str]]:
    return {(hit.place, hit.form) for hit in verify.find_texts(texts or [WORDS])}


def add_failed_job(words: str) -> None:
    task_fields = {"name": "job", "func": "memory.tasks.consolidate_session", "started": NOW, "stopped": NOW}
    Task.objects.create(id="1" * 32, success=False, result=f"Error: {words}", **task_fields)


def sign_in_with(words: str) -> None:
    store = SessionStore()
    store["onboarding"] = {"persona": words}
    store.save()


HOLDERS: dict[str, Callable[[Persona, ConceptNode], object]] = {
    "chat_message.content": lambda mira, node: Message.objects.update(content=f"So: {WORDS.upper()}!"),
    "chat_session.summary": lambda mira, node: mira.sessions.update(summary=f"About {WORDS}."),
    "chat_turn.partial": lambda mira, node: Turn.objects.update(partial=f"You said {WORDS}"),
    "chat_turn.xray": lambda mira, node: Turn.objects.update(xray={"recent": [{"line": WORDS}]}),
    "memory_conceptnode.description": lambda mira, node: ConceptNode.objects.update(description=f"Ana has {WORDS}"),
    "outbox_outboxevent.data": lambda mira, node: events.publish(
        mira.uuid, "chat.message.done", html=f"<p>{WORDS}</p>"
    ),
    "persona_persona.episodic_state": lambda mira, node: Persona.objects.update(episodic_state={"mood": WORDS}),
    "django_admin_log.object_repr": lambda mira, node: LogEntry.objects.create(
        user=User.objects.get(username="ana"),
        content_type=ContentType.objects.get_for_model(Persona),
        object_repr=WORDS,
        action_flag=2,
    ),
    "django_q_ormq.payload": lambda mira, node: OrmQ.objects.create(
        key="x", payload=SignedPackage.dumps({"args": (WORDS,)}), lock=NOW
    ),
    "django_q_task.result": lambda mira, node: add_failed_job(WORDS),
    "django_session.session_data": lambda mira, node: sign_in_with(WORDS),
}


@pytest.mark.parametrize(("place", "hide"), HOLDERS.items(), ids=HOLDERS)
def test_words_are_found_wherever_they_are_hidden(
    mira: Persona, mine: ConceptNode, place: str, hide: Callable[[Persona, ConceptNode], object]
) -> None:
    assert find_traces() == set()
    hide(mira, mine)
    assert (place, "text") in find_traces()


def test_html_is_read_as_a_reader_does(mira: Persona, mine: ConceptNode) -> None:
    html = "<p>the <b>zebra</b> quilt of Qoloba &amp; Tom&#x27;s 斑马被子</p>"
    events.publish(mira.uuid, "chat.message.done", html=html)
    assert find_traces() == {("outbox_outboxevent.data", "text")}


def test_a_hash_by_which_a_guess_can_be_tried_is_found(mine: ConceptNode) -> None:
    ConceptNode.objects.update(content_hash=content_hash(WORDS))
    assert find_traces() == {("memory_conceptnode.content_hash", "digest")}


def test_cut_words_are_found(mine: ConceptNode) -> None:
    NodeText.objects.update(body="zebra quilt of qoloba")
    assert ("memory_nodetext.body", "words") in find_traces("Zebra quilts of Qoloba.")


@pytest.mark.parametrize(
    ("trigger", "place"),
    [
        ("chat_messagetext_fts_delete", "chat_messagetext_fts"),
        ("chat_message_substring_delete", "chat_message_substring"),
    ],
)
def test_an_index_that_kept_what_its_table_let_go_is_found(mira: Persona, trigger: str, place: str) -> None:
    message = receive_message(mira, "Zebra quilts of Qoloba.", None, "web", NOW).message
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {trigger}")
    message.session.delete()
    OutboxEvent.objects.all().delete()
    assert find_traces("Zebra quilts of Qoloba.") == {(place, "words")}


@pytest.mark.parametrize("table", [NodeVector, StagedVector])
def test_the_vector_of_the_words_with_another_memory_is_found(mine: ConceptNode, table: Any) -> None:
    vector = embedding.embed([WORDS])[0].tobytes()
    table.objects.update_or_create(node=mine, defaults={"model": active_model.model_in_use(), "embedding": vector})
    assert find_traces() == {(f"{table._meta.db_table}.embedding", "vector")}


def test_the_vector_of_the_same_words_is_told_by_the_words(mira: Persona, remember: Remember) -> None:
    remember(mira, WORDS)
    assert {form for _, form in find_traces()} == {"text", "words"}


def test_a_sealed_value_is_told_for_it_may_hold_anything(mine: ConceptNode) -> None:
    SignIn.objects.create(session_key="x", session_data="not:signed:byus", expire_date=NOW)
    assert find_traces() == {("django_session.session_data", "sealed")}


def test_bytes_in_a_file_of_the_data_folder_are_found(mine: ConceptNode, settings: Any, tmp_path: Path) -> None:
    settings.DATA_DIR = settings.MEDIA_ROOT = tmp_path
    settings.STATIC_ROOT = tmp_path / "static"
    (tmp_path / "static").mkdir()
    for name in ("secret_key", "static/page.css", "backup.bin"):
        (tmp_path / name).write_bytes(b"\0" + json.dumps(WORDS).encode())
    assert find_traces() == {("backup.bin", "bytes")}


def test_what_is_too_short_to_say_anything_is_looked_for_as_well(mine: ConceptNode) -> None:
    assert find_traces("", "  ") == set()
    assert ("chat_message.content", "text") in find_traces("bees")


@pytest.mark.django_db(transaction=True)
def test_bytes_of_a_deleted_row_are_found_until_they_are_erased(mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana keeps bees.")
    remember(mira, WORDS)
    ConceptNode.objects.filter(description=WORDS).delete()
    assert {form for _, form in find_traces()} == {"bytes"}
    assert receipts.finish(receipts.note_erasure(mira, "node", {}, NOW), NOW)
    assert find_traces() == set()


# --- by receipt -----------------------------------------------------------------------------------------------------
LONG = "On the ninth of May Ana told her sister about the zebra quilt that their aunt had sewn in Qoloba."


@pytest.fixture
def receipt(mira: Persona, mine: ConceptNode) -> Receipt:
    created = receipts.note_erasure(mira, "node", {}, NOW)
    created.erased, created.prints, created.status = (
        {"node": [str(mine.uuid)]},
        receipts.fingerprints_of([LONG]),
        "done",
    )
    created.save()
    return created


def traces_of(receipt: Receipt) -> set[tuple[str, str]]:
    return {(hit.place, hit.form) for hit in verify.prove([receipt]).hits}


def test_by_a_receipt_its_ids_are_found_but_where_they_are_told_on_purpose(
    mira: Persona, mine: ConceptNode, receipt: Receipt
) -> None:
    OutboxEvent.objects.all().delete()
    uuid = str(mine.uuid)
    assert traces_of(receipt) == {("memory_conceptnode.uuid", "id")}
    mine.delete()
    events.publish(mira.uuid, "memory.node.forgotten", node_ids=[uuid])
    assert traces_of(receipt) == set()
    events.publish(mira.uuid, "memory.event.created", event_id=uuid)
    Turn.objects.update(xray={"recollections": {"chosen": [uuid]}})
    assert traces_of(receipt) == {("outbox_outboxevent.data", "id"), ("chat_turn.xray", "id")}


COPY = f"So: {LONG[20:90]}!"


def copy_into_summary(mira: Persona) -> None:
    mira.sessions.filter(channel="web").update(summary=COPY)


def copy_into_stream(mira: Persona) -> None:
    events.publish(mira.uuid, "chat.session.boundary", summary=COPY, closed_session_id=str(mira.uuid))


def copy_into_answer(mira: Persona) -> None:
    session = mira.sessions.filter(channel="web").get()
    Extraction.objects.create(session=session, chunk=0, through=1, answer={"events": [COPY]}, applied_at=NOW)


def copy_into_turn(mira: Persona) -> None:
    Turn.objects.create(persona=mira, session=mira.sessions.filter(channel="web").get(), status="failed", partial=COPY)


def copy_into_lone_memory(mira: Persona) -> None:
    node = ConceptNode.objects.create(
        persona=mira, kind="event", source="extraction", description=COPY, content_hash="x", embedding_model="m"
    )
    NodeText.objects.create(node=node, scope="x", body=" ".join(tokenizer.tokenize(COPY)))


def copy_into_other_session(mira: Persona) -> None:
    other = receive_message(mira, "Good night.", None, "web", NOW).message
    MessageText.objects.filter(message=other).update(body=" ".join(tokenizer.tokenize(COPY)))
    Receipt.objects.update(erased={"message": [str(other.uuid)]})


COPIES: dict[str, Callable[[Persona], None]] = {
    "chat_session.summary": copy_into_summary,
    "outbox_outboxevent.data": copy_into_stream,
    "memory_extraction.answer": copy_into_answer,
    "chat_turn.partial": copy_into_turn,
    "memory_nodetext.body": copy_into_lone_memory,
    "chat_messagetext.body": copy_into_other_session,
}


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("place", COPIES)
def test_by_a_receipt_eight_words_in_a_row_are_found_also_beside_a_message_that_was_kept(
    mira: Persona, mine: ConceptNode, receipt: Receipt, place: str, is_kept: bool
) -> None:
    """A copy that refers to no remaining message or memory is a trace, whatever else remains."""
    mine.delete()
    assert traces_of(receipt) == set()
    if is_kept:
        receive_message(mira, COPY, None, "other", NOW)
        assert traces_of(receipt) == set()
    COPIES[place](mira)
    receipt.refresh_from_db()
    assert (place, "print") in traces_of(receipt)


def test_messages_and_memories_that_were_not_chosen_are_no_trace_and_are_counted(
    mira: Persona, mine: ConceptNode, receipt: Receipt, remember: Remember
) -> None:
    mine.delete()
    message = receive_message(mira, COPY, None, "other", NOW).message
    reply = Message.objects.create(
        persona=mira,
        session=message.session,
        role="persona",
        content=COPY,
        token_count=9,
        day=message.day,
        created_at=NOW,
    )
    search.index([reply])
    node = remember(mira, COPY, session=message.session)
    Evidence.objects.create(node=node, message=message, quote=COPY, start=0, end=len(COPY))
    message.session.summary = f"Told of it: {COPY}"
    message.session.save()
    Extraction.objects.create(session=message.session, chunk=0, through=1, answer={"events": [COPY]}, applied_at=NOW)
    events.publish(mira.uuid, "memory.event.created", event_id=str(node.uuid), description=COPY)
    CoreBlock.objects.filter(persona=mira, label="user").update(content=COPY)
    proof = verify.prove([receipt])
    assert (proof.hits, proof.kept_messages) == ([], 2)
    out = StringIO()
    call_command("verify_forgetting", "--receipt", str(receipt.uuid), stdout=out)
    assert out.getvalue().startswith("the same words also stand in 2 messages that were kept")


@pytest.mark.django_db(transaction=True)
def test_by_a_receipt_bytes_that_no_row_uses_are_found(mira: Persona, remember: Remember) -> None:
    """Where the same words remain in another row, the file holds them on purpose, and their bytes are no trace."""
    remember(mira, LONG)
    receipt = receipts.note_erasure(mira, "node", {}, NOW)
    Receipt.objects.update(prints=receipts.fingerprints_of([LONG]))
    receipt.refresh_from_db()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA secure_delete = OFF")
        ConceptNode.objects.all().delete()
        cursor.execute("PRAGMA secure_delete = ON")
    assert {form for _place, form in traces_of(receipt)} == {"bytes"}
    receive_message(mira, LONG, None, "web", NOW)
    assert traces_of(receipt) == set()
    assert receipts.finish(receipt, NOW)
    assert traces_of(receipt) == set()


def test_the_command_says_where_and_ends_with_1(mira: Persona, mine: ConceptNode) -> None:
    out = StringIO()
    call_command("verify_forgetting", "--text", WORDS, stdout=out)
    assert "nothing" in out.getvalue()
    mira.sessions.update(summary=WORDS)
    out = StringIO()
    with pytest.raises(CommandError) as ended:
        call_command("verify_forgetting", "--json", "--text", WORDS, stdout=out)
    assert ended.value.returncode == 1
    assert json.loads(out.getvalue())["hits"] == [
        {"place": "chat_session.summary", "key": mira.sessions.get().pk, "form": "text"}
    ]


def test_the_command_reads_words_from_stdin_so_that_no_shell_keeps_them(
    mine: ConceptNode, mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    mira.sessions.update(summary=WORDS)
    monkeypatch.setattr(sys, "stdin", StringIO(f"nobody said this\n{WORDS}\n"))
    with pytest.raises(CommandError, match="found: 1"):
        call_command("verify_forgetting", "--text", "-", stdout=StringIO())


def test_the_command_ends_with_2_where_bytes_are_still_to_be_erased(mine: ConceptNode, receipt: Receipt) -> None:
    Receipt.objects.update(status="pending")
    mine.delete()
    OutboxEvent.objects.all().delete()
    for which in (["--receipt", str(receipt.uuid)], ["--all"]):
        with pytest.raises(CommandError) as ended:
            call_command("verify_forgetting", *which, stdout=StringIO())
        assert ended.value.returncode == 2
    Receipt.objects.update(status="done")
    call_command("verify_forgetting", "--all", stdout=StringIO())


def test_the_command_knows_its_receipts(mine: ConceptNode) -> None:
    with pytest.raises(CommandError, match="no receipt"):
        call_command("verify_forgetting", "--receipt", "00000000-0000-0000-0000-000000000000")
