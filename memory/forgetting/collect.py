"""Collecting what forgetting reaches, ring by ring, and what it leaves empty. Reads only.

Each ring of memories and messages takes the same few statements, however many it holds; it is read because something
in the ring before it goes. Then the consequences: sessions and turns without a message, names without an entity,
entities without a memory.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, cast

from django.db.models import OuterRef, Q, QuerySet, Subquery

from chat import search
from chat.models import Message, Session, Turn
from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name, occurs
from memory.consolidation.drafts import CORRECTION
from memory.consolidation.replacing import News
from memory.curation.reinstatement import is_what_was_left
from memory.curation.restatements import MIN_SHARED, Statement, contains, is_named, names_of
from memory.forgetting.closure import NONE, ForgetDecision, ForgetRequest, Graph, GraphMessage, MemoryNode, decide
from memory.forgetting.registry import among, naming
from memory.forgetting.types import Choice, MentionMode, Target
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeVersion
from memory.store.deduplication import content_hash, dates_conflict
from memory.store.writing import event_time_of
from persona.models import Persona

NODE_FIELDS = (
    "uuid", "persona_id", "kind", "description", "session_id", "external_id", "superseded_by_id", "created_at",
    "content_hash", "event_time_start", "event_time_end", "relational_tags", "status", "resolved_by_id", "until",
    "plan_state",
)  # fmt: skip


@dataclass
class Closure:
    """The rows around the targets, and what becomes of them."""

    persona: Persona
    choice: Choice
    nodes: dict[int, ConceptNode] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    evidence: dict[int, Evidence] = field(default_factory=dict)
    fillings: dict[int, Filling] = field(default_factory=dict)
    versions: dict[int, list[NodeVersion]] = field(default_factory=lambda: defaultdict(list))
    sessions: set[int] = field(default_factory=set)  # that were chosen themselves
    imported: set[int] = field(default_factory=set)  # that go when no message of theirs is left
    runs: set[int] = field(default_factory=set)  # imports
    entities: set[int] = field(default_factory=set)
    imported_entities: set[int] = field(default_factory=set)  # that go when nothing mentions them any longer
    request: ForgetRequest = field(default_factory=lambda: ForgetRequest({}, {}, {}))
    decision: ForgetDecision = field(default_factory=lambda: ForgetDecision({}, frozenset(), {}, {}, {}))
    source_sessions: set[int] = field(default_factory=set)  # that the memories come from
    # Replies in these sessions, or made when a memory that goes had been recalled.
    possible_restatements: set[int] = field(default_factory=set)

    def graph(self) -> Graph:
        """The rows read so far, as the graph to decide on."""
        quoted: dict[int, set[int]] = defaultdict(set)
        for row in self.evidence.values():
            quoted[row.node_id].add(row.message_id)
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
                frozenset(superseded[pk]) if is_what_was_left(node) else NONE,
            )
            for pk, node in self.nodes.items()
        }
        messages = {
            pk: GraphMessage(message.answered_turn, message.role == Message.Role.PERSONA)
            for pk, message in self.messages.items()
        }
        return Graph(memories, messages)

    def _is_earlier_version(self, node: ConceptNode, quoted: Mapping[int, set[int]]) -> bool:
        """Whether a memory says what the one that replaced it says, before that was put right. What was true until
        something changed, and was told in another session, is a memory of its own: it holds again when the news goes.
        """
        newer = self.nodes.get(node.superseded_by_id or 0)
        if newer is None:
            return node.superseded_by_id is not None
        quotes = tuple(row.quote for row in self.evidence.values() if row.node_id == newer.pk)
        is_correction = CORRECTION in newer.relational_tags
        puts_right = News(quotes, newer.created_at.date(), is_correction=is_correction).puts_right
        of_one_telling = not node.session_id or node.session_id == newer.session_id
        return puts_right or of_one_telling or bool(quoted[node.pk] & quoted[newer.pk])

    def statements_of(self, nodes: Iterable[int], names: frozenset[str]) -> list[Statement]:
        """The texts of memories: descriptions, earlier ones too, and quotes."""
        quotes: dict[int, list[str]] = defaultdict(list)
        for row in self.evidence.values():
            quotes[row.node_id].append(row.quote)
        return [
            Statement([self.nodes[pk].description, *(v.description for v in self.versions[pk]), *quotes[pk]], names)
            for pk in nodes
        ]


class ClosureReader:
    """One reading under way; `found` holds the rows so far."""

    def __init__(self, persona: Persona, targets: Sequence[Target], choice: Choice) -> None:
        self.persona, self.choice = persona, choice
        self.closure = Closure(persona, choice)
        self.names = names_of(persona)
        self.memories: dict[int, str] = {}
        self.chosen_messages: dict[int, str] = {}
        self.wanted: dict[int, str] = {}
        self.followed: dict[str, set[int]] = defaultdict(set)
        for target in targets:
            getattr(self, f"_take_{target.kind}")(target.key)
        self._read_nodes(self.memories)
        self.mentions: dict[int, Literal["forget", "withhold"]] = {}
        self.left: frozenset[int] = frozenset()
        self._settle()

    def set_mention_modes(self, modes: Mapping[int, MentionMode]) -> bool:
        """Decide again with these modes of mentions, and return whether they are new."""
        taken = {pk: mode for pk, mode in modes.items() if mode != "leave"}
        left = frozenset(pk for pk, mode in modes.items() if mode == "leave")
        if (taken, left) == (self.mentions, self.left):
            return False
        self.mentions, self.left = taken, left
        self._settle()
        return True

    def _settle(self) -> None:
        while self.advance():
            pass

    def advance(self) -> bool:
        """Decide on the rows read so far, and read what depends on that; return whether anything was new."""
        known = self._size()
        self.closure.request = ForgetRequest(self.memories, self.chosen_messages, self.wanted, self.mentions, self.left)
        self.closure.decision = decision = decide(self.closure.graph(), self.closure.request, self.choice)
        self._read_messages([*decision.messages, *decision.withheld])
        if going := self._unseen("memories", decision.memories):
            # Memories that were concluded from these, those that they replaced, and what was left of these.
            parents = Filling.objects.filter(child__in=among(going)).values_list("parent_id", flat=True)
            earlier = ConceptNode.objects.filter(superseded_by__in=among(going)).values_list("pk", flat=True)
            left = ConceptNode.objects.filter(supersedes__in=among(going), resolved_by__isnull=False)
            self._read_nodes([*parents, *earlier, *left.values_list("pk", flat=True)])
        if messages := self._unseen("messages", [*decision.messages, *decision.withheld]):
            # Memories that rest on these, and replies to them.
            self._read_nodes(Evidence.objects.filter(message__in=among(messages)).values_list("node_id", flat=True))
            rows = (self.closure.messages[pk] for pk in messages if pk in self.closure.messages)
            turns = {row.answered_turn for row in rows if row.answered_turn is not None}
            of_these = Q(turn__in=among(turns)) | Q(turn__original__in=among(turns))
            replies = Message.objects.filter(of_these, role=Message.Role.PERSONA)
            self._read_messages(replies.values_list("pk", flat=True))
        if deleted := self._unseen("deleted messages", decision.messages):
            self._find_earlier_wordings(deleted)
        content_matches = self._unseen("content matches", decision.content_matches)
        self._find_restatements(content_matches)
        self._find_same_content(content_matches)
        self._find_restatements_of_chosen(self._unseen("chosen messages", self.chosen_messages))
        return self._size() != known

    def _size(self) -> tuple[int, ...]:
        followed = sum(map(len, self.followed.values()))
        read = len(self.closure.nodes), len(self.closure.messages)
        return *read, len(self.chosen_messages), len(self.wanted), len(self.memories), followed

    def _unseen(self, what: str, keys: Iterable[int]) -> list[int]:
        fresh = [key for key in keys if key not in self.followed[what]]
        self.followed[what].update(fresh)
        return fresh

    # --- what was chosen --------------------------------------------------------------------------------------------
    def _take_node(self, key: int) -> None:
        self.memories[key] = "chosen"

    def _take_message(self, key: int) -> None:
        if Message.objects.filter(pk=key, persona=self.persona).exists():
            self.chosen_messages[key] = "chosen"

    def _take_session(self, key: int) -> None:
        """All its messages, and what was made of them alone. What else rests on them is decided as for any message."""
        if not Session.objects.filter(pk=key, persona=self.persona).exists():
            return
        self.closure.sessions.add(key)
        messages = set(Message.objects.filter(session=key).values_list("pk", flat=True))
        self.chosen_messages |= dict.fromkeys(messages, "in_chosen")
        nodes = set(ConceptNode.objects.filter(session=key).values_list("pk", flat=True))
        elsewhere = Evidence.objects.filter(node__session=key).exclude(message__session=key)
        concluded = Filling.objects.filter(parent__session=key, orphaned=False)
        nodes -= set(elsewhere.values_list("node", flat=True)) | set(concluded.values_list("parent", flat=True))
        self.memories |= dict.fromkeys(nodes, "in_chosen")

    def _take_import(self, key: int) -> None:
        """All that came in by it. A memory for which there are other words, too, is decided as for any message."""
        for uuid in self.persona.import_runs.filter(pk=key).values_list("uuid", flat=True):
            self.closure.runs.add(key)
            ours = Q(persona=self.persona, import_uuid=uuid)
            evidence = Evidence.objects.filter(node__persona=self.persona, node__import_uuid=uuid)
            elsewhere = evidence.exclude(message__import_uuid=uuid).values("node")
            nodes = ConceptNode.objects.filter(ours).exclude(pk__in=elsewhere).values_list("pk", flat=True)
            messages = Message.objects.filter(ours).values_list("pk", flat=True)
            self.memories |= dict.fromkeys(nodes, "in_chosen")
            self.chosen_messages |= dict.fromkeys(messages, "in_chosen")
            self.closure.imported.update(Session.objects.filter(ours).values_list("pk", flat=True))
            self.closure.imported_entities.update(Entity.objects.filter(ours).values_list("pk", flat=True))

    def _take_entity(self, key: int) -> None:
        """Who is meant, with all whom they absorbed, what is remembered of them, and the messages that name them."""
        entity = Entity.objects.filter(pk=key, persona=self.persona).first()
        while entity is not None and entity.merged_into is not None:
            entity = entity.merged_into
        if entity is None:
            return
        self.closure.entities.add(entity.pk)
        about = Mention.objects.filter(entity=entity).values_list("node_id", flat=True)
        self.memories |= dict.fromkeys(about, "mentions")
        names = Alias.objects.filter(Q(entity=entity) | Q(entity__merged_into=entity)).values_list("text", flat=True)
        # Messages with one of the names in them, and messages whose speaker has that name.
        known = [entity.canonical_name, *names]
        others = self.persona.messages.exclude(speaker="").order_by()
        speakers = others.values_list("speaker", flat=True).distinct()
        named = among([speaker for speaker in speakers if any(occurs(name, speaker) for name in known)])
        self.wanted |= dict.fromkeys(others.filter(speaker__in=named).values_list("pk", flat=True), "names")
        hits = search.find_by_all_words(self.persona.pk, [tokenizer.tokenize(name) for name in known])
        contents = self._contents({pk for keys in hits for pk in keys})
        self.wanted |= {pk: "names" for pk, content in contents if any(is_named(name, content) for name in known)}

    # --- reading ----------------------------------------------------------------------------------------------------
    def _read_nodes(self, keys: Iterable[int]) -> None:
        """Memories with all that they rest on."""
        fresh = [key for key in keys if key not in self.closure.nodes]
        if not fresh:
            return
        nodes = ConceptNode.objects.filter(persona=self.persona, pk__in=among(fresh)).only("pk", *NODE_FIELDS)
        self.closure.nodes |= {node.pk: node for node in nodes}
        quoted = Evidence.objects.filter(node__in=among(fresh)).only("pk", "node_id", "message_id", "quote")
        self.closure.evidence |= {row.pk: row for row in quoted}
        self.closure.fillings |= {edge.pk: edge for edge in Filling.objects.filter(parent__in=among(fresh))}
        for version in NodeVersion.objects.filter(node__in=among(fresh)):
            self.closure.versions[version.node_id].append(version)

    def _read_messages(self, keys: Iterable[int]) -> None:
        fresh = [key for key in keys if key not in self.closure.messages]
        if fresh:
            rows = Message.objects.filter(persona=self.persona, pk__in=among(fresh)).with_answered_turn()
            self.closure.messages |= rows.in_bulk()

    def _find_earlier_wordings(self, messages: Collection[int]) -> None:
        """Find what these messages were before their owner worded them anew, with the answers to that. A message worded
        anew is the first one of its turn."""
        said = Message.objects.filter(turn=OuterRef("replaced_by"), role=Message.Role.USER).order_by("pk")
        earlier = Message.objects.filter(persona=self.persona, replaced_by__isnull=False)
        earlier = earlier.annotate(wording=Subquery(said.values("pk")[:1])).filter(wording__in=among(messages))
        for pk, wording in earlier.values_list("pk", "wording"):
            of_wording = self.chosen_messages if wording in self.chosen_messages else self.wanted
            of_wording.setdefault(pk, "earlier")

    # --- restatements -------------------------------------------------------------------------------------------------
    def _find_restatements(self, content_matches: Sequence[int]) -> None:
        """Find messages that restate these memories."""
        if not content_matches:
            return
        statements = self.closure.statements_of(content_matches, self.names)
        touched = {self.closure.nodes[pk].session_id for pk in content_matches}
        quoted = Evidence.objects.filter(node__in=among(content_matches)).values_list("message__session_id", flat=True)
        source_sessions = {pk for pk in (*touched, *quoted) if pk is not None}
        self.closure.source_sessions |= source_sessions
        since = min(self.closure.nodes[pk].created_at for pk in content_matches)
        uuids = [str(self.closure.nodes[pk].uuid) for pk in content_matches]
        recalled = turns_that_name(self.persona, uuids).filter(created_at__gte=since)
        turns = among(recalled.values_list("pk", flat=True))
        replies = Message.objects.filter(role=Message.Role.PERSONA, turn__in=turns)
        candidates = self._replies_in(source_sessions) | set(replies.values_list("pk", flat=True))
        self.closure.possible_restatements |= candidates
        for pk, content in self._contents(candidates):
            if any(statement.is_repeated_by(content) for statement in statements):
                self.wanted.setdefault(pk, "echo")
        self._find_verbatim(statements)

    def _replies_in(self, source_sessions: Iterable[int]) -> set[int]:
        replies = Message.objects.filter(session__in=among(source_sessions), role=Message.Role.PERSONA)
        return set(replies.values_list("pk", flat=True))

    def _find_same_content(self, content_matches: Sequence[int]) -> None:
        """Find memories of the same content that refer to none of these: a claim in quarantine, say. Memories of the
        same text on days that differ are two memories."""
        first = [pk for pk in content_matches if self.memories.get(pk) != "echo"]
        by_hash = {content_hash(version.description): pk for pk in first for version in self.closure.versions[pk]}
        by_hash |= {self.closure.nodes[pk].content_hash: pk for pk in first}
        same = ConceptNode.objects.filter(persona=self.persona, content_hash__in=among(by_hash))
        for node in same.exclude(pk__in=among(self.closure.decision.memories)).only("pk", *NODE_FIELDS):
            if not dates_conflict(event_time_of(node), event_time_of(self.closure.nodes[by_hash[node.content_hash]])):
                self._read_nodes([node.pk])
                self.memories[node.pk] = "echo"

    def _find_restatements_of_chosen(self, messages: Sequence[int]) -> None:
        """Find what the persona said in the sessions of the chosen messages, and where it quotes one of the owner's
        that tells something. Who forgets a whole import means what came in by it, and nothing that was said beside."""
        chosen = [self.closure.messages[pk] for pk in messages if pk in self.closure.messages]
        source_sessions = {message.session_id for message in chosen}
        self.closure.source_sessions |= source_sessions
        self.closure.possible_restatements |= self._replies_in(source_sessions)
        if not self.choice.block_reimport:
            return
        uuids = set(self.persona.import_runs.filter(pk__in=among(self.closure.runs)).values_list("uuid", flat=True))
        owners = [one for one in chosen if one.role != Message.Role.PERSONA and one.import_uuid not in uuids]
        statements = [Statement([message.content], self.names) for message in owners]
        self._find_verbatim([statement for statement in statements if len(statement.telling) > MIN_SHARED])

    def _find_verbatim(self, statements: Sequence[Statement]) -> None:
        """Find replies of the persona with the same text word for word. Messages of the owner with the same text were
        not chosen: they stay."""
        wanted = {text for statement in statements for text in statement.literal}
        held = search.find_by_all_words(self.persona.pk, [tokenizer.tokenize(text) for text in wanted])
        replies = Message.objects.filter(role=Message.Role.PERSONA, pk__in=among({pk for ids in held for pk in ids}))
        for pk, content in replies.values_list("pk", "content"):
            if contains(content, wanted):
                self.wanted.setdefault(pk, "echo")

    def _contents(self, keys: Iterable[int]) -> Iterable[tuple[int, str]]:
        return Message.objects.filter(pk__in=among(keys)).values_list("pk", "content")


def turns_that_name(persona: Persona, uuids: Collection[str]) -> QuerySet[Turn]:
    """The turns whose x-ray names one of these: something recalled, weighed, listed or shown."""
    return Turn.objects.filter(naming("chat_turn.xray", uuids), persona=persona).exclude(xray={})


# --- consequences -----------------------------------------------------------------------------------------------------
@dataclass
class Consequences:
    """Rows by key.

    touched: sessions of which something is deleted or withheld, deleted ones included
    described: entities that stay and were described from what is deleted
    by_people: those of them that a person described
    related: entities that stay, and of which no memory that stays says what they are to the owner
    """

    touched: dict[int, Session] = field(default_factory=dict)
    sessions: dict[int, str] = field(default_factory=dict)
    turns: set[int] = field(default_factory=set)
    replied: set[int] = field(default_factory=set)  # turns of messages that go or are withheld
    entities: dict[int, Entity] = field(default_factory=dict)
    aliases: dict[int, Alias] = field(default_factory=dict)
    renamed: dict[int, str] = field(default_factory=dict)
    described: dict[int, Entity] = field(default_factory=dict)
    related: set[int] = field(default_factory=set)
    by_people: dict[int, Entity] = field(default_factory=dict)
    chosen_entities: set[int] = field(default_factory=set)


def consequences_of(closure: Closure) -> Consequences:
    """The consequences of the decision."""
    consequences, decision = Consequences(chosen_entities=set(closure.entities)), closure.decision
    messages = [closure.messages[pk] for pk in (*decision.messages, *decision.withheld) if pk in closure.messages]
    touched = {message.session_id for message in messages}
    made_in = (closure.nodes[pk].session_id for pk in decision.memories)
    touched |= {pk for pk in made_in if pk is not None}
    quoted = Message.objects.filter(evidence_for__node__in=among(decision.memories))
    touched |= set(quoted.values_list("session_id", flat=True))
    touched |= closure.sessions | closure.imported
    consequences.touched = Session.objects.filter(pk__in=among(touched)).in_bulk()
    emptied = {closure.messages[pk].session_id for pk in decision.messages if pk in closure.messages} | closure.imported
    remaining = Message.objects.filter(session__in=among(emptied)).exclude(pk__in=among(decision.messages))
    emptied -= set(remaining.values_list("session_id", flat=True))
    named = ConceptNode.objects.filter(session__in=among(emptied)).exclude(pk__in=among(decision.memories))
    emptied -= set(named.values_list("session_id", flat=True)) - closure.imported
    consequences.sessions = dict.fromkeys(emptied, "empty") | dict.fromkeys(closure.sessions, "chosen")
    consequences.replied = {message.turn_id for message in messages if message.turn_id is not None}
    remaining = Message.objects.filter(turn__in=among(consequences.replied)).exclude(pk__in=among(decision.messages))
    consequences.turns = consequences.replied - set(remaining.values_list("turn_id", flat=True))
    consequences.turns |= set(
        Turn.objects.filter(session__in=among(consequences.sessions)).values_list("pk", flat=True)
    )
    _collect_entities(closure, consequences)
    _collect_names(closure, consequences, [message.content for message in messages])
    return consequences


def _collect_entities(closure: Closure, consequences: Consequences) -> None:
    """Entities that nothing mentions any longer, and those merged into them."""
    touched = Q(mentions__node__in=among(closure.decision.memories)) | Q(pk__in=among(closure.imported_entities))
    mentioned = Entity.objects.filter(touched).distinct()
    alive = Mention.objects.filter(entity__in=among(mentioned.values_list("pk", flat=True)))
    remembered = set(alive.exclude(node__in=among(closure.decision.memories)).values_list("entity_id", flat=True))
    lasting = Q(status=Entity.Status.MERGED) | Q(described_by=Entity.DescribedBy.PERSON)
    forgotten = mentioned.exclude(lasting).exclude(pk__in=among(remembered))
    consequences.entities = (
        forgotten.in_bulk() | Entity.objects.filter(pk__in=among(consequences.chosen_entities)).in_bulk()
    )
    consequences.entities |= _absorbed(consequences.entities)
    staying = {entity.pk: entity for entity in mentioned if entity.pk not in consequences.entities}
    for pk, entity in (staying | _absorbed(staying)).items():
        if entity.relation:
            telling = ConceptNode.objects.filter(mentions__entity=pk, description__icontains=entity.relation)
            if not telling.exclude(pk__in=among(closure.decision.memories)).exists():
                consequences.related.add(pk)
        if entity.description:
            by_person = entity.described_by == Entity.DescribedBy.PERSON
            (consequences.by_people if by_person else consequences.described)[pk] = entity


def _absorbed(entities: Collection[int]) -> dict[int, Entity]:
    """All entities merged into these, directly or not."""
    absorbed: dict[int, Entity] = {}
    ring: Iterable[int] = entities
    while ring:
        merged = Entity.objects.filter(merged_into__in=among(ring)).in_bulk()
        ring = [pk for pk in merged if pk not in absorbed]
        absorbed |= merged
    return absorbed


def _collect_names(closure: Closure, consequences: Consequences, messages: Sequence[str]) -> None:
    """Aliases to delete: all aliases of deleted entities, and aliases of surviving entities that occur only in deleted
    text. An entity without any memory left keeps its aliases."""
    consequences.aliases = Alias.objects.filter(entity__in=among(consequences.entities)).in_bulk()
    decision = closure.decision
    mentions = Mention.objects.filter(node__in=among(decision.memories)).exclude(
        entity__in=among(consequences.entities)
    )
    staying = Entity.objects.filter(pk__in=among(mentions.values_list("entity_id", flat=True))).in_bulk()
    if not staying:
        return
    remaining = Mention.objects.filter(entity__in=among(staying)).exclude(node__in=among(decision.memories))
    memories: dict[int, list[str]] = defaultdict(list)
    for key, text in remaining.values_list("entity_id", "node__description"):
        memories[key].append(text)
    aliases = list(Alias.objects.filter(entity__in=among(memories)))
    deleted = [*(closure.nodes[pk].description for pk in decision.memories), *messages]
    mentioned = [alias for alias in aliases if any(occurs(alias.text, text) for text in deleted)]
    # Names that stand in a message that a model may still read.
    texts = sorted({alias.text for alias in mentioned})
    hits = search.find_by_all_words(closure.persona.pk, [tokenizer.tokenize(text) for text in texts])
    hidden = {*decision.messages, *decision.withheld}
    kept = {text for text, keys in zip(texts, hits, strict=True) if is_in_messages(text, set(keys) - hidden)}
    for alias in mentioned:
        if alias.text not in kept and not any(occurs(alias.text, text) for text in memories[alias.entity_id]):
            consequences.aliases[alias.pk] = alias
    _rename(staying, aliases, consequences)


def is_in_messages(name: str, messages: Collection[int]) -> bool:
    """Whether the name occurs in one of these messages; reading stops at the first."""
    shown = Message.objects.filter(pk__in=among(messages), withheld=False).order_by()
    return any(occurs(name, content) for content in shown.values_list("content", flat=True).iterator(chunk_size=100))


def _rename(staying: Mapping[int, Entity], aliases: Iterable[Alias], consequences: Consequences) -> None:
    """Rename entities whose canonical name is deleted; none loses its last alias. Entities merged into them lose the
    same aliases and get the same name."""
    left: dict[int, list[Alias]] = defaultdict(list)
    deleted: dict[int, set[str]] = defaultdict(set)
    for alias in aliases:
        if alias.pk in consequences.aliases:
            deleted[alias.entity_id].add(alias.normalized)
        else:
            left[alias.entity_id].append(alias)
    for pk, forms in list(deleted.items()):
        if not left[pk]:
            consequences.aliases = {key: alias for key, alias in consequences.aliases.items() if alias.entity_id != pk}
            del deleted[pk]
        elif normalize_name(staying[pk].canonical_name) in forms:
            consequences.renamed[pk] = left[pk][0].text
    absorbed = _absorbed(deleted)
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
