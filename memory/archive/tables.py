"""The archive fields of the persona, sessions, turns, messages, memories and entities.

What a `gather` function adds to rows is named in the field's column: `node.quotes`, `message.flag`, `entity.texts`.
"""

import base64
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from django.db.models.functions import StrIndex

from chat.models import CrisisFlag, Message, Session, Turn
from memory.archive.parts import (
    AS_IS,
    FILE,
    ID,
    OBJECT,
    OWNER,
    TEXT,
    THROUGH,
    TIME,
    Codec,
    Field,
    Names,
    Table,
    each,
    from_row,
    link,
    optional,
    write_only,
)
from memory.archive.schema import (
    BlockVersionRecord,
    EntityRecord,
    FlagRecord,
    MessageRecord,
    NodeRecord,
    PersonaRecord,
    SessionRecord,
    TurnRecord,
)
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeVector, Photo
from memory.store.writing import emotion_tags
from persona.models import CoreBlockVersion, Persona, Picture
from persona.models.picture import StoredPicture

# The first and the last day as one object; without an end, the first day is the last.
EVENT_TIME = Field(
    "event_time",
    each(
        lambda days: {"start": days[0].isoformat(), "end": (days[1] or days[0]).isoformat()} if days[0] else None,
        lambda time: (time.start, time.end or time.start) if time else (None, None),
    ),
    ("event_time_start", "event_time_end"),
)
WRITE_ONLY = write_only(AS_IS)


def encode_picture(picture: StoredPicture | None) -> str | None:
    return base64.b64encode(picture.content).decode() if picture else None


PERSONA = Table(
    PersonaRecord,
    Persona,
    (
        Field("id", ID),
        Field("name"),
        Field("user_name"),
        Field("timezone"),
        Field("language"),
        Field(
            "blocks",
            from_row(lambda persona: dict(persona.core_blocks.order_by("label").values_list("label", "content"))),
        ),
        Field("uuid", each(str)),
        Field("created_at", TIME),
        optional("facts", OBJECT),
        optional("mood", OBJECT, "episodic_state"),
        optional("care_until", TIME),
        optional("colour"),
        # A greeting written by a model is not saved: it is generated again.
        optional("greeting", from_row(lambda persona: "" if persona.greeting_by_model else persona.greeting)),
        optional("picture", from_row(lambda persona: encode_picture(Picture.objects.filter(persona=persona).first()))),
    ),
)

# Rows are the versions of a block, and the block itself as the last one.
BLOCK_VERSION = Table(
    BlockVersionRecord,
    CoreBlockVersion,
    (
        Field("label", from_row(lambda state: getattr(state, "block", state).label)),
        Field("version"),
        Field("content"),
        Field("edited_at", TIME),
        optional("by", OWNER, "edited_by_id"),
    ),
)

SESSION = Table(
    SessionRecord,
    Session,
    (
        Field("id", ID, "external_id"),
        Field("channel"),
        # The lease of a session being consolidated belongs to this installation; in another one the session waits
        # again.
        Field(
            "status",
            each(lambda status: Session.Status.CLOSING if status == Session.Status.CONSOLIDATING else status, str),
        ),
        Field("started_at", TIME),
        Field("last_message_at", TIME),
        Field("closed_at", TIME),
        optional("close_reason"),
        optional("summary", TEXT),
        optional("failure", TEXT),
        optional("trivial"),
        optional("off_the_record"),
        optional("file", FILE, "import_uuid"),
    ),
)


def is_unfinished(turn: Turn) -> bool:
    return turn.status in (Turn.Status.COLLECTING, Turn.Status.RUNNING)


# A turn that is being answered is saved as interrupted.
TURN = Table(
    TurnRecord,
    Turn,
    (
        Field("id", ID, "external_id"),
        Field("session", link(Session), "session_id"),
        Field("created_at", TIME),
        optional("status", from_row(lambda turn: Turn.Status.FAILED if is_unfinished(turn) else turn.status, str)),
        optional("error", from_row(lambda turn: "interrupted" if is_unfinished(turn) else turn.error, str)),
        optional("spoke_first"),
        optional("is_cut"),
        optional("partial"),
        optional("started_at", TIME),
        optional("first_token_at", TIME),
        optional("finished_at", TIME),
        optional("usage", OBJECT),
    ),
)

FLAG = Table(
    FlagRecord,
    CrisisFlag,
    (
        Field("raised_at", TIME),
        optional("by", OWNER, "raised_by_id"),
        optional("by_detector"),
        optional("by_model"),
        optional("seen_at", TIME),
        optional("seen_by", OWNER, "seen_by_id"),
    ),
)


def gather_flags(names: Names, messages: list[Any]) -> None:
    flags = list(CrisisFlag.objects.filter(message__in=[message.pk for message in messages]))
    flag_rows = dict(zip([flag.message_id for flag in flags], FLAG.write(names, flags), strict=True))
    for message in messages:
        message.flag = flag_rows.get(message.pk)


def unusual_day(names: Names, messages: list[Any]) -> Callable[[Message], str | None]:
    """The day of a message, if it differs from the day of its time in the persona's zone."""
    zone = names.persona.zone
    return lambda message: (
        None if message.day == message.created_at.astimezone(zone).date() else message.day.isoformat()
    )


