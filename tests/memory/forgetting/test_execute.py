"""Forgotten rows are deleted everywhere, in one transaction or not at all."""

from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ, Task

from chat.models import Message, Session, Turn
from echovessel.jobs.lease import Lease, LeaseLost
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.forgetting import Busy, Choice, PlanChanged, Target, plan, target_of, verify
from memory.models import Alias, ConceptNode, Entity, Extraction, Filling, ModelReply, Receipt
from memory.store import checks, tombstones
from persona.models import MoodChange, Persona
from tests.memory.deaths import dies_at
from tests.memory.forgetting.life import FORGOTTEN, NOW, TOLD, Life, entity, lived, node, quoting, say
from tests.memory.forgetting.totals import is_all_or_nothing, rows_of, totals, went

CASCADE, ORPHAN, WITHHELD = Choice(), Choice("orphan"), Choice("cascade", "withhold")


@pytest.fixture
def life(mira: Persona) -> Life:
    return lived(mira)


def forget(*targets: Target, choice: Choice = CASCADE) -> Receipt:
    return forgetting.forget(plan(targets, choice), None, NOW)


def target_for(row: Any) -> Target:
    kinds: dict[type, Any] = {Message: "message", ConceptNode: "node", Entity: "entity", Session: "session"}
    return Target(kinds[type(row)], row.pk)


# --- the plan and its execution -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("what", "choice"),
    [
        pytest.param(what, choice, marks=[pytest.mark.campaign] * (row != 0 and (row + column) % 3 != 0))
        for row, choice in enumerate((CASCADE, ORPHAN, WITHHELD))
        for column, what in enumerate(("milo", "told", "talk", "later", "cat"))
    ],
)
def test_the_receipt_counts_what_the_plan_said_and_nothing_else_goes(life: Life, what: str, choice: Choice) -> None:
    target = target_for(Entity.objects.get(canonical_name="Milo") if what == "cat" else getattr(life, what))
    planned, before = plan([target], choice), totals()
    receipt = forgetting.forget(planned, None, NOW)
    assert receipt.counts == planned.counts
    assert went(before) == rows_of(receipt.counts)
    assert plan([target], choice).is_empty
    assert checks.broken_invariants(NOW) == {}


def test_nothing_of_it_is_found_anywhere(life: Life) -> None:
    holders = (Turn, Extraction, OutboxEvent, Task, LogEntry, MoodChange, Alias, ModelReply)
    Turn.objects.filter(session=life.later).update(partial="I began: Milo, the cat")
    assert [model for model in holders if "Milo" not in repr(list(model._default_manager.values()))] == []
    receipt = forget(target_for(life.milo))
    assert verify.find_texts(FORGOTTEN) == []
    assert verify.prove([receipt]).hits == []
    assert [model for model in holders if "Milo" in repr(list(model._default_manager.values()))] == []
    life.persona.refresh_from_db()
    assert life.persona.episodic_state == {}


def test_what_others_remember_and_what_was_paid_stays(life: Life, otto: Persona) -> None:
    theirs = lived(otto)
    before = list(ConceptNode.objects.of(otto).values().order_by("pk"))
    forget(target_for(life.milo))
    assert list(ConceptNode.objects.of(otto).values().order_by("pk")) == before
    assert Message.objects.filter(persona=otto).count() == 6
    assert plan([target_for(theirs.milo)]).counts["chat_message"] == 3
    assert LLMCall.objects.filter(session_uuid=life.talk.uuid, turn_uuid=None).count() == 1


# --- conclusions ----------------------------------------------------------------------------------------------------
def test_with_orphan_a_thought_on_other_ground_stays_and_says_so(life: Life) -> None:
    planned = plan([target_for(life.milo)], ORPHAN)
    assert [(item.key, item.why) for item in planned.staying] == [(life.renewal.pk, "other_ground")]
    forget(target_for(life.milo), choice=ORPHAN)
    assert list(life.renewal.filling.values_list("child", "orphaned").order_by("orphaned")) == [
        (life.pottery.pk, False),
        (None, True),
    ]
    assert not ConceptNode.objects.filter(pk__in=[life.milo.pk, life.grief.pk, life.ill.pk]).exists()
    assert not Filling.objects.filter(parent=life.grief).exists()


def test_the_plan_says_what_may_stay_and_one_may_choose_it(life: Life) -> None:
    planned = plan([target_for(life.milo)])
    may_stay = {item.key for item in planned.deleted if item.may_stay}
    assert may_stay == {life.renewal.pk, life.week.pk}
    forget(target_for(life.milo), choice=Choice(staying=frozenset({life.week.pk})))
    assert set(ConceptNode.objects.values_list("pk", flat=True)) >= {life.week.pk, life.pottery.pk}
    assert not ConceptNode.objects.filter(pk=life.renewal.pk).exists()


