"""Which memories answer a question, and how well."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from echovessel.language import lazy_re as re
from echovessel.language.dialects import in_standard_words
from echovessel.language.fact_domains import Aspect, aspects_asked, is_told_in
from echovessel.language.kinship import relatives_in
from echovessel.language.sentences import CJK, bearers, is_whole_word, shared_topics, telling_words, topics, words
from echovessel.llm.offline.memories import Memory
from echovessel.llm.offline.names import BEARERS_EN, BEARERS_ZH, names_in, relation_of
from echovessel.llm.offline.phrases import SIGNS

# Somebody whom a pronoun of a later question may mean, and the pronoun.
PERSON = re.compile(rf"\b(?:my|our) (?:\w+ )??(?:{BEARERS_EN})\b|我(?:们)?的?(?:{BEARERS_ZH}|[妈爸哥姐弟妹])", re.I)
PRONOUN = re.compile(
    r"\b(?P<en>(?P<whose>her|his)(?= (?!(?:at|in|on|for|to|with|again|now|today)\b)[a-z])|she|he|her|him)(?P<is>'s)?\b|"
    r"(?P<zh>[他她])(?!们)",
    re.I,
)
WOMEN = words("mother sister grandmother wife girlfriend daughter mother-in-law aunt")
MEN = words("father brother grandfather husband boyfriend son father-in-law uncle")
NOT_MEANT_BY = dict.fromkeys(("she", "her", "她"), MEN) | dict.fromkeys(("he", "him", "his", "他"), WOMEN)


def with_antecedent(question: str, texts_before: Sequence[str], names: Collection[str] = ()) -> str:
    """The question with the person who was mentioned last, a relative or one of `names`, in place of a pronoun, if it
    names nobody itself.

    >>> with_antecedent("And her job?", ["My brother called.", "My sister and her husband live in York."])
    "And my sister's job?"
    >>> with_antecedent("他多大了", ["我儿子上小学"])
    '我儿子多大了'
    """
    pronoun = PRONOUN.search(question)
    if pronoun is None or PERSON.search(question) or names_in(question):
        return question
    not_meant = NOT_MEANT_BY.get((pronoun["en"] or pronoun["zh"]).lower(), frozenset())
    last_texts = [*islice(reversed(texts_before), MESSAGES_OF_ONE_SUBJECT)]
    people = (
        (person[0][:1].lower() + person[0][1:], text)
        for text in last_texts
        for person in PERSON.finditer(text)
        if not relatives_in(person[0]) & not_meant
    )
    named = ((name, text) for text in last_texts if (name := _last_name(names, text)))
    mentions = [mention for mention in (next(people, None), next(named, None)) if mention]
    if not mentions:
        return question
    person, _text = min(mentions, key=lambda mention: last_texts.index(mention[1]))
    suffix = "'s" if pronoun["whose"] or pronoun["is"] else ""
    return question[: pronoun.start()] + person + suffix + question[pronoun.end() :]


def _last_name(names: Collection[str], text: str) -> str:
    """The one of `names` that comes last in `text`, a Latin one as a whole word; "" if none does."""
    positions = {
        name: match.start()
        for name in names
        if name and name in text
        for match in re.finditer(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", text)
    }
    return max(positions, key=lambda name: (positions[name], len(name)), default="")


NEARLY, PERHAPS, SURELY = range(3)
MOST, HALF, THIRD = 0.75, 0.5, 0.3  # shares of the words that a question asks for
NAME_WEIGHT = 2
MESSAGES_OF_ONE_SUBJECT = 6
SEVERAL = 2  # words of a question, including names; a memory that contains this many is meant, whoever it is about


@dataclass(frozen=True)
class Answer:
    """A memory, and how well it answers: SURELY, PERHAPS, or NEARLY, if it is only about the same subject."""

    memory: Memory
    level: int
    fit: float


class Question:
    """A question, and what it asks for."""

    def __init__(self, text: str, all_memories: Sequence[Memory], *, looks_up: bool) -> None:
        self.text, self.looks_up = text, looks_up
        self.telling, self.aspects = telling_words(text), aspects_asked(text)
        self.people = bearers(self.telling)
        self.is_own = bool(OWN.search(text)) and not self.people
        self.is_past = bool(PAST.search(text))
        self.tells = [tells for asks, tells in KINDS if asks.search(text)]
        self.heads = heads_of(text)
        # The telling words with their weights: a Chinese pair its number of characters, a name more than a word.
        # In "who is kofi" the memories say which word is a name.
        capitals = "\n".join(
            name
            for statement in (text, *(memory.plain for memory in all_memories if memory.source == "words"))
            for name in re.findall(r"(?<=[^.!?]\s)[A-Z][a-z]+", f" {statement}")
        ).casefold()
        self.weights = {
            word: len(word) if CJK.search(word) else NAME_WEIGHT if re.search(rf"(?m)^{word}", capitals) else 1
            for word in question_words(text)
        }
        # The names that memories give to these relatives: "our son Oisin" names a son.
        texts = [memory.plain for memory in all_memories] if self.people else []
        naming = [statement for statement in texts if self.people & bearers(telling_words(statement))]
        self.names = {
            name.name
            for statement in naming
            for name in names_in(statement)
            if self.people & bearers(telling_words(relation_of(name.name, statement)))
        }


def find_answers(text: str, all_memories: Sequence[Memory], *, looks_up: bool) -> list[Answer]:
    """The memories that concern a question, best first; all of them, if it asks for nothing in particular. A question
    that does not ask about the owner's own statements matches only memories with nearly all of its words."""
    question = Question(text, all_memories, looks_up=looks_up)
    if not (question.weights or question.aspects or topics(text)):
        is_of_all = looks_up and SIGNS["recall"].search(text)
        return [Answer(memory, SURELY, 0) for memory in all_memories if is_of_all and memory.source != "persona"]
    order = {"L3": 0, "L4": 0, "words": 1, "user": 2, "persona": 3}
    answers = [answer for memory in all_memories if (answer := _answer_in(memory, question))]
    answers.sort(key=lambda answer: (-answer.level, -answer.fit, order[answer.memory.source]))
    single = [aspect for aspect in question.aspects if aspect.is_single]
    answering = [
        answer
        for answer in answers
        if answer.level == SURELY and answer.memory.at and is_told_in(answer.memory.in_context, single)
    ]
    if answering and not question.is_past:
        # A changing fact, such as a workplace, was stated with every change: the latest statement holds.
        # A message that tells it only with the one before does not take the place of that one.
        stating = [answer for answer in answering if is_told_in(answer.memory.plain, single)] or answering
        still = [answer for answer in stating if _still_holds(answer.memory, single)] or stating
        last = max(still, key=lambda answer: answer.memory.at)
        answers = [last, *(answer for answer in answers if answer not in answering)]
    return answers


