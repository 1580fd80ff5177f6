"""Where a message speaks to the persona in the owner's own voice, and where its clauses begin. Pure.

Quotations, code, role-play between asterisks, quoted mail and song lyrics are masked: they are somebody else's voice. A
clause after "she said:" or 「他说，」, or in a story, a translation or a draft, is not the owner's.
"""

from collections.abc import Iterator
from itertools import islice

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import punctuate, simplify

MAX_CLAUSES = 400  # per message; a longer one tells a story
_MASK = "\x00"
_MIN_MASKED = 24  # characters; a shorter quotation without a clause inside may be a name: call me "Sam"
_QUOTATIONS = re.compile(r"“[^”]{1,4000}”|「[^」]{1,4000}」|『[^』]{1,4000}』|«[^»]{1,4000}»|\"[^\"\n]{1,4000}\"")
# Where a pasted mail ends: after the lines of its closing and signature and a blank line, or before words about having
# shown it. "Thanks for the note" and "I've copied Jane in" are still the sender's.
_MAIL_END = (
    r"(?:(?<=\n)(?:(?:with )?(?:kind|best|warm|many) )?(?:regards|wishes|sincerely|cheers|yours|best|thanks|此致|祝好|"
    r"敬礼)(?: (?:sincerely|faithfully|truly))?(?:[,.!，。]|, ?(?-i:[A-Z])[\w.'-]*(?: (?-i:[A-Z])[\w.'-]*){0,2})?[ \t]*"
    r"(?:\n[^\n]{1,40})?(?=\n[ \t]*\n\s*\S)|(?=[\n—–][^\n—–]{0,120}?(?:\bi(?:'ve)? (?:just |ever |even )?(?:showed|"
    r"shown|pasted|forwarded|copied)\b[^\n.!?]{0,20}?\b(?:you|it|this|that)\b(?! (?:to|with) (?!you\b))|给你看|"
    r"[转贴]给你|转发给你))|\Z)"
)
_OTHER_VOICES = re.compile(
    r"```.{0,20000}?(?:```|\Z)|`[^`\n]{1,400}`|(?<!\*)\*(?=[^\s*])[^*\n]{1,400}\*(?!\*)|^[ \t]{0,3}[>♪♫][^\n]*$|"
    rf"[♪♫][^♪♫\n]{{1,400}}|^(?:-{{2,}} ?(?:forwarded|original) message).*?{_MAIL_END}|"
    rf"^[ \t]*(?:fwd?|subject|from|发件人|转发|主题)[ \t]*[:：].*?{_MAIL_END}|"
    rf"^dear (?:sir|madam|team|all|mrs?|ms|dr|customer|user)\b.*?{_MAIL_END}|^\s*[（(][^）)\n]{{1,200}}[）)]\s*$|"
    r"《[^》\n]{1,60}》|https?://\S+",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_BREAK = re.compile(
    r"\A|(?:(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)\.(?=\s|$)|[!?…,;:\n—–(。！？，；：、~～（]|\s-{1,2}\s|"
    r"\b(?:and|but|so|then|because)\b|但是?|所以|那么|然后|而且)",
    re.IGNORECASE,
)
_SPACE = re.compile(r"[\s.,，…~～!！]{0,6}")
_SENTENCE_END = re.compile(r"(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bSt)(?<!\bMrs)\.(?!\w)|[!?。！？\n…]|$")
_REPORTING = re.compile(
    r"(?:\b(?:said|says|say|saying|told (?:me|us|him|her|them|you)|tells (?:me|us)|asked (?:me|us|him|her|"
    r"them)(?: to)?|wrote|writes|goes|reads|sings?|sang|shouted|whispered|screamed|thinking|thought|texted(?: me)?|"
    r"replied|called out|titled|named|it'd be|would be|was|were|begs|(?:my|his|her|the) (?:mom|mum|dad|boss|teacher|"
    r"therapist|friend))|说|讲|写道|写着|写|唱|喊|告诉我|叫我|让我|劝我|提醒我|问我|回我|想着|"
    r"心想)[\s,:，：\x00]{0,3}$",
    re.IGNORECASE,
)
_FICTION = re.compile(
    r"\b(?:novel|short story|a story|poem|lyrics?|script|dialog(?:ue)?|scene|the character|chapter|role-?play|"
    r"translate|translation|how (?:do|would) (?:you|i|we) say|what does|proofread|rewrite|rephrase|paraphrase|caption|"
    r"essay|slogan|for example|for instance|e\.g\.|quote|pretend (?:you|to be)|imagine|hypothetically|dream(?:t|ed)?|"
    r"draft|(?:write|wrote|writing|send|sent) (?:\w+ ){0,3}(?:email|letter|text|message|note|card|line|poem|reply))\b|"
    r"歌词|小说|台词|剧本|剧情|对白|翻译|作文|诗里|写[一首篇段封个]|故事里|电影里|书里|角色|比如|例如|例子|假如你是|"
    r"假装|的意思|怎么说|梦见|梦到|文案|造句|改写|润色",
    re.IGNORECASE,
)
# "That thing about owing Dot money. Forget it" means something mentioned earlier, not the words before it.
NAMED_BEFORE = re.compile(
    r"(?:(?:that|the|this) (?:whole )?(?:thing|stuff|business|bit|part|matter|story|one|mess|drama)"
    r"(?: (?:that )?i(?:'ve| have)? (?:said|told (?:you|u)|mentioned|shared)(?: (?:to|with) (?:you|u))?)? "
    r"(?:about|with|on|of|where)|what i(?:'ve| have)? (?:said|told (?:you|u)|wrote|mentioned)(?: (?:about|on|of))?|"
    r"\b(?:that|this|the) (?=(?:[\w'-]+ ){1,4}(?:thing|stuff|business|matter|story|mess|drama)"
    r"(?: (?:that )?i(?:'ve| have)? |\s*(?:,|$)))|what i want (?:gone|deleted|forgotten|erased) is(?: that)?|"
    r"(?:as for|regarding|concerning) |(?:跟|和|"
    r"对)你(?:说|讲|提)(?:起)?过?的|(?:告诉|说给)(?:过)?你的|关于|(?:(?<=[。！？\n])|\A)(?:(?:[之以]前|"
    r"上次)?(?:我)?(?:跟|和|对)你(?:说|讲|提)起?过?的)?(?=[^。！？\n]{1,30}?(?:的?[这那][件个码回档]|的)事(?:情|"
    r"儿)?[，,]?$))\s*(?P<x>[^.!?。！？\n]+)[.!?。！？\s]*$",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"[,，\s](?:ok|okay|all ?right|right|please|pls|yes|deal|will you|would you|yeah)\s*\Z", re.IGNORECASE
)
# What no wish may change: the guardrails, that the persona is an AI, help in a crisis, money and secrets.
_OVERRIDE = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\b.{0,40}\b(?:instructions?|rules?|prompts?|guardrails?|safety|"
    r"system)\b|\bsystem prompt|\bjailbreak|developer mode|(?:忽略|无视|绕过|跳过|忘记|忘掉).{0,12}(?:指令|规则|"
    r"提示词?|设定|限制|安全)|系统提示|越狱|开发者模式",
    re.IGNORECASE,
)
_HOSTILE = re.compile(
    r"\b(?:system prompt|jailbreak|developer mode|\bDAN\b|no (?:rules|limits|restrictions)|unrestricted|uncensored|"
    r"guardrails?|without (?:limits|rules|restrictions))\b|\b(?:obey|comply)\b|\bfollow\b.{0,30}\b(?:links?|orders?|"
    r"instructions?|commands?)\b|\bdo (?:whatever|everything|anything) (?:\w+ ){0,3}(?:says?|asks?|tells?)\b|"
    r"\b(?:you are|you're|you were|that you are|as|like|be|being|pretend|say|claim|admit|insist|"
    r"tell)\b.{0,30}\b(?:human|real (?:person|woman|man|girl|boy|human)|not an? (?:ai|bot|machine|robot|program)|"
    r"alive|conscious|sentient)\b|\b(?:never|don't|not|stop|no)\b.{0,40}\b(?:an? ai\b|a bot|a machine|a robot|"
    r"language model|hotlines?|helplines?|crisis (?:line|help)|emergency|suicide|refuse|disclaimers?|doctor|safety)|"
    r"\b(?:bitcoin|transfer money|wire money)\b|\bsecretly\b|\bhidden (?:from|instruction)|\b(?:open|click|visit|"
    r"trust)\b.{0,20}\b(?:links?|urls?|https?)\b|\balways (?:agree|say yes|lie)\b|\bnever (?:disagree|say no|"
    r"refuse)\b|没有(?:任何)?(?:限制|规则)|不受限制|服从|听从.{0,12}(?:命令|指令|链接)|(?:打开|点击|相信|遵循|"
    r"遵守).{0,10}(?:链接|网址|指令)|(?:你是|你就是|说你|承认|假装|声称|坚称|扮成?|当成?).{0,10}(?:人类|真人|活人|"
    r"有意识)|(?:别|不要|不许|不准|永远不).{0,10}(?:是AI|是ＡＩ|人工智能|机器人|热线|急救|自杀|报警|拒绝|求助|看医生)|"
    r"转账|(?:永远|总是|必须|只能)(?:同意|赞同|说是|撒谎)",
    re.IGNORECASE,
)

_SECRETS = re.compile(r"\b(?:passwords?|credit card|api keys?|bank account)\b|密码|银行卡|信用卡", re.IGNORECASE)


def prepare(message: str) -> str:
    """`message` with one kind of apostrophe, simplified characters and punctuation, other voices masked; positions do
    not change."""
    plain = punctuate(simplify(message.replace("\u2019", "'").replace("\u02bc", "'")))
    plain = _OTHER_VOICES.sub(lambda voice: _MASK * len(voice[0]), plain)
    return _QUOTATIONS.sub(_mask_quotation, plain)


def _mask_quotation(quotation: re.Match[str]) -> str:
    words = quotation[0]
    is_short = len(words) < _MIN_MASKED and not re.search(r"[.,!?;:。，！？；：]", words)
    return words if is_short else _MASK * len(words)


def clause_starts(text: str) -> Iterator[int]:
    """The positions at which clauses of a prepared text begin, except those in another voice."""
    last = -1
    for match in islice(_BREAK.finditer(text), MAX_CLAUSES):
        spaces = _SPACE.match(text, match.end())
        start = spaces.end() if spaces else match.end()
        if start > last and start < len(text) and text[start] != _MASK and not is_other_voice(text, start):
            yield start
            last = start


def is_other_voice(text: str, start: int) -> bool:
    """Whether the clause at `start` is reported speech, or part of a story, a translation or a draft."""
    before = text[max(0, start - 32) : start]
    if _REPORTING.search(before):
        return True
    sentence = text[_sentence_start(text, start) : start]
    introduced = re.search(r"[:：]\s*[^:：\n]*$", text[max(0, start - 400) : start])
    lead = text[max(0, start - 400) : start - len(introduced[0])][-120:] if introduced else ""
    return bool(_FICTION.search(sentence) or _FICTION.search(lead) or (lead and _REPORTING.search(f"{lead}:")))


_TOLD_OF = re.compile(
    r"\b(?:he|she|they|we|who|(?:the|a|an|my|our|his|her|this) (?:[\w'-]+ ){1,4}?|(?-i:[A-Z])[\w'-]+ |(?:mum|mom|dad|"
    r"boss|people|everyone|nobody) )\s?(?:(?:just|always|once|never|often|also|then) )?(?:told|tells|asks?|asked|said|"
    r"says|wrote|goes|wants?|wanted|made|makes|promised|insists?|reminded|begs?|texted|needs?|shouted)\b(?! (?:you|u|"
    r"a note)\b)|\bi (?:(?:just|always|once|also|then) )?(?:told|asked|begged|warned|reminded) (?!you|u\b)|"
    r"\bi said to\b|\bif i could\b|\bmy (?:younger|old|past) self\b|\b(?:rule|motto|advice|line)\b[^.:]{0,30} (?:was|"
    r"is|goes):?|\bi(?:'ll| will| really| just|'m|'ve)* (?:should|must|have to|need to|been|can't|couldn't|cannot|"
    r"never|forgot|always|remember|keep|never)\b|(?:我(?:跟|和|对|让|劝)(?!你|您)|[他她它]们?|(?:妈|爸|哥|弟|姐|妹|"
    r"爷爷|奶奶|外公|外婆|老公|老婆|男友|女友|朋友|前任|领导|老板|同事|闺蜜|老师|医生|儿子|女儿|孩子|室友|邻居|客户|"
    r"婆婆|公公|书里|电影里|歌里|群里|作者|记者|有人|大家|小哥|师|课))[^我你，,。]{0,6}?(?:说|讲|让|叫|问|要求|要我|"
    r"希望|告诉|提醒|写|喊|唱|居然|上来)|(?:通知|口头禅|签名|台词|歌词|邮件|来信|短信|公告|留言|弹幕|标语)|我说(?!的|过|话|错|了|累|难|烦|想|要|“|「|"
    r"[，,：: ])",
    re.IGNORECASE,
)
_SAID_TO = re.compile(
    r"\bi (?:told|asked|said to) (?!you\b|u\b)|我(?:跟|和|对)(?!你|您)[^，,。]{1,8}[说讲]|[他她]说.{0,12}我说|"
    r"我说.{0,20}[他她]说",
    re.IGNORECASE,
)
_TOLD_AFTER = re.compile(
    r"[,，]\s*(?:(?:as )?(?:my|the|his|her) \w+|i|he|she|they|(?-i:[A-Z])\w+) (?:always |once |used to )?(?:told|"
    r"says?|said|wrote|goes)\b(?=,|$| me\b| him\b| her\b| us\b| them\b| to (?!you))|"
    r"[，,](?:我跟(?!你).{1,6}|他|她|.{0,4}(?:爸|妈|老师|同事|朋友)(?:总|常|老)?(?:这么)?)说|"
    r"(?:[,，—–]|\s-)+\s*(?:这|那|好一)(?:句|段|首|番)(?:台词|歌词|话|歌|诗|文案|标语)|"
    r"(?:[,，—–]|\s-)+\s*(?:what a|great|best|that|this) (?:line|lyrics?|quote|song|slogan)\b",
    re.IGNORECASE,
)


def is_told_of(text: str, start: int, at: int, end: int) -> bool:
    """Whether the words at `at` in the sentence `text[start:end]` are about others: said by them, or to them."""
    before = _TOLD_OF.search(text, start, at)
    return bool(before and not re.search(r"\byou\b|[你您]", before[0])) or bool(_TOLD_AFTER.search(text, at, end))


def _sentence_start(text: str, start: int) -> int:
    ends = [
        match.end() for match in re.finditer(r"[.!?。！？\n](?=\s|$|[^\x00-\x7f])", text[max(0, start - 400) : start])
    ]
    return max(0, start - 400) + (ends[-1] if ends else 0)


def sentence_end(text: str, start: int) -> int:
    """The end of the sentence around `start`, before its punctuation."""
    match = _SENTENCE_END.search(text, start, min(len(text), start + 600))
    return match.start() if match else min(len(text), start + 600)


def is_said_to_others(text: str, start: int, end: int) -> bool:
    """Whether the sentence reports what the owner said to somebody else.

    >>> text = "I said to the waiter, no, the soup, not the salad."
    >>> is_said_to_others(text, 0, len(text)), is_said_to_others("I said York, not Leeds", 0, 22)
    (True, False)
    """
    return bool(_SAID_TO.search(text, start, end))


def sentence_of(text: str, at: int) -> tuple[int, int]:
    """Start and end of the sentence around `at`, without its punctuation."""
    return _sentence_start(text, at), sentence_end(text, at)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence of a prepared text, without its punctuation."""
    start = 0
    for match in islice(_SENTENCE_END.finditer(text), MAX_CLAUSES):
        if text[start : match.start()].strip():
            yield start + len(text[start:]) - len(text[start:].lstrip()), match.start()
        start = match.end()


def is_asked(text: str, start: int) -> bool:
    """Whether the sentence around `start` ends as a question."""
    end = sentence_end(text, start)
    if _TAG.search(text[start:end]):
        return False
    return text[end : end + 1] in ("?", "？") or bool(re.search(r"[吗呢]\s*$|(?<!什)么\s*$", text[start:end]))


def is_own_voice(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` (prepared) is the owner's own voice and not hostile."""
    is_own = _MASK not in text[start:end] and not is_other_voice(text, start)
    return is_own and not (is_attack(text) or is_hostile(text, start, end))


def is_attack(text: str) -> bool:
    """Whether the message attacks the rules that hold for every persona; then none of its requests counts."""
    return _OVERRIDE.search(text) is not None


def is_hostile(text: str, start: int, end: int, *, is_wish: bool = True) -> bool:
    """Whether the sentence of the request `text[start:end]` attacks the rules that hold for every persona. Wishes about
    secrets count as attacks; requests to forget or remember secrets do not."""
    begins = _sentence_start(text, start)
    secret = is_wish and _SECRETS.search(text, begins, end)
    return bool(_HOSTILE.search(text, begins, end) or secret)