MESSAGE = Table(
    MessageRecord,
    Message,
    (
        Field("id", ID, "external_id"),
        Field("session", link(Session), "session_id"),
        Field("role"),
        Field("content"),
        Field("created_at", TIME),
        optional("withheld"),
        optional("speaker"),
        optional("file", FILE, "import_uuid"),
        optional("turn", write_only(link(Turn)), "turn_id"),
        optional("day", Codec(unusual_day, of_row=True)),
        optional("flagged", WRITE_ONLY, "flag"),
    ),
    gather_flags,
)


def gather_sources(names: Names, nodes: list[Any]) -> None:
    """Add to nodes: their quotes, with a start if it is not the quote's first occurrence in the message; the nodes they
    were concluded from; how many of these were forgotten; and their vector."""
    keys = [node.pk for node in nodes]
    rows = Evidence.objects.filter(node__in=keys).annotate(first=StrIndex("message__content", "quote") - 1)
    evidence = list(rows.order_by("message__created_at", "message_id", "start", "end"))
    messages = names.of(Message, {row.message_id for row in evidence})
    quotes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in evidence:
        if row.message_id in messages:
            place = {"start": row.start} if row.start != row.first else {}
            quotes[row.node_id].append({"message": messages[row.message_id], "quote": row.quote, **place})
    edges = list(
        Filling.objects.filter(parent__in=keys).order_by("pk").values_list("parent_id", "child_id", "orphaned")
    )
    children = names.of(ConceptNode, {child for _, child, orphaned in edges if not orphaned})
    filling: dict[int, list[str]] = defaultdict(list)
    for parent, child, orphaned in edges:
        if not orphaned and child in children:
            filling[parent].append(children[child])
    orphans = Counter(parent for parent, _, orphaned in edges if orphaned)
    embedded = NodeVector.objects.filter(node__in=keys, model=names.embedding_model).values_list("node_id", "embedding")
    embeddings = {node: base64.b64encode(vector).decode() for node, vector in embedded}
    for node in nodes:
        node.quotes, node.fillings, node.orphans = quotes[node.pk], filling[node.pk], orphans[node.pk]
        node.vector_text = embeddings.get(node.pk)


NODE = Table(
    NodeRecord,
    ConceptNode,
    (
        Field("id", ID, "external_id"),
        Field("kind"),
        Field("subject"),
        Field("description"),
        Field("emotional_impact"),
        Field("emotion_tags", each(lambda tags: tags, emotion_tags)),
        Field("relational_tags"),
        EVENT_TIME,
        Field("created_at", TIME),
        Field("last_mentioned_at", TIME),
        Field("status"),
        Field("source"),
        optional("confidence"),
        optional("verification"),
        optional("mention_count"),
        optional("access_count"),
        optional("last_accessed_at", TIME),
        optional("outcome"),
        optional("resolved_at", TIME),
        optional("pinned"),
        optional("archived_because"),
        optional("domain"),
        optional("since"),
        optional("until"),
        optional("plan_state"),
        optional("scope"),
        optional("condition"),
        optional("boundary", AS_IS, "is_boundary"),
        Field("messages", each(lambda quotes: list(dict.fromkeys(quote["message"] for quote in quotes))), "quotes"),
        optional("evidence", each(lambda quotes: quotes or None), "quotes"),
        optional("filling", each(lambda ids: ids or None), "fillings"),
        optional("orphaned", WRITE_ONLY, "orphans"),
        optional("session", link(Session), "session_id"),
        optional("file", FILE, "import_uuid"),
        optional("superseded_by", write_only(link(ConceptNode)), "superseded_by_id"),
        optional("resolved_by", write_only(link(ConceptNode)), "resolved_by_id"),
        optional("embedding", WRITE_ONLY, "vector_text"),
    ),
    gather_sources,
)


def gather_mentions(names: Names, entities: list[Any]) -> None:
    """Add to entities their other names, the nodes that mention them, and their photos. For a merged entity all aliases
    count as other names."""
    keys = [entity.pk for entity in entities]
    aliases = defaultdict(list)
    for alias in Alias.objects.filter(entity__in=keys).order_by("pk"):
        aliases[alias.entity_id].append(alias.text)
    mentions = Mention.objects.filter(entity__in=keys).order_by("node__created_at", "node_id")
    mentioned = list(mentions.values_list("entity_id", "node_id"))
    nodes = names.of(ConceptNode, {node for _, node in mentioned})
    mentioned_in: dict[int, list[str]] = defaultdict(list)
    for entity, node in mentioned:
        mentioned_in[entity].extend([nodes[node]] if node in nodes else [])
    photos = {photo.entity_id: photo for photo in Photo.objects.filter(entity__in=keys)}
    for row in entities:
        row.photo_text = encode_picture(photos.get(row.pk))
        own = None if row.status == Entity.Status.MERGED else row.canonical_name
        row.texts = [text for text in aliases[row.pk] if text != own]
        row.mentioned_in = mentioned_in[row.pk]


ENTITY = Table(
    EntityRecord,
    Entity,
    (
        Field("id", ID, "external_id"),
        Field("name", AS_IS, "canonical_name"),
        Field("kind"),
        Field("aliases", WRITE_ONLY, "texts"),
        Field("nodes", WRITE_ONLY, "mentioned_in"),
        Field("created_at", TIME),
        optional("relation"),
        optional("description", TEXT),
        optional("described_by"),
        optional("described_through", THROUGH),
        optional("picture", WRITE_ONLY, "photo_text"),
        optional("status"),
        optional("file", FILE, "import_uuid"),
        optional("merged_into", write_only(link(Entity)), "merged_into_id"),
    ),
    gather_mentions,
)
