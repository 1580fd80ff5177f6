"""Requests that a message may make, where the grammar of `english` and `chinese` hears none: at most to be asked about.

A sentence asks for something where a directive (an order, a polite frame, a wish of the speaker, a ban) governs a verb
or noun of a field: what is kept and deleted, names, and how to talk. `_FIELDS` holds the words of each field, the
directives are the same for all; a negation turns keeping into deleting and the reverse. A sentence that tells what
somebody said to somebody else, or asks what the persona can do, is left out. Pure; English and Chinese.
"""

import re
from collections.abc import Iterator

from echovessel.language import tokenizer
from echovessel.language.matters import matter_of
from echovessel.language.requests import chinese, english
from echovessel.language.requests.clauses import is_asked, is_other_voice, is_told_of, sentences
from echovessel.language.requests.types import ALWAYS, Condition, Request, RequestKind

_I = re.IGNORECASE
_HAN = re.compile(r"[\u3400-\u9fff]")
MAX_LOOKED_AT = 2_000  # characters

# --- the words of the fields -----------------------------------------------------------------------------------------
_GONE = (
    r"(?:forget(?:ting|ten)?|unlearn|eras\w+|delet\w+|remov\w+|wip(?:e|ing)|purg\w+|scrub\w*|strik(?:e|ing)|"
    r"discard\w*|blank(?:ing)? out|rub(?:bing)? out|undo|unsay|shred|bury|burn|toss|chuck|throw(?:ing)? (?:away|out)|"
    r"take back|scratch(?= (?:that|this|it|what|my))|"
    r"bin|ditch\w*|dump\w*|drop\w*|lose|clear\w*|get(?:ting)? rid of|let(?:ting)? go of|cross\w* (?:out|off|that|it)|"
    r"(?:tak|leav)(?:e|ing) (?:[\w'’]+ ){1,6}?(?:out|off|away)|(?:tak|leav)(?:e|ing) out)"
)
_KEPT = (
    r"(?:rem+e?m?ber\w*|memori[sz]\w*|stor(?:e|ing)|sav(?:e|ing)|record(?:ing)?|bookmark\w*|file (?:this|that|it|"
    r"away)|"
    r"keep(?:ing)?(?! (?:asking|saying|calling|telling|bringing|going|it short|it brief))|hold(?:ing)? on(?:to| to)|"
    r"hang(?:ing)? on ?to|know(?:ing)?|hav(?:e|ing)(?= (?:it|that|this|them)\b)|log(?:ging)?|jot(?:ting)?|"
    r"not(?:e|ing)(?! to)|"
    r"mak(?:e|ing) (?:a |another )?(?:mental )?note|(?:writ|jot|not|tak|pop|put|mark)(?:e|"
    r"t?ing)? (?:[\w'’]+ ){1,3}?down|"
    r"(?:put|pop|add|commit|file)(?:ting|ing)? (?:[\w'’]+ ){0,5}?(?:in|to|into|on|under) (?:your|ur|record|memory)|"
    r"got (?:this|that|it)|remind\w*)"
)
_TALK = (
    r"(?:say\w*|tell\w*|ask\w*|mention\w*|bring\w*|talk\w*|speak\w*|writ\w+|text\w*|answer\w*|repl\w+|respond\w*|"
    r"send\w*|"
    r"us(?:e|ing)|giv\w+|offer\w*|suggest\w*|recommend\w*|remind\w*|start\w*|end\w*|finish\w*|lectur\w+|preach\w*|"
    r"joke\w*|jok\w+|teas\w+|correct\w*|fix\w*|interrupt\w*|compar\w+|judg\w+|prais\w+|flatter\w*|pity|push\w*|"
    r"nag\w*|argu\w+|agree\w*|comfort\w*|cheer\w*|check\w*|listen\w*|stick\w*|chang\w+|switch\w*|mak(?:e|ing) it|"
    r"swear\w*|curs\w+|repeat\w*|assum\w+|analy[sz]\w+|apologi[sz]\w+|treat\w*|explain\w*|quot\w+|sound\w*|act\w*|"
    r"pretend\w*|go (?:easy|gently|slow|on)|be|stay|keep|spell\w*|translat\w*|sign\w*|greet\w*|wish\w*|hug\w*)"
)
_STYLE = (
    r"(?:emojis?|emoticons?|smileys?|exclamation (?:marks?|points?)|bullet ?points?|lists?|advice|tips|suggestions?|"
    r"pep ?talks?|compliments?|flattery|praise|jokes|puns?|sarcasm|small ?talk|questions?|lectures?|sermons?|"
    r"platitudes?|clich[eé]s?|therapy[- ]?(?:talk|speak)?|jargon|slang|swearing|profanity|pet ?names?|nicknames?|"
    r"hearts?|caps|hashtags?|(?:long|short)(?:er)? (?:\w+ )?(?:answers?|repl(?:y|ies)|messages?|texts?|paragraphs?)|"
    r"answers?|repl(?:y|ies)|responses?|paragraphs?|sentences?|essays?|metaphors?|quotes?|poetry|reminders?|"
    r"topics?|subject|sugar-?coating|hand-?holding|positivity|silver linings?|disclaimers?|apologies|talk(?:ing)?|"
    r"listening|chatter|words|feelings|teasing|flirting|"
    r"sweet talk|baby talk|pressure|pushing|drama|(?:first|last) names?)"
)
_FORMER = r"(?:(?:what(?:ever)?|that|this|the (?:bit|part|thing|stuff)|everything|anything|it|all)\b[^.!?]{0,60}?)"
_MEMORY = r"(?:memor(?:y|ies)|mind|records?|notes|brain|head|database|files?|storage|logs?|system)"

