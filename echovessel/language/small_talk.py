"""Small talk: greetings, thanks and praise, sentences without information. Pure; English and Chinese.

A sentence is small talk if every word of it is: "Wow, that's awesome, Caroline!", 「太好了，真为你高兴！」. Answers are
not, however short ("Yes.", 「好多了。」), and neither are feelings about something ("I'm proud of my dad.", "It was
amazing.").
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from echovessel.language import lazy_re as re

# Replacing less than this with an ellipsis would save nothing.
MIN_CUT_BYTES = 7
MIN_NICKNAME = 3
_SENTENCE = re.compile(r"[^.!?。！？…\n]+(?:[.!?。！？…]+[\"”’')）]*|\n|$)\s*")
_ASKS = re.compile(r"[?？][\"”’')）]*\s*$|吗[。.\s]*$")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_CJK = re.compile("[\u3400-\u9fff]")
_OTHER = re.compile(r"[^\W_]")
# Words of which small talk has at least one, and words that may accompany them.
_CORE = frozenset(
    re.findall(
        r"\S+",
        """
    hi hey hello heya hiya yo morning evening goodnight night bye goodbye cya later thanks thank thx ty cheers
    welcome congrats congratulations wow whoa woah aww aw yay woo hooray awesome amazing great wonderful
    fantastic incredible brilliant lovely nice cool sweet impressive inspiring beautiful gorgeous stunning
    adorable cute perfect excellent superb good glad happy proud appreciate kind thoughtful talented lucky
    haha hahaha lol sorry luck care
""",
    )
)
_BESIDE = frozenset(
    re.findall(
        r"\S+",
        """
    a an the and but so too very really truly super pretty quite just such how what that's thats that this
    these those it's its it is are you you're youre your yours to for of on at about with as be much lot lots
    again all everything always here there i'm im i we're see seeing hear hearing done chat chatting talk talking
    catch catching up soon later have having had day one time times keep work working job going well done way
    go best wish wishes you'd you'll we'll ya y'all course no problem anytime sounds sound looks look looking
    feel bet sharing share being guys girl man dude buddy friend pal mate dear everyone know knowing sure oh
    ah um hmm ooh tell me can't wait support help listening encouragement kindness words effort thing things
    idea stuff photo pic pics picture today tonight weekend rest take enjoy yourself totally absolutely
    definitely indeed right
""",
    )
)
_PHRASES_ZH = re.compile(
    "你好|您好|大家好|早上好|下午好|晚上好|中午好|早安|晚安|午安|早呀?|嗨|哈喽|哈啰|嘿|在吗|好久不见|再见|拜拜|回头见|明天见|改天聊|下次聊|"
    "谢谢|多谢|感谢|谢啦|辛苦了?|不客气|不用谢|没关系|没事的?|别客气|太感谢了|恭喜|祝贺|祝你?|祝福|加油|顺利|好运|保重|注意身体|"
    "好好休息|哇塞?|哇哦|天哪|天啊|太好了|太棒了|真棒|好棒|很棒|棒极了|真好|真不错|不错|好厉害|真厉害|太厉害了|厉害|了不起|"
    "真了不起|真替你|真为你|替你|为你|为我们|高兴|开心|骄傲|自豪|羡慕|好羡慕|真羡慕|好可爱|真可爱|太可爱了|可爱|好美|真美|太美了|漂亮|"
    "听起来|看起来|听上去|真有意思|有意思|支持你?|相信你|你可以的|你真|你太|哈哈+|嘿嘿|呵呵|嘻嘻|嗯+|哦+|噢+|啊+|呀+|吧|呢|哟|嘛|啦|"
    "真的|真是|实在|非常|特别|太|真|好|很|又|也|都|的|了|你|您|我|一切|愉快|快乐|周末|今天|每天"
)
_CORE_ZH = re.compile(
    "你好|您好|大家好|[早下晚中]上?[午]?好|早安|晚安|午安|嗨|哈喽|哈啰|好久不见|再见|拜拜|回头见|明天见|谢|辛苦|不客气|恭喜|祝|加油|保重|"
    "好好休息|哇|太好了|棒|真好|不错|厉害|了不起|[真替]?[为替]你|羡慕|可爱|好美|真美|太美|漂亮|有意思|支持|相信你|你可以的|哈哈|嘿嘿"
)


class Gist(NamedTuple):
    """The statements of a message, and the question at its end; small talk around them is replaced by "…". A message
    that only asks has no statement, small talk has neither."""

    statement: str
    question: str

    @property
    def whole(self) -> str:
        if not (self.statement and self.question):
            return self.statement or self.question
        return f"{self.statement}{'' if _CJK.search(self.statement) else ' '}{self.question}"


def gist_of(text: str, names: Collection[str] = ()) -> Gist:
    """The gist of a message. `names` are those of the participants, who may be addressed by the beginning of their
    name.

    >>> gist_of("Thanks, Mel! Painting calms me. Do you paint? Take care!", ["Melanie"])
    Gist(statement='… Painting calms me.', question='Do you paint? …')
    >>> gist_of("太好了！后来呢？"), gist_of("Bye!")
    (Gist(statement='', question='…后来呢？'), Gist(statement='', question=''))
    """
    sentences = _SENTENCE.findall(text)
    names_folded = [name.casefold() for name in names]
    first, last = 0, len(sentences)
    while first < last and says_nothing(sentences[first], names_folded):
        first += 1
    while last > first + 1 and says_nothing(sentences[last - 1], names_folded):  # the first one is not small talk
        last -= 1
    asks_from = last
    while asks_from > first and _ASKS.search(sentences[asks_from - 1]):
        asks_from -= 1
    fact_start, frame = "".join(sentences[first:asks_from]).strip(), "".join(sentences[asks_from:last]).strip()
    if not first and last == len(sentences):  # no small talk, as in most messages
        return Gist(fact_start, frame)
    before, after = "".join(sentences[:first]).strip(), "".join(sentences[last:]).strip()
    joint = "" if _CJK.search(fact_start or frame) else " "
    before = "…" if len(before.encode()) >= MIN_CUT_BYTES and first < last else before if first < last else ""
    after = "…" if len(after.encode()) >= MIN_CUT_BYTES and first < last else after if first < last else ""
    if fact_start:
        fact_start = joint.join(filter(None, (before, fact_start, "" if frame else after)))
        return Gist(fact_start, joint.join(filter(None, (frame, after))) if frame else "")
    return Gist("", joint.join(filter(None, (before, frame, after))))


def says_nothing(sentence: str, names: Sequence[str] = ()) -> bool:
    """Whether every word of a sentence is small talk."""
    plain = sentence.casefold().replace("’", "'")
    if _CJK.search(plain):
        for name in names:
            plain = plain.replace(name, " ")
        return bool(_CORE_ZH.search(plain)) and not _OTHER.search(_PHRASES_ZH.sub("", plain))
    words = has_core = False
    for match in _WORD.finditer(plain):  # in most sentences the first or second word is no small talk
        word, words = match[0], True
        if word in _CORE:
            has_core = True
        elif not word.isascii() or word.isdigit() or (word not in _BESIDE and not _is_called(word, names)):
            return False
    return has_core or not words  # punctuation alone has no content either


def _is_called(word: str, names: Sequence[str]) -> bool:
    """Whether a word is one of the names, its possessive, or the beginning of one."""
    bare = word.removesuffix("'s")
    return len(bare) >= MIN_NICKNAME and any(part.startswith(bare) for name in names for part in name.split())