def test_a_message_that_another_memory_needs_is_put_away_with_orphan_and_gone_with_cascade(life: Life) -> None:
    assert [item.key for item in plan([target_for(life.milo)], ORPHAN).withheld] != []
    forget(target_for(life.milo), choice=ORPHAN)
    life.told.refresh_from_db()
    assert life.told.withheld
    assert not Message.objects.filter(turn=life.told.turn, role="persona", withheld=False).exists()
    forget(target_for(life.week))
    assert not Message.objects.filter(pk=life.told.pk).exists()


def test_put_away_messages_stay_in_the_history_and_reach_no_model(life: Life) -> None:
    before = Message.objects.count()
    receipt = forget(target_for(life.milo), choice=WITHHELD)
    assert Message.objects.count() == before
    assert receipt.counts["chat_message.withheld"] == 3
    assert not Message.objects.shown_to_models().filter(content__contains="Milo").exists()


def test_a_memory_that_repeats_the_words_of_a_forgotten_message_goes_even_with_orphan(mira: Persona) -> None:
    corgi, pickle = (say(mira, text, "Oh.") for text in ("I adopted a corgi.", "Pickle, afraid of thunder."))
    joined = f"Ana: “{corgi.content}” “{pickle.content}”"
    node(mira, joined, corgi.session, quoting(corgi), quoting(pickle))
    for choice in (ORPHAN, Choice(staying=frozenset(ConceptNode.objects.values_list("pk", flat=True)))):
        assert joined in {item.text for item in plan([Target("message", pickle.pk)], choice).deleted}
    forget(Target("message", pickle.pk), choice=ORPHAN)
    assert not ConceptNode.objects.filter(description__contains="Pickle").exists()
    assert type(corgi).objects.filter(pk=corgi.pk).exists()


# --- echoes -----------------------------------------------------------------------------------------------------------
def test_replies_that_say_it_again_go_at_once_and_long_after(life: Life) -> None:
    reasons = {item.text: item.why for item in plan([target_for(life.milo)]).deleted if item.kind == "message"}
    assert reasons == {TOLD: "words_of", f"You told me: {TOLD}": "echo", "Hard: the cat, and Lisbon.": "echo"}


def test_the_same_words_in_another_session_go_and_common_words_do_not(life: Life) -> None:
    again = say(life.persona, "As I said: my cat Milo died in Lisbon on Friday!", "Yes.", minutes=300)
    other = say(life.persona, "The cat of Nora is well.", "I'm glad.", minutes=301)
    forget(target_for(life.milo))
    assert not Message.objects.filter(pk=again.pk).exists()
    assert Message.objects.filter(pk=other.pk).exists()


def test_an_echo_in_chinese_is_found(mira: Persona) -> None:
    message = say(mira, "我的猫小黑昨天在杭州走丢了", "你说小黑在杭州走丢了，一定很难过。")
    later = say(mira, "今天好累", "是因为小黑走丢了吗？", minutes=1)
    event = node(mira, "安娜的猫小黑在杭州走丢了。", message.session, quoting(message))
    forget(target_for(event))
    assert list(Message.objects.values_list("pk", flat=True)) == [later.pk]


# --- entities ---------------------------------------------------------------------------------------------------------
def test_entities_without_mentions_are_deleted_with_those_merged_into_them(life: Life) -> None:
    forget(target_for(life.milo))
    assert set(Entity.objects.values_list("canonical_name", flat=True)) == {"Lisbon", "Nora"}
    assert Entity.objects.get(canonical_name="Lisbon").description == ""


def test_what_held_before_something_changed_holds_again_when_the_change_is_forgotten(mira: Persona) -> None:
    messages = [
        say(mira, text, "I see.", minutes=at) for at, text in enumerate(("I live in Rome.", "I moved to Oslo."))
    ]
    again = say(mira, "I live in Bern now.", "I see.", minutes=2)
    sessions = [Session.objects.create(persona=mira, channel=f"c{at}", status="closed") for at in range(3)]
    homes = [
        node(mira, text, session, quoting(message), kind="fact", domain="home")
        for text, session, message in zip(
            ("Ana lives in Rome.", "Ana lives in Oslo.", "Ana lives in Bern."),
            sessions,
            (*messages, again),
            strict=True,
        )
    ]
    rome, oslo, bern = homes
    cat = node(mira, "Ana's flat in Oslo has a cat.", sessions[1], quoting(messages[0]), kind="fact", domain="home")
    for older, newer in ((rome, oslo), (oslo, bern)):
        ConceptNode.objects.filter(pk=older.pk).update(status="superseded", superseded_by=newer)
    ConceptNode.objects.filter(pk=cat.pk).update(until="2026-03", resolved_by=bern)
    forget(target_for(bern))
    states = dict(ConceptNode.objects.values_list("description", "status"))
    assert states == {rome.description: "superseded", oslo.description: "active", cat.description: "active"}
    cat.refresh_from_db()
    assert (cat.until, cat.resolved_by) == ("", None)
    forget(target_for(ConceptNode.objects.get(pk=oslo.pk)))
    rome.refresh_from_db()
    assert (rome.status, rome.superseded_by) == ("active", None)
    assert checks.broken_invariants(NOW) == {}


