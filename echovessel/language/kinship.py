"""The relatives of the owner that a text mentions: "your dad", 「我爸」, "your mother's husband". Pure; both languages.

A relative is named by a word, or by a chain of words: the husband of the mother is the father. A chain that begins with
somebody else ("Tom's father", "Tom and his father") leads to no relative, unless that person is known to be one: if
Ruth is the mother, "Ruth's husband" is the father. "His father" is the owner's father if nobody else was named:
thoughts about the owner refer to them this way.
"""

import itertools
from collections.abc import Collection, Mapping
from functools import cache

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

MAX_LOOKED_AT = 4_000  # characters
_WORDS = {
    "father": r"fathers?|dads?|stepfathers?|stepdads?|daddy|papa|pops|old man|爸爸|爸|父亲|老爸|老爹|爹|爹地|家父|继父",
    "mother": r"mothers?|mums?|moms?|stepmothers?|stepmums?|stepmoms?|mummy|mommy|mama|妈妈|妈|母亲|老妈|娘亲|家母|"
    r"继母",
    "father mother": r"parents?|folks|父母|爸妈|爹妈|双亲|爹娘|二老",
    "brother": r"brothers?|half-?brothers?|stepbrothers?|bro|哥哥|弟弟|大哥|二哥|哥|弟|兄弟",
    "sister": r"sisters?|half-?sisters?|stepsisters?|sis|姐姐|妹妹|姐|妹|姊",
    "brother sister": r"siblings?|兄弟姐妹",
    "grandmother": r"grandmas?|grandmothers?|granny|grannies|nan|nana|奶奶|外婆|姥姥|祖母|外祖母|阿嬷",
    "grandfather": r"grandpas?|grandfathers?|grandad|granddad|gramps|爷爷|外公|姥爷|祖父|外祖父|阿公",
    "grandmother grandfather": r"grandparents?|祖父母|外祖父母|爷爷奶奶",
    "husband": r"husbands?|hubby|老公|丈夫|我先生|你先生",
    "wife": r"wife|wives|missus|老婆|妻子|太太|媳妇",
    "boyfriend": r"boyfriends?|男朋友|男友",
    "girlfriend": r"girlfriends?|女朋友|女友",
    "husband wife boyfriend girlfriend": r"partners?|spouse|爱人|伴侣|对象|另一半",
    "ex": r"exe?s?|ex-?husband|ex-?wife|ex-?boyfriend|ex-?girlfriend|ex-?partner|前任|前男友|前女友|前夫|前妻",
    "son": r"sons?|儿子",
    "daughter": r"daughters?|女儿|闺女",
    "son daughter": r"kids?|child|children|孩子们?|小孩|娃|宝宝|子女",
    "father-in-law": r"fathers?-in-law|公公|岳父|老丈人",
    "mother-in-law": r"mothers?-in-law|婆婆|岳母|丈母娘",
    "uncle": r"uncles?|叔叔|舅舅|伯伯|伯父|姑父|姨父|叔|舅",
    "aunt": r"aunts?|auntie|aunty|阿姨|姑姑|姨妈|姑妈|舅妈|婶婶|姨|姑",
    "cousin": r"cousins?|表[哥弟姐妹]|堂[哥弟姐妹]",
    "family": r"family|relatives|家人|家里人?|亲戚",
}
# The result of a chain of two; chains that are not listed lead to no relative above.
_CHAINS = {
    ("mother", "husband"): "father", ("father", "wife"): "mother", ("mother", "boyfriend"): "father",
    ("father", "girlfriend"): "mother", ("mother", "ex"): "father", ("father", "ex"): "mother",
    ("brother", "father"): "father", ("sister", "father"): "father", ("brother", "mother"): "mother",
    ("sister", "mother"): "mother", ("mother", "son"): "brother", ("father", "son"): "brother",
    ("mother", "daughter"): "sister", ("father", "daughter"): "sister", ("brother", "sister"): "sister",
    ("sister", "brother"): "brother", ("mother", "mother"): "grandmother", ("father", "mother"): "grandmother",
    ("mother", "father"): "grandfather", ("father", "father"): "grandfather", ("mother", "brother"): "uncle",
    ("father", "brother"): "uncle", ("mother", "sister"): "aunt", ("father", "sister"): "aunt",
    ("husband", "mother"): "mother-in-law", ("wife", "mother"): "mother-in-law",
    ("husband", "father"): "father-in-law", ("wife", "father"): "father-in-law",
    ("grandmother", "son"): "father uncle", ("grandfather", "son"): "father uncle",
    ("grandmother", "daughter"): "mother aunt", ("grandfather", "daughter"): "mother aunt",
    ("grandmother", "husband"): "grandfather", ("grandfather", "wife"): "grandmother",
    ("son", "father"): "husband ex", ("daughter", "father"): "husband ex", ("son", "mother"): "wife ex",
    ("daughter", "mother"): "wife ex", ("son", "sister"): "daughter", ("daughter", "brother"): "son",
    ("husband", "son"): "son", ("wife", "son"): "son", ("husband", "daughter"): "daughter",
    ("wife", "daughter"): "daughter", ("uncle", "son"): "cousin", ("aunt", "son"): "cousin",
    ("uncle", "daughter"): "cousin", ("aunt", "daughter"): "cousin", ("uncle", "wife"): "aunt",
    ("aunt", "husband"): "uncle",
}  # fmt: skip
_BY_WORD = {
    relation: re.compile(rf"(?:{'|'.join(sorted(words.split('|'), key=len, reverse=True))})", re.IGNORECASE)
    for relation, words in _WORDS.items()
}
_LONGEST_FIRST = sorted((part for words in _WORDS.values() for part in words.split("|")), key=len, reverse=True)
_EN = "|".join(part for part in _LONGEST_FIRST if part.isascii())
_ZH = "|".join(part for part in _LONGEST_FIRST if not part.isascii())
_OF = re.compile(rf"\b(?P<kin>{_EN}) of (?P<whose>(?:your|my|our|the) (?:{_EN}))\b", re.IGNORECASE)
_CHAIN = re.compile(
    rf"(?:\b(?P<whose>[^\W\d_][\w-]*)(?:['’]s?)?\s+(?:(?:own|late|dear|old|poor|younger|older|elder|little|big|step|"
    rf"real|biological|"
    rf"new)\s+){{0,2}})?\b(?P<kin>(?:{_EN})(?:['’]s?\s+(?:\w+\s+)?(?:{_EN}))*)\b(?!-)|"
    rf"(?P<whose_zh>[他她它]们?|[你您我咱]们?|人家|别人|朋友|同学|同事|老板|邻居|老师|室友|闺蜜|"
    rf"[^\W他她它]{{0,3}}?)(?:家|的)?(?P<kin_zh>(?:{_ZH})(?:的?(?:{_ZH}))*)",
    re.IGNORECASE,
)
_SOMEBODY = re.compile(
    r"(?:someone|somebody|everyone|nobody|people|a|an|whose|人家|别人|朋友|同学|同事|老板|邻居|老师|室友|闺蜜)$",
    re.IGNORECASE,
)
_THEY = re.compile(r"(?:his|her|their|[他她它]们?)$", re.IGNORECASE)
# People other than the owner to whom "his" may refer: anybody who was named before it.
_NAMED = re.compile(
    r"\b(?!(?:How|What|Did|Does|Is|Are|Has|Have|Was|Were|Who|Where|When|Why|Which|Do|Will|Would|Can|Could|Should|The|"
    r"And|"
    r"But|Your|My|Her|His|Their|Maybe|Perhaps|If|In|On|At|So)\b)[A-Z][a-z]+|friend|colleague|neighbou?r|boss|teacher|"
    r"朋友|同学|同事|老板|邻居|老师|室友|闺蜜"
)

