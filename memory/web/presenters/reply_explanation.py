"""Why this reply: everything its prompt could draw on, in plain words; what the reply used comes first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.models import Message, Turn
from memory.curation.restatements import Statement, names_of
from memory.models import ConceptNode, Evidence
from memory.models.node import L3
from memory.web.presenters.days import format_day, format_day_of
from memory.web.presenters.recall_reasons import ARMS, describe_left_out
from persona.models import Persona

MAX_QUOTES = 3
MAX_FROM_WINDOW = 5
# Reasons why there is nothing to show, in the persona's words.
EMPTY_REASONS = {
    "gone": gettext_lazy("What I remembered then has been forgotten or hidden since."),
    "nothing_stored": gettext_lazy("I had no memories yet, so I answered from this conversation alone."),
    "everything_filtered": gettext_lazy(
        "I searched my memory, but nothing was close enough to what you said. I answered from this conversation alone."
    ),
    "nothing_asked": gettext_lazy(
        "Your message had no words to search for, so I answered from this conversation alone."
    ),
    "": gettext_lazy("There is no record of what I remembered here."),
}
# The prompt sections that list memories whatever the message is, in the order in which they are shown.
LISTED_SECTIONS = ("always_known", "about_them", "about_yourself", "promises", "expectations")


@dataclass(frozen=True)
class Quote:
    """A quote from a message that a memory came from."""

    speaker: str
    quote: str
    at: str


@dataclass(frozen=True)
class Source:
    """One thing that the reply could draw on. `score` and `parts` are those of its recall, if it was recalled."""

    layer: str
    kind_label: str
    text: str
    when: str = ""
    speaker: str = ""
    is_unsure: bool = False
    is_always_known: bool = False
    score: float | None = None
    parts: Sequence[tuple[str, float]] = ()
    words: Sequence[Quote] = field(default_factory=tuple)


def explain_reply(turn: Turn) -> dict[str, Any]:
    """The page's context. `used`: sources that the reply repeats (from recall, the lists in every prompt, the profile
    and this conversation); `others`: further sources that were recalled or are always known; `wishes`: the lessons that
    applied. Sources that were forgotten or hidden since are left out; those of recall are counted."""
    recollections: dict[str, Any] = turn.xray.get("recollections") or {}
    chosen_items = recollections.get("chosen", [])
    persona = turn.persona
    recalled = list(_recalled_sources(persona, chosen_items))
    reply = "\n".join(turn.messages.filter(role=Message.Role.PERSONA, withheld=False).values_list("content", flat=True))
    names = names_of(persona)

    def is_used(source: Source) -> bool:
        return bool(reply) and Statement([source.text, *(word.quote for word in source.words)], names).is_repeated_by(
            reply
        )

    shown_texts = {source.text for source in recalled}
    listed_sources = [source for source in _listed_sources(turn) if source.text not in shown_texts]
    # Every prompt contains the lines of the core blocks.
    blocks = (block.content.splitlines() for block in persona.core_blocks.all())
    profile = [
        Source("L1", _("From the profile"), block_line.strip())
        for block_lines in blocks
        for block_line in block_lines
        if block_line.strip()
    ]
    from_profile = [source for source in (*profile, *_window_sources(turn)) if is_used(source)]
    used = [source for source in (*recalled, *listed_sources) if is_used(source)] + from_profile
    always = [source for source in listed_sources if source.is_always_known]
    other_sources = [source for source in (*recalled, *always) if source not in used]
    wishes = [node.description for node in _nodes(persona, turn.xray.get("lessons", {}).get("lessons", []))]
    # Expectations that the message may have been about and that still exist: text, day and cosine.
    matched = turn.xray.get("expectations", {}).get("matched", [])
    cosines = {str(UUID(entry["id"])): entry["cosine"] for entry in matched}
    why_empty = "gone" if chosen_items else recollections.get("empty_reason", "")
    return {
        "items": [*used, *other_sources],
        "used": used,
        "others": other_sources,
        "wishes": wishes,
        "expected": [
            (
                node.description,
                format_day(persona, day) if (day := node.event_time_end) else "",
                cosines[str(node.uuid)],
            )
            for node in _nodes(persona, matched)
        ],
        "gone": len(chosen_items) - len(recalled),
        "empty": "" if used or other_sources or wishes else EMPTY_REASONS.get(why_empty, EMPTY_REASONS[""]),
        "arms": [arm | {"label": ARMS.get(arm["name"], arm["name"])} for arm in recollections.get("arms", [])],
        "left_aside": describe_left_out(recollections),
        "tokens": recollections.get("tokens", 0),
        "budget": recollections.get("budget", 0),
    }


def _recalled_sources(persona: Persona, chosen_items: Sequence[Mapping[str, Any]]) -> Iterable[Source]:
    """The memories and messages that recall chose, with the parts of their scores."""
    uuids = [UUID(item["id"]) for item in chosen_items]
    nodes = {node.uuid: node for node in _nodes(persona, chosen_items)}
    messages = {
        message.uuid: message for message in Message.objects.filter(persona=persona, uuid__in=uuids, withheld=False)
    }
    quotes = _quotes(persona, nodes.values())
    labels = {
        "recency": _("how recent it is"),
        "relevance": _("how close it is to what you said"),
        "impact": _("how much it matters"),
        "relational": _("how much it says about us"),
        "anchor": _("it is about somebody you mentioned"),
        "penalty": _("how uncertain it is"),
    }
    for item in chosen_items:
        uuid = UUID(item["id"])
        parts = [(labels.get(name, name), value) for name, value in item["parts"].items() if value]
        if node := nodes.get(uuid):
            label = _("A memory") if node.kind in L3 else _("A thought of mine")
            source = _of_node(persona, node, label, quotes.get(node.pk, []))
        elif message := messages.get(uuid):
            source = _of_message(persona, message, _("From a conversation"))
        else:
            continue
        yield replace(source, layer=item["layer"], score=item["score"], parts=parts)


def _listed_sources(turn: Turn) -> Iterable[Source]:
    """The memories that every prompt lists, whatever the message is."""
    labels = {
        "always_known": _("Always known"),
        "about_them": _("A thought of mine"),
        "about_yourself": _("A thought of mine"),
        "promises": _("A promise of mine"),
        "expectations": _("Expectation"),
    }
    for section in LISTED_SECTIONS:
        entries = turn.xray.get(section, {}).get("nodes", [])
        nodes = _nodes(turn.persona, [entry if isinstance(entry, dict) else {"id": entry} for entry in entries])
        quotes = _quotes(turn.persona, nodes)
        for node in nodes:
            source = _of_node(turn.persona, node, labels[section], quotes.get(node.pk, []))
            yield replace(source, is_always_known=section == "always_known")


def _window_sources(turn: Turn) -> list[Source]:
    """The owner's newest earlier messages of this conversation that were in the prompt."""
    uuids = turn.xray.get("recent_conversation", {}).get("messages", [])
    earlier = Message.objects.filter(persona=turn.persona, uuid__in=uuids, role=Message.Role.USER, withheld=False)
    newest = earlier.exclude(turn=turn).order_by("-created_at", "-id")[:MAX_FROM_WINDOW]
    return [_of_message(turn.persona, message, _("From this conversation")) for message in newest]