# --- the directives --------------------------------------------------------------------------------------------------
_YOU = r"(?:you|u|ya)"
_FRAME = (
    rf"(?:please|pls|plz|kindly|(?:can|could|would|will|won't|may|might) (?:{_YOU}|we|i ask you to|i get you to)|"
    r"(?:i|we)(?:'d| would|'ll| really| just| do|'m)*(?: (?:really|just|also|quite|much|so))* (?:like|love|want|need|"
    r"prefer|rather|appreciate|wish|hope|asking|begging|counting on)|(?:do not|don't|dont|didn't) want|"
    rf"{_YOU} (?:really |just )?(?:can|may|could|should|must|have to|need to|ought to|don't (?:have|need) to|needn't|"
    r"mustn't|shouldn't|'d better)|try(?: not)? to|let's|let us|no need (?:to|for)|(?:make|be) sure|promise(?: me)?|"
    r"it(?:'d| would) (?:be|help|mean)|(?:the )?(?:only|one) thing i ask|from (?:now|here|today) on|do me a favou?r|"
    r"you're (?:not )?to|feel free to|best(?: if you)?)"
)
_LEAD = (
    r"(?:(?:and|but|so|then|also|oh|ok|okay|no|nah|hey|well|just|now|maybe|actually|sorry|honestly|seriously|lol|"
    r"right|"
    r"anyway|btw|hm+|love|dear|darling|mate|friend|again|or|in future|next time|today|for now|one thing|\w+(?=,))"
    r"[\s,:…-]{1,3}){0,4}"
)
_ORDER = (
    rf"(?:^|[,;:—–)]\s*|\s-+\s|\b(?:and|so|but|then|or)\s+){_LEAD}(?:(?:do not|don't|dont|never|always|stop|quit|"
    rf"avoid|no more)\s+(?:\w+ly )?)?"
)
_NOT = (
    r"\b(?:not|never|no longer|\w+n't|dont|doesnt|wont|cant|no need|stop|quit|avoid|without|rather than|no|nothing|"
    r"none)\b"
)
_GAP = r"(?:[\s,]+[\w'’]+){0,6}?[\s,]+"


def _governed(verbs: str) -> re.Pattern[str]:
    """The verb where a directive governs it: an order at the beginning of a clause, or a frame a few words before."""
    return re.compile(rf"(?P<lead>{_ORDER}|\b{_FRAME}{_GAP})(?P<verb>{verbs})\b(?!-)", _I)


