"""`manage.py forget`: prints the plan, executes it only with `--yes` and a choice, and prints the receipt."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from chat.models import Turn
from memory.forgetting import Target, plan
from memory.management.commands import forget
from memory.models import ConceptNode, Receipt, Tombstone
from persona.models import Persona
from tests.memory.forgetting.life import TOLD, Life, lived, say
from tests.memory.forgetting.totals import totals
from tests.memory.imports.imported_sessions import an_import, import_session


@pytest.fixture
def life(mira: Persona) -> Life:
    ConceptNode.objects.filter(pk=(life := lived(mira)).milo.pk).update(external_id="n1")
    return life


def run(life: Life, *options: str) -> str:
    out = StringIO()
    call_command("forget", "--persona", str(life.persona.uuid), *options, stdout=out)
    return out.getvalue()


def run_json(life: Life, *options: str) -> Any:
    return json.loads(run(life, *options, "--json"))


def test_the_plan_is_printed_and_nothing_is_done(life: Life) -> None:
    before = totals()
    output = run(life, "--node", "n1", "--cascade", "--with-messages", "--plan")
    assert TOLD in output
    assert "A deleted memory came from these words." in output
    assert totals() == before


def test_the_plan_as_json_says_what_goes_what_stays_and_how_many(life: Life) -> None:
    output = run_json(life, "--node", str(life.milo.uuid), "--orphan", "--keep-messages", "--plan")
    planned = plan([Target("node", life.milo.pk)], forget.Choice("orphan", "withhold"))
    assert output["counts"] == dict(planned.counts)
    assert {item["id"] for item in output["staying"]} == {str(life.renewal.uuid)}
    assert {item["kind"] for item in output["withheld"]} == {"message"}


@pytest.mark.parametrize("options", [(), ("--cascade",), ("--with-messages",)])
def test_without_a_word_it_prints_the_plan_and_refuses(life: Life, options: tuple[str, ...]) -> None:
    before = totals()
    with pytest.raises(CommandError, match="Nothing was done"):
        run(life, "--node", "n1", *options)
    assert totals() == before


def test_mentions_are_listed_and_follow_what_is_said_of_them(life: Life) -> None:
    message = say(life.persona, "I miss Milo.", "I know.", minutes=200)
    [mention] = run_json(life, "--node", "n1", "--with-messages", "--plan")["mentioned"]
    assert (mention["id"], mention["role"], mention["mode"]) == (str(message.uuid), "user", "forget")
    assert "I miss Milo.  (It contains a deleted name.)" in run(life, "--node", "n1", "--plan")
    for options, mode in (
        (("--mentions", "leave"), "leave"),
        (("--mentions", "leave", "--withhold-mention", str(message.uuid)), "withhold"),
        (("--leave-mention", str(message.uuid)), "leave"),
    ):
        [mention] = run_json(life, "--node", "n1", "--with-messages", *options, "--plan")["mentioned"]
        assert mention["mode"] == mode
    with pytest.raises(CommandError, match="no message"):
        run(life, "--node", "n1", "--leave-mention", "nothing", "--plan")
    with pytest.raises(CommandError, match="can be named only once"):
        run(life, "--node", "n1", "--leave-mention", str(message.uuid), "--forget-mention", str(message.uuid), "--plan")
    run(life, "--node", "n1", "--leave-mention", str(message.uuid), "--yes")
    message.refresh_from_db()
    assert not message.withheld


def test_it_forgets_and_prints_the_receipt(life: Life) -> None:
    output = run_json(life, "--node", "n1", "--session", str(life.later.uuid), "--cascade", "--with-messages", "--yes")
    receipt = Receipt.objects.get()
    assert (output["receipt"], output["counts"]) == (str(receipt.uuid), receipt.counts)
    assert set(output["erased"]["session"]) == {str(life.later.uuid)}
    assert not ConceptNode.objects.filter(pk=life.milo.pk).exists()


def test_the_forget_command_refuses_foreign_and_missing_targets(life: Life, otto: Persona) -> None:
    with pytest.raises(CommandError, match="no node"):
        call_command("forget", "--persona", str(otto.uuid), "--node", "n1", "--cascade", "--yes")
    with pytest.raises(CommandError, match="Say what"):
        run(life, "--cascade", "--yes")
    with pytest.raises(CommandError, match="no persona"):
        call_command("forget", "--persona", "nobody", "--node", "n1", "--plan")


def test_while_a_reply_is_written_it_waits_and_then_gives_up(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forget, "MAX_WAIT_SECONDS", 0)
    Turn.objects.create(persona=life.persona, session=life.talk, status="running")
    with pytest.raises(CommandError, match="being written"):
        run(life, "--node", "n1", "--cascade", "--yes")
    assert not Receipt.objects.exists()


def test_what_came_in_from_a_file_is_reverted_and_nothing_else_is(life: Life) -> None:
    job = an_import(life.persona, "done")
    session = import_session(job, "Ana: I was born in Porto.")
    options = ("--import", str(job.uuid), "--take-back")
    assert "I was born in Porto." in run(life, *options, "--plan")
    with pytest.raises(CommandError, match="Only what came in from a file"):
        run(life, *options, "--session", str(session.uuid), "--yes")
    output = run_json(life, *options, "--yes")
    assert (output["choice"]["bury"], output["erased"]["session"]) == (False, [str(session.uuid)])
    assert not Tombstone.objects.exists()
    with pytest.raises(CommandError, match="There is no import"):
        run(life, *options, "--yes")
