"""Threads (the owner's story lines): begun and continued by the slow cycle, changed by their owner.

Every action of an owner can be undone: a removed memory and a dissolved thread keep their rows. A removed memory is not
added again.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from django.db import transaction
from django.db.models import Prefetch
from django.utils.translation import gettext_lazy as _

from echovessel.language import tokenizer
from echovessel.language.courses import matters_in
from echovessel.language.person_names import SPACED_WORD, UNSPACED_RUN
from echovessel.outbox import events
from memory.curation.restatements import names_of, telling_words
from memory.models import ConceptNode, Thread, ThreadMember
from memory.models.thread import MAX_TITLE, ThreadQuerySet, day_of
from memory.store.writing import in_one_line
from persona.models import Persona
from persona.models.persona import clean_name

State, TitledBy = Thread.State, Thread.TitledBy
# Fewer memories make no thread.
MIN_MEMBERS = 2
MAX_LISTED = 100  # the threads that were begun last
MAX_PHRASE = 4  # words of a title
MAX_SHARED_TEXT = 8  # characters of a title in a script without spaces


class TitleRefused(ValueError):
    """A title that is empty or too long."""

    def __init__(self) -> None:
        super().__init__(_("Give the story line a short title: 80 characters at most."))


# --- titles -----------------------------------------------------------------------------------------------------------
def title_of(texts: Sequence[str], names: Collection[str]) -> str:
    """A title in the owner's own words: the phrase around the word that most of `texts` (oldest first) share. `names`
    are the words of the names of owner and persona. Pure.

    >>> title_of(["Ana saw a flat in Basel.", "The landlord of the Basel flat called."], {"ana"})
    'Basel flat'
    >>> title_of(["小雨开始写论文了。", "论文的第一章被退回来了。"], ())
    '论文'
    """
    counts = Counter(word for text in texts for word in telling_words(text, frozenset(names)))
    in_matter = {
        word
        for text in texts
        for forms in matters_in(text).values()
        for form in forms
        for word in tokenizer.tokenize(form)
        if not tokenizer.is_function_word(word)
    }
    weights = {
        word: count + 1.5 * (word in in_matter) for word, count in counts.items() if count > 1 or word in in_matter
    }
    phrases = [phrase for text in texts for phrase in _phrases(text, weights)]
    if not phrases:
        return in_one_line(texts[0])[:MAX_TITLE] if texts else ""
    _weight, title = max(phrases, key=lambda phrase: phrase[0])
    return (title[:1].upper() + title[1:])[:MAX_TITLE]


def _phrases(text: str, weights: Mapping[str, float]) -> Iterable[tuple[float, str]]:
    """The runs of words (in scripts without spaces, of characters) that begin and end with a weighed word, with the
    weight of their words. Every further word costs, so that the shorter of two runs wins."""
    words = list(SPACED_WORD.finditer(text))
    weighed = [max((weights.get(token, 0.0) for token in tokenizer.tokenize(word[0])), default=0.0) for word in words]
    for first, weight in enumerate(weighed):
        for last in range(first, min(first + MAX_PHRASE, len(words))) if weight else ():
            run = text[words[first].start() : words[last].end()]
            if weighed[last] and not re.search(r"[.,;:!?()\n]", run):
                idle = sum(not weight for weight in weighed[first : last + 1])
                yield sum(weighed[first : last + 1]) - 0.6 * (last - first) - 0.5 * idle, run
    for unspaced in UNSPACED_RUN.findall(text):
        for first in range(len(unspaced) - 1):
            for last in range(first + 2, min(first + MAX_SHARED_TEXT, len(unspaced)) + 1):
                run = unspaced[first:last]
                pairs = [weights.get(run[at : at + 2], 0.0) for at in range(len(run) - 1)]
                if all(pairs):
                    yield sum(pairs) - 1.6 * (len(pairs) - 1), run


def tidy_title(text: str) -> str:
    """The title as it is stored: one line without surrounding quotation marks or a full stop."""
    return clean_name(text).strip(" \"'“”「」《》.。")[:MAX_TITLE].strip()


# --- actions of the slow cycle ----------------------------------------------------------------------------------------
def begin(persona: Persona, title: str, nodes: Sequence[ConceptNode], state: str, now: datetime) -> Thread | None:
    """A new thread of the nodes that never were in one; None if these are fewer than two. Call inside a transaction."""
    free = _unplaced(nodes)
    if len(free) < MIN_MEMBERS:
        return None
    thread = Thread.objects.create(persona=persona, title=title, state=state, created_at=now)
    ThreadMember.objects.bulk_create([ThreadMember(thread=thread, node=node) for node in free])
    _publish(thread, "begun")
    return thread


def continue_thread(thread: Thread, nodes: Sequence[ConceptNode], state: str) -> list[ConceptNode]:
    """Add the nodes that never were in a thread, and set the state; returns the added nodes. Call inside a
    transaction."""
    added = _unplaced(nodes)
    if added:
        ThreadMember.objects.bulk_create([ThreadMember(thread=thread, node=node) for node in added])
        Thread.objects.filter(pk=thread.pk).update(state=state)
        _publish(thread, "continued")
    return added


def _unplaced(nodes: Sequence[ConceptNode]) -> list[ConceptNode]:
    """The nodes that are in no thread and were removed from none."""
    placed = set(ThreadMember.objects.filter(node__in=nodes).values_list("node_id", flat=True))
    return [node for node in nodes if node.pk not in placed]


# --- actions of the owner ---------------------------------------------------------------------------------------------
def rename(thread: Thread, title: str) -> None:
    """Give it the owner's title, which the slow cycle does not change. Raises TitleRefused."""
    text = clean_name(title)
    if not text or len(text) > MAX_TITLE:
        raise TitleRefused
    with transaction.atomic():
        Thread.objects.filter(pk=thread.pk).update(title=text, titled_by=TitledBy.PERSON)
        _publish(thread, "renamed")