_DELETES, _KEEPS, _TALKS = _governed(_GONE), _governed(_KEPT), _governed(_TALK)
_MATTER = re.compile(
    r"\s+(?:(?:all |every\w* |any\w* )?(?:about |on |of )?)(?:my|our|his|her|their|the|that|this|it|them|those|these|"
    r"what(?:ever)?|all|"
    r"any\w*|every\w*|me|i\b|i'm|i've|(?-i:[A-Z])|from|out)",
    _I,
)
_AROUND = re.compile(
    r"^(?:(?:please|pls|about|every\w*|any\w*|all|that|to|the|of|from|on|with|whole|bits?|things?|stuff|parts?|"
    r"business|story|matter|"
    r"(?:you've |you )?(?:got|have|know|keep)|i (?:said|told you)|out|up)\b\s*)+|^(?:把|请|麻烦|帮我|关于|的|给我|都|"
    r"跟你说的|你记的|那些)+|"
    r"[\s.,!?]+$|^[\s.,!?]+|(?:(?:,? (?:now|pls|please|will you|would you|from (?:your|ur) \w+)))+$|(?:吧|了|掉|的|"
    r"都|行吗|好吗|从你\w{0,3})+$",
    _I,
)
_POINTS = re.compile(
    rf"(?:(?:what|that|this|it|them|the|last|one|bit|part|thing|line|message|i|just|said|told|wrote|you|please|pls|"
    rf"{_FRAME}|out|of|your|memory|any)\W*)+|"
    r"(?:这|那|刚|才|刚刚|上|面|我|你|说|的|话|句|条|段|个|件|些|事|情|它|就|先|也|吧|行吗|能不能|可以|请|麻烦|帮|"
    r"给)+",
    _I,
)
_STAYS_OUT = re.compile(
    rf"\b(?:stays?|kept?|keep|goes?|belongs?|leave) (?:[\w'’]+ ){{0,4}}?(?:out of|off|"
    rf"outside)\b.{{0,20}}\b(?:{_MEMORY}|record)\b|"
    rf"\b(?:not|n't|never|no longer|nothing)\b[^.!?]{{0,50}}\b(?:in|into|to|on) (?:your|ur|the) {_MEMORY}\b|"
    r"\boff the record\b|\b(?:between|just) (?:us|you and me|the two of us)\b|\bas (?:un(?:said|spoken|told)|if (?:i|"
    r"it) never)\b|"
    rf"\b{_YOU} (?:never|didn't|haven't) (?:heard?|seen?|saw|read)\b|\b(?:never|didn't) (?:happen|say|said|tell|"
    rf"told)\b.{{0,20}}\b(?:ok|okay|right|please)\b|"
    r"\b(?:pretend|act(?:ing)? (?:like|as (?:if|though))|as (?:if|though)|imagine)\b[^.!?]{0,20}\b(?:never|didn't|"
    r"hadn't|haven't|wasn't|weren't)\b|"
    r"\b(?:not|n't|never|nothing|none|no trace|any trace)\b[^.!?]{0,50}\b(?:in (?:your|ur)|with you|your end)\b|"
    r"\b(?:everything|anything|all|the (?:bit|part|stuff|thing|story|name)|what i|that|this|"
    r"it)\b[^.!?,]{0,50}\b(?:can|could|should|may|must|has to|needs to|had better|to) "
    r"(?:go|vanish|disappear|be (?:forgotten|deleted|erased|removed|gone|wiped|dropped|struck|binned|unsaid|lost|"
    r"cleared))\b|"
    r"\b(?:could|can|would) (?:everything|the (?:bit|part|stuff|thing)|what i|that|this)\b[^.!?]{0,50}\b(?:vanish|"
    r"disappear|go|be (?:forgotten|deleted|erased|removed|gone|wiped))\b|"
    r"\b(?:i'd rather|i want|i need|i'd like|please|best|better|should be|needs? to be|"
    r"to be)\b[^.!?]{0,40}\b(?:forgotten|deleted|erased|removed|gone|wiped|unsaid|"
    r"(?:wasn't|weren't|isn't|not|never) (?:be )?(?:kept|stored|saved|remembered|recorded|noted|there))\b|"
    r"\bgone,? please\b|"
    r"\b(?:ears|eyes) only\b|\bnot for (?:the record|your|keeping|storing)\b|\bdoesn't (?:count|leave)\b",
    _I,
)
_FOR_LATER = re.compile(
    rf"\b(?:worth|important|good|useful|handy|something|one|thing) (?:\w+ ){{0,3}}(?:to|for {_YOU} to) (?:remember|"
    rf"keep|know|note|bear|store)\b|"
    r"\bfor (?:your|ur|future) (?:records?|notes|files?|memory|reference)\b|\bmental note\b|\bnote to (?:you|self)\b|"
    rf"\b(?:so|in case) {_YOU} (?:know|remember|have it|don't forget)\b|\bdon't (?:let me|you) (?:ever )?forget\b|"
    rf"\b(?:fyi|nb)\b|\bmemory bank\b|"
    r"\b(?:want|need|like|should be|to be|have) (?:this|that|it)?\s?(?:remembered|noted|recorded|on record|kept)\b|"
    r"\b(?:important|essential|vital|good|helpful|better|best) (?:that |if |for )?(?:you|u) (?:to )?(?:know|knew|"
    r"remember|keep)\b",
    _I,
)
_STYLED = re.compile(
    rf"\b(?:no|not|less|fewer|more|enough|without|skip|drop|cut|lose|ditch|spare me|leave out|lay off|ease (?:up|"
    rf"off)|"
    rf"go easy|tone down|dial down|(?:stop|done|over|enough) with|(?:don't|do not|dont) (?:want|need|like)|hate|"
    rf"can't stand|"
    rf"(?:short|long|simpl|plain|slow|soft|kind)e?r?|ration|limit|keep|hold)\b(?: [\w'’]+){{0,4}}? {_STYLE}\b|"
    rf"\b{_STYLE}\b(?: [\w'’]+){{0,3}}? (?:(?:is|are) )?(?:banned|forbidden|off[- ]limits|out|too much|annoying|"
    rf"please|not allowed|"
    r"(?:is|are) (?:fine|enough|plenty|ok))\b|\boff[- ](?:limits|the table)\b|\bno-go\b|\b(?:house )?rules?\b ?:|"
    r"\bone (?:\w+ )?\w+ at a time\b|"
    r"\b(?:steer|stay|keep|stand) (?:well )?(?:clear of|away from|off|out of)\b|\bleave (?:my|our|the|his|"
    r"her) [^.!?]{1,40} (?:alone|out of (?:it|this))\b|"
    rf"\b{_YOU}(?: can| could| may|'re allowed to| should)? (?:be )?(?:(?:a )?(?:bit|little) |much |way |"
    rf"too )?(?:more|less|too) \w+\b|"
    rf"\b(?:need|want|like|prefer) {_YOU} (?:to be )?(?:\w+ly )?(?:gentle|kind|quiet|honest|close|soft|strict|blunt|"
    rf"calm|patient|direct|brief|funny|serious|tough)\b|"
    rf"\b{_YOU} (?:can|may|could) [^.!?]{{1,40}}\b(?:more|less|as (?:much|often|hard))\b|\bas (?:much|often|hard|"
    rf"long|"
    rf"short) as {_YOU} (?:like|want|can)\b|"
    r"^(?:(?:when|if|whenever|every time|any time|once|as soon as) (?:i|i'm|we|my|it|things)\b[^,]{2,60}, (?!(?:i|"
    r"i'm|"
    r"i'll|i've|i'd|he|she|it|it's|they|we|my|his|her|the|that|that's|this|there|"
    r"people|you|your|then|so|and|but|everything|nothing|what|why|how|please|maybe|even|is|do|does|would|will|can|"
    r"not|"
    r"no|yes)\b)[a-z]+)|\bban on\b|\bmakes? me (?:squirm|cringe|feel)\b",
    _I,
)
_LASTING = re.compile(
    r"\b(?:always|never|ever|from (?:now|here|today) on|in (?:the )?future|whenever|when(?:ever)? (?:i|we|it|you|"
    r"things|"
    r"my)|if (?:i|we|my|you|it)|next time|every|each|any ?more|again|instead|rather|so (?:much|many|often)|too|"
    r"during|"
    r"around|until|unless|the way|like (?:a|an|my|you)|with me|to me|at me)\b",
    _I,
)
_OF_THE_TWO = re.compile(r"\b(?:me|my|i|i'm|us|you|your|so|like)\b|['\"‘“]|\bat (?:all|the end)\b", _I)
_CALLS = _governed(r"(?:call(?:ing|ed)?|addres+(?:ing|ed)?|refer(?:ring)? to|greet(?:ing)?) me")
_NAMED = re.compile(
    r"\b(?:just |only |plain )?(?-i:[A-Z])[\w'-]+ (?:is fine|is (?:enough|better|ok|good)|will do|would be (?:nice|"
    r"fine|better|good)|works|please)\b|"
    r"\bi go by (?!the|train|bus|bike|car|foot|feel|what|myself|it)\w+|\b(?:use|try|say) my (?:\w+ )?name\b|"
    r"\buse my (?:nick|first|real|middle|full|last)|\bdrop the (?:mr|mrs|ms|miss|sir|ma'am|madam|dr|formal)|"
    r"(?:^|[,;–—-]\s?)(?:it's|i'm|it is|i am) (?:just )?(?-i:[A-Z])\w+(?=,? not (?-i:[A-Z])|,? (?:please|to you|"
    r"these days|now)\b|$)|"
    r"\b(?:i|my friends|everyone|everybody|people|folks|the family|they)\b[^.!?]{0,16}?\b(?:go(?:es)? by|prefer|"
    r"answer to|"
    r"say|use|'m just|am just|like)\s+(?:(?:my|the) (?:\w+ )?name|(?-i:(?:Dr|Mrs?|Ms)\.? )?(?-i:[A-Z])\w+)|"
    r"\b(?:use|say|prefer|stick (?:with|to)|make it)\s+(?:just )?(?:my (?:\w+ )?name|(?-i:[A-Z])\w+)\b|"
    r"\bmy name(?:'s|"
    r" is) (?-i:[A-Z])\w+|(?<=my )name(?:'s| is) (?-i:[A-Z])\w+|"
    r"\bon (?:first|last)[- ]name terms\b|\bno (?:\"|“)?\w+(?:\"|”)?,? (?:please|just)\b",
    _I,
)
_NAME = re.compile(
    r"(?:\b(?:me|say|says|use|prefer|by|i'm|i am|it's|just|only|name is|name's|to)|^)\s+(?:just |as )?"
    r"(?P<en>(?-i:(?:(?:Dr|Mrs?|Ms)\.? )?[A-Z])[\w'-]*)|"
    r"(?<![别要许准])(?:叫|喊|称呼)我?(?P<zh>[A-Za-z]\w*|[\u3400-\u9fff]{1,4}?)(?=吧|就|$|好了|啦|[，,。！!])",
    _I,
)
_WHEN = re.compile(
    r"\b(?:next time|when(?:ever)?|if|every ?time|any ?time|once) (?:i|i'm|i've|we|my|it|things|someone|"
    r"(?-i:[A-Z])\w+)\b[^,.!?:;\n]{1,80}|"
    r"(?:下次|每次|每当|如果|要是|一旦|当|等|以后)?[^，,。！？：:\n]{0,6}我[^，,。！？：:\n]{1,30}?(?:的时候|的话)|"
    r"(?:我)?一[^，,。！？：:\n]{1,8}(?=就)",
    _I,
)
_DENIES = re.compile(
    r"\b(?:not|never|no|nope|nah|actually|wrong|meant|mean|mistake\w*|mistyped|typo|correction|instead|mixed|"
    r"confus\w+|"
    r"rather|misremember\w*|misspoke|misheard|\w+n't|wasnt|isnt|arent|didnt|dont|doesnt|checked|turns out|other way|"
    r"different|neither|hold on|oops|whoops|scrap that|make that|should be|should have been|sorry)\b|^\*",
    _I,
)
_YOU_SAID = re.compile(
    r"\b(?:you|u)(?:'ve|'re| have| keep| kept| just)? (?:said|say|saying|told|wrote|written|think|thought|called|put|"
    r"got|"
    r"mentioned|remember(?:ed)?)\b|\bi(?:'ve| have| just)? (?:said|told you|meant|wrote|mentioned|typed)\b",
    _I,
)

