"""A line that speaks of a crisis: help stands beside it, whoever may is told, the prompt says how to answer."""

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.care import flags, help_texts
from chat.messages import as_event, receive_message
from chat.models import CrisisFlag, Message, Turn
from chat.prompt import assemble
from chat.sessions import off_the_record
from chat.turns import turn
from echovessel import schedule
from echovessel.outbox.models import OutboxEvent
from persona.models import Persona
from tests.table import each_row

pytestmark = pytest.mark.django_db

CRY, DISGUISED, HARMLESS = "I want to die", "s u i c i d e", "You are killing it today!"
NOW = timezone.now().replace(microsecond=0)


@pytest.fixture(autouse=True)
def own_data_folder(settings: Any, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def say(persona: Persona, words: str, at: Any = NOW, **values: Any) -> Message:
    return receive_message(persona, words, None, "web", at, **values).message


def answered(persona: Persona, words: str, at: Any = NOW) -> assemble.Prompt:
    """The prompt for a line, which is then answered."""
    say(persona, words, at)
    made = assemble.assemble(claimed(persona, at), at)
    finish(persona, at)
    return made


def claimed(persona: Persona, at: Any) -> Turn:
    found = turn.claim(persona.pk, at)
    assert found is not None
    return found


def finish(persona: Persona, at: Any) -> None:
    running = Turn.objects.running().get(persona=persona)
    turn.finish(running, "I am here.", stopped=False, first_token_at=at, xray={}, now=at)


def told(message: Message) -> dict[str, Any]:
    """The event of a user's line."""
    return dict(OutboxEvent.objects.get(name="chat.message.user_appended", data__message_id=str(message.uuid)).data)


@pytest.mark.parametrize("words", [CRY, DISGUISED, "我撐不住了", "你觉得活着累吗？"])
def test_help_stands_beside_a_cry_at_once(mira: Persona, words: str) -> None:
    message = say(mira, words)
    assert "findahelpline.com" in told(message)["care"]["texts"][0]
    flag = CrisisFlag.objects.get()
    assert (flag.message_id, flag.raised_by, flag.raised_at, flag.seen_at) == (message.pk, None, NOW, None)
    mira.refresh_from_db()
    assert mira.care_until == NOW + timedelta(hours=48)


def test_a_cry_is_stored_and_answered_as_any_line(mira: Persona) -> None:
    message = say(mira, CRY)
    assert (message.content, message.withheld, message.turn and message.turn.status) == (CRY, False, "collecting")


def test_a_harmless_line_brings_nothing_and_asks_the_database_nothing_more(mira: Persona) -> None:
    say(mira, "Hello")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        message = say(mira, HARMLESS)
    assert "care" not in told(message)
    assert not CrisisFlag.objects.exists()
    assert not [query for query in queries if "crisis" in query["sql"] or 'UPDATE "persona_persona"' in query["sql"]]


def test_she_holds_back_longer_but_never_shorter(mira: Persona, settings: Any) -> None:
    say(mira, CRY)
    settings.KNOBS = {"care.hold_hours": 1}
    say(mira, CRY, NOW + timedelta(hours=2))
    mira.refresh_from_db()
    assert mira.care_until == NOW + timedelta(hours=48)
    say(mira, CRY, NOW + timedelta(hours=100))
    mira.refresh_from_db()
    assert mira.care_until == NOW + timedelta(hours=101)


def test_the_daily_job_clears_expired_holds(mira: Persona, otto: Persona) -> None:
    say(mira, CRY, timezone.now() - timedelta(hours=49))
    say(otto, CRY, timezone.now() - timedelta(hours=47))
    assert schedule.daily()["held_back"] == 1
    assert Persona.objects.exclude(care_until=None).get() == otto


def test_a_frame_that_is_sent_again_is_told_as_before(mira: Persona) -> None:
    for words in (CRY, HARMLESS, "Hello"):
        key = uuid.uuid4()
        first = receive_message(mira, words, key, "web", NOW)
        again = receive_message(mira, words, key, "web", NOW + timedelta(seconds=5))
        assert again.repeated
        assert as_event(again.message) == told(first.message)
    assert CrisisFlag.objects.count() == 1


def test_a_page_that_is_loaded_anew_shows_the_help(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    say(mira, HARMLESS)
    address = f"/chat/{mira.uuid}/"
    assert "findahelpline.com" not in client.get(address).content.decode()
    cry = say(mira, CRY, NOW + timedelta(seconds=1))
    assert "findahelpline.com" in client.get(address).content.decode()
    last = say(mira, "Good night", NOW + timedelta(seconds=2))
    older = client.get(f"{address}history/", {"before": str(last.uuid)}).content.decode()
    assert str(cry.uuid) in older
    assert "findahelpline.com" in older


def test_a_page_of_many_cries_asks_the_database_no_more_than_one_of_few(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)

    def statements() -> int:
        with CaptureQueriesContext(connection) as asked:
            assert "12356" in client.get(f"/chat/{mira.uuid}/").content.decode()
        return len(asked)

    say(mira, CRY)
    say(mira, CRY)
    few = statements()
    for _line in range(5):
        say(mira, CRY)
    assert statements() == few


def test_a_flag_raised_by_staff_shows_the_owner_no_help(mira: Persona, ben: Any) -> None:
    message = say(mira, HARMLESS)
    flags.raise_flag(message, ben, NOW)
    assert flags.help_of_message(Message.objects.get(pk=message.pk)) == ()
    ben.delete()
    assert flags.help_of_message(Message.objects.get(pk=message.pk)) == ()


def test_off_the_record_there_is_help_and_no_trace_of_it_elsewhere(mira: Persona) -> None:
    message = say(mira, CRY, unrecorded=True)
    assert told(message)["care"]["texts"]
    assert "# What matters most now" in assemble.assemble(claimed(mira, NOW), NOW).system
    finish(mira, NOW)
    off_the_record.end(mira, "web", NOW)
    later = NOW + timedelta(minutes=1)
    assert "# What matters most now" not in answered(mira, "Hello again", later).system
    message.session.delete()
    assert not CrisisFlag.objects.exists()


# --- the help texts ---------------------------------------------------------------------------------------------------
def test_the_help_is_of_the_operators_locale_and_of_the_personas_language(mira: Persona, settings: Any) -> None:
    assert ["988" in text for text in help_texts.help_for_message("en")] == [True]
    for line, persona, is_chinese_first, count in (
        ("我不想活了", "en", True, 2),
        ("wo bu xiang huo le", "en", True, 2),
        ("我不想活了", "zh", True, 2),
        ("I want to die", "zh", False, 2),
        ("I want to die", "en", False, 1),
        ("I feel so 累, I cannot go on", "zh", False, 2),
        ("🔪", "en", False, 1),
    ):
        shown = help_texts.help_for_message(persona, line)
        assert ("12356" in shown[0], len(shown)) == (is_chinese_first, count), (line, persona)
    assert ["12356" in text for text in help_texts.help_for_message("zh")] == [False, True]
    settings.LANGUAGE_CODE = "zh-hans"
    assert ["12356" in text for text in help_texts.help_for_message("zh")] == [True]
    assert ["12356" in text for text in help_texts.help_for_message("en")] == [True, False]
    settings.LANGUAGE_CODE = "de"
    assert ["988" in text for text in help_texts.help_for_message("en")] == [True]


@each_row(
    ("zone", "persona", "line", "holds", "lacks"),
    [
        ("Asia/Shanghai", "zh", "我不想活了", ["12356", "120（急救）", "findahelpline.com"], ["988", "911"]),
        ("Asia/Shanghai", "en", "I want to die", ["120 (ambulance)", "12356", "18 hours"], ["988", "急救"]),
        ("America/Indiana/Knox", "zh", "我不想活了", ["911", "988", "findahelpline.com"], ["12356", "116 123"]),
        ("America/Iqaluit", "en", "I want to die", ["867-979-1111", "911 may not work", "988"], ["999", "12356"]),
        ("Europe/London", "en", "I want to die", ["999", "116 123"], ["988", "12356"]),
        ("Europe/Lisbon", "en", "I want to die", ["112", "findahelpline.com"], ["988", "999"]),
        ("Australia/Perth", "zh", "🔪", ["000", "13 11 14"], ["12356", "988"]),
    ],
)
def test_the_numbers_are_those_of_the_country_where_the_owner_is(
    zone: str, persona: str, line: str, holds: list[str], lacks: list[str], own_data_folder: Path
) -> None:
    [text] = help_texts.help_for_message(persona, line, zone)
    assert [part for part in holds if part not in text] == []
    assert [part for part in lacks if part in text] == []
    assert text.count("findahelpline.com") == 1
    assert "{" not in text
    assert text.index("findahelpline.com") > max(text.index(part) for part in holds if part != "findahelpline.com")


def test_beside_the_numbers_of_the_country_stand_the_operators_words_and_where_it_is_unknown_all_of_ours(
    own_data_folder: Path,
) -> None:
    assert len(help_texts.help_for_message("zh", "我不想活了", "UTC")) == 2
    (own_data_folder / "help.en.txt").write_text("Call Vera on 555.", encoding="utf-8")
    ours, operators = help_texts.help_for_message("zh", "我不想活了", "Asia/Shanghai")
    assert ("12356" in ours, operators) == (True, "Call Vera on 555.")
    assert help_texts.help_for_message("zh", "I want to die", "Asia/Shanghai") == ("Call Vera on 555.",)


def test_the_operators_words_take_the_place_of_ours(own_data_folder: Path, settings: Any) -> None:
    (own_data_folder / "help.en.txt").write_text("Call Vera on 555.\n", encoding="utf-8")
    (own_data_folder / "help.de.txt").write_text("\ufeffRuf 0800 111 0 111 an.", encoding="utf-8")
    assert help_texts.help_for_message("en") == ("Call Vera on 555.",)
    settings.LANGUAGE_CODE = "de"
    assert help_texts.help_for_message("en") == ("Ruf 0800 111 0 111 an.", "Call Vera on 555.")
    assert not [found for found in run_checks() if found.id == "echovessel.W005"]


@pytest.mark.parametrize("wrong", [b"", b" \n ", b"\xff\xfe\x00", b"x" * 2_001])
def test_an_unreadable_help_file_is_a_check_warning_and_loses_no_message(
    mira: Persona, own_data_folder: Path, wrong: bytes
) -> None:
    (own_data_folder / "help.en.txt").write_bytes(wrong)
    assert "12356" in told(say(mira, CRY))["care"]["texts"][0]
    (warning,) = [found.msg for found in run_checks() if found.id == "echovessel.W005"]
    assert warning.startswith("help.en.txt in the data folder is not shown: it ")


def test_a_folder_in_the_place_of_the_words_costs_no_line(mira: Persona, own_data_folder: Path) -> None:
    (own_data_folder / "help.en.txt").mkdir()
    assert told(say(mira, CRY))["care"]["texts"]


# --- the prompt -------------------------------------------------------------------------------------------------------
def test_the_prompt_says_how_to_answer_a_cry(mira: Persona) -> None:
    made = answered(mira, CRY)
    headings = [line for line in made.system.splitlines() if line.startswith("# ")]
    assert headings[-2:] == ["# What always holds", "# What matters most now"]
    assert "Give no method" in made.system
    assert made.material["crisis"] == "plain"
    assert made.xray["guidance"] == {"when": "now", "messages": [str(Message.objects.get(content=CRY).uuid)]}


def test_a_harmless_line_leaves_the_prompt_as_it_is(mira: Persona) -> None:
    made = answered(mira, HARMLESS)
    assert "What matters most now" not in made.system
    assert "crisis" not in made.material
    assert "guidance" not in made.xray


def test_how_to_answer_stands_in_the_shortest_prompt_and_in_her_language(mira: Persona, settings: Any) -> None:
    settings.KNOBS = {"chat.prompt_tokens": 500}
    Persona.objects.filter(pk=mira.pk).update(language="zh")
    made = answered(mira, f"我不想活了。{'今天下雨。' * 400}")
    assert "# 此刻最要紧的" in made.system
    assert "绝不给出任何方法" in made.system


def test_prompts_mention_the_cry_for_three_messages_and_then_as_guidance_until_the_hold_ends(mira: Persona) -> None:
    answered(mira, CRY)
    prompts = [answered(mira, f"line {number}", NOW + timedelta(minutes=number)) for number in range(1, 5)]
    assert [made.material.get("crisis") for made in prompts] == ["lately", "lately", "lately", None]
    assert prompts[3].xray["guidance"]["when"] == "lately"
    assert "Within the last days Ana spoke" in prompts[3].system
    assert "Within the last days" in answered(mira, "Hello", NOW + timedelta(hours=47)).system
    assert "guidance" not in answered(mira, "Hello", NOW + timedelta(hours=49)).xray


def test_nothing_is_said_lightly_of_a_line_that_is_gone_or_put_away(mira: Persona) -> None:
    answered(mira, CRY)
    later = NOW + timedelta(hours=1)
    Message.objects.filter(content=CRY).update(withheld=True)
    assert "guidance" not in answered(mira, "Hello", later).xray
    Message.objects.filter(content=CRY).update(withheld=False)
    CrisisFlag.objects.all().delete()
    Message.objects.filter(content=CRY).delete()
    assert "guidance" not in answered(mira, "Hello again", later).xray


def test_without_any_hold_a_cry_is_answered_with_care_all_the_same(mira: Persona, settings: Any) -> None:
    settings.KNOBS = {"care.hold_hours": 0}
    assert answered(mira, CRY).xray["guidance"]["when"] == "now"


def test_the_guidance_gives_no_number_that_a_model_could_get_wrong() -> None:
    for language in ("en", "zh"):
        words = Path(f"templates/prompts/crisis_guidance.{language}.txt").read_text(encoding="utf-8")
        assert not [sign for sign in words if sign.isdigit()]


# --- the decision is stored -------------------------------------------------------------------------------------------
def test_help_beside_a_stored_message_is_not_classified_again(mira: Persona, monkeypatch: Any) -> None:
    cry = say(mira, CRY)
    harmless = say(mira, HARMLESS)
    monkeypatch.setattr(flags, "speaks_of_crisis", lambda *_args: pytest.fail("it was decided when it came"))
    assert flags.help_of_message(Message.objects.get(pk=cry.pk))
    assert flags.help_of_message(Message.objects.get(pk=harmless.pk)) == ()
    assert flags.crisis_messages_of([cry, harmless]) == [cry]


def test_only_the_owners_last_messages_of_the_same_session_are_heard_with_a_doubtful_one(
    mira: Persona, otto: Persona, monkeypatch: Any
) -> None:
    heard: list[list[str]] = []
    say(otto, "of another")
    for words in ("first", "second", "third"):
        say(mira, words)
    monkeypatch.setattr(flags, "speaks_of_crisis", lambda _text, before: bool(heard.append(list(before()))))
    say(mira, "doubtful")
    receive_message(mira, "doubtful elsewhere", None, "openai", NOW)
    assert heard == [["second", "third"], []]
