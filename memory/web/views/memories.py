"""The list of memories: all of them, or the results of a search. Search words come by POST only, so that no URL,
history or log contains them."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from chat.models import Message
from echovessel.db.public_id import parse_uuid
from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.curation.actions import NODE_ACTIONS
from memory.models import ConceptNode, Entity, Mention
from memory.models.node import RELATIONAL_TAGS
from memory.store.writing import mark_forgotten_before
from memory.web import search
from memory.web.forms import FEELING_LABELS, TAG_LABELS
from memory.web.presenters.days import format_day_of
from memory.web.search import Filters
from memory.web.views.base import page, persona_page
from persona.models import Persona

PAGE = 30
MAX_PEOPLE = 300
HOW = ("", "words", "meaning", "said")  # everywhere, or in one place only
MAX_ALIKE, MAX_MESSAGES_SHOWN = 8, 5  # next to the matches by words
MAX_SELECTED = 100
# Labels for owners, not the names of the tables.
KINDS = [
    ("event", _("what happened")),
    ("fact", _("facts")),
    ("intention", _("promises")),
    ("expectation", _("expectations")),
    ("thought", _("thoughts")),
    ("lesson", _("wishes")),
]
STATES = [
    ("active", _("remembered")),
    ("hidden", _("hidden")),
    ("superseded", _("outdated")),
    ("archived", _("archived")),
    ("quarantined", _("quarantined")),
]
TRUST = [("unverified", _("not checked")), ("confirmed", _("confirmed")), ("disputed", _("not sure"))]
OUTCOMES = [
    ("open", _("still open")),
    ("fulfilled", _("came true")),
    ("violated", _("did not come true")),
    ("expired", _("expired")),
]
WEIGHTS = [
    ("heavy", _("matters a lot")),
    ("glad", _("glad")),
    ("sad", _("sad or hard")),
    ("light", _("matters little")),
]
NOT_BY_MEANING = _("Search by meaning is not available right now. Search by words is.")
ANY = ("", _("any"))
ACTION_MESSAGES = {
    "hide": _("%(n)s hidden: kept, but no longer recalled."),
    "show": _("%(n)s can be recalled again."),
    "pin": _("%(n)s pinned: part of every conversation."),
    "unpin": _("%(n)s no longer pinned."),
}


class SearchForm(forms.Form):
    """Words and filters of a search. All are optional."""

    text = forms.CharField(required=False, max_length=200, strip=True)
    how = forms.ChoiceField(required=False, choices=[(how, how) for how in HOW])
    kind = forms.ChoiceField(required=False, choices=[ANY, *KINDS], label=_("Kind"))
    tag = forms.ChoiceField(required=False, choices=[ANY, *((tag, TAG_LABELS[tag]) for tag in RELATIONAL_TAGS)])
    entity = forms.ChoiceField(required=False, choices=[ANY], label=_("About"))
    status = forms.ChoiceField(required=False, choices=[ANY, *STATES], label=_("State"))
    verification = forms.ChoiceField(required=False, choices=[ANY, *TRUST])
    outcome = forms.ChoiceField(required=False, choices=[ANY, *OUTCOMES], label=_("Outcome"))
    feeling = forms.ChoiceField(required=False, choices=[ANY, *FEELING_LABELS.items()], label=_("Feeling"))
    weight = forms.ChoiceField(required=False, choices=[ANY, *WEIGHTS], label=_("Impact"))
    pinned = forms.BooleanField(required=False, label=_("pinned only"))
    since = forms.DateField(required=False, label=_("From"))
    until = forms.DateField(required=False, label=_("To"))

    def __init__(self, persona: Persona, data: Any) -> None:
        super().__init__(data, auto_id="sought_%s")
        people = persona.entities.exclude(status=Entity.Status.MERGED)[:MAX_PEOPLE]
        self.people = {str(entity.uuid): entity for entity in people}
        names = [(uuid, entity.canonical_name) for uuid, entity in self.people.items()]
        self.fields["entity"].choices = [ANY, *names]  # type: ignore[attr-defined]

    @property
    def filters(self) -> Filters:
        """The filters of the search; invalid values filter nothing."""
        cleaned = self.cleaned_data
        entity = self.people.get(cleaned.get("entity", ""))
        names = ("kind", "tag", "feeling", "status", "verification", "outcome", "weight")
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and until < since:
            since, until = until, since
        return Filters(
            entity=entity.pk if entity else None,
            pinned=bool(cleaned.get("pinned")),
            since=since,
            until=until,
            **{name: cleaned.get(name, "") for name in names},
        )

    @property
    def narrows(self) -> bool:
        """Whether any filter besides the words is set."""
        return self.filters != Filters()


@persona_page
@require_http_methods(["GET", "HEAD", "POST"])
def memories(request: HttpRequest, persona: Persona) -> HttpResponse:
    """All memories, newest first; or the results of a search."""
    params = request.POST if request.method == "POST" else request.GET
    form = SearchForm(persona, params)
    form.is_valid()
    text = form.cleaned_data.get("text", "") if request.method == "POST" else ""
    how = form.cleaned_data.get("how") or ""
    before = params.get("before", "")
    context: dict[str, Any] = {
        "sought": form,
        "text": text,
        "how": how,
        "before": before,
        "anything": bool(text or form.narrows),
    }
    if how == "said" and text:
        messages = Message.objects.filter(persona=persona)
        last = get_object_or_404(messages, uuid=parse_uuid(before)) if before else None
        matching_messages = search.search_messages(persona, text, last, PAGE)
        context |= {
            "lines": matching_messages.rows,
            "next": matching_messages.rows[-1].uuid if matching_messages.has_more else "",
        }
    elif how == "meaning" and text:
        try:
            nearest = with_names(persona, search.search_by_meaning(persona, text, form.filters, PAGE))
            context |= {"nodes": nearest, "next": ""}
        except EmbeddingUnavailable:
            context |= {"nodes": [], "next": "", "trouble": NOT_BY_MEANING}
    else:
        nodes = ConceptNode.objects.of(persona)
        last_node = get_object_or_404(nodes, uuid=parse_uuid(before)) if before else None
        results = search.search_by_words(persona, text, form.filters, last_node, PAGE)
        context |= {
            "nodes": with_names(persona, results.rows),
            "next": results.rows[-1].uuid if results.has_more else "",
        }
        if text and not how and not before:
            context |= _other_matches(persona, text, form.filters, results.rows)
    return page(request, persona, "memory/memories.html", context)


def _other_matches(persona: Persona, text: str, filters: Filters, by_words: Iterable[ConceptNode]) -> dict[str, Any]:
    """Further results of one search box besides memories with these words: memories near in meaning, and messages."""
    matching_messages = search.search_messages(persona, text, limit=MAX_MESSAGES_SHOWN)
    keys_by_words = {node.pk for node in by_words}
    alike = search.search_by_domain(persona, text, filters, MAX_ALIKE + len(keys_by_words))
    trouble = {}
    try:
        alike += search.search_by_meaning(persona, text, filters, MAX_ALIKE + len(keys_by_words))
    except EmbeddingUnavailable:
        trouble = {"trouble": NOT_BY_MEANING}
    alike = [node for node in dict.fromkeys(alike) if node.pk not in keys_by_words][:MAX_ALIKE]
    return {
        "alike": with_names(persona, alike),
        "said": matching_messages.rows,
        "more_said": matching_messages.has_more,
    } | trouble


@persona_page
@require_POST
def act_on_memories(request: HttpRequest, persona: Persona) -> HttpResponse:
    """Hide, show, pin or unpin the chosen memories; or redirect to the preview of forgetting them all."""
    selected_uuids = [
        uuid for reference in request.POST.getlist("node")[:MAX_SELECTED] if (uuid := parse_uuid(reference))
    ]
    nodes = list(ConceptNode.objects.of(persona).filter(uuid__in=selected_uuids))
    action = request.POST.get("node_action", "")
    if nodes and action == "forget":
        references = urlencode([("node", str(node.uuid)) for node in nodes])
        return redirect(f"{reverse('forget', args=[persona.uuid])}?{references}")
    if action not in ACTION_MESSAGES:
        raise Http404
    if nodes:
        changed = sum(NODE_ACTIONS[action](node) for node in nodes)  # type: ignore[index]
        messages.success(request, ACTION_MESSAGES[action] % {"n": changed})
    else:
        messages.error(request, _("Choose memories first."))
    return redirect("memory", persona.uuid, preserve_request="text" in request.POST)


def with_names(persona: Persona, nodes: Iterable[ConceptNode]) -> list[ConceptNode]:
    """The memories with `named`, the entities they mention, loaded together; `when` and `forgotten_before`."""
    marked = mark_forgotten_before(nodes)
    mentions = Mention.objects.filter(node__in=marked).exclude(entity__status=Entity.Status.MERGED)
    names: dict[int, list[Entity]] = {}
    for mention in mentions.select_related("entity"):
        names.setdefault(mention.node_id, []).append(mention.entity)
    for node in marked:
        node.named = names.get(node.pk, [])  # type: ignore[attr-defined]
        node.when = format_day_of(persona, node)  # type: ignore[attr-defined]
    return marked