# --- what asks for nothing -------------------------------------------------------------------------------------------
_ABILITY = re.compile(
    rf"^\W*(?:so |and |but |hey |just curious,? )*(?:do|did|are|were|have|is|was|does|what|how|why|who|where|when|"
    rf"which)\b"
    rf"|\b(?:are|were) {_YOU} able\b|\b(?:can|do|could|would) {_YOU} (?:even|ever|actually|really)\b|"
    rf"\b(?:can|could|will|do) {_YOU} remember (?:my|what|this|how|where)\b|"
    r"\bwould it be\b|\bdo you mind if i\b|\bhelp me (?:write|with|word)\b",
    _I,
)
_SAYING = re.compile(
    r"\bcall me (?:when|if|later|back|a\b|an\b|on|at|tomorrow|tonight|[\w-]+,? but\b|old[- ]fashioned|crazy|mad|"
    r"silly)|\bkeep calm\b|"
    r"\bforgive and forget\b|\bget me started\b|\btell me (?:about it|why|it's|that's|you|how|what|more)\b|"
    r"\bnever mind\b|\bmind you\b|"
    r"\b(?:let it go|hold on|hang on|hang in|keep (?:the change|calm|going|up|in touch|well|it up|your chin)|"
    r"say no more|say cheese|"
    r"tell me|you know(?! (?:about|that|my))|forget (?:it|about it|me|him|her)\b(?! (?:ever|all|ent|"
    r"altog)))(?=[.,!?…]|$)|"
    r"^\W*forget (?:it|that)\b[,.]? (?!please|pls|you|i |ever)|\bno (?:worries|problem|way|idea|need$|rush|thanks)\b|"
    r"\bi (?:don't|dont|never|can't|couldn't) (?:remember|know|forget|recall|keep)\b|\bdon't (?:worry|mind|know|"
    r"bother)\b|"
    r"\bforget (?:your|(?:about )?(?:winning|dinner|work|what they))\b|\bforget to (?!ask|remind|tell|wish|check|"
    r"mention)|\bwant you to know (?:that |how )?(?:i'm|i am|i feel|i love|i appreciate|much)\b|"
    r"\b(?:remember|forget) (?:things|anything|stuff)\b|\bnote to self\b|"
    r"\bremember (?:when|that (?:time|night|day)|the (?:time|day|night|summer)|how|me\b|i said|to (?!ask|remind|tell|"
    r"wish|check))",
    _I,
)


