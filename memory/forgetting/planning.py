"""Planning: the effects of forgetting, with texts and counts. Nothing is written."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.formats import date_format

from chat import search
from chat.models import Message
from echovessel.language import tokenizer
from echovessel.language.requests import asks_to_forget
from memory import knobs
from memory.curation.restatements import (
    MIN_SHARED,
    Statement,
    contains,
    is_common,
    is_named,
    is_telling_alone,
    names_of,
)
from memory.forgetting import people
from memory.forgetting.closure import decide
from memory.forgetting.collect import Closure, ClosureReader, Consequences, consequences_of, deleted_names
from memory.forgetting.copies import work_of
from memory.forgetting.registry import Work, among
from memory.forgetting.types import (
    CASCADE,
    Affected,
    Choice,
    MentionMode,
    Plan,
    Target,
    TargetsMissing,
    digest_of,
    empty_plan,
    is_persona_or_owner,
    persona_and_ids,
)
from memory.models import ConceptNode, Entity, ImportJob
from persona.models import CoreBlock

# A mention that is deleted may be the last one that names somebody else, whose mentions are then searched for.
MAX_ROUNDS = 3
# With more texts than this, such as a long session, single words are not searched: all would match.
MAX_TEXTS = 40
MAX_RARE_WORDS = 60
# A name in more messages than this is a home town, or a word: the messages are listed, and stay.
MAX_SUGGESTED = 50


@dataclass(frozen=True)
class Survey:
    """A plan, and the rows that it was made from."""

    plan: Plan
    ids: Mapping[Target, UUID]
    closure: Closure
    consequences: Consequences
    work: Work


@dataclass(frozen=True)
class Mention:
    """A message, the reason why it is listed, and the suggested mode."""

    message: Message
    why: str
    suggested: MentionMode


def plan(targets: Sequence[Target], choice: Choice = CASCADE) -> Plan:
    """The rows that are deleted with the targets, those that stay, and the number of copies to rewrite. Reads only.

    The targets belong to one persona, or are one persona or one owner; else ValueError. The plan of targets that are
    gone is empty.
    """
    if is_persona_or_owner(targets):
        return people.plan(targets[0], choice)
    try:
        return survey(targets, choice).plan
    except TargetsMissing:
        return empty_plan(targets, choice)


def survey(targets: Sequence[Target], choice: Choice) -> Survey:
    """The plan for rows of one persona, with the rows behind it."""
    persona, ids = persona_and_ids(targets)
    reader = ClosureReader(persona, targets, choice)
    closure, mentions = reader.closure, dict[int, Mention]()
    consequences = consequences_of(closure)
    for _round in range(MAX_ROUNDS):
        mentions = also_mentioned(closure, consequences) | mentions
        if not reader.set_mention_modes(
            {pk: choice.mode_of(pk, mention.suggested) for pk, mention in mentions.items()}
        ):
            break
        consequences = consequences_of(closure)
    work = work_of(closure, consequences)
    decision = closure.decision
    withheld = (closure.messages[pk] for pk in decision.withheld if pk in closure.messages)
    sections = {
        "deleted": tuple(_deleted_rows(closure, consequences)),
        "staying": tuple(
            _affected_memory(closure.nodes[pk], why, may_stay=pk in choice.staying)
            for pk, why in decision.staying.items()
        ),
        "withheld": tuple(
            Affected("message", message.pk, message.uuid, message.content, decision.withheld[message.pk])
            for message in withheld
            if not message.withheld
        ),
    }
    # By keys and choice: copies written since, such as events, do not change the decision.
    keys = {name: sorted((row.kind, row.key) for row in rows) for name, rows in sections.items()}
    plan = Plan(
        persona=persona,
        owner=persona.owner,
        targets=tuple(targets),
        choice=choice,
        **sections,
        erased=tuple(_cleared_texts(closure, consequences, work)),
        untouched=tuple(_list_untouched(closure, consequences, work)),
        mentioned=tuple(_mentioned(closure, mentions.values())),
        counts=work.counts(),
        digest=digest_of(targets, choice, keys),
    )
    return Survey(plan, ids, closure, consequences, work)


# --- mentions ---------------------------------------------------------------------------------------------------------
def also_mentioned(closure: Closure, consequences: Consequences) -> dict[int, Mention]:
    """Messages that mention the deleted content although no deleted memory rests on them, by key.

        names_it      contains a name that is deleted with its entity; included unless chosen otherwise
        rare_word     contains a word that is rare in this memory; replies in the same session, or for which the
                      memory was recalled, are included, all others stay
        same_words    contains the same text, word for word; stays, because it was not chosen

    The plan lists them, each with a choice of its own.
    """
    if not closure.choice.block_reimport:
        return {}  # an import is reverted: only its own rows are deleted
    suggested: MentionMode = closure.choice.messages
    names, texts = deleted_names(closure, consequences), sorted(distinctive_texts(closure))
    hits = search.find_by_all_words(closure.persona.pk, [tokenizer.tokenize(text) for text in [*names, *texts]])
    with_name, with_text = ({pk for keys in part for pk in keys} for part in (hits[: len(names)], hits[len(names) :]))
    settled = {*closure.decision.messages, *closure.decision.withheld} - closure.request.mentions.keys()
    rare = _with_rare_words(closure, settled)
    rows = Message.objects.filter(
        persona=closure.persona, pk__in=among((with_name | with_text | rare.keys()) - settled)
    )
    messages = list(rows.only("uuid", "content", "role").order_by("-created_at", "-id"))
    named_messages = [
        message
        for message in messages
        if message.pk in with_name and any(is_named(name, message.content) for name in names)
    ]
    is_suggested = len(named_messages) <= MAX_SUGGESTED and not closure.runs
    mentions = {
        message.pk: Mention(message, "names_it", suggested if is_suggested else "leave") for message in named_messages
    }
    with_rare = [message for message in messages if message.pk in rare]
    for message in with_rare:
        is_restated = message.pk in closure.possible_restatements and is_telling_alone(rare[message.pk])
        if is_restated and not closure.runs:
            mentions.setdefault(message.pk, Mention(message, "rare_word", suggested))
    for message in messages:
        if message.pk in with_text and contains(message.content, texts):
            mentions.setdefault(message.pk, Mention(message, "same_words", "leave"))
    for message in with_rare:
        mentions.setdefault(message.pk, Mention(message, "rare_word", "leave"))
    return mentions


def _with_rare_words(closure: Closure, settled: set[int]) -> dict[int, str]:
    """Messages with one of the words that are rare in this memory, and the word."""
    tokens = sorted(telling_words(closure))
    if not tokens or len(tokens) > MAX_TEXTS * MAX_RARE_WORDS:
        return {}
    limit = knobs.rare_word_messages()
    hits = search.find_by_terms(closure.persona.pk, tokens, limit * 10 + len(settled))
    message_ids = {pk for ids in hits.values() for pk in ids.tolist()} - settled
    sessions = dict(Message.objects.filter(pk__in=among(message_ids)).values_list("pk", "session_id"))
    rare: dict[int, str] = {}
    for token, ids in hits.items():
        keys = [pk for pk in ids.tolist() if pk in sessions]
        unrelated_count = sum(sessions[pk] not in closure.source_sessions for pk in keys)
        if unrelated_count <= limit and len(keys) <= limit * 10:
            rare |= {pk: max(token, rare.get(pk, ""), key=is_telling_alone) for pk in keys}
    return rare


def telling_words(closure: Closure) -> set[str]:
    """Words of deleted texts that are distinctive by themselves."""
    names = names_of(closure.persona)
    memories = [pk for pk in closure.decision.content_matches if pk in closure.nodes]
    messages = [
        closure.messages[pk]
        for pk, why in closure.decision.messages.items()
        if pk in closure.messages and why in _CHOSEN_REASONS
    ]
    owners = [Statement([message.content], names) for message in messages if message.role != Message.Role.PERSONA]
    statements = [*closure.statements_of(memories, names), *owners]
    if len(statements) > MAX_TEXTS:
        return set()
    tokens = {token for statement in statements for token in statement.telling if not is_common(token)}
    return tokens if len(tokens) <= MAX_RARE_WORDS else {token for token in tokens if is_telling_alone(token)}


_CHOSEN_REASONS = {"chosen", "in_chosen"}


def distinctive_texts(closure: Closure) -> set[str]:
    """The deleted texts that are no everyday phrases: messages that repeat them word for word are listed."""
    names = names_of(closure.persona)
    keys = (*closure.decision.messages, *closure.decision.withheld)
    messages = (closure.messages[pk] for pk in keys if pk in closure.messages)
    imported = closure.runs.values()
    statements = [Statement([message.content], names) for message in messages if message.import_uuid not in imported]
    statements += closure.statements_of(closure.decision.content_matches, names)
    return {text for statement in statements if len(statement.telling) > MIN_SHARED for text in statement.literal}


# --- the sections of a plan -----------------------------------------------------------------------------------------
def _deleted_rows(closure: Closure, consequences: Consequences) -> Iterable[Affected]:
    # Memories that would stay with "orphan".
    sparing_choice = Choice("orphan", closure.choice.messages, block_reimport=closure.choice.block_reimport)
    deleted_if_spared = decide(closure.graph(), closure.request, sparing_choice).memories
    may_stay = {pk for pk in closure.decision.memories if pk not in deleted_if_spared}
    for pk, why in closure.decision.memories.items():
        yield _affected_memory(closure.nodes[pk], why, may_stay=pk in may_stay)
    for pk, why in closure.decision.messages.items():
        if message := closure.messages.get(pk):
            is_request = why == "chosen" and message.role == Message.Role.USER and asks_to_forget(message.content)
            yield Affected("message", pk, message.uuid, message.content, "request" if is_request else why)
    for pk, why in consequences.sessions.items():
        session = consequences.touched[pk]
        began = session.started_at.astimezone(closure.persona.zone)
        title = f"{date_format(began, 'DATETIME_FORMAT')} {session.summary}".strip()
        yield Affected("session", pk, session.uuid, title, why)
    for pk, entity in consequences.entities.items():
        why = "chosen" if pk in consequences.chosen_entities else "unmentioned"
        yield Affected("entity", pk, entity.uuid, entity.canonical_name, why)
    for pk, alias in consequences.aliases.items():
        if alias.entity_id not in consequences.entities:
            yield Affected("alias", pk, None, alias.text, "name_gone")


def _affected_memory(node: ConceptNode, why: str, *, may_stay: bool = False) -> Affected:
    return Affected(node.kind, node.pk, node.uuid, node.description, why, may_stay)


def _cleared_texts(closure: Closure, consequences: Consequences, work: Work) -> Iterable[Affected]:
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
    """The mentions, each with its mode; a message that a remaining memory needs is withheld instead of deleted."""
    for mention in mentions:
        message = mention.message
        mode: MentionMode = "withhold" if message.pk in closure.decision.withheld else "leave"
        mode = "forget" if message.pk in closure.decision.messages else mode
        yield Affected(
            "message",
            message.pk,
            message.uuid,
            message.content,
            mention.why,
            False,
            mode,
            mention.suggested,
            message.role,
        )


def _list_untouched(closure: Closure, consequences: Consequences, work: Work) -> Iterable[Affected]:
    """Rows that are listed and not touched: texts by people about the deleted content, its later versions, and files
    still to be read."""
    newer = {closure.nodes[pk].superseded_by_id for pk in closure.decision.memories} - closure.decision.memories.keys()
    for node in ConceptNode.objects.filter(pk__in=among(pk for pk in newer if pk is not None)):
        yield _affected_memory(node, "later")
    for pk, entity in consequences.by_people.items():
        yield Affected("description", pk, entity.uuid, entity.description, "written_by_people")
    statements = closure.statements_of(
        closure.decision.content_matches if closure.choice.block_reimport else closure.decision.memories,
        names_of(closure.persona),
    )
    names = deleted_names(closure, consequences)
    described_by_people = Entity.objects.filter(persona=closure.persona, described_by=Entity.DescribedBy.PERSON)
    for entity in (
        described_by_people.exclude(pk__in=among([*consequences.by_people, *consequences.entities])) if names else ()
    ):
        if any(is_named(name, entity.description) for name in names):
            yield Affected("description", entity.pk, entity.uuid, entity.description, "written_by_people")
    for block in CoreBlock.objects.filter(persona=closure.persona):
        is_restated = any(statement.is_repeated_by(block.content) for statement in statements)
        if is_restated or any(is_named(name, block.content) for name in names):
            yield Affected("core_block", block.pk, None, block.content, "written_by_people")
    if not closure.choice.block_reimport:
        return  # an import is reverted: other files are still read
    unread_files = ImportJob.objects.filter(persona=closure.persona, file_is_here=True).exclude(
        status__in=ImportJob.OVER
    )
    for job in unread_files.exclude(pk__in=among(work.deletes.get("memory_importjob", ()))):
        yield Affected("import", job.pk, job.uuid, job.file_name, "on_its_way")