def _still_holds(memory: Memory, aspects: Sequence[Aspect]) -> bool:
    """Whether the latest statement on `aspects` may be this memory: a clause of it says that something is so now. In
    "I don't work at the post office now, I work at a bank" the second does."""
    stating = [part for part in CLAUSES.split(memory.plain) if is_told_in(part, aspects)] or [memory.plain]
    signs = ["over", "not_yet", *(["unheld"] if memory.source == "words" else [])]
    is_so_now = any(not any(SIGNS[sign].search(part) for sign in signs) for part in stating)
    return is_so_now and not (memory.source == "words" and SIGNS["said_by_another"].search(memory.plain))


def _answer_in(memory: Memory, question: Question) -> Answer | None:
    """How well a memory answers. A father's work is not a sister's; "when" asks for a day, "how long" for a
    duration."""
    text, lower, weights = memory.in_context, memory.in_context.casefold(), question.weights
    memory_words = telling_words(text)
    is_named = any(name in text for name in question.names)  # "Oisin", where "my son" is asked about
    people = bearers(memory_words) | (question.people if is_named else frozenset())
    has_bearer = not question.people or bool(question.people & people)
    if people and not has_bearer:
        return None
    matching_words = [
        word
        for word in weights
        if _stands_in(word, lower) or (is_named and bearers(frozenset((word,))) & question.people)
    ]
    shared = shared_topics(question.telling, memory_words)
    tells_aspect = is_told_in(text, question.aspects)
    if not (matching_words or tells_aspect or (shared and question.looks_up)):
        return None
    matching_weight, weight = sum(weights[word] for word in matching_words), sum(weights.values())
    share = matching_weight / weight if weights else float(bool(shared))
    if shared and has_bearer:
        share = max(share, (matching_weight + shared) / (weight + 1))
    asks_name, calls = bool(ASKS_NAME.search(question.text)), bool(TELLS_NAME.search(text))
    is_of_kind = all(tells.search(memory.plain) or (memory.when and question.is_past) for tells in question.tells) and (
        not asks_name or calls or bool(names_in(memory.plain))
    )
    has_head = all(
        _stands_in(_stem(head), lower) or shared_topics(telling_words(head), memory_words) for head in question.heads
    )
    is_meant = sum(len(word) > 1 for word in matching_words) >= SEVERAL
    is_about_other = question.is_own and not is_meant and not _speaks_of_owner(memory)
    names = [word for word in weights if weights[word] >= NAME_WEIGHT and word.isascii()]
    has_names = all(name in matching_words for name in names)
    is_answered = (
        tells_aspect
        and (is_of_kind or not KINDS[0][0].search(question.text))
        and (calls or not asks_name)
        and has_names
        and (question.is_own or matching_words or shared)
        and has_bearer
        and not is_about_other
    )
    fit = 2 * len(matching_words) + 2 * (calls and asks_name) + 4 * is_answered + 2 * shared - 4 * is_about_other
    if is_answered:
        return Answer(memory, SURELY, fit)
    if not (matching_words or (shared and question.looks_up)):
        return None
    # A question about one aspect of a person is not answered with other facts about them.
    is_another_matter = (
        bool(question.aspects) and POINTED.search(question.text) and not (tells_aspect or (calls and asks_name))
    )
    is_other = is_about_other or not has_bearer or is_another_matter or not has_names
    if is_of_kind and has_head and not is_other and share >= HALF:
        return Answer(memory, SURELY if share >= MOST else PERHAPS, fit)
    # One common word, or the same person alone, is not near: "How much do I make?", "coach made me run".
    is_near = (
        (question.looks_up and (is_of_kind or len(matching_words) > 1 or shared > len(question.people)))
        or any(name in matching_words for name in names)
        or (share >= HALF and len(matching_words) > 1)
        or (share >= THIRD and any(len(word) > 1 and CJK.search(word) for word in matching_words))
    )
    return Answer(memory, NEARLY, fit) if is_near else None