def test_a_description_that_a_person_wrote_is_only_named(life: Life) -> None:
    Entity.objects.filter(canonical_name="Lisbon").update(described_by="person")
    planned = plan([target_for(life.milo)])
    assert ("description", "written_by_people") in {(item.kind, item.why) for item in planned.untouched}
    forget(target_for(life.milo))
    assert Entity.objects.get(canonical_name="Lisbon").description == "The city where Milo died."


def test_a_name_that_stood_only_in_what_goes_goes_and_another_one_is_used(life: Life) -> None:
    nora = Entity.objects.get(canonical_name="Nora")
    message = say(life.persona, "My sister Nono called.", "Nice.", minutes=400)
    memory = node(life.persona, "Ana's sister Nono called.", message.session, quoting(message))
    Alias.objects.create(entity=nora, persona=life.persona, text="Nono", normalized="nono")
    Entity.objects.filter(pk=nora.pk).update(canonical_name="Nono")
    nora.mentions.create(node=memory)
    assert ("alias", "Nono", "name_gone") in {
        (item.kind, item.text, item.why) for item in plan([target_for(memory)]).deleted
    }
    forget(target_for(memory))
    nora.refresh_from_db()
    assert nora.canonical_name == "Nora"
    assert [alias.text for alias in nora.aliases.all()] == ["Nora"]


def test_forgetting_somebody_forgets_what_is_remembered_of_them_and_the_messages_that_name_them(life: Life) -> None:
    message = say(life.persona, "Nora again, as always.", "Who else.", minutes=500)
    forget(target_for(Entity.objects.get(canonical_name="Nora")))
    assert not ConceptNode.objects.filter(pk=life.pottery.pk).exists()
    assert not Message.objects.filter(content__contains="Nora").exists()
    assert not Message.objects.filter(turn=message.turn).exists()
    assert Message.objects.filter(pk=life.told.pk).exists()
    assert tombstones.refused_among(life.persona, [tombstones.TombstoneSource("name", "nora")])


# --- sessions -------------------------------------------------------------------------------------------------------
def test_a_session_goes_with_its_messages_and_what_rests_on_others_stays_with_orphan(life: Life) -> None:
    message = say(life.persona, "More pottery today.", "Good.", minutes=600)
    quote = quoting(message)
    quote.node = life.pottery
    quote.save()
    forget(target_for(life.talk), choice=ORPHAN)
    assert not Session.objects.filter(pk=life.talk.pk).exists()
    life.pottery.refresh_from_db()
    assert life.pottery.session_id is None
    assert [row.message_id for row in life.pottery.evidence.all()] == [message.pk]


def test_a_session_whose_last_message_goes_goes_with_it(life: Life) -> None:
    message = say(life.persona, "Only this.", "Yes.", minutes=700)
    Session.objects.filter(pk=message.session_id).update(status="closed")
    alone = say(life.persona, "And only that one.", "", minutes=701)
    forget(target_for(alone))
    assert not Session.objects.filter(pk=alone.session_id).exists()
    assert not Turn.objects.filter(pk=alone.turn_id).exists()


def test_a_session_recounts_its_remaining_messages(life: Life) -> None:
    forget(target_for(life.milo))
    life.talk.refresh_from_db()
    messages = Message.objects.filter(session=life.talk)
    assert life.talk.message_count == messages.count() == 2
    assert life.talk.token_count == sum(message.token_count for message in messages)
    assert life.talk.summary == ""


def test_an_import_goes_as_a_whole(life: Life) -> None:
    run = life.persona.import_runs.create(at=NOW)
    message = say(life.persona, "An imported line about sailing boats.", "", minutes=800)
    sailed = node(life.persona, "Ana likes sailing boats.", message.session, quoting(message), import_uuid=run.uuid)
    Message.objects.filter(pk=message.pk).update(import_uuid=run.uuid)
    Session.objects.filter(pk=message.session_id).update(import_uuid=run.uuid)
    place = entity(life.persona, "Regatta", sailed, import_uuid=run.uuid)
    before = totals()
    receipt = forget(Target("import", run.pk))
    assert went(before) == rows_of(receipt.counts)
    for model, pk in (
        (Message, message.pk),
        (ConceptNode, sailed.pk),
        (Entity, place.pk),
        (Session, message.session_id),
    ):
        assert not model._default_manager.filter(pk=pk).exists()
    assert ConceptNode.objects.filter(pk=life.milo.pk).exists()