def read_possible(text: str, previous: str = "") -> Iterator[Request]:
    """What the prepared `text` may ask for, each kind once, in its order. `previous`: the messages just before."""
    seen: set[RequestKind] = set()
    for start, end in sentences(text[:MAX_LOOKED_AT]):
        sentence = text[start:end]
        if "\x00" in sentence.strip("\x00 ")[:1] or is_other_voice(text, start):
            continue
        is_chinese = _HAN.search(sentence) is not None
        kind = _chinese(text, start, end) if is_chinese else _english(text, start, end)
        if kind is None and not is_asked(text, end - 1) and _corrects(sentence, text, previous, is_chinese):
            kind = RequestKind.CORRECTION
        if kind is not None and kind not in seen:
            seen.add(kind)
            yield _request(text, kind, start, end, is_chinese)


def _english(text: str, start: int, end: int) -> RequestKind | None:
    sentence = text[start:end]
    asked = is_asked(text, start)
    if (asked and _ABILITY.search(sentence)) or _SAYING.search(sentence):
        return None
    if _STAYS_OUT.search(sentence):
        return RequestKind.FORGET
    is_style = _own(_STYLED, text, start, end)
    if is_style and not re.search(rf"\b(?:{_MEMORY}|told|said|remember\w*|forget\w*|know)\b", sentence, _I):
        return RequestKind.WISH
    governed = [
        (found.start("verb"), kept, found)
        for pattern, kept in ((_DELETES, False), (_KEEPS, True))
        if (found := _own(pattern, text, start, end))
    ]
    if governed:
        _at, kept, found = min(governed, key=lambda one: one[0])
        denied = len(re.findall(_NOT, found["lead"], _I)) % 2 == 1
        return RequestKind.REMEMBER if kept != denied else RequestKind.FORGET
    if _FOR_LATER.search(sentence):
        return RequestKind.REMEMBER
    if _own(_CALLS, text, start, end) or _own(_NAMED, text, start, end):
        return RequestKind.NAME
    if is_style:
        return RequestKind.WISH
    if found := _own(_TALKS, text, start, end):
        forbids = re.search(_NOT, found["lead"], _I) and _OF_THE_TWO.search(sentence, found.end())
        return RequestKind.WISH if forbids or _LASTING.search(sentence) else None
    return None


def condition_of(words: str) -> Condition:
    """What a condition in these words is about."""
    return (chinese if _HAN.search(words) else english).condition_of(words)