# The kinds of things that questions ask for, and what tells them.
KINDS = tuple((SIGNS[f"asks_{kind}"], SIGNS[f"tells_{kind}"]) for kind in ("day", "duration", "number", "reason"))
PAST = re.compile(r"\b(?:did|was|were|had|last)\b|上次|那次", re.I)
# The bearer of a name, or the thing of somebody, that is asked for: no other one answers.
HEADS = re.compile(
    r"\bname of (?:my|our|the|that|his|her) (?:\w+ )??(\w+)\b(?! of)|\b(\w+)(?:'s name| called| named)\b|"
    r"([\u3400-\u9fff]{1,4})(?:的?名字|(?:到底|究竟|是)?(?:叫|姓)(?:什么|啥))|"
    r"的([\u3400-\u9fff]{2,3}?)我?(?:是|在)(?:不是|几|哪|多少|什么|啥)"
)


def heads_of(question: str) -> list[str]:
    """The noun whose name, or whose owner's thing, a question asks for.

    >>> heads_of("what was the name of the nurse who came"), heads_of("新来的护工叫啥"), heads_of("我妹妹叫什么")
    (['nurse'], ['护工'], ['妹妹'])
    """
    head_words = [next(filter(None, groups)).casefold() for groups in HEADS.findall(question)]
    words_of = [[head] if head.isascii() else SMALL_ZH.sub(" ", head).split()[-1:] for head in head_words]
    return [word for row in words_of for word in row if word not in SMALL_EN]