_MY = re.compile(r"^(?:my\s+|(?:我的?|俺|咱)\s*)(?=\S)", re.IGNORECASE)
_ONE_SYLLABLE = re.compile(r"^([妈爸哥姐弟妹爷奶叔舅姑婶])(?=$|的)")


def relatives_in(
    text: str, names: Mapping[str, Collection[str]] | None = None, owner: str = "", *, meant: bool = False
) -> frozenset[str]:
    """The relatives of the owner that `text` mentions. `names` gives the relatives that named people are; `owner` is
    the owner's own name in the text. `meant`: only relatives at the end of a chain, not those within it.

    >>> sorted(relatives_in("How is your mother's husband?")), sorted(relatives_in("Tom's father called"))
    (['father', 'mother'], [])
    >>> sorted(relatives_in("你爸妈还好吗")), sorted(relatives_in("朋友的爸爸来了"))
    (['father', 'mother'], [])
    """
    plain = straighten(text[:MAX_LOOKED_AT])
    plain = _OF.sub(lambda match: f"{match['whose']}'s {match['kin']}", plain)
    relatives: set[str] = set()
    for chain_match in _CHAIN.finditer(plain):
        whose, kin = (
            (chain_match["whose"] or chain_match["whose_zh"] or ""),
            chain_match["kin"] or chain_match["kin_zh"],
        )
        is_possessed = (
            chain_match["whose"] is not None and re.match(rf"{re.escape(whose)}['’]", chain_match[0]) is not None
        )
        relatives_of_person = (names or {}).get(whose.casefold())
        others = [name[0] for name in _NAMED.finditer(plain, 0, chain_match.start()) if name[0] != owner]
        if _SOMEBODY.match(whose) or (_THEY.match(whose) and others):
            continue
        if is_possessed and not relatives_of_person and whose.casefold() != owner.casefold():
            continue
        leads = (
            set(relatives_of_person)
            if relatives_of_person and (is_possessed or chain_match["whose_zh"])
            else set[str]()
        )
        for step in _steps(kin):
            steps = set(step.split())
            pairs = itertools.product(leads, steps)
            leads = {relation for pair in pairs for relation in _CHAINS.get(pair, "").split()} if leads else steps
            relatives |= set() if meant else leads
        relatives |= leads
    return frozenset(relatives)


def without_kin(text: str) -> str:
    """The text without the words for relatives."""
    return _CHAIN.sub(" ", _OF.sub(" ", text))


def share(relatives: Collection[str], others: Collection[str]) -> bool:
    """Whether both have a relative in common; the family includes all relatives."""
    return bool(relatives and others) and ("family" in relatives or not set(relatives).isdisjoint(others))


def relation_label(relation: str) -> str:
    """A person's relation to the owner, as shown on the owner's pages: without "my", and 「妈妈」 for 「我妈」.

    >>> relation_label("我妈"), relation_label("我妈的朋友"), relation_label("my sister"), relation_label("妹妹")
    ('妈妈', '妈妈的朋友', 'sister', '妹妹')
    """
    label = _MY.sub("", relation.strip()) or relation
    return _ONE_SYLLABLE.sub(r"\1\1", label)


@cache
def _steps(chain: str) -> tuple[str, ...]:
    """The relations named by the words of a chain, in order."""
    pieces = re.findall(rf"{_EN}", chain, re.IGNORECASE) if chain.isascii() else re.findall(_ZH, chain)
    step_names = [next((name for name, words in _BY_WORD.items() if words.fullmatch(piece)), "") for piece in pieces]
    return tuple(filter(None, step_names))
