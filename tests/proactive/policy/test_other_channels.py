"""What somebody brought from elsewhere was not said to her: it is no rest, no answer, no silence and no occasion."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from chat.models import CrisisFlag
from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Outreach, ReachingOut
from proactive.outreach import write
from proactive.policy import outreach_context, situation
from proactive.policy.consider import consider_all
from tests.memory.imports import importing_files
from tests.memory.imports.imported_sessions import an_import, import_session
from tests.memory.sessions import NOW, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
Remember = Callable[..., ConceptNode]


def test_messages_from_elsewhere_begin_no_silence(allowed: ReachingOut) -> None:
    import_session(an_import(allowed.persona), "Ana: I feed two grey cats.", at=NOW - 30 * DAY)
    seen = situation.read_situation(allowed, NOW)
    assert (seen.last_user_line_at, seen.last_line_at, seen.reasons) == (None, None, ())
    consider_all(NOW)
    assert not Outreach.objects.exists()


def test_messages_of_other_channels_end_no_silence_and_start_no_rest(allowed: ReachingOut) -> None:
    talk(allowed.persona, "Good night.", at=NOW - 50 * HOUR, status="closed")
    import_session(an_import(allowed.persona), "Ana: I feed two grey cats.", at=NOW - timedelta(minutes=2))
    seen = situation.read_situation(allowed, NOW)
    assert seen.last_user_line_at == NOW - 50 * HOUR
    assert [reason.kind for reason in seen.reasons] == ["silence"]


def test_messages_of_other_channels_answer_no_outreach(allowed: ReachingOut) -> None:
    Outreach.objects.create(
        persona=allowed.persona,
        trigger="silence",
        trigger_key=f"silence:1:{uuid4()}",
        status="delivered",
        wanted_at=NOW - 9 * HOUR,
        delivered_at=NOW - 9 * HOUR,
    )
    import_session(an_import(allowed.persona), "Ana: I feed two grey cats.", at=NOW - HOUR)
    [said] = situation.read_situation(allowed, NOW).outreaches
    assert said.answered_at is None


@pytest.mark.parametrize("values", [{"emotional_impact": -9}, {"kind": "intention"}], ids=["shock", "promise"])
def test_what_was_remembered_of_them_is_no_occasion(
    allowed: ReachingOut, remember: Remember, values: dict[str, object]
) -> None:
    session = import_session(an_import(allowed.persona), "Ana: My mother died.", at=NOW - 5 * HOUR)
    due = {"event_time_start": NOW.date(), "event_time_end": NOW.date()}
    remember(allowed.persona, "Noor died.", session=session, created_at=NOW - 5 * HOUR, **due, **values)
    assert situation.read_situation(allowed, NOW).reasons == ()
    live = talk(allowed.persona, "My mother died.", at=NOW - 5 * HOUR, status="closed")
    remember(allowed.persona, "Ana's mother died.", session=live, created_at=NOW - 5 * HOUR, **due, **values)
    assert len(situation.read_situation(allowed, NOW).reasons) == 1


def test_the_day_on_which_the_user_spoke_last_is_of_a_talk_with_her(mira: Persona) -> None:
    talk(mira, "Good night.", at=NOW - 4 * DAY, status="closed")
    import_session(an_import(mira), "Ana: I feed two grey cats.", at=NOW - DAY)
    silence = Outreach.objects.create(
        persona=mira, trigger="silence", trigger_key="silence:1:0", status="wanted", wanted_at=NOW
    )
    assert outreach_context.of(silence).day == (NOW - 4 * DAY).date()


def test_a_diary_is_no_channel_that_she_may_not_speak_of(mira: Persona) -> None:
    talk(mira, "Good night.", status="closed")
    import_session(an_import(mira), "Ana: Rain.", kind="prose")
    assert write.unnamed_channels(mira, "") == ["web"]


def test_a_cry_in_a_file_sets_nobody_holding_back(mira: Persona, model: Script) -> None:
    content = importing_files.whatsapp("Ana: I want to die.", "Mira: I am here.", at=datetime(2026, 2, 25, 23, 0))
    assert importing_files.import_file(mira, content, "WhatsApp Chat with Mira.txt").status == "done"
    mira.refresh_from_db()
    assert (mira.care_until, CrisisFlag.objects.count()) == (None, 0)
