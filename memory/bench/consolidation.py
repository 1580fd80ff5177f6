"""How fast sessions are consolidated, and whether the speed stays constant while memory grows."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import mean

from django.contrib.auth import get_user_model
from django.db import transaction
from django.test.utils import override_settings

from chat.messages import add_message
from chat.models import Message, Session
from echovessel.embeddings import embedding
from memory.bench.synthetic_sessions import generate_sessions
from memory.consolidation import runner
from memory.models import ConceptNode, Entity
from persona.onboarding.creation import create_persona

FIRST_DAY = datetime(2024, 1, 1, 8, tzinfo=UTC)
SESSION_GAP = timedelta(hours=11)
MESSAGE_GAP = timedelta(seconds=40)
IDLE_TIME = timedelta(minutes=31)
GROUP = 100


@dataclass(frozen=True)
class ConsolidationTime:
    """Seconds of one consolidation: wall-clock time, and processor time of this process."""

    wall: float
    cpu: float


@dataclass(frozen=True)
class Figures:
    """Results of a run: the seconds of every session in order, and the size of memory at the end."""

    times: Sequence[ConsolidationTime]
    nodes: int
    entities: int

    @property
    def sessions_per_minute(self) -> float:
        return 60 * len(self.times) / sum(seconds.wall for seconds in self.times)

    def groups(self) -> list[ConsolidationTime]:
        """The mean of every hundred sessions; with fewer than two hundred, of every tenth part."""
        size = GROUP if len(self.times) >= 2 * GROUP else max(1, len(self.times) // 10)
        parts = [self.times[start : start + size] for start in range(0, len(self.times), size)]
        return [
            ConsolidationTime(mean(seconds.wall for seconds in part), mean(seconds.cpu for seconds in part))
            for part in parts
        ]

    def growth(self) -> ConsolidationTime:
        """The last group's seconds divided by the first group's."""
        groups = self.groups()
        first, last = groups[0], groups[-1]
        return ConsolidationTime(last.wall / first.wall, last.cpu / first.cpu)


def measure(sessions: int, messages: int, seed: int, progress: Callable[[int], object]) -> Figures:
    """Store `sessions` sessions of one persona, and time the consolidation of each. Needs an empty database and uses no
    model but the offline rules. `progress` is called with 1 after each."""
    embedding.embed(["Load the model before the first is timed."])
    owner = get_user_model().objects.create_user("bench", is_active=False)
    blocks = {"persona": "Mira listens.", "user": "Ana likes to talk in the evening.", "style": "Short sentences."}
    persona = create_persona(owner, "Mira", user_name="Ana", timezone="Asia/Shanghai", blocks=blocks)
    times = []
    with override_settings(LLM_PROVIDER="offline"):
        for number, synthetic_session in enumerate(generate_sessions(sessions, messages, seed)):
            at, closing = FIRST_DAY + number * SESSION_GAP, Session.Status.CLOSING
            with transaction.atomic():
                session = Session.objects.create(
                    persona=persona, status=closing, started_at=at, last_message_at=at, closed_at=at + IDLE_TIME
                )
                for place, text in enumerate(synthetic_session.lines):
                    role = Message.Role.PERSONA if place % 2 else Message.Role.USER
                    add_message(session, role, text, at + place * MESSAGE_GAP)
            session.refresh_from_db()
            now = session.last_message_at + IDLE_TIME
            wall, cpu = time.perf_counter(), time.process_time()
            outcome = runner.run(session.pk, lambda now=now: now)  # type: ignore[misc]
            if outcome != runner.Outcome.CLOSED:
                raise RuntimeError(f"session {session.pk} ended as {outcome}")
            times.append(ConsolidationTime(time.perf_counter() - wall, time.process_time() - cpu))
            progress(1)
    return Figures(times, ConceptNode.objects.count(), Entity.objects.count())


def format_table(figures: Figures) -> Iterator[str]:
    """The figures as text, line by line."""
    yield f"{'':>8}{'wall':>10}{'cpu':>10}   (mean ms of a session)"
    for number, group in enumerate(figures.groups(), start=1):
        yield f"{number:>8}{group.wall * 1000:>10.1f}{group.cpu * 1000:>10.1f}"
    growth = figures.growth()
    yield f"{'growth':>8}{growth.wall:>10.2f}{growth.cpu:>10.2f}   (last group / first)"
    yield (
        f"{figures.sessions_per_minute:.0f} sessions per minute; "
        f"{figures.nodes} nodes and {figures.entities} entities in the end"
    )
