"""Collect the dependency closure ring by ring, and the consequences of the decision. Reads only.

Each ring of memories and messages takes the same few statements, whatever its size; it is read because something in the
previous ring is deleted. The consequences: sessions and turns without messages, aliases without an entity, entities
without memories.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, cast
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from chat import search
from chat.models import Message, Session, Turn
from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name, occurs
from memory.consolidation.drafts import CORRECTION
from memory.consolidation.replacing import News
from memory.curation.reinstatement import is_remainder
from memory.curation.restatements import MIN_SHARED, Statement, contains, is_named, names_of
from memory.forgetting.closure import NONE, ForgetDecision, ForgetRequest, Graph, GraphMessage, MemoryNode, decide
from memory.forgetting.registry import among, naming, read_keys
from memory.forgetting.types import Choice, MentionMode, Target
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeVersion
from memory.store.deduplication import content_hash, dates_conflict
from memory.store.writing import event_time_of
from persona.models import MoodChange, Persona

NODE_FIELDS = (
    "uuid", "persona_id", "kind", "description", "session_id", "external_id", "superseded_by_id", "created_at",
    "content_hash", "event_time_start", "event_time_end", "relational_tags", "status", "resolved_by_id", "until",
    "plan_state",
)  # fmt: skip


@dataclass
class Closure:
    """The rows around the targets, and the decision on them."""

    persona: Persona
    choice: Choice
    nodes: dict[int, ConceptNode] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    # The turn of each message. An alternative reply counts for the turn that it answers.
    turns: dict[int, int | None] = field(default_factory=dict)
    evidence: dict[int, Evidence] = field(default_factory=dict)
    fillings: dict[int, Filling] = field(default_factory=dict)
    versions: dict[int, list[NodeVersion]] = field(default_factory=lambda: defaultdict(list))
    sessions: set[int] = field(default_factory=set)  # chosen sessions
    imported: set[int] = field(default_factory=set)  # sessions to delete if they lose all messages
    runs: dict[int, UUID] = field(default_factory=dict)  # imports
    entities: set[int] = field(default_factory=set)
    imported_entities: set[int] = field(default_factory=set)  # entities to delete if no memory mentions them any longer
    request: ForgetRequest = field(default_factory=lambda: ForgetRequest({}, {}, {}))
    decision: ForgetDecision = field(default_factory=lambda: ForgetDecision({}, frozenset(), {}, {}, {}))
    source_sessions: set[int] = field(default_factory=set)  # the sessions that the memories come from
    # Replies in these sessions, and replies for which a deleted memory was recalled.
    possible_restatements: set[int] = field(default_factory=set)

    def graph(self) -> Graph:
        """The graph of the rows read so far."""
        quoted: dict[int, set[int]] = defaultdict(set)
        repeated: dict[int, set[int]] = defaultdict(set)
        for row in self.evidence.values():
            quoted[row.node_id].add(row.message_id)
            node_text = self.nodes[row.node_id].description if row.node_id in self.nodes else ""
            if f"“{' '.join(row.quote.split())}”" in " ".join(node_text.split()):
                repeated[row.node_id].add(row.message_id)
        children: dict[int, set[int]] = defaultdict(set)
        for edge in self.fillings.values():
            if edge.child_id is not None:
                children[edge.parent_id].add(edge.child_id)
        superseded: dict[int | None, set[int]] = defaultdict(set)
        for pk, node in self.nodes.items():
            superseded[node.superseded_by_id].add(pk)
        memories = {
            pk: MemoryNode(
                frozenset(quoted[pk]),
                frozenset(children[pk]),
                node.superseded_by_id if self._is_earlier_version(node, quoted) else None,
                frozenset(superseded[pk]) if is_remainder(node) else NONE,
                frozenset(repeated[pk]),
            )
            for pk, node in self.nodes.items()
        }
        messages = {
            pk: GraphMessage(self.turns[pk], message.role == Message.Role.PERSONA)
            for pk, message in self.messages.items()
        }
        return Graph(memories, messages)

    def _is_earlier_version(self, node: ConceptNode, quoted: Mapping[int, set[int]]) -> bool:
        """Whether a memory is the uncorrected version of the one that superseded it. A memory that was true until
        something changed, and was recorded in another session, is a separate memory: it holds again when the news is
        deleted."""
        newer = self.nodes.get(node.superseded_by_id or 0)
        if newer is None:
            return node.superseded_by_id is not None
        quotes = tuple(row.quote for row in self.evidence.values() if row.node_id == newer.pk)
        is_correction = CORRECTION in newer.relational_tags
        puts_right = News(quotes, newer.created_at.date(), is_correction=is_correction).puts_right
        of_one_telling = not node.session_id or node.session_id == newer.session_id
        return puts_right or of_one_telling or bool(quoted[node.pk] & quoted[newer.pk])

    def statements_of(self, nodes: Iterable[int], names: frozenset[str]) -> list[Statement]:
        """The texts of memories: current and earlier descriptions, and quotes."""
        quotes: dict[int, list[str]] = defaultdict(list)
        for row in self.evidence.values():
            quotes[row.node_id].append(row.quote)
        return [
            Statement([self.nodes[pk].description, *(v.description for v in self.versions[pk]), *quotes[pk]], names)
            for pk in nodes
        ]


class ClosureReader:
    """Reads the closure ring by ring; `closure` holds the rows so far."""

    def __init__(self, persona: Persona, targets: Sequence[Target], choice: Choice) -> None:
        self.persona, self.choice = persona, choice
        self.closure = Closure(persona, choice)
        self.names = names_of(persona)
        self.memories: dict[int, str] = {}
        self.chosen_messages: dict[int, str] = {}
        self.same_text_messages: dict[int, str] = {}
        self.followed: dict[str, set[int]] = defaultdict(set)
        for target in targets:
            getattr(self, f"_take_{target.kind}")(target.key)
        self._read_nodes(self.memories)
        self.mentions: dict[int, Literal["forget", "withhold"]] = {}
        self.exempt_mentions: frozenset[int] = frozenset()
        self._settle()

    def set_mention_modes(self, modes: Mapping[int, MentionMode]) -> bool:
        """Decide again with these modes of mentions; returns whether the decision changed for any row."""
        before = self.closure.decision
        self.mentions = {pk: mode for pk, mode in modes.items() if mode != "leave"}
        self.exempt_mentions = frozenset(pk for pk, mode in modes.items() if mode == "leave")
        self._settle()
        return self.closure.decision != before

    def _settle(self) -> None:
        """Decide on the rows read so far and read their dependents, until nothing new is found."""
        size: tuple[int, ...] = (0,)
        size_before: tuple[int, ...] = ()
        while size != size_before:
            size_before = size
            self.closure.request = ForgetRequest(
                self.memories, self.chosen_messages, self.same_text_messages, self.mentions, self.exempt_mentions
            )
            self.closure.decision = decision = decide(self.closure.graph(), self.closure.request, self.choice)
            affected = [*decision.messages, *decision.withheld]
            self._read_messages(affected)
            self._read_ring(
                self._unseen("memories", decision.memories),
                self._unseen("messages", affected),
                self._unseen("deleted messages", decision.messages),
            )
            if content_matches := self._unseen("content matches", decision.content_matches):
                self._find_restatements(content_matches)
                self._find_same_content(content_matches)
            if chosen_messages := self._unseen("chosen messages", self.chosen_messages):
                self._find_restatements_of_chosen(chosen_messages)
            followed = sum(map(len, self.followed.values()))
            size = (followed, len(self.closure.nodes), len(self.closure.messages))
            size += (len(self.chosen_messages), len(self.same_text_messages), len(self.memories))

    def _read_ring(
        self, deleted_memories: Sequence[int], messages: Sequence[int], deleted_messages: Sequence[int]
    ) -> None:
        """Read the memories and messages that depend on `deleted_memories`, on `messages` to delete or withhold, and on
        `deleted_messages`."""
        if not (deleted_memories or messages or deleted_messages):
            return
        turns = among({turn for pk in messages if (turn := self.closure.turns.get(pk)) is not None})
        # Earlier wordings of a message that its owner edited, and the replies to them. The current wording is the first
        # message of its turn.
        first = Message.objects.filter(turn=OuterRef("replaced_by"), role=Message.Role.USER).order_by("pk")
        earlier = Message.objects.filter(persona=self.persona, replaced_by__isnull=False)
        earlier = earlier.annotate(wording=Subquery(first.values("pk")[:1]))
        chosen_keys = [pk for pk in deleted_messages if pk in self.chosen_messages]
        same_text_keys = set(deleted_messages).difference(chosen_keys)
        ring = read_keys({
            "concluded": Filling.objects.filter(child__in=among(deleted_memories)).values("parent"),
            "replaced": ConceptNode.objects.filter(superseded_by__in=among(deleted_memories)).values("pk"),
            "remainders": ConceptNode.objects.filter(
                supersedes__in=among(deleted_memories), resolved_by__isnull=False
            ).values("pk"),
            "resting": Evidence.objects.filter(message__in=among(messages)).values("node"),
            "replies": Message.objects.filter(
                Q(turn__in=turns) | Q(turn__original__in=turns), role=Message.Role.PERSONA
            ).values("pk"),
            "earlier of chosen": earlier.filter(wording__in=among(chosen_keys)).values("pk"),
            "earlier of same text": earlier.filter(wording__in=among(same_text_keys)).values("pk"),
        })  # fmt: skip
        dependent = [*ring["concluded"], *ring["replaced"], *ring["remainders"]]
        self._read_nodes([*dependent, *ring["resting"]], last=set(ring["resting"]).difference(dependent))
        self._read_messages(ring["replies"])
        for name, earlier_wordings in (
            ("earlier of chosen", self.chosen_messages),
            ("earlier of same text", self.same_text_messages),
        ):
            for pk in ring[name]:
                earlier_wordings.setdefault(pk, "earlier")

    def _unseen(self, name: str, keys: Iterable[int]) -> list[int]:
        unseen_keys = [key for key in keys if key not in self.followed[name]]
        self.followed[name].update(unseen_keys)
        return unseen_keys

    # --- targets
    # --------------------------------------------------------------------------------------------------------
    def _take_node(self, key: int) -> None:
        self.memories[key] = "chosen"

    def _take_message(self, key: int) -> None:
        if Message.objects.filter(pk=key, persona=self.persona).exists():
            self.chosen_messages[key] = "chosen"

    def _take_session(self, key: int) -> None:
        """Take all messages of the session, and the memories made of them alone. Other memories that rest on them are
        decided as for any message."""
        if not Session.objects.filter(pk=key, persona=self.persona).exists():
            return
        self.closure.sessions.add(key)
        messages = set(Message.objects.filter(session=key).values_list("pk", flat=True))
        self.chosen_messages |= dict.fromkeys(messages, "in_chosen")
        nodes = set(ConceptNode.objects.filter(session=key).values_list("pk", flat=True))
        other_evidence = Evidence.objects.filter(node__session=key).exclude(message__session=key)
        concluded = Filling.objects.filter(parent__session=key, orphaned=False)
        nodes -= set(other_evidence.values_list("node", flat=True)) | set(concluded.values_list("parent", flat=True))
        self.memories |= dict.fromkeys(nodes, "in_chosen")

    def _take_import(self, key: int) -> None:
        """Take everything the import added. A memory with further evidence is decided as for any message."""
        for uuid in self.persona.import_runs.filter(pk=key).values_list("uuid", flat=True):
            self.closure.runs[key] = uuid
            of_import = Q(persona=self.persona, import_uuid=uuid)
            evidence = Evidence.objects.filter(node__persona=self.persona, node__import_uuid=uuid)
            nodes_with_other_evidence = evidence.exclude(message__import_uuid=uuid).values("node")
            nodes = (
                ConceptNode.objects.filter(of_import)
                .exclude(pk__in=nodes_with_other_evidence)
                .values_list("pk", flat=True)
            )
            messages = Message.objects.filter(of_import).values_list("pk", flat=True)
            self.memories |= dict.fromkeys(nodes, "in_chosen")
            self.chosen_messages |= dict.fromkeys(messages, "in_chosen")
            self.closure.imported.update(Session.objects.filter(of_import).values_list("pk", flat=True))
            self.closure.imported_entities.update(Entity.objects.filter(of_import).values_list("pk", flat=True))

    def _take_entity(self, key: int) -> None:
        """Take the entity with all entities merged into it, its memories, and the messages that name it."""
        entity = Entity.objects.filter(pk=key, persona=self.persona).first()
        while entity is not None and entity.merged_into is not None:
            entity = entity.merged_into
        if entity is None:
            return
        self.closure.entities.add(entity.pk)
        node_ids = Mention.objects.filter(entity=entity).values_list("node_id", flat=True)
        self.memories |= dict.fromkeys(node_ids, "mentions")
        names = Alias.objects.filter(Q(entity=entity) | Q(entity__merged_into=entity)).values_list("text", flat=True)
        # Messages that contain one of the names, and messages whose speaker has one of them.
        all_names = [entity.canonical_name, *names]
        messages_with_speaker = self.persona.messages.exclude(speaker="").order_by()
        speakers = messages_with_speaker.values_list("speaker", flat=True).distinct()
        named_speakers = among([speaker for speaker in speakers if any(occurs(name, speaker) for name in all_names)])
        self.same_text_messages |= dict.fromkeys(
            messages_with_speaker.filter(speaker__in=named_speakers).values_list("pk", flat=True), "names"
        )
        hits = search.find_by_all_words(self.persona.pk, [tokenizer.tokenize(name) for name in all_names])
        contents = self._contents({pk for keys in hits for pk in keys})
        self.same_text_messages |= {
            pk: "names" for pk, content in contents if any(is_named(name, content) for name in all_names)
        }

    # --- reading ----------------------------------------------------------------------------------------------------
    def _read_nodes(self, keys: Iterable[int], last: Collection[int] = ()) -> None:
        """Read memories with everything they rest on; those of `last` come after the others, because a plan lists them
        in this order."""
        unread_keys = [key for key in keys if key not in self.closure.nodes]
        if not unread_keys:
            return
        nodes = ConceptNode.objects.filter(persona=self.persona, pk__in=among(unread_keys)).only("pk", *NODE_FIELDS)
        self.closure.nodes |= {node.pk: node for node in sorted(nodes, key=lambda node: node.pk in last)}
        quoted = Evidence.objects.filter(node__in=among(unread_keys)).select_related("message")
        quoted = quoted.only("node_id", "message_id", "quote", "message__session_id")
        self.closure.evidence |= {row.pk: row for row in quoted}
        self.closure.fillings |= {edge.pk: edge for edge in Filling.objects.filter(parent__in=among(unread_keys))}
        for version in NodeVersion.objects.filter(node__in=among(unread_keys)):
            self.closure.versions[version.node_id].append(version)

    def _read_messages(self, keys: Iterable[int]) -> None:
        unread_keys = [key for key in keys if key not in self.closure.messages]
        if unread_keys:
            rows = Message.objects.filter(persona=self.persona, pk__in=among(unread_keys))
            for message in rows.annotate(answered_turn=Coalesce("turn__original_id", "turn_id")):
                self.closure.messages[message.pk] = message
                self.closure.turns[message.pk] = message.answered_turn

    # --- restatements -------------------------------------------------------------------------------------------------
    def _find_restatements(self, content_matches: Sequence[int]) -> None:
        """Find messages that restate these memories."""
        statements = self.closure.statements_of(content_matches, self.names)
        matches = set(content_matches)
        made_in = (self.closure.nodes[pk].session_id for pk in matches)
        source_sessions = {pk for pk in made_in if pk is not None}
        source_sessions |= {row.message.session_id for row in self.closure.evidence.values() if row.node_id in matches}
        self.closure.source_sessions |= source_sessions
        since = min(self.closure.nodes[pk].created_at for pk in content_matches)
        uuids = [str(self.closure.nodes[pk].uuid) for pk in content_matches]
        recalled = turns_that_name(self.persona, uuids).filter(created_at__gte=since)
        in_sources = Q(session__in=among(source_sessions)) | Q(turn__in=recalled.values("pk"))
        for pk, content in Message.objects.filter(in_sources, role=Message.Role.PERSONA).values_list("pk", "content"):
            self.closure.possible_restatements.add(pk)
            if any(statement.is_repeated_by(content) for statement in statements):
                self.same_text_messages.setdefault(pk, "echo")
        self._find_verbatim(statements)

    def _find_same_content(self, content_matches: Sequence[int]) -> None:
        """Find memories with the same content but no reference to these, such as a quarantined claim. Memories with the
        same text and conflicting dates are different memories."""
        first = [pk for pk in content_matches if self.memories.get(pk) != "echo"]
        by_hash = {content_hash(version.description): pk for pk in first for version in self.closure.versions[pk]}
        by_hash |= {self.closure.nodes[pk].content_hash: pk for pk in first}
        same = ConceptNode.objects.filter(persona=self.persona, content_hash__in=among(by_hash))
        for node in same.exclude(pk__in=among(self.closure.decision.memories)).only("pk", *NODE_FIELDS):
            if not dates_conflict(event_time_of(node), event_time_of(self.closure.nodes[by_hash[node.content_hash]])):
                self._read_nodes([node.pk])
                self.memories[node.pk] = "echo"

    def _find_restatements_of_chosen(self, messages: Sequence[int]) -> None:
        """Find replies in the sessions of the chosen messages, and replies that quote a chosen message with significant
        content. Of an import only its own rows are meant: its messages are not searched for."""
        chosen_messages = [self.closure.messages[pk] for pk in messages if pk in self.closure.messages]
        source_sessions = {message.session_id for message in chosen_messages}
        self.closure.source_sessions |= source_sessions
        replies = Message.objects.filter(session__in=among(source_sessions), role=Message.Role.PERSONA)
        self.closure.possible_restatements.update(replies.values_list("pk", flat=True))
        if not self.choice.block_reimport:
            return
        imported = self.closure.runs.values()
        owners = [
            chosen_message
            for chosen_message in chosen_messages
            if chosen_message.role != Message.Role.PERSONA and chosen_message.import_uuid not in imported
        ]
        statements = [Statement([message.content], self.names) for message in owners]
        self._find_verbatim([statement for statement in statements if len(statement.telling) > MIN_SHARED])

    def _find_verbatim(self, statements: Sequence[Statement]) -> None:
        """Find replies of the persona with the same text word for word. Messages of the owner with the same text stay,
        because they were not chosen."""
        wanted_texts = {text for statement in statements for text in statement.literal}
        hits = search.find_by_all_words(self.persona.pk, [tokenizer.tokenize(text) for text in wanted_texts])
        replies = Message.objects.filter(role=Message.Role.PERSONA, pk__in=among({pk for keys in hits for pk in keys}))
        for pk, content in replies.values_list("pk", "content"):
            if contains(content, wanted_texts):
                self.same_text_messages.setdefault(pk, "echo")

    def _contents(self, keys: Iterable[int]) -> Iterable[tuple[int, str]]:
        return Message.objects.filter(pk__in=among(keys)).values_list("pk", "content")


def turns_that_name(persona: Persona, uuids: Collection[str]) -> QuerySet[Turn]:
    """The turns whose x-ray names one of these ids: recalled, weighed, listed or shown."""
    return Turn.objects.filter(naming("xray", uuids), persona=persona).exclude(xray={})


# --- consequences -----------------------------------------------------------------------------------------------------
@dataclass
class Consequences:
    """Rows by key.

    touched: sessions of which something is deleted or withheld, including deleted sessions
    last_remaining_at: the time of the last remaining message of each touched session that keeps one
    summarised, moods: sessions that lose their summary, and moods that are deleted
    turns: deleted turns, with their ids
    replied: turns of messages that are deleted or withheld
    described: surviving entities whose description was written from deleted text
    by_people: surviving entities that a person described
    related: surviving entities whose relation to the owner is stated in no remaining memory
    """

    touched: dict[int, Session] = field(default_factory=dict)
    last_remaining_at: dict[int, datetime] = field(default_factory=dict)
    sessions: dict[int, str] = field(default_factory=dict)
    summarised: dict[int, Session] = field(default_factory=dict)
    moods: dict[int, MoodChange] = field(default_factory=dict)
    turns: dict[int, UUID] = field(default_factory=dict)
    replied: dict[int, Turn] = field(default_factory=dict)
    entities: dict[int, Entity] = field(default_factory=dict)
    aliases: dict[int, Alias] = field(default_factory=dict)
    renamed: dict[int, str] = field(default_factory=dict)
    described: dict[int, Entity] = field(default_factory=dict)
    related: set[int] = field(default_factory=set)
    by_people: dict[int, Entity] = field(default_factory=dict)
    chosen_entities: set[int] = field(default_factory=set)


def consequences_of(closure: Closure) -> Consequences:
    """The consequences of the decision."""
    consequences = Consequences(chosen_entities=set(closure.entities))
    keys = (*closure.decision.messages, *closure.decision.withheld)
    messages = [closure.messages[pk] for pk in keys if pk in closure.messages]
    _collect_sessions(closure, consequences, messages)
    staying = _collect_entities(closure, consequences)
    _collect_names(closure, consequences, staying, [message.content for message in messages])
    return consequences


def _collect_sessions(closure: Closure, consequences: Consequences, messages: Sequence[Message]) -> None:
    """Sessions that lose messages or memories, the turns of these messages, and sessions and turns that are left
    empty."""
    decision = closure.decision
    remaining_messages = Message.objects.exclude(pk__in=among(decision.messages)).order_by("-created_at")
    remaining_memories = ConceptNode.objects.exclude(pk__in=among(decision.memories)).filter(session=OuterRef("pk"))
    made_in = {key for pk in decision.memories if (key := closure.nodes[pk].session_id) is not None}
    quoted = {row.message.session_id for row in closure.evidence.values() if row.node_id in decision.memories}
    touched = {message.session_id for message in messages} | made_in | quoted | closure.sessions | closure.imported
    shortened = {closure.messages[pk].session_id for pk in decision.messages if pk in closure.messages}
    for session in (
        Session.objects.filter(pk__in=among(touched))
        .order_by("pk")
        .annotate(
            left_at=Subquery(remaining_messages.filter(session=OuterRef("pk")).values("created_at")[:1]),
            is_remembered=Exists(remaining_memories),
        )
    ):
        consequences.touched[session.pk] = session
        is_imported = session.pk in closure.imported
        if session.left_at is not None:
            consequences.last_remaining_at[session.pk] = session.left_at
        elif is_imported or (session.pk in shortened and not session.is_remembered):
            consequences.sessions[session.pk] = "empty"
    consequences.sessions |= dict.fromkeys(closure.sessions, "chosen")
    replied = {message.turn_id for message in messages if message.turn_id is not None}
    turns = Turn.objects.filter(Q(pk__in=among(replied)) | Q(session__in=among(consequences.sessions)))
    turns = turns.annotate(keeps_messages=Exists(remaining_messages.filter(turn=OuterRef("pk"))))
    for turn in turns.only("uuid", "session_id", "partial"):
        if turn.pk in replied:
            consequences.replied[turn.pk] = turn
        if turn.session_id in consequences.sessions or not turn.keeps_messages:
            consequences.turns[turn.pk] = turn.uuid


def _collect_entities(closure: Closure, consequences: Consequences) -> dict[int, Entity]:
    """Entities that no memory mentions any longer, those merged into them, and survivors with descriptions written from
    deleted text. Returns survivors that both a deleted and a remaining memory mention."""
    deleted_memories = among(closure.decision.memories)
    mentions = Mention.objects.filter(entity=OuterRef("pk"))
    stating_relation = ConceptNode.objects.exclude(pk__in=deleted_memories).filter(
        description__icontains=OuterRef("relation")
    )
    entities = Entity.objects.annotate(
        is_mentioned=Exists(mentions.filter(node__in=deleted_memories)),
        is_remembered=Exists(mentions.exclude(node__in=deleted_memories)),
        is_related=Exists(stating_relation.filter(mentions__entity=OuterRef("pk"))),
    )
    mentioned = Q(pk__in=Mention.objects.filter(node__in=deleted_memories).values("entity"))
    chosen_ids = among({*closure.imported_entities, *closure.entities})
    touched = {entity.pk: entity for entity in entities.filter(mentioned | Q(pk__in=chosen_ids))}
    for pk, entity in touched.items():
        is_lasting = entity.status == Entity.Status.MERGED or entity.described_by == Entity.DescribedBy.PERSON
        is_unmentioned = not is_lasting and not entity.is_remembered
        if pk in closure.entities or (is_unmentioned and (entity.is_mentioned or pk in closure.imported_entities)):
            consequences.entities[pk] = entity
    consequences.entities |= _absorbed(consequences.entities, entities)
    staying = {pk: entity for pk, entity in touched.items() if pk not in consequences.entities}
    for pk, entity in (staying | _absorbed(staying, entities)).items():
        if entity.relation and not entity.is_related:
            consequences.related.add(pk)
        if entity.description:
            by_person = entity.described_by == Entity.DescribedBy.PERSON
            (consequences.by_people if by_person else consequences.described)[pk] = entity
    return {pk: entity for pk, entity in staying.items() if entity.is_mentioned and entity.is_remembered}


def _absorbed(merged_into: Collection[int], entities: QuerySet[Any]) -> dict[int, Any]:
    """The entities that were merged into these, directly or not."""
    absorbed: dict[int, Any] = {}
    ring: Iterable[int] = merged_into
    while ring:
        merged = entities.filter(merged_into__in=among(ring)).in_bulk()
        ring = [pk for pk in merged if pk not in absorbed]
        absorbed |= merged
    return absorbed


def _collect_names(
    closure: Closure, consequences: Consequences, staying: Mapping[int, Entity], messages: Sequence[str]
) -> None:
    """Aliases to delete: all aliases of deleted entities, and aliases of surviving entities that occur only in deleted
    text. An entity without any memory left keeps its aliases."""
    aliases: list[Alias] = []
    for alias in Alias.objects.filter(entity__in=among([*consequences.entities, *staying])):
        if alias.entity_id in staying:
            aliases.append(alias)
        else:
            consequences.aliases[alias.pk] = alias
    if not staying:
        return
    decision = closure.decision
    remaining = Mention.objects.filter(entity__in=among(staying)).exclude(node__in=among(decision.memories))
    memories: dict[int, list[str]] = defaultdict(list)
    for key, text in remaining.values_list("entity_id", "node__description"):
        memories[key].append(text)
    deleted = [*(closure.nodes[pk].description for pk in decision.memories), *messages]
    mentioned = [alias for alias in aliases if any(occurs(alias.text, text) for text in deleted)]
    # Names that occur in a message that models may still read.
    texts = sorted({alias.text for alias in mentioned})
    hits = search.find_by_all_words(closure.persona.pk, [tokenizer.tokenize(text) for text in texts])
    hidden = {*decision.messages, *decision.withheld}
    kept_texts = {text for text, keys in zip(texts, hits, strict=True) if is_in_messages(text, set(keys) - hidden)}
    for alias in mentioned:
        if alias.text not in kept_texts and not any(occurs(alias.text, text) for text in memories[alias.entity_id]):
            consequences.aliases[alias.pk] = alias
    _rename(staying, aliases, consequences)


def is_in_messages(name: str, messages: Collection[int]) -> bool:
    """Whether the name occurs in one of these messages; reading stops at the first."""
    shown_messages = Message.objects.filter(pk__in=among(messages), withheld=False).order_by()
    return any(
        occurs(name, content) for content in shown_messages.values_list("content", flat=True).iterator(chunk_size=100)
    )


def _rename(staying: Mapping[int, Entity], aliases: Iterable[Alias], consequences: Consequences) -> None:
    """Rename entities whose canonical name is deleted; none loses its last alias. Entities merged into them lose the
    same aliases and get the same name."""
    remaining_aliases: dict[int, list[Alias]] = defaultdict(list)
    deleted: dict[int, set[str]] = defaultdict(set)
    for alias in aliases:
        if alias.pk in consequences.aliases:
            deleted[alias.entity_id].add(alias.normalized)
        else:
            remaining_aliases[alias.entity_id].append(alias)
    for pk, forms in list(deleted.items()):
        if not remaining_aliases[pk]:
            consequences.aliases = {key: alias for key, alias in consequences.aliases.items() if alias.entity_id != pk}
            del deleted[pk]
        elif normalize_name(staying[pk].canonical_name) in forms:
            consequences.renamed[pk] = remaining_aliases[pk][0].text
    absorbed = _absorbed(deleted, Entity.objects.all())
    survivors: dict[int, int] = {}
    for pk in absorbed:
        key = pk
        while key in absorbed:
            key = cast(int, absorbed[key].merged_into_id)
        survivors[pk] = key
    for alias in Alias.objects.filter(entity__in=among(absorbed)):
        if alias.normalized in deleted[survivors[alias.entity_id]]:
            consequences.aliases[alias.pk] = alias
    for pk, entity in absorbed.items():
        survivor = survivors[pk]
        if normalize_name(entity.canonical_name) in deleted[survivor]:
            consequences.renamed[pk] = consequences.renamed.get(survivor, staying[survivor].canonical_name)


def deleted_names(closure: Closure, consequences: Consequences) -> list[str]:
    """The names of deleted entities, and the deleted names of survivors; never the names of owner and persona."""
    if not closure.choice.block_reimport:
        return []
    names = {alias.text for alias in consequences.aliases.values()} | {
        entity.canonical_name for entity in consequences.entities.values()
    }
    names_of_both = names_of(closure.persona)
    return sorted(name for name in names if not names_of_both.issuperset(tokenizer.tokenize(name)))
