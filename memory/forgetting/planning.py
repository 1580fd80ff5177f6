"""Planning: what forgetting would do, with the words and the numbers of it. Nothing is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from chat.models import Message
from echovessel.language.requests import asks_to_forget
from memory.curation.restatements import is_named, names_of
from memory.forgetting import people
from memory.forgetting.closure import decide
from memory.forgetting.collect import Closure, ClosureReader, Consequences, consequences_of
from memory.forgetting.copies import work_of
from memory.forgetting.mentions import Mention, also_mentioned, names_that_go
from memory.forgetting.registry import Work, among
from memory.forgetting.types import (
    CASCADE,
    Affected,
    Choice,
    MentionMode,
    NothingThere,
    Plan,
    Target,
    are_people,
    digest_of,
    empty_plan,
    whose,
)
from memory.models import ConceptNode, Entity, ImportJob
from persona.models import CoreBlock

# A mention that goes may be the last that names somebody else, whose mentions are then looked for.
MAX_ROUNDS = 3


@dataclass(frozen=True)
class Survey:
    """A plan, and the rows that it was made from."""

    plan: Plan
    ids: Mapping[Target, UUID]
    closure: Closure
    consequences: Consequences
    work: Work


def plan(targets: Sequence[Target], choice: Choice = CASCADE) -> Plan:
    """What is deleted with the targets, what stays, and the number of copies to rewrite. Reads only.

    The targets belong to one persona, or are one persona or one owner; else ValueError. The plan of
    targets that are no longer there is empty.
    """
    if are_people(targets):
        return people.plan(targets[0], choice)
    try:
        return survey(targets, choice).plan
    except NothingThere:
        return empty_plan(targets, choice)


def survey(targets: Sequence[Target], choice: Choice) -> Survey:
    """The plan for what one persona has, with the rows behind it."""
    persona, ids = whose(targets)
    reading = ClosureReader(persona, targets, choice)
    closure, mentions = reading.closure, dict[int, Mention]()
    consequences = consequences_of(closure)
    for _round in range(MAX_ROUNDS):
        mentions = also_mentioned(closure, consequences) | mentions
        if not reading.set_mention_modes({pk: choice.mode_of(pk, one.suggested) for pk, one in mentions.items()}):
            break
        consequences = consequences_of(closure)
    work = work_of(closure, consequences)
    decision = closure.decision
    withheld = (closure.messages[pk] for pk in decision.withheld if pk in closure.messages)
    sections = {
        "going": tuple(_going(closure, consequences)),
        "staying": tuple(
            _memory(closure.nodes[pk], why, may_stay=pk in choice.staying) for pk, why in decision.staying.items()
        ),
        "withheld": tuple(
            Affected("message", message.pk, message.uuid, message.content, decision.withheld[message.pk])
            for message in withheld
            if not message.withheld
        ),
    }
    # By keys and choice: copies that were written since, such as events, change no decision.
    keys = {name: sorted((row.kind, row.key) for row in rows) for name, rows in sections.items()}
    plan = Plan(
        persona=persona,
        owner=persona.owner,
        targets=tuple(targets),
        choice=choice,
        **sections,
        erased=tuple(_erased(closure, consequences, work)),
        elsewhere=tuple(_list_untouched(closure, consequences, work)),
        mentioned=tuple(_mentioned(closure, mentions.values())),
        counts=work.counts(),
        digest=digest_of(targets, choice, keys),
    )
    return Survey(plan, ids, closure, consequences, work)


# --- the sections of a plan -----------------------------------------------------------------------------------------
def _going(closure: Closure, consequences: Consequences) -> Iterable[Affected]:
    # Memories that would stay with "orphan".
    spared = Choice("orphan", closure.choice.messages, block_reimport=closure.choice.block_reimport)
    would_go = decide(closure.graph(), closure.request, spared).memories
    may_stay = {pk for pk in closure.decision.memories if pk not in would_go}
    for pk, why in closure.decision.memories.items():
        yield _memory(closure.nodes[pk], why, may_stay=pk in may_stay)
    for pk, why in closure.decision.messages.items():
        if message := closure.messages.get(pk):
            is_request = why == "chosen" and message.role == Message.Role.USER and asks_to_forget(message.content)
            yield Affected("message", pk, message.uuid, message.content, "request" if is_request else why)
    for pk, why in consequences.sessions.items():
        session = consequences.touched[pk]
        began = session.started_at.astimezone(closure.persona.zone)
        yield Affected("session", pk, session.uuid, f"{began:%Y-%m-%d %H:%M} {session.summary}".strip(), why)
    for pk, entity in consequences.entities.items():
        why = "chosen" if pk in consequences.chosen_entities else "unmentioned"
        yield Affected("entity", pk, entity.uuid, entity.canonical_name, why)
    for pk, alias in consequences.aliases.items():
        if alias.entity_id not in consequences.entities:
            yield Affected("alias", pk, None, alias.text, "name_gone")


def _memory(node: ConceptNode, why: str, *, may_stay: bool = False) -> Affected:
    return Affected(node.kind, node.pk, node.uuid, node.description, why, may_stay)


def _erased(closure: Closure, consequences: Consequences, work: Work) -> Iterable[Affected]:
    for pk, session in consequences.summarised.items():
        yield Affected("summary", pk, session.uuid, session.summary, "written_from")
    for pk, entity in consequences.described.items():
        yield Affected("description", pk, entity.uuid, entity.description, "written_from")
    threads = dict.fromkeys(work.deletes.get("memory_thread", ()), "thread_gone")
    threads |= dict.fromkeys(work.overwrites.get("memory_thread.title", ()), "written_from")
    for thread in closure.persona.threads.filter(pk__in=among(threads)):
        yield Affected("thread", thread.pk, thread.uuid, thread.title, threads[thread.pk])
    for pk, change in consequences.moods.items():
        text = " · ".join(filter(None, (change.mood, change.last_user_signal)))
        yield Affected("mood", pk, change.uuid, text, "felt_in")


def _mentioned(closure: Closure, mentions: Iterable[Mention]) -> Iterable[Affected]:
    """The mentions with what becomes of each; a message that a memory needs is withheld in place of deleted."""
    for one in mentions:
        message = one.message
        mode: MentionMode = "withhold" if message.pk in closure.decision.withheld else "leave"
        mode = "forget" if message.pk in closure.decision.messages else mode
        yield Affected(
            "message", message.pk, message.uuid, message.content, one.why, False, mode, one.suggested, message.role
        )


def _list_untouched(closure: Closure, consequences: Consequences, work: Work) -> Iterable[Affected]:
    """Texts of people about it, later memories of it, and files that are still to be read: not touched, only listed."""
    newer = {closure.nodes[pk].superseded_by_id for pk in closure.decision.memories} - closure.decision.memories.keys()
    for node in ConceptNode.objects.filter(pk__in=among(pk for pk in newer if pk is not None)):
        yield _memory(node, "later")
    for pk, entity in consequences.by_people.items():
        yield Affected("description", pk, entity.uuid, entity.description, "written_by_people")
    statements = closure.statements_of(
        closure.decision.content_matches if closure.choice.block_reimport else closure.decision.memories,
        names_of(closure.persona),
    )
    names = names_that_go(closure, consequences)
    written = Entity.objects.filter(persona=closure.persona, described_by=Entity.DescribedBy.PERSON)
    for entity in written.exclude(pk__in=among([*consequences.by_people, *consequences.entities])) if names else ():
        if any(is_named(one, entity.description) for one in names):
            yield Affected("description", entity.pk, entity.uuid, entity.description, "written_by_people")
    for block in CoreBlock.objects.filter(persona=closure.persona):
        is_restated = any(statement.is_repeated_by(block.content) for statement in statements)
        if is_restated or any(is_named(name, block.content) for name in names):
            yield Affected("core_block", block.pk, None, block.content, "written_by_people")
    if not closure.choice.block_reimport:
        return  # an import is reverted: other files still come in
    on_their_way = ImportJob.objects.filter(persona=closure.persona, file_is_here=True).exclude(
        status__in=ImportJob.OVER
    )
    for job in on_their_way.exclude(pk__in=among(work.deletes.get("memory_importjob", ()))):
        yield Affected("import", job.pk, job.uuid, job.file_name, "on_its_way")
