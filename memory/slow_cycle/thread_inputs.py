"""The threads that new events may continue, and the earlier memories without a thread that may begin one with them.

Memories that the owner removed from a thread, and those of dissolved threads, are not offered.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Q

from echovessel.language.courses import others_in
from echovessel.language.kinship import relatives_in
from echovessel.llm.prompts import Neutral, one_line
from memory import knobs
from memory.curation.restatements import names_of
from memory.curation.threads import members_of, newest_first
from memory.models import ConceptNode, Entity, Mention, Thread
from memory.models.thread import day_of
from memory.slow_cycle import thread_rules
from memory.slow_cycle.thread_rules import LAST_MEMBERS, MemoryFeatures, Proposal
from memory.store import vectors
from persona.models import Persona

MAX_EARLIER_READ = 200


@dataclass(frozen=True)
class Matters:
    """The threads, those with the newest memories first; the earlier memories, the nearest first; and the features of
    each memory, by key. `members` are the last ones of each thread, oldest first."""

    threads: Sequence[Thread]
    earlier: Sequence[ConceptNode]
    members: Mapping[int, Sequence[int]]
    tellings: Mapping[int, MemoryFeatures]

    def propose(self, events: Sequence[int], earlier: Sequence[int], threads: Sequence[int]) -> Sequence[Proposal]:
        """The threads that the rules propose to begin or continue with these."""
        tellings_by_thread = {key: [self.tellings[member] for member in self.members[key]] for key in threads}
        return thread_rules.propose(
            [self.tellings[key] for key in events], [self.tellings[key] for key in earlier], tellings_by_thread
        )


def read_matters(persona: Persona, events: Sequence[ConceptNode], now: datetime) -> Matters:
    """The threads and earlier memories that `events` may belong to."""
    members = {thread: members_of(thread) for thread in newest_first(persona)}
    current = {thread: nodes[:LAST_MEMBERS][::-1] for thread, nodes in members.items() if nodes}
    threads = list(current)[: knobs.thread_lines()]
    lasting = Q(kind=ConceptNode.Kind.EVENT) | ~Q(plan_state="")
    since = min((event.created_at for event in events), default=now) - timedelta(days=2 * knobs.thread_gap_days())
    loose = ConceptNode.objects.filter(lasting, persona=persona, created_at__gte=since, memberships=None).recallable()
    loose = loose.exclude(pk__in=[event.pk for event in events])
    unthreaded = list(loose.newest_first()[:MAX_EARLIER_READ])
    last = [node for thread in threads for node in current[thread]]
    tellings = _read_features(persona, [*events, *unthreaded, *last])
    fresh = [tellings[event.pk] for event in events]
    nearness = {node.pk: thread_rules.nearness(tellings[node.pk], fresh) for node in unthreaded}
    near = sorted((node for node in unthreaded if nearness[node.pk] > 0), key=lambda node: -nearness[node.pk])
    return Matters(
        threads,
        near[: knobs.thread_earlier()],
        {thread.pk: [node.pk for node in current[thread]] for thread in threads},
        tellings,
    )


def format_thread(thread: Thread) -> Neutral:
    """A thread of `read_matters` as "[t3] (open) The flat in Basel: We saw it on Monday."."""
    newest = members_of(thread)[0]
    return Neutral(f"[t{thread.pk}] ({thread.state}) {one_line(thread.title)}: {one_line(newest.description)}")


def _read_features(persona: Persona, nodes: Sequence[ConceptNode]) -> dict[int, MemoryFeatures]:
    keys = [node.pk for node in nodes]
    vector_by_key = vectors.of(keys)
    none = np.full(next((len(vector) for vector in vector_by_key.values()), 1), np.nan)
    people: dict[int, set[int | str]] = defaultdict(set)
    mentions = Mention.objects.filter(node__in=keys, entity__kind__in=(Entity.Kind.PERSON, Entity.Kind.PET))
    for node, entity in mentions.values_list("node_id", "entity_id"):
        people[node].add(entity)
    names = names_of(persona)
    talking = {persona.user_display_name.casefold(), persona.name.casefold()}
    for memory in nodes:
        # "Mum's" and "mother" are one relative; other people are identified by their names.
        other_people = (name for name in others_in(memory.description) if not relatives_in(name))
        people[memory.pk] |= {
            *relatives_in(memory.description, owner=persona.user_display_name),
            *other_people,
        } - talking
    return {
        node.pk: thread_rules.features_of(
            node,
            day_of(node, persona.zone),
            node.created_at.astimezone(persona.zone).date(),
            people[node.pk],
            names,
            vector_by_key.get(node.pk, none),
        )
        for node in nodes
    }