# Removed from a question; the rest is what it asks for.
SMALL_ZH = re.compile(
    "什么时候|啥时候|哪几天|哪一天|哪天|哪年|几号|几点|几天|几只|几个|是不是|有没有|那次|那个|那位|因为|为啥|今天|"
    "天气|讲给|听听|晓得|做什么|干什么|干嘛|怎么样了|聊过|聊|多大|几岁|提过|提到|讲过|来着|叫做|都|"
    "跟|从|对|给|把|请|"
    "说说|讲讲|到底|发生|家的?(?=[是叫])|还记得|记不记得|记得|知不知道|知道|告诉过|告诉|上次|之前|以前|说过的|"
    "说过|说的|什么|名字|怎么样|怎么|哪里|哪儿|多少|"
    "关于|了解|我们|事情|那个|这个|一下|还有|现在|最近|你|我|他|她|它|吗|呢|吧|啊|呀|么|的|了|过|是|有|叫|谁|哪|几|"
    "在|和|说|事|些|会|要|想|啥|伐|到|去|来|给|不|没|未|最|又|还|那|这|抽|喝|养"
)
SMALL_EN = words(
    """a an the do does did you your i me my mine we our is are was were am be been have has had of in
    on at to for with about and or but if so that this it its he she they his her their what who where
    when why how which remember recall know tell told say said still name names called anything
    something everything any some ever last time can could would will not no yes please just really
    we us talk talked about he's she's it's how's where which old happened happen there here ours let
    think mean i'm i've what's who's where's when's don't again thing things gonna going get got long much many often
    day date time times then also go goes went now anyhow anyway should has after far already learn learned learnt"""
)


def question_words(question: str) -> list[str]:
    """The telling words of a question: Latin words without their endings, and Chinese pairs (or a single remaining
    character).

    >>> question_words("你还记得我的猫吗？"), question_words("Do you remember my cat's name?")
    (['猫'], ['cat'])
    """
    chinese = [
        run[at : at + 2]
        for run in re.findall(r"[\u3400-\u9fff]+", SMALL_ZH.sub(" ", question))
        for at in range(max(1, len(run) - 1))
    ]
    latin = [re.sub(r"'s$", "", word) for word in re.findall(r"(?=\d*[a-z])[a-z0-9][a-z0-9'-]+", question.casefold())]
    return [*chinese, *(_stem(word) for word in latin if word not in SMALL_EN)]


def _stem(word: str) -> str:
    bare = re.sub(r"(?:ing|ed|es|s|e)$", "", word)
    return bare if len(bare) > 2 else word


ENDING = re.compile("(?:s|es|e|ed|d|ing|r|er|or|y|ic|ies|ion|'s)?(?![a-z])")
POINTED = re.compile(r"\b(?:what|where|which|who|how old)\b|几|哪|什么|啥|多大|谁", re.I)
OWN = re.compile(r"\b(?:i|me|my|mine|we|our)\b|我", re.I)
SUBJECT = re.compile(
    r"\b(?:i|we|you)\b|\b(?:my|our|your) [a-z]+|"
    r"[我你]们?(?=[跟和与同给把对被让从去来会要想])|[我你]们?(?:家)?的?[\u3400-\u9fff]{0,3}",
    re.I,
)
CLAUSES = re.compile(r"[,.;!?，。；！？:：“”\"]|\b(?:and|but|so|because|while)\b")
ASKS_NAME = re.compile(r"\bnames?\b|'s called\b|\bcalled\b|叫(?:什么|啥)|名字|什么名", re.I)
TELLS_NAME = re.compile(r"\b(?:called|named|names? (?:is|are)|name's|known as)\b|叫|名字|姓", re.I)


def _speaks_of_owner(memory: Memory) -> bool:
    """Whether the owner, or something of theirs, is the subject of a clause of the memory; not in "My sister" and
    "Tom's birthday". A memory that names nobody may be about the owner."""
    if memory.source in ("L4", "user", "persona"):
        return True
    is_named = False
    if memory.context and OWN.search(memory.context) and not bearers(telling_words(memory.context)):
        return True
    for clause in CLAUSES.split(in_standard_words(memory.wording)):
        subject = SUBJECT.search(clause)
        before = clause[: subject.start()] if subject else clause
        # 「邮局的工作辞了」 is about the owner, 「朵朵的老师」 is not.
        other = r"\b[A-Z][a-z]+(?:'s\b| [a-z]+s\b)|[\u3400-\u9fff]{2}的(?!工作|活|班|房|车)"
        if bearers(telling_words(before)) or re.search(other, before):
            is_named = True
        elif subject and not bearers(telling_words(subject[0].lower().replace("your", "my").replace("你", "我"))):
            return True
        else:
            is_named = is_named or bool(subject)
    return not is_named


def _stands_in(word: str, lower: str) -> bool:
    """Whether `word` occurs in it: a Latin one as a whole word, with any ending."""
    if word not in lower or CJK.search(word):
        return word in lower
    return is_whole_word(word, lower, ENDING)