def set_state(thread: Thread, state: str) -> bool:
    """Mark the thread as ended or open; False if it is so already."""
    with transaction.atomic():
        if not Thread.objects.filter(pk=thread.pk).exclude(state=state).update(state=state):
            return False
        _publish(thread, state)
    return True


def remove_member(thread: Thread, node: ConceptNode, now: datetime) -> bool:
    """Remove a memory from the thread; the memory itself stays. False if it is not in the thread."""
    with transaction.atomic():
        if not thread.members.current().filter(node=node).update(removed_at=now):
            return False
        _publish(thread, "removed")
    return True


def restore_member(thread: Thread, node: ConceptNode) -> bool:
    """Put a memory back; False if it is in another thread now, or was never removed."""
    with transaction.atomic():
        if node.memberships.filter(removed_at=None).exists():
            return False
        if not thread.members.filter(node=node).update(removed_at=None):
            return False
        _publish(thread, "restored")
    return True


def dissolve(thread: Thread, now: datetime) -> bool:
    """Dissolve the thread; its memories stay. False if it is dissolved already."""
    with transaction.atomic():
        if not Thread.objects.standing().filter(pk=thread.pk).update(dissolved_at=now):
            return False
        thread.members.current().update(removed_at=now)
        _publish(thread, "dissolved")
    return True


def restore(thread: Thread) -> bool:
    """Restore the thread without memories that are in another one now; False if it is not dissolved."""
    with transaction.atomic():
        dissolved = Thread.objects.filter(pk=thread.pk).exclude(dissolved_at=None).first()
        if dissolved is None:
            return False
        taken_nodes = ThreadMember.objects.current().values("node_id")
        thread.members.filter(removed_at=dissolved.dissolved_at).exclude(node__in=taken_nodes).update(removed_at=None)
        Thread.objects.filter(pk=thread.pk).update(dissolved_at=None)
        _publish(thread, "restored")
    return True


# Actions on a thread and on its members, by their name in the URLs of page and API.
THREAD_ACTIONS: Mapping[str, Callable[[Thread, datetime], bool]] = {
    "end": lambda thread, now: set_state(thread, State.ENDED),
    "reopen": lambda thread, now: set_state(thread, State.OPEN),
    "dissolve": dissolve,
    "restore": lambda thread, now: restore(thread),
}
MEMBER_ACTIONS: Mapping[str, Callable[[Thread, ConceptNode, datetime], bool]] = {
    "take_out": remove_member,
    "put_back": lambda thread, node, now: restore_member(thread, node),
}


# --- reading ----------------------------------------------------------------------------------------------------------
def with_members(threads: ThreadQuerySet) -> ThreadQuerySet:
    """The threads, each with its current members (`current`)."""
    current = ThreadMember.objects.current().select_related("node")
    return threads.prefetch_related(Prefetch("members", current, to_attr="current"))


def newest_first(persona: Persona, limit: int = MAX_LISTED) -> list[Thread]:
    """The persona's standing threads, those with the newest memories first."""

    def newest(thread: Thread) -> tuple[date, int]:
        nodes = members_of(thread)
        return (day_of(nodes[0], persona.zone) if nodes else date.min), thread.pk

    return sorted(with_members(persona.threads.standing())[:limit], key=newest, reverse=True)


def members_of(thread: Thread) -> list[ConceptNode]:
    """The active and hidden memories of a thread of `with_members`, newest first."""
    statuses = (ConceptNode.Status.ACTIVE, ConceptNode.Status.HIDDEN)
    nodes = [member.node for member in thread.current if member.node.status in statuses]  # type: ignore[attr-defined]
    zone = thread.persona.zone
    return sorted(nodes, key=lambda node: (day_of(node, zone), node.pk), reverse=True)


def retitle(persona: Persona, texts: Sequence[str]) -> str:
    """The title by rule for a thread of these memories."""
    return title_of(texts, names_of(persona))


def _publish(thread: Thread, change: str) -> None:
    events.publish(thread.persona.uuid, "memory.thread.updated", thread_id=str(thread.uuid), change=change)