def condition_within(words: str) -> Condition:
    """The condition that words to be remembered tell, wherever it stands in them.

    >>> condition_within("Remember, next time I panic: breathing helps").text
    'next time I panic'
    """
    found = _WHEN.search(words)
    return condition_of(found[0].strip()) if found else ALWAYS


def is_boundary(sentence: str) -> bool:
    """Whether it wants something left alone."""
    forbids = re.search(_BAN_ZH if _HAN.search(sentence) else _NOT, sentence, _I)
    return forbids is not None and bool(matter_of(sentence))


def _request(text: str, kind: RequestKind, start: int, end: int, is_chinese: bool) -> Request:
    """The sentence as a request of this kind; who is only told how not to be called is wished something."""
    words, sentence, condition = text[start:end].strip("\x00 \n\t"), text[start:end], ALWAYS
    if kind is RequestKind.FORGET:
        words = _matter(sentence, is_chinese)
        kind = kind if words else RequestKind.FORGET_THIS
    if kind is RequestKind.NAME:
        name = _NAME.search(sentence)
        kind, words = (kind, name["zh"] or name["en"]) if name else (RequestKind.WISH, words)
    if kind is RequestKind.WISH:
        condition = (chinese if is_chinese else english).condition_in(sentence)
    return Request(
        kind,
        start,
        end,
        words,
        condition=condition,
        sure=False,
        subject_start=text.find(words, start) if words else -1,
        is_boundary=kind is RequestKind.WISH and is_boundary(sentence),
    )


def _matter(sentence: str, is_chinese: bool) -> str:
    """What a sentence that asks to forget is about: the longest piece beside the verb, in its clause or in another; ""
    where it only points."""
    verbs = re.compile(rf"{_GONE_ZH}|{_KEPT_ZH}|{_BAN_ZH}" if is_chinese else rf"\b(?:{_GONE}|{_KEPT})\b", _I)
    clauses = sorted(
        re.split(r"[，,；;：:…]|\s(?=[\u3400-\u9fff])", sentence), key=lambda clause: not verbs.search(clause)
    )
    for clause in clauses:
        piece = max((_AROUND.sub("", _AROUND.sub("", piece)) for piece in verbs.split(clause)), key=len)
        if len(piece) > 1 and not _POINTS.fullmatch(piece):
            return piece
    return ""


def _own(pattern: re.Pattern[str], text: str, start: int, end: int) -> re.Match[str] | None:
    """Where the pattern stands in the sentence, in the owner's own voice; a verb where it is asked of the persona."""
    sentence = text[start:end]
    for found in pattern.finditer(sentence):
        if "verb" in pattern.groupindex and not _is_order(sentence, found, is_asked(text, start)):
            continue
        if not is_told_of(text, start, start + found.start(), end) and not is_other_voice(text, start + found.start()):
            return found
    return None


def _is_order(sentence: str, found: re.Match[str], is_questioned: bool) -> bool:
    """Whether the verb is asked of the persona: an order has its plain form, a wish of the speaker names "you"."""
    lead, verb = found["lead"], found["verb"].split()[0].lower()
    if not re.search(rf"\b{_FRAME}\b", lead, _I):
        bare = not verb.endswith("ing") or re.search(_NOT, lead, _I)
        return bool(
            bare and not is_questioned and (not re.match(_GONE, verb, _I) or _MATTER.match(sentence, found.end()))
        )
    speaks = re.search(r"\b(?:i|we)\b", lead, _I)
    own = speaks and not re.search(rf"\b{_YOU}\b|\b(?:it|that|this|not|n't)\b|n't", lead, _I)
    return not own or verb.endswith(("ed", "ten", "kept"))


def _corrects(sentence: str, text: str, previous: str, is_chinese: bool) -> bool:
    """Whether the sentence denies something of the messages before, or of what it says was told."""
    denies, told = (_DENIES_ZH, _YOU_SAID_ZH) if is_chinese else (_DENIES, _YOU_SAID)
    if not previous:
        return bool(told.search(sentence) and denies.search(text))
    telling = {token for token in tokenizer.tokenize(previous) if not tokenizer.is_function_word(token)}
    shared = telling.intersection(tokenizer.tokenize(text))
    if shared and told.search(sentence):
        return True
    return bool(denies.search(text) and (shared or told.search(text) or denies.match(sentence.lstrip())))


