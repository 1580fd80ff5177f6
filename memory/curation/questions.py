"""The persona's open questions: kept until they are answered or too old, and shown to every run in between."""

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from chat.models import Session, Turn
from echovessel.db.compiled_queries import Query
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.requests import RequestKind, read_requests
from memory import knobs
from memory.models import ConceptNode, Mention, MergeProposal, Question, QuestionGround, SlowCycleRun
from memory.models.slow_cycle import MAX_QUESTION, QuestionQuerySet
from memory.recall import Meaning
from memory.recall.lessons import boundaries_of, crosses
from memory.store import vectors
from memory.store.deduplication import content_hash
from memory.store.writing import in_one_line
from persona.models import Persona

Status = Question.Status
SHARED_WORDS = 2  # significant words that a question and the messages have in common
HINT_SLACK = timedelta(minutes=5)  # a hint is stored once its turn has ended, a moment after the reply
_any_open: Query[tuple[int]] = Query(
    lambda persona, since: Question.objects.filter(persona=persona, asked_at__gt=since).open().values_list("pk")[:1]
)


def open_questions(persona: Persona, now: datetime) -> QuestionQuerySet:
    """The newest open questions that rest on active memories only, and cross none of the owner's boundaries."""
    put_away = QuestionGround.objects.filter(question=OuterRef("pk")).exclude(node__status=ConceptNode.Status.ACTIVE)
    still_open = Question.objects.filter(persona=persona, asked_at__gt=now - _lifetime()).open()
    askable = still_open.exclude(Exists(put_away))
    if boundaries := boundaries_of(persona):
        askable = askable.exclude(pk__in=[question.pk for question in askable if crosses(boundaries, question.text)])
    return askable[: knobs.slow_cycle_questions()]


def due(
    persona: Persona,
    texts: Sequence[str],
    entities: Collection[int],
    meaning: Meaning | None,
    session: Session,
    now: datetime,
) -> Question | None:
    """The open question to ask now: the one nearest to the owner's messages `texts`.

    Messages are near if they name one of the `entities` of its memories, mean the same as one of these, or repeat two
    significant words of it. At most one question a session, including questions about two names; none twice within a
    day, and none while the persona holds back after a crisis.
    """
    if persona.care_until is not None and persona.care_until > now:
        return None
    if not _any_open(persona.pk, now - _lifetime()):  # nearly always: every turn asks this
        return None
    hinted_in_session = {"hinted_at__gte": session.started_at}
    if (
        Question.objects.filter(persona=persona, **hinted_in_session).exists()
        or MergeProposal.objects.of(persona).filter(**hinted_in_session).exists()
    ):
        return None
    texts_words = {word for text in texts for word in tokenizer.tokenize(text) if not tokenizer.is_function_word(word)}
    nearest: list[tuple[float, int, Question]] = []
    for question in open_questions(persona, now):
        if question.hinted_at is not None and question.hinted_at > now - timedelta(hours=knobs.hint_hours()):
            continue
        grounds = list(question.grounds.values_list("pk", flat=True))
        shared = len(texts_words.intersection(tokenizer.tokenize(question.text)))
        is_mentioned = Mention.objects.filter(node__in=grounds, entity__in=entities).exists()
        cosine = 0.0
        if meaning is not None and grounds:
            own = (vectors.space(persona.pk).vectors(grounds) @ meaning.last).max(initial=-1.0)
            cosine = max(0.0, embedding.scale().comparable("query", float(own)))
        if is_mentioned or shared >= SHARED_WORDS or cosine >= knobs.match_cosine():
            nearest.append((is_mentioned + shared + cosine, question.pk, question))
    return max(nearest)[2] if nearest else None


def note_hint(turn: Turn, now: datetime) -> None:
    """Store when the turn's prompt asked its question, so that it rests for a day and no other follows it."""
    hinted = turn.xray.get("question", {}).get("question")
    if hinted:
        Question.objects.filter(pk=hinted, persona=turn.persona_id).update(hinted_at=now)


def settle_answered(session: Session, nodes: Sequence[ConceptNode], now: datetime) -> int:
    """Settle the questions that replies of `session` asked and that one of its new memories `nodes` answers; returns
    how many. An answer is found in the owner's next messages (`RequestKind.ANSWER`), and the memory rests on one of
    them."""
    settled = 0
    open_questions = Question.objects.filter(persona=session.persona_id, hinted_at__gte=session.started_at).open()
    for question in open_questions.filter(hinted_at__lte=session.last_message_at + HINT_SLACK):
        for node in nodes:
            messages = [row.message for row in node.evidence.filter(message__created_at__gt=question.hinted_at)]
            if any(
                request.kind is RequestKind.ANSWER
                for message in messages
                for request in read_requests(message.content, question=question.text)
            ):
                settled += answer(question, node, now)
                break
    return settled


def keep(
    persona: Persona, text: str, grounds: Sequence[ConceptNode], now: datetime, run: SlowCycleRun | None = None
) -> Question | None:
    """A new question with its grounds; None if the same question is open, or was settled a short while ago. Call inside
    a transaction."""
    words = tidy_question(text)
    same = Question.objects.filter(persona=persona, content_hash=content_hash(words))
    if same.filter(Q(status=Status.OPEN) | Q(settled_at__gt=now - _lifetime())).exists():
        return None
    question = Question.objects.create(
        persona=persona, run=run, text=words, content_hash=content_hash(words), asked_at=now
    )
    QuestionGround.objects.bulk_create([QuestionGround(question=question, node=node) for node in grounds])
    return question


def answer(question: Question, by: ConceptNode, now: datetime) -> bool:
    """Store the answering memory; False if the question was no longer open."""
    return _settled(question, now, status=Status.ANSWERED, answered_by=by)


def drop(question: Question, now: datetime) -> bool:
    """Close the question without an answer; False if it was no longer open."""
    return _settled(question, now, status=Status.DROPPED)


def drop_old(persona: Persona, now: datetime) -> int:
    """Drop questions that nothing has answered for long; returns how many."""
    old = Question.objects.filter(persona=persona, asked_at__lte=now - _lifetime()).open()
    return old.update(status=Status.DROPPED, settled_at=now)


def tidy_question(text: str) -> str:
    """The question as it is stored: one line of limited length."""
    return in_one_line(text)[:MAX_QUESTION]


def _settled(question: Question, now: datetime, **values: object) -> bool:
    still_open = Question.objects.filter(pk=question.pk).open()
    return bool(still_open.update(settled_at=now, **values))


def _lifetime() -> timedelta:
    return timedelta(days=knobs.slow_cycle_question_days())