# --- leases ---------------------------------------------------------------------------------------------------------
def test_while_a_reply_is_written_nothing_is_forgotten(life: Life) -> None:
    turn = Turn.objects.create(session=life.talk, persona=life.persona, status="running")
    planned, before = plan([target_for(life.milo)]), totals()
    with pytest.raises(Busy):
        forgetting.forget(planned, None, NOW)
    assert totals() == before
    turn.delete()
    assert forgetting.forget(planned, None, NOW).counts == planned.counts


def test_another_plan_than_the_confirmed_one_is_not_done(life: Life) -> None:
    planned, before = plan([target_for(life.milo)]), totals()
    node(life.persona, "She is slow to trust.", life.talk, kind="thought", on=[life.milo])
    with pytest.raises(PlanChanged) as changed:
        forgetting.forget(planned, None, NOW)
    assert totals()["memory_conceptnode"] == before["memory_conceptnode"] + 1
    assert len(changed.value.plan.deleted) == len(planned.deleted) + 1
    forgetting.forget(changed.value.plan, None, NOW)


def test_forgetting_a_deleted_target_raises_plan_changed(life: Life) -> None:
    planned = plan([target_for(life.milo)])
    forget(target_for(life.milo))
    with pytest.raises(PlanChanged) as changed:
        forgetting.forget(planned, None, NOW)
    assert changed.value.plan.is_empty


def test_forgetting_revokes_the_lease_on_a_session(life: Life) -> None:
    leased_sessions = Session.objects.filter(pk=life.later.pk)
    leased_sessions.update(status="consolidating", holder="a worker")
    lease = Lease(leased_sessions.get(), lambda: NOW)
    waiting = OrmQ.objects.count()
    forget(target_for(life.milo))
    with pytest.raises(LeaseLost), transaction.atomic():
        lease.checkpoint()
    life.later.refresh_from_db()
    assert (life.later.status, life.later.holder, life.later.lease_until) == ("closing", "", None)
    assert OrmQ.objects.count() == waiting + 1
    assert not ModelReply.objects.exists()


# --- all or nothing ---------------------------------------------------------------------------------------------------
def test_a_death_at_any_statement_leaves_all_or_nothing(life: Life) -> None:
    planned, before = plan([target_for(life.milo)]), totals()
    statement, state = 1, "nothing"
    while state == "nothing":
        died = dies_at(statement, lambda: forgetting.forget(planned, None, NOW))
        state = is_all_or_nothing(before, planned)  # all: it died after the commit, or not at all
        assert died or state == "all"
        statement += 29
    assert statement > 100


def test_the_number_of_statements_does_not_grow_with_the_memory(life: Life) -> None:
    needed = []
    for fillers in (5, 20, 80):
        session = say(life.persona, f"Filler {fillers}", "Yes.", minutes=fillers).session
        for number in range(fillers):
            node(life.persona, f"Something else, number {number} of {fillers}.", session)
        fate = node(
            life.persona,
            f"Ana wrecked bicycle {fillers} in Ghent.",
            session,
            quoting(
                say(life.persona, f"I wrecked bicycle {fillers} in the canals of Ghent.", "Oh.", minutes=fillers + 1)
            ),
        )
        with CaptureQueriesContext(
            connection,
        ) as queries:
            forget(target_for(fate))
        needed.append(len(queries))
    assert needed[1] == needed[2] < 300


# --- external ids ---------------------------------------------------------------------------------------------------
def test_targets_are_found_by_either_id_and_only_with_their_persona(life: Life, otto: Persona) -> None:
    ConceptNode.objects.filter(pk=life.milo.pk).update(external_id="n1")
    assert (
        target_of(life.persona, "node", "n1")
        == target_for(life.milo)
        == target_of(life.persona, "node", str(life.milo.uuid))
    )
    for reference in ("n1", str(life.milo.uuid), "nothing"):
        with pytest.raises(LookupError):
            target_of(otto, "node", reference)


def test_targets_of_two_personas_are_not_forgotten_at_once(life: Life, otto: Persona) -> None:
    with pytest.raises(ValueError, match="one persona"):
        plan([target_for(life.milo), target_for(lived(otto).milo)])