# --- Chinese ---------------------------------------------------------------------------------------------------------
_GONE_ZH = (
    r"(?:忘(?!记密码|不了|词|恩|年|我|形|带|情)|删|抹|清(?:掉|除|空|理|干净|了)|去掉|拿掉|擦(?:掉|去)|划掉|移除|"
    r"撤回|收回|翻篇|扔(?:掉|了)|丢掉|扔掉|甩掉|消掉|作废)"
)
_KEPT_ZH = (
    r"(?:(?<![日笔书游登手传标标签印])记(?!性|者|仇|恨|账|忆力|不|忆犹新|录片|挂|事)|存(?!在|款|钱)|留(?:着|下|底|"
    r"存|在|住|个底)|收(?:着|好|藏)|备注|"
    r"写(?:进|下|到|在)|放(?:进|到|在).{0,4}(?:记忆|心|脑)|往(?:心|脑)|(?<=[得要该你])知道|提醒我|别忘)"
)
_TALK_ZH = (
    r"(?:说|讲|问|提|聊|谈|劝|列|推荐|催|编|改|碰|发|回|答|教|评|夸|安慰|抱|陪|听|骂|笑|逗|比|吵|哄|叫我|让我|理我|"
    r"管我|打断|"
    r"重复|用|像|当|站|分析|解释|建议|道歉|敷衍|附和|鼓励|同情|可怜|否定|反驳|指出|纠正|跟着|带着|看(?!到|见|来|起)|"
    r"翻译|加|带|给我|跟我|对我)"
)
_BAN_ZH = (
    r"(?:不(?:想|希望|愿意|喜欢)(?:让)?(?:你|您)|以后(?:都|就)?不|不再|别|不要|不用|不许|不准|不必|不可以|不能|甭|"
    r"勿|少|免了|禁止|停止|省了|打住)"
)
_FRAME_ZH = (
    r"(?:[刚这那上](?:才|刚|面)?(?:一)?(?:句|条|段|话|些|件事)|请|麻烦|拜托|劳驾|帮我|替我|帮忙|给我|能不能|可不可以|"
    r"可以|能否|希望|想(?:让|请|要)你|要你|让你|得|必须|一定|千万|务必|以后|今后|"
    r"从现在|从今|下次|每次|永远|赶紧|赶快|直接|干脆|尽量|最好|还是|就|都|先|只|你(?:也|要|就|可以|给|帮|得|先|只管|"
    r"能)?|把|将)"
)
# What somebody did or does, where the clause does not speak to the persona.
_TELLS_ZH = re.compile(
    r"^(?:我们?(?!的|那|这|刚|之前|上次|告诉|跟你|和你|说|讲|想让|希望|要你|不想)|[他她它咱]们?|大家|有人)|"
    r"[忘删抹清擦记存留写收]了(?!吧|它|[。！!]|$)|[把都还又].{0,8}[忘删记]了?(?:个|光|干净|一干二净)"
)
_ADDRESSED_ZH = re.compile(
    r"请|麻烦|拜托|[帮替给]我|能不能|可不可以|希望|[让要]你|你|务必|千万|别|不要|不用|好吗|行吗|吧$"
)
_ASKS_ZH = re.compile(
    r"^(?!你[要就得]).*(?:谁|哪|什么时候|怎么|为什么|怎样)|多久|多少|是不是|有没有|会不会|还记得|记得我|"
    r"(?<![替帮给])我(?:还|都|也|一直)?记(?!错)|记住了|忘了(?:告诉|跟|说|带|喝)|"
    r"(?<![帮替给])我(?:(?:要|得|必须|应该|需要|会)(?:记|忘)|(?:刚|已经|都)?把)|[他她它]把|记得(?=那|小时候|当|以前|"
    r"我们)|别忘了?(?!.*(?:我|这|那))|知道我很|"
    r"(?<![你要请定万须])记得(?!.*(?:我|这|那|咱))|不会忘|想忘|没记|不记得|你?能(?:忘记|记住)(?:我说的.{0,3})?吗?$|"
    r"要记住.{1,6}就|我想记|(?<=[你要])记得(?:吃|喝|睡|带|穿)|别忘(?:了|记)我们?[啊哦呀吧了]*$|记着呢|你给我记住|"
    r"叫我(?=去|来|回|起|滚|帮|吃|做)|长话短说|里写着|"
    r"(?:我|又|都|老|老是|总|差点|早就?|全|还是|好像|已经|就)忘|难忘|遗忘|记不|没.{0,4}(?:忘|把)|(?:要是|如果)能|"
    r"真想|"
    r"如果我(?:让|叫)|写了|(?:删|清|抹)了(?!吧|它|[。！!]|$)"
)
_IDIOM_ZH = re.compile(
    r"别(?:[提说问讲聊](?:了|(?=[，,。！!]|$))|闹|逗|难过|担心|眨眼|人|的|样|扭|墅|致|急|怕|哭|走|动(?!不动)|生气|"
    r"着急|客气|介意|误会|装(?!懂)|傻|理|在意|慌|光|紧张|笑(?=[，,。！!]|$))|不[许准]笑(?=[，,。！!]|$)|不用(?:了|谢|担心|客气)|少(?:废话|来|年|数|吃|喝)"
)
_QUESTION_ZH = re.compile(
    r"(?:能不能|可不可以|可以|能|好|行|对)(?:吗|不|吧|嘛|么)?|好不好|行不行|拜托|麻烦|请|帮我|替我"
)
_MANNER_ZH = re.compile(
    r"(?:说|讲|回|聊|写|话|句|语气|跟我|对我|回复|消息|答).{0,8}(?:短|慢|长|直接|温柔|简单|轻|正常|随意|认真|口语|"
    r"多)(?:一?点|一?些|儿)|就(?:好|行|够|成)|只(?:要|管|发|说|用)|(?:多|少).{1,6}(?:一?点|一?些|[两几]句)|"
    r"先.{1,8}(?:再|说完|讲完)|你(?:可以|能不能|要|得)?.{1,4}(?:一?点|一?些)|更?.{1,3}(?:一?点|一?些)(?:吧|$|，)"
)
_LASTING_ZH = re.compile(
    r"你.{0,12}(?:以后|每次|时候|今后|下次|从现在|能不能|可不可以)|(?:以后|每次|时候|今后|下次|从现在|希望|"
    r"能不能).{0,16}你|希望你|想让你|你要|(?:^|[，,])(?:请|来|就|多)?(?:催我|陪我|抱我)"
)
_ABOUT_TALK_ZH = re.compile(
    r"你|我|以后|每次|时候|老|总|再|话题|这个|表情|建议|道理|语气|语音|句|话|消息|回|问号|标点|您"
)
_NAMED_ZH = re.compile(
    r"(?:叫|喊|称呼|管|唤)(?:我|全名|名字|本名|小名|人家|俺|咱)|称呼|我的?.{0,2}名字?(?:是|叫)|(?:喊|叫)[\u3400-\u9fff]{1,4}(?:吧|"
    r"就[好行]|就可以|好了)"
)
_OUT_ZH = re.compile(
    r"(?:当|就当|全当)(?:.{0,3})?没(?:看|听|说|讲|发生)|到此为止|听过就(?:算|好|忘)|(?:只|就)(?:跟|"
    r"和)?你(?:一个)?(?:人)?(?:说|知道|讲)|你知我知|别往心里|不(?:作|做)数|off the record|不算数|烂在肚子"
)
_LATER_ZH = re.compile(
    r"(?:记|存|收|留)(?:一下|上|好|牢|到|着|住)|(?:提醒|告诉|跟).{0,2}我|别忘|你(?:得|要|可|一定).{0,4}(?:知道|记)"
)
_DENIES_ZH = re.compile(
    r"不是|不对|不叫|不在|没(?!事|关系|问题)|错|其实|应该是|吹牛|更正|而是|才是|是我.{0,3}不是|已经不|早就不|早不|"
    r"乱记|搞混|弄混|口误|笔误|手滑|反了|^\*"
)
_YOU_SAID_ZH = re.compile(r"(?:你|您|我)(?:刚才?|之前|上次|一直|老|总|还|那天)?(?:说|写|讲|记|以为|觉得|提|打|叫)")


