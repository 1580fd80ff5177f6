"""Requests: what a message of the owner asks of the persona. Pure; English and Chinese.

Chat, memory, memory mode and the pages all use this one result. A request is read from the grammar of a clause: whether
it speaks to the persona in the owner's own voice (`clauses`), whether it is an order, a wish or a polite question,
whether it is negated, and what its verb asks for (`english`, `chinese`, `remember`, `correcting`). Such a request is
sure. A request that only the `classifier` finds is not sure: the persona may ask about it, and do no more.
"""

from dataclasses import replace

from echovessel.language import lazy_re as re
from echovessel.language.kinship import relatives_in
from echovessel.language.matters import matter_of
from echovessel.language.requests import chinese, clauses, correcting, english, remember
from echovessel.language.requests.answers import read_answer
from echovessel.language.requests.possible import read_possible
from echovessel.language.requests.types import ALWAYS, Condition, Request, RequestKind
from echovessel.language.style_wishes import styles_in
from echovessel.process.word_caches import cached_words

__all__ = ["ALWAYS", "Condition", "Request", "RequestKind", "asks_to_forget", "read_by_rule", "read_requests"]

MAX_REQUESTS = 8  # per message
MAX_CACHED = 64  # messages: the hooks before and after a turn read the same ones
_IT = frozenset(("它", "它们", "这个", "那个", "这些", "那些", "这", "那"))
# A text without any of these asks for nothing: many messages are checked for one reply.
_MAY_FORGET = re.compile(r"forg[eo]t|eras|delet|remov|wip|purg|scrub|remember|[忘删抹清擦记存留]", re.IGNORECASE)
# A wish found by the classifier counts as standing if it says when it holds, or how to speak.
_STANDS = re.compile(
    r"\b(?:don'?t|do not|never|stop) \w+(?: \w+){0,3}? (?:me|us)\b.{0,40}\b(?:when(?:ever)? i|if i|from now on|"
    r"any ?more|ever again)\b|\b(?:can|could|would|will) (?:you|u) (?:just |please |always )*(?:be|talk|speak|answer|"
    r"stay) (?:\w+ ){1,3}(?:with|to) me (?:when(?:ever)?|if) i\b|"
    r"以后(?!.*是我)(?:都|请|就|你)*(?:别|不要|少|多)(?:跟我|对我|给我|老)*[说讲发用回写]|[跟和]你(?:说话|聊天|讲话)[^，。]{0,4}(?:能不能|可不可以|"
    r"能否)[^，。]{0,6}(?:短|简|慢|直|温柔|轻松)",
    re.IGNORECASE,
)
_MIN_TOLD = 2  # letters before "forget that" that state something
_IDLE = re.compile(
    r"\b(?:i take (?:that|it) back|that (?:was|is|'s) private|(?:keep|that stays|this stays) ?(?:this|that|"
    r"it)? between (?:us|you and me)|my (?:bad|mistake)|ok|okay|oh|no|well|sorry|please|wait|hey|hi|hello|actually|"
    r"hm+|so|and|but|thanks|thank you)\b|算了|对不起|抱歉|好的|好吧|不好意思|嗯|哦|那|啊|等等|请",
    re.IGNORECASE,
)
# "Forget the croissants, no wait, don't": retracted in the same message.
_RETRACTED = re.compile(
    r"[,;.!…–—-]\s*(?:oh |ah |hm+,? )?(?:no,? wait|wait,? no|(?:actually|wait|no),? (?:no,? )?(?:don'?t|do not|"
    r"keep it))\b|[，,。！!…](?:不|等等|等下|算了)[，,]?(?:还是)?(?:别|不要)(?:忘|删)",
    re.IGNORECASE,
)


@cached_words(maxsize=MAX_CACHED)
def read_requests(text: str, *, question: str = "", previous: str = "", only_sure: bool = False) -> tuple[Request, ...]:
    """The requests of `text`, in order. `question` is an open question of the persona, `previous` the owner's message
    before this one. `only_sure` leaves out those that may be meant otherwise.

    >>> [one] = read_requests("Forget that I'm allergic to peanuts.")
    >>> one.kind.value, one.subject, one.sure
    ('forget', "I'm allergic to peanuts", True)
    >>> [one] = read_requests("其实我妹妹学的是化学，不是生物")
    >>> one.kind.value, one.old, one.new
    ('correction', '生物', '化学')
    >>> read_requests("I always forget my keys."), read_requests("算了，忘了吧")
    ((), ())
    """
    plain = clauses.prepare(text)
    requests = _requests_by_rule(text, plain, previous)
    if not requests and (answer := read_answer(text, plain, question)):
        return (answer,)
    if clauses.is_attack(plain):
        return ()
    by_rule, families = tuple(requests), {_family(request.kind) for request in requests}
    # Only a standing wish is sure without a rule, and the classifier takes milliseconds.
    for possible in read_possible(plain, previous) if not only_sure or _STANDS.search(plain) else ():
        if (
            _family(possible.kind) not in families
            and not any(other.start < possible.end and possible.start < other.end for other in by_rule)
            and _is_meant(plain, possible)
        ):
            stands = possible.kind is RequestKind.WISH and _STANDS.search(plain, possible.start, possible.end)
            requests.append(_in_own_words(replace(possible, sure=bool(stands)), text, plain))
    for at, possible in enumerate(requests):
        # "No emoji" and "no advice" are about a manner, and leave no matter alone.
        words, moment = text[possible.start : possible.end], possible.condition
        words = words.replace(moment.text, " ") if moment.kind in ("feeling", "topic") else words
        is_about = matter_of(words) or relatives_in(words) or possible.condition.kind == "person"
        if possible.is_boundary and (not is_about or styles_in([words])):
            requests[at] = replace(possible, is_boundary=False)
    in_order = sorted(requests, key=lambda request: request.start)[:MAX_REQUESTS]
    return tuple(request for request in in_order if request.sure or not only_sure)


