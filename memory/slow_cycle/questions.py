"""What she wonders about: kept until it is answered or has grown old, and given to every run in between."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from memory import knobs
from memory.models import ConceptNode, Question, QuestionGround, SlowCycleRun
from memory.models.slow_cycle import MAX_QUESTION, QuestionQuerySet
from memory.store.deduplication import content_hash
from memory.store.writing import in_one_line
from persona.models import Persona

Status = Question.Status


def open_questions(persona: Persona, now: datetime) -> QuestionQuerySet:
    """The newest open ones that rest on nothing that was put away or is not so any more."""
    put_away = QuestionGround.objects.filter(question=OuterRef("pk")).exclude(node__status=ConceptNode.Status.ACTIVE)
    still_open = Question.objects.filter(persona=persona, asked_at__gt=now - _lifetime()).open()
    return still_open.exclude(Exists(put_away))[: knobs.slow_cycle_questions()]


def keep(run: SlowCycleRun, text: str, grounds: Sequence[ConceptNode], now: datetime) -> Question | None:
    """A question that is new, with what it rests on; None where she wonders about it already, or it was settled a short
    while ago. Call inside a transaction."""
    words = tidy_question(text)
    same = Question.objects.filter(persona=run.persona, content_hash=content_hash(words))
    if same.filter(Q(status=Status.OPEN) | Q(settled_at__gt=now - _lifetime())).exists():
        return None
    question = Question.objects.create(
        persona=run.persona, run=run, text=words, content_hash=content_hash(words), asked_at=now
    )
    QuestionGround.objects.bulk_create([QuestionGround(question=question, node=node) for node in grounds])
    return question


def answer(question: Question, by: ConceptNode, now: datetime) -> bool:
    """Note what answered it; False where it was not open any more."""
    return _settled(question, now, status=Status.ANSWERED, answered_by=by)


def drop(question: Question, now: datetime) -> bool:
    """Wonder about it no more; False where it was not open any more."""
    return _settled(question, now, status=Status.DROPPED)


def drop_old(persona: Persona, now: datetime) -> int:
    """Drop those that nothing has answered for long; returns how many."""
    old = Question.objects.filter(persona=persona, asked_at__lte=now - _lifetime()).open()
    return old.update(status=Status.DROPPED, settled_at=now)


def tidy_question(text: str) -> str:
    """The question as it is stored: one line, not too long."""
    return in_one_line(text)[:MAX_QUESTION]


def _settled(question: Question, now: datetime, **values: object) -> bool:
    still_open = Question.objects.filter(pk=question.pk).open()
    return bool(still_open.update(settled_at=now, **values))


def _lifetime() -> timedelta:
    return timedelta(days=knobs.slow_cycle_question_days())