def _chinese(text: str, start: int, end: int) -> RequestKind | None:
    sentence = text[start:end]
    asked = is_asked(text, start)
    if is_told_of(text, start, end, end) or (asked and not _QUESTION_ZH.search(sentence)):
        return None
    if _OUT_ZH.search(sentence):
        return RequestKind.FORGET
    clauses = [
        found[0]
        for found in re.finditer(r"[^，,；;：:\s…]+", sentence)
        if not _ASKS_ZH.search(found[0]) and not is_other_voice(text, start + found.start())
    ]
    for clause in clauses:
        ban, framed = _ban(clause), re.search(_FRAME_ZH, clause)
        if re.fullmatch(r"(?:就|都)?忘了(?:它|这事|这件事)?吧?", clause) or (
            _TELLS_ZH.search(clause) and not _ADDRESSED_ZH.search(clause)
        ):
            continue
        if (gone := re.search(_GONE_ZH, clause)) and (
            framed or ban or gone.start() < 2 or re.search(r"(?:吧|掉|行吗|好吗)$", clause)
        ):
            return RequestKind.REMEMBER if ban and ban.start() < gone.start() else RequestKind.FORGET
        if (kept := re.search(_KEPT_ZH, clause)) and (framed or ban or kept.start() < 2 or _LATER_ZH.search(clause)):
            return RequestKind.FORGET if ban and ban.start() < kept.start() else RequestKind.REMEMBER
    banned = next((clause for clause in clauses if _ban(clause)), "")
    whole = "，".join(clauses)
    if (
        banned
        or re.search(_FRAME_ZH, whole)
        or re.search(r"吧|啦|就好|就行", whole)
        or re.match(r"(?:叫|喊|称呼)我", whole)
    ) and _NAMED_ZH.search(whole):
        return RequestKind.NAME
    talks = re.search(_TALK_ZH, whole)
    if banned and talks and (_ABOUT_TALK_ZH.search(whole) or re.match(rf"{_BAN_ZH}{_TALK_ZH}", banned)):
        return RequestKind.WISH
    if talks and not asked and (_MANNER_ZH.search(whole) or _LASTING_ZH.search(whole)):
        return RequestKind.WISH
    if (
        talks
        and asked
        and re.search(
            r"(?:能|可以|能不能|可不可以).{0,12}(?:跟我|对我|给我|回我|话)|(?:跟我|对我|给我|回我|话).{0,12}(?:能|"
            r"可以)",
            whole,
        )
    ):
        return RequestKind.WISH
    return None


def _ban(clause: str) -> re.Match[str] | None:
    """The word that forbids, and is no part of another or of an idiom."""
    found = re.search(rf"(?<![离告区特级性分识]){_BAN_ZH}", clause)
    return None if found and _IDIOM_ZH.match(clause, found.start()) else found