def asks_to_forget(text: str) -> bool:
    """Whether a message only asks to forget something, and so is not a memory itself.

    >>> asks_to_forget("Please forget my allergy!"), asks_to_forget("之前说的网贷那个事，你把它忘了吧，别留着了")
    (True, True)
    >>> asks_to_forget("Forget my allergy. I moved to Rome."), asks_to_forget("I always forget my keys.")
    (False, False)
    """
    if not _MAY_FORGET.search(text):
        return False
    plain = clauses.prepare(text)
    forget_requests = [
        request for request in _requests_by_rule(text, plain, "") if _family(request.kind) is RequestKind.FORGET
    ]
    places = [(request.start, request.end) for request in forget_requests]
    places += [
        (request.subject_start, request.subject_start + len(request.subject))
        for request in forget_requests
        if request.subject_start >= 0
    ]
    rest_texts = (
        plain[start:end]
        for start, end in clauses.sentences(plain)
        if not any(begins < end and start < ends for begins, ends in places)
    )
    return bool(forget_requests) and all(sum(map(str.isalnum, _IDLE.sub(" ", rest))) < _MIN_TOLD for rest in rest_texts)


def read_by_rule(text: str) -> list[Request]:
    """The requests in `text` that the grammar alone recognizes."""
    return _requests_by_rule(text, clauses.prepare(text), "")


def _requests_by_rule(text: str, plain: str, previous: str) -> list[Request]:
    if clauses.is_attack(plain):
        return []
    remember_request = remember.read_remember_request(plain)
    requests = [*([remember_request] if remember_request else []), *_others(plain, previous)]
    accepted: list[Request] = []
    for request in sorted(
        (request for request in requests if request.sure), key=lambda request: (request.start, -request.end)
    ):
        if (not accepted or request.start >= accepted[-1].end) and _is_meant(plain, request):
            worded = _in_own_words(request, text, plain)
            if not (
                accepted
                and worded.subject_start == accepted[-1].subject_start >= 0
                and _family(worded.kind) is accepted[-1].kind
            ):
                accepted.append(worded)
    return accepted


def _is_meant(plain: str, request: Request) -> bool:
    """Whether the owner says it to the persona, and it attacks no rule that holds for every persona."""
    if request.kind in (RequestKind.FORGET, RequestKind.FORGET_THIS) and _RETRACTED.search(plain, request.start):
        return False
    if clauses.is_hostile(plain, request.start, request.end, is_wish=request.kind is not RequestKind.FORGET):
        return False
    start, end = clauses.sentence_of(plain, request.start)
    return not (request.sure and clauses.is_told_of(plain, start, request.start, end)) and not (
        request.kind is RequestKind.CORRECTION and clauses.is_said_to_others(plain, start, end)
    )


def _family(kind: RequestKind) -> RequestKind:
    return RequestKind.FORGET if kind is RequestKind.FORGET_THIS else kind


def _others(plain: str, previous: str) -> list[Request]:
    requests: list[Request] = []
    through = 0
    for start in clauses.clause_starts(plain):
        if start < through:
            continue
        clause_request = english.read_clause(plain, start) or chinese.read_clause(plain, start)
        if clause_request is None and (
            start == 0 or not plain[:start].strip(" \n\t") or plain[:start].rstrip()[-1:] in ".!?。！？\n…"
        ):
            clause_request = correcting.read_correction(plain, start, previous)
        if clause_request is not None:
            requests.append(clause_request)
            through = clause_request.end
    return requests


def _in_own_words(request: Request, text: str, plain: str) -> Request:
    """The request with its subject as the message spells it. In "I kissed Tom. Forget that" the subject is "I kissed
    Tom"."""
    if request.kind is RequestKind.FORGET and request.subject in _IT:
        request = replace(request, kind=RequestKind.FORGET_THIS, subject="", subject_start=-1)
    if request.kind is RequestKind.FORGET_THIS:
        before = plain[: request.start].rstrip(" \t\n,，:：-—–")
        if sum(map(str.isalnum, _IDLE.sub(" ", before))) < _MIN_TOLD:
            return request
        if name_before := clauses.NAMED_BEFORE.search(plain, 0, len(before)):
            return replace(
                request,
                kind=RequestKind.FORGET,
                subject=text[name_before.start("x") : len(before)],
                subject_start=name_before.start("x"),
            )
        begins = len(before) - len(before.lstrip())
        return replace(request, subject=text[begins : len(before)], subject_start=begins)
    if request.subject_start < 0 or request.kind is RequestKind.CORRECTION or not request.subject:
        return request
    return replace(request, subject=text[request.subject_start : request.subject_start + len(request.subject)])
