"""Collecting the dependents of what is to be forgotten: memories and messages are read ring by ring and decided upon.

Each ring takes the same few statements, however many memories it holds; it is read because something in the ring
before it goes. Nothing is written.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.db.models import Q, QuerySet

from chat import search
from chat.models import Message, Session, Turn
from echovessel.language import tokenizer
from echovessel.language.person_names import occurs
from memory.curation.restatements import MIN_SHARED, Statement, contains, is_named, names_of
from memory.forgetting.closure import ForgetDecision, ForgetRequest, Graph, GraphMessage, MemoryNode, decide
from memory.forgetting.registry import among, naming
from memory.forgetting.types import Choice, MentionMode, Target
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeVersion
from memory.store.deduplication import content_hash, dates_conflict
from memory.store.writing import event_time_of
from persona.models import Persona

NODE_FIELDS = (
    "uuid", "persona_id", "kind", "description", "session_id", "external_id", "superseded_by_id", "created_at",
    "content_hash", "event_time_start", "event_time_end",
)  # fmt: skip


@dataclass
class Closure:
    """What forgetting reaches: the rows around the targets, and what is to become of them."""

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
    source_sessions: set[int] = field(default_factory=set)  # in which it was told
    possible_restatements: set[int] = field(
        default_factory=set
    )  # what the persona said in them, or when it had been recalled

    def graph(self) -> Graph:
        """All that was read so far, as it is decided upon."""
        quoted: dict[int, set[int]] = defaultdict(set)
        for row in self.evidence.values():
            quoted[row.node_id].add(row.message_id)
        children: dict[int, set[int]] = defaultdict(set)
        for edge in self.fillings.values():
            if edge.child_id is not None:
                children[edge.parent_id].add(edge.child_id)
        memories = {
            pk: MemoryNode(frozenset(quoted[pk]), frozenset(children[pk]), node.superseded_by_id)
            for pk, node in self.nodes.items()
        }
        messages = {
            pk: GraphMessage(message.turn_id, message.role == Message.Role.PERSONA)
            for pk, message in self.messages.items()
        }
        return Graph(memories, messages)

    def statements_of(self, nodes: Iterable[int], names: frozenset[str]) -> list[Statement]:
        """The words of memories: what they say and said, and their quotes."""
        quotes: dict[int, list[str]] = defaultdict(list)
        for row in self.evidence.values():
            quotes[row.node_id].append(row.quote)
        return [
            Statement([self.nodes[pk].description, *(v.description for v in self.versions[pk]), *quotes[pk]], names)
            for pk in nodes
        ]


class ClosureReader:
    """One reading under way. `found` is what it has reached."""

    def __init__(self, persona: Persona, targets: Sequence[Target], choice: Choice) -> None:
        self.persona, self.choice = persona, choice
        self.found = Closure(persona, choice)
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
        """Decide anew, with what becomes of the messages in which it is also mentioned; whether that is new."""
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
        """Decide on what is known, and read what hangs on that; whether anything was new."""
        known = self._size()
        self.found.request = ForgetRequest(self.memories, self.chosen_messages, self.wanted, self.mentions, self.left)
        self.found.decision = decision = decide(self.found.graph(), self.found.request, self.choice)
        self._read_messages([*decision.messages, *decision.withheld])
        self._follow_memories(self._unseen("memories", decision.memories))
        self._follow_messages(self._unseen("messages", [*decision.messages, *decision.withheld]))
        content_matches = self._unseen("content matches", decision.content_matches)
        self._find_restatements(content_matches)
        # What says the very same as these and hangs on none of them: a claim in quarantine, say. Two of the same words
        # on days that differ are two things.
        first = [pk for pk in content_matches if self.memories.get(pk) != "echo"]
        by_hash = {content_hash(one.description): pk for pk in first for one in self.found.versions[pk]}
        by_hash |= {self.found.nodes[pk].content_hash: pk for pk in first}
        same = ConceptNode.objects.filter(persona=self.persona, content_hash__in=among(by_hash))
        for node in same.exclude(pk__in=among(self.found.decision.memories)).only("pk", *NODE_FIELDS):
            said = self.found.nodes[by_hash[node.content_hash]]
            if not dates_conflict(event_time_of(node), event_time_of(said)):
                self._read_nodes([node.pk])
                self.memories[node.pk] = "echo"
        self._find_restatements_of_chosen(self._unseen("chosen messages", self.chosen_messages))
        return self._size() != known

    def _size(self) -> tuple[int, ...]:
        followed = sum(map(len, self.followed.values()))
        return len(self.found.nodes), len(self.found.messages), len(self.wanted), len(self.memories), followed

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
        self.found.sessions.add(key)
        messages = set(Message.objects.filter(session=key).values_list("pk", flat=True))
        self.chosen_messages |= dict.fromkeys(messages, "in_chosen")
        made = set(ConceptNode.objects.filter(session=key).values_list("pk", flat=True))
        elsewhere = Evidence.objects.filter(node__session=key).exclude(message__session=key)
        concluded = Filling.objects.filter(parent__session=key, orphaned=False)
        made -= set(elsewhere.values_list("node", flat=True)) | set(concluded.values_list("parent", flat=True))
        self.memories |= dict.fromkeys(made, "in_chosen")

    def _take_import(self, key: int) -> None:
        """All that came in by it. A memory for which there are other words, too, is decided as for any message."""
        for uuid in self.persona.import_runs.filter(pk=key).values_list("uuid", flat=True):
            self.found.runs.add(key)
            ours = Q(persona=self.persona, import_uuid=uuid)
            told = Evidence.objects.filter(node__persona=self.persona, node__import_uuid=uuid)
            elsewhere = told.exclude(message__import_uuid=uuid).values("node")
            nodes = ConceptNode.objects.filter(ours).exclude(pk__in=elsewhere).values_list("pk", flat=True)
            messages = Message.objects.filter(ours).values_list("pk", flat=True)
            self.memories |= dict.fromkeys(nodes, "in_chosen")
            self.chosen_messages |= dict.fromkeys(messages, "in_chosen")
            self.found.imported.update(Session.objects.filter(ours).values_list("pk", flat=True))
            self.found.imported_entities.update(Entity.objects.filter(ours).values_list("pk", flat=True))

    def _take_entity(self, key: int) -> None:
        """Who is meant, with all whom they absorbed, what is remembered of them, and the messages that name them."""
        entity = Entity.objects.filter(pk=key, persona=self.persona).first()
        while entity is not None and entity.merged_into is not None:
            entity = entity.merged_into
        if entity is None:
            return
        self.found.entities.add(entity.pk)
        about = Mention.objects.filter(entity=entity).values_list("node_id", flat=True)
        self.memories |= dict.fromkeys(about, "mentions")
        names = Alias.objects.filter(Q(entity=entity) | Q(entity__merged_into=entity)).values_list("text", flat=True)
        self.wanted |= dict.fromkeys(self._messages_naming({entity.canonical_name, *names}), "names")

    def _messages_naming(self, names: Iterable[str]) -> Iterable[int]:
        """Those in which one of the names stands, and those that somebody of that name has said."""
        known = list(names)
        others = self.persona.messages.exclude(speaker="").order_by()
        speakers = others.values_list("speaker", flat=True).distinct()
        theirs = [speaker for speaker in speakers if any(occurs(name, speaker) for name in known)]
        yield from others.filter(speaker__in=among(theirs)).values_list("pk", flat=True)
        held = search.find_by_all_words(self.persona.pk, [tokenizer.tokenize(name) for name in known])
        for pk, content in self._contents({pk for ids in held for pk in ids}):
            if any(is_named(name, content) for name in known):
                yield pk

    # --- reading ----------------------------------------------------------------------------------------------------
    def _read_nodes(self, keys: Iterable[int]) -> None:
        """Memories with all that they rest on."""
        fresh = [key for key in keys if key not in self.found.nodes]
        if not fresh:
            return
        nodes = ConceptNode.objects.filter(persona=self.persona, pk__in=among(fresh)).only("pk", *NODE_FIELDS)
        self.found.nodes |= {node.pk: node for node in nodes}
        quoted = Evidence.objects.filter(node__in=among(fresh)).only("pk", "node_id", "message_id", "quote")
        self.found.evidence |= {row.pk: row for row in quoted}
        self.found.fillings |= {edge.pk: edge for edge in Filling.objects.filter(parent__in=among(fresh))}
        for version in NodeVersion.objects.filter(node__in=among(fresh)):
            self.found.versions[version.node_id].append(version)

    def _read_messages(self, keys: Iterable[int]) -> None:
        fresh = [key for key in keys if key not in self.found.messages]
        if fresh:
            self.found.messages |= Message.objects.filter(persona=self.persona, pk__in=among(fresh)).in_bulk()

    def _follow_memories(self, going: Sequence[int]) -> None:
        """What was concluded from these, and what they replaced."""
        if not going:
            return
        parents = Filling.objects.filter(child__in=among(going)).values_list("parent_id", flat=True)
        earlier = ConceptNode.objects.filter(superseded_by__in=among(going)).values_list("pk", flat=True)
        self._read_nodes([*parents, *earlier])

    def _follow_messages(self, messages: Sequence[int]) -> None:
        """What rests on these, and what was replied to them."""
        if not messages:
            return
        resting = Evidence.objects.filter(message__in=among(messages)).values_list("node_id", flat=True)
        self._read_nodes(resting)
        said = (self.found.messages[pk] for pk in messages if pk in self.found.messages)
        turns = {message.turn_id for message in said if message.turn_id is not None}
        replies = Message.objects.filter(turn__in=among(turns), role=Message.Role.PERSONA)
        self._read_messages(replies.values_list("pk", flat=True))

    # --- echoes -----------------------------------------------------------------------------------------------------
    def _find_restatements(self, content_matches: Sequence[int]) -> None:
        """Find the messages that say again what these say."""
        if not content_matches:
            return
        said = self.found.statements_of(content_matches, self.names)
        touched = {self.found.nodes[pk].session_id for pk in content_matches}
        quoted = Evidence.objects.filter(node__in=among(content_matches)).values_list("message__session_id", flat=True)
        source_sessions = {pk for pk in (*touched, *quoted) if pk is not None}
        self.found.source_sessions |= source_sessions
        candidates = self._replies_in(source_sessions) | self._replies_that_recalled(content_matches)
        self.found.possible_restatements |= candidates
        for pk, content in self._contents(candidates):
            if any(one.is_repeated_by(content) for one in said):
                self.wanted.setdefault(pk, "echo")
        self._find_verbatim(said)

    def _replies_in(self, source_sessions: Iterable[int]) -> set[int]:
        said = Message.objects.filter(session__in=among(source_sessions), role=Message.Role.PERSONA)
        return set(said.values_list("pk", flat=True))

    def _replies_that_recalled(self, content_matches: Sequence[int]) -> set[int]:
        since = min(self.found.nodes[pk].created_at for pk in content_matches)
        uuids = [str(self.found.nodes[pk].uuid) for pk in content_matches]
        turns = turns_that_name(self.persona, uuids).filter(created_at__gte=since)
        told = among(turns.values_list("pk", flat=True))
        return set(Message.objects.filter(turn__in=told, role=Message.Role.PERSONA).values_list("pk", flat=True))

    def _find_restatements_of_chosen(self, messages: Sequence[int]) -> None:
        """Find what the persona said in the sessions of the chosen messages, and where it quotes one of the owner's
        that tells something. Who forgets a whole import means what came in by it, and nothing that was said beside."""
        chosen = [self.found.messages[pk] for pk in messages if pk in self.found.messages]
        source_sessions = {message.session_id for message in chosen}
        self.found.source_sessions |= source_sessions
        self.found.possible_restatements |= self._replies_in(source_sessions)
        if not self.choice.block_reimport:
            return
        uuids = set(self.persona.import_runs.filter(pk__in=among(self.found.runs)).values_list("uuid", flat=True))
        theirs = [
            message for message in chosen if message.role != Message.Role.PERSONA and message.import_uuid not in uuids
        ]
        said = [Statement([message.content], self.names) for message in theirs]
        self._find_verbatim([one for one in said if len(one.telling) > MIN_SHARED])

    def _find_verbatim(self, said: Sequence[Statement]) -> None:
        """Find replies of the persona that say it word for word. The owner's own messages of the same words were not
        chosen: they stay."""
        wanted = {text for one in said for text in one.literal}
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