def _nodes(persona: Persona, entries: Sequence[Mapping[str, Any]]) -> list[ConceptNode]:
    """The nodes that the entries name by `id`, in their order; those that may no longer be recalled are left out."""
    order = {UUID(entry["id"]): place for place, entry in enumerate(entries)}
    nodes = ConceptNode.objects.of(persona).filter(uuid__in=order, status=ConceptNode.Status.ACTIVE)
    return sorted(nodes, key=lambda node: order[node.uuid])


def _of_node(persona: Persona, node: ConceptNode, label: str, quotes: Sequence[Quote]) -> Source:
    layer = "L3" if node.kind in L3 else "L4"
    words = quotes[:MAX_QUOTES]
    return Source(layer, label, node.description, format_day_of(persona, node), is_unsure=node.is_unsure, words=words)


def _of_message(persona: Persona, message: Message, label: str) -> Source:
    day = message.created_at.astimezone(persona.zone).date()
    return Source("L2", label, message.content, format_day(persona, day), message.role)


def _quotes(persona: Persona, nodes: Iterable[ConceptNode]) -> dict[int, list[Quote]]:
    quotes: dict[int, list[Quote]] = {}
    rows = Evidence.objects.filter(node__in=list(nodes), message__withheld=False).select_related("message")
    for row in rows.order_by("message__created_at", "start"):
        day = row.message.created_at.astimezone(persona.zone).date()
        quotes.setdefault(row.node_id, []).append(Quote(row.message.role, row.quote, format_day(persona, day)))
    return quotes
