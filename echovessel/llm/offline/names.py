"""Names in a text ("a cat called Snowball", 「有只猫叫小黑」), and whether two names mean the same.

Only what a sentence plainly calls a name counts: 「我妹妹学的是化学」 names nobody.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from echovessel.language import lazy_re as re
from echovessel.language.sentences import CJK, TOPICS, holds, is_question, listed, sentences, words


@dataclass(frozen=True)
class NameMention:
    """A name and the kind of its bearer: person, place, org, pet or other."""

    name: str
    kind: str


# Names may follow these words as well, although a question about "my nurse" is not about somebody close.
BY_DEED = listed(
    "mother-in-law|father-in-law|sister-in-law|brother-in-law|daughter-in-law|son-in-law|godmother|godfather|godson|"
    "goddaughter|doctor|gp|dentist|vet|nurse|midwife|therapist|psych|psychologist|psychiatrist|counselor|counsellor|"
    "coach|trainer|tutor|student|supervisor|mentor|boy|girl|lad|guy|man|woman|lady|fella|bloke|buddy|bestie|workmate|"
    "teammate|lodger|ex|fiancee|auntie|bf|gf|hubby|missus|sis|bro|mam|grandad|granddad|stepbrother|stepsister|医生|大夫|护士|护工|学生|对象|邻居|阿姨|老师|教练|徒弟|导师|堂哥|堂姐|堂弟|堂妹|小姨|三弟|"
    "大姐|二姐|大哥|二哥|店员|助理|搭档|前男友|前女友|实习生|组长|主管|经理|"
    "房客|婆婆|公公|岳父|岳母|丈母娘|姐夫|妹夫|弟媳|侄子|侄女|外甥女|外甥|干妈|干爹"
)
KINDS: Mapping[str, Collection[str]] = {
    "pet": TOPICS["pet"],
    "place": words("城市 小镇 村 店 餐厅 咖啡馆 公园 酒吧 city town village cafe café restaurant park bar shop island"),
    "org": words("公司 乐队 学校 大学 球队 company band school university team club startup"),
    "other": words(
        "书 小说 电影 游戏 歌 剧 车 植物 book novel movie film game song show series car plant boat project"
    ),
    "person": (*TOPICS["family"], *TOPICS["people"], *BY_DEED),
}
BEARERS = [word for kind in ("family", "people", "pet") for word in TOPICS[kind]]
BEARERS_EN = "|".join(word for word in (*BEARERS, *BY_DEED) if not CJK.search(word))
BEARERS_ZH = "|".join(sorted((word for word in (*BEARERS, *BY_DEED) if CJK.search(word)), key=len, reverse=True))
SEVERAL = words("parents kids children family friends cats dogs pets")
NO_RELATION = words("boy girl lad guy man woman lady fella bloke student teacher manager")

TITLE = r"(?:Mr|Mrs|Ms|Miss|Dr|Prof)\.?\s+"
CAPITALS = rf"(?:{TITLE})?(?:[A-Z][\w'-]*\w(?:\s+[A-Z][\w-]+)?|[A-Z]\b)"
HAN_NAME = r"[\u3400-\u9fff]{1,4}"
# In a text without capitals only a word that can be no other, in a place where a name must stand.
SMALL = r"(?!\w+(?:ed|ing|ly)\b)(?:(?:mr|mrs|ms|dr)\.? )?[a-z][a-z-]+[a-z]\b"
HAS_CAPITALS = re.compile(r"\b(?!I\b)[A-Z][a-z]|^[A-Z]")
ENDS = re.compile(r"[\"”']?\s*(?:[,.;:!?)]|$)|\s+(?:and|who|from|in)\b")
SMALL_SUBJECT = re.compile(r"\s+(?:is|was|has|had|will|and|from|reckons?|\w+(?:[^s]s|ed))\b|'s\b|\s*(?:[,.;:!?)]|$)")
CALLED_WHAT = (
    r"\b(?:called|named|name is|name's|names is|names are|(?:his|her|its|their) names?|calls? (?:him|her|it|them)|"
    r"(?:married|engaged|marrying|wedding)(?: to)?(?: (?:this|that|an?) \w+)?)\s+[\"“']?(?P<name>{NAME})"
)
CALLED = re.compile(CALLED_WHAT.replace("{NAME}", f"{CAPITALS}|{HAN_NAME}"))
CALLED_SMALL = re.compile(CALLED_WHAT.replace("{NAME}", SMALL) + r"(?=\s*(?:[.,;!?)]|$)|\s+and\b)")
WED = re.compile(r"\b(?:married|engaged|marrying)(?: to)?(?: \w+ \w+)? $", re.I)
CALLING = re.compile(r"\b(?:I|we|he|she|they|you|who|have|has|had|just|never|always)\s+$", re.I)  # on the phone
TITLED_SMALL = re.compile(r"(?:mr|mrs|ms|dr)\b")
TITLED = re.compile(rf"\b({TITLE}[A-Z][\w-]*\w)")
# The second name of a pair: "called Tom and Jerry", "Leo, Mia and Sam".
AND_ANOTHER = re.compile(
    rf"\s*(?:who\S*\s+\w+\s*|\(\w+\)\s*)?(?:,\s*(?:and\s+)?|and\s+|&\s*)[\"“']?(?P<name>{CAPITALS}|{HAN_NAME})(?=[\s\"”'.,;!?]|$)"
)
# The relation and the name: "my sister Ruth", "her husband (Tom)", "a friend from work, Dan", "The midwife is Aoife",
# "Uncle Bob"; "Otto is my dog", "Tom (a friend)". {NAME} stands for the name.
WHOSE = (
    r"(?P<whose>(?:[Mm]y|[Oo]ur)\s+\w+'s|[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Tt]he|[Tt]h(?:is|at)|[Aa]n?|[Oo]ne|"
    r"[A-Z]\w+'s)\s+"
)
HOW = r"(?:[a-z-]+\s+){0,2}?"
KIN = rf"(?P<kin>(?i:(?:ex-|step-|half-)?(?:{BEARERS_EN})))"
KIN_THEN_NAME = (
    rf"(?:(?<!I'm )(?<!I am )(?<!\bas )\b{WHOSE}{HOW}|(?:^|[.!?;]\s+)|"
    rf"\b(?=(?:[Aa]unt\w*|[Uu]ncle|[Cc]ousin|[Gg]rand(?:ma|pa)|[Nn]ana?|[Gg]ranny|Coach)\s[A-Z])){KIN}"
    r"(?:\s+(?:too|(?:from|at|in)(?:\s+[\w'-]+){1,2}?)(?=[,(]))?"
    r"(?P<link>(?:'s(?= (?:called|named|name)\b)(?: name)?)?(?:\s+(?:is|was))?(?:\s+(?:also\s+)?(?:called|named))?"
    r"(?:,|\s+[-–—])?\s+|\s*\()(?P<name>{NAME})"
)
NAME_THEN_KIN = (
    r"\b(?P<name>{NAME})(?P<link>(?:,| is| was|'s|,? who(?:'s| is| was)| [-–—])\s+|\s*\()"
    rf"(?:{WHOSE}{HOW})?{KIN}(?=[\s,.;:!?)]|$)"
)
# "I have a son. His name's Leo.": with no other person between the relative and the name.
OWN_KIN_THEN_PRONOUN = (
    rf"(?i:\b(?:my|our|(?:i|we)(?: have|'ve|'ve got| got)(?: an?| one)?)\s+{HOW}(?P<kin>{BEARERS_EN})\b)"
    rf"(?:(?!(?i:\b(?:{BEARERS_EN})\b)).){{0,80}}?(?i:\b(?:his|her) names?(?:'s| is)?|"
    r"\b(?:he|she)(?:'s| is) (?:called|named)|\bcall(?:ed)? (?:him|her)) (?i:{NAME})\b"
)
NAMED_KIN = tuple(
    re.compile(pattern.replace("{NAME}", name))
    for pattern in (KIN_THEN_NAME, NAME_THEN_KIN)
    for name in (rf"(?:{TITLE})?[A-Z][\w-]*\w(?: [A-Z][a-z]+)?", SMALL)
)
COMPANION = re.compile(
    r"\b(?:[Mm]e|[Mm]yself) and ([A-Z][a-z-]+\w)\b|(?:^|[,.;:!?]\s+|\b[Bb]oth )([A-Z][a-z-]+\w) and (?:I|me|myself)\b"
)
# "got a dog. Pickle. He's a whippet": a single word between the bearer and a statement about it.
ALONE = re.compile(
    rf"(?i:\b(?:{BEARERS_EN})\b[^.!?”\n]{{0,12}}[.!”][\s“]*)([A-Za-z][\w'-]+)"
    r"(?i:[.!”][\s“]*(?:he|she|it)(?:'s| is| was)\b)"
)
SOME_TWO = re.compile(
    rf"\b(?:two|three|four|[Mm]y|[Oo]ur|both|[2-5])\s+{HOW}(?P<kin>children|kids|(?:{BEARERS_EN})s)(?:[,:]|\s+are)?\s+"
    rf"(?P<name>{CAPITALS})(?=\s*(?:who\S*\s+\w+\s*|\(\w+\)\s*)?(?:,|and|&)\s*(?:and\s+)?[A-Z])"
)
MY_SOMEONE_ZH = re.compile(rf"我的?(?:{BEARERS_ZH})([A-Z][A-Za-z-]+)")
# 「我妹妹小雨在北京」: recognized only by its form, because Chinese does not separate words.
SURNAMES = (
    "王李张刘陈杨赵吴周徐孙朱胡郭何林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶苏魏吕丁沈姚卢傅钟姜崔谭廖范汪陆贾夏韦邹熊孟秦邱侯江尹薛闫段雷龙史陶黎贺"
    "顾毛郝龚邵钱严覃武戴莫孔黄高马方程任米"
)
AFTER_NAME = (
    "在是去来昨今明后上下前也都就又还要会能不没有把被给让跟和与同对从到想说讲问答做当住考学喜爱怕生病养开教请打带回过了最特现"
    "每已刚总真很太非更突自因的得着吗呢吧啊搬嫁娶卖买叫送写画唱跳跑飞坐站睡醒哭笑骂打赢输见站走"
)
NOT_IN_NAME = AFTER_NAME.replace("明", "")
NAMED_ZH = re.compile(
    rf"(?:{BEARERS_ZH})[，,]?(?P<name>(?P<twice>[\u3400-\u9fff])(?P=twice)|[{SURNAMES}大小][姐哥叔姨总]|"
    rf"[小阿大老][^\W\da-zA-Z_{AFTER_NAME}]{{1,2}}|"
    rf"[{SURNAMES}][^\W\da-zA-Z_{NOT_IN_NAME}]{{1,2}})(?=[他她{AFTER_NAME}\d一二两三四五六七八九十]|[，。,.!！?？；;、\s]|$|组织|"
    rf"喊|叫|约|找|结婚|离)"
)
IS_ZH = re.compile(
    rf"我的?(?:{BEARERS_ZH})是(?P<name>[{SURNAMES}][^\W\da-zA-Z_{NOT_IN_NAME}]{{1,2}})(?=[，。,.!！；;、\s]|$)"
)
IS_MINE_ZH = re.compile(
    rf"(?:^|[，,。！？\s])(?P<name>[\u3400-\u9fff]{{2,3}}?|"
    rf"[A-Z][a-z]+)(?:就)?是我(?:们)?(?:家)?(?:养)?的?(?:{BEARERS_ZH})"
)
# 「我弟林哲在杭州」: one character for a brother, between 我 and a name of two or three that a verb follows.
SHORT_KIN_ZH = re.compile(
    rf"我(?P<kin>[弟妹哥姐])(?P<name>[{SURNAMES}][^\W\da-zA-Z_{NOT_IN_NAME}]{{1,2}}?)(?=[{NOT_IN_NAME}一，。]|$)"
)
# 「我同事小林升职了」: after 我 and a role, two such characters are a name, whatever follows.
NICKNAME_ZH = re.compile(rf"我们?的?(?:{BEARERS_ZH})(?P<name>[小阿老][\u3400-\u9fff])(?![时学区心气板师家公婆])")
# 「养了只柯基叫年糕」: what is counted with an animal's measure word and called a name is an animal.
KEPT_ZH = re.compile(
    r"养(?:了|着)?[一两二三四俩]?[只条匹][\u3400-\u9fff]{1,4}?(?:，|,)?(?:叫|名叫)(?P<name>[\u3400-\u9fff]{2})"
)
# 「老蒋原来是扳道工」, 「跟王姨吃饭」: what people call somebody, as a subject or beside the speaker.
FAMILIAR_ZH = re.compile(
    r"(?:^|[，,。.！？!?；;、\s跟和与给对是]|我们?|今天|昨天|隔壁|对门|楼[上下])(?P<name>"
    rf"[小阿老][{SURNAMES.replace('米', '')}]|"
    rf"[{SURNAMES}](?:阿姨|大[爷妈娘]|[叔婶姨哥姐嫂总]|老师|师傅|教授|医生|大夫))"
    rf"(?=[{AFTER_NAME}吃喝聊]|[一二三四五六七八九十\d][月号岁]|[\s，。]|$)(?!病)"
)
NO_SHAPE = re.compile(
    "天天|常常|刚刚|慢慢|渐渐|偷偷|往往|默默|悄悄|轻轻|好好|早早|远远|久久|处处|事事|人人|个个|一一|谢谢|看看|想想|"
    "说说|试试|等等|(?:哈|嘻|呵|嘿)+|"
    "(.)\\1(?<=[妈爸哥弟姐妹爷奶叔舅姑婶])|小(?:时|学|区|心|气|声|伙|便|孩|朋)|大(?:学|概|声|家|夫|约|人|姐|哥|部|"
    "半)|老(?:家|板|师|实|是|人|公|婆|伴|爱|想|喊)|"
    "武汉|江苏|江西|江门|黄[山石冈]|高雄|马来|温州|常州|金华|沈阳|龙岩|汪清|方言|"
    "阿姨|周(?:[一二三四五六日天末])|许多|何(?:时|必|况)|夏天|余下|严(?:重|格)|毛病|高(?:兴|中|考|血|烧|三|二|一)|"
    "方(?:便|面)|马(?:上|路)|任何|程序|"
    "这|那|他|她|它|我|你|什么|身体"
)
SOME_TWO_ZH = re.compile(
    rf"[两二三四俩2-5][个只条位]?(?:{BEARERS_ZH})[，,：:]?\s*(?:分别)?(?:是)?([\u3400-\u9fff]{{1,3}}|"
    rf"[A-Z][A-Za-z-]+)(?=[和跟与、])"
)
CALLED_ZH = re.compile(
    r"(?P<verb>名叫|名字叫|名字是|取名叫|取名|起名叫|起名|叫做|叫)\s*[“「『\"']?(?P<name>[A-Z][A-Za-z-]+|"
    r"[\u3400-\u9fff]+)"
)
AND_ANOTHER_ZH = re.compile(r"[”」』\"']?\s*[和跟与、]\s*[“「『\"']?([A-Z][A-Za-z-]+|[\u3400-\u9fff]+)")
# 「给我供豆子的叫江南」
WHO_HELPS = "[给帮教带陪]我[^，。！？]{1,6}的"
# 叫 also means to call or to order: it introduces a name only after a bearer, a pronoun or a pause.
BEFORE_NAME = re.compile(
    rf"(?:^|[，,、;；。\s它他她们位只个条匹字]|{BEARERS_ZH}|{WHO_HELPS}|老?[大小二三]的?|店|公司|乐队|书|电影|游戏)"
    r"(?:其实|就|都|也|本来|原来|大名|小名|现在|分别|应该|确实|是)*$"
)
NO_NAME = re.compile(
    "^(?:叫|名|分别|他|她|它|我|你|您|人|外|车|醒|上|下|来(?!福)|去|起|做|什么|啥|一|另|那|这|两|大家|别|谁|哪|"
    "得|声|个|停|苦|好|吃|朋友|同事|爸|妈)"
)
NAME_ENDS = re.compile(
    "[的了在是和也很今昨都就有被把给让跟与又还要会能吗呢吧啊呀因得他她它我你您不没，,、]|特别|非常|现在|已经|"
    "住在|喜欢|这个|那个|每天|真的|超级|总是|最近|经常|刚刚|而且|但是|从小|才"
)
# {NAME} stands for a name. 「苏晚的妹妹苏晨」 is not the speaker's sister.
WHOSE_ZH = rf"(?P<whose>我(?:{BEARERS_ZH}|[爸妈弟妹哥姐])的?|[小阿老{SURNAMES}][^\W的]{{1,2}}的|[他她]的?)?"
KIN_ZH = rf"(?P<kin>{BEARERS_ZH}|(?<=我)[爸妈弟妹哥姐]|{WHO_HELPS}(?=叫))"
RELATIONS_ZH = (
    rf"{WHOSE_ZH}{KIN_ZH}[，,]?(?:就?叫|名叫|是)?{{NAME}}",
    rf"{{NAME}}[，,]?(?:就)?是(?:我们?家?的?|{WHOSE_ZH}){KIN_ZH}",
    rf"{WHOSE_ZH}{KIN_ZH}(?:(?!{BEARERS_ZH})[^。！？]){{0,16}}[，,](?:她|他|它|老?[大小二三]的?|另?一个)?(?:的?名字)?叫{{NAME}}",
)
OTHER_NAME = (
    r"\b{0}(,| \(|,? (?:or|aka|short for|also (?:called|known as)|but (?:everyone|everybody|we|i) calls? (?:him|her)))"
    r"\s*{1}\b|{0}(?:[^，。！？]{{0,10}}[，,])?(?:(?:大名|小名|全名|本名|真名|外号|昵称|英文名|中文名)(?:就|也)?[叫是]|叫){1}"
)
OWN_NAME = re.compile(r"(?:\bmy|\bI'm|\bI am|\bMy)\s*$|我(?:的)?$")
MAX_NAME_ZH, MAX_SECOND_ZH = 4, 3
POSSESSORS = "my", "our", "his", "her", "their"
PERSONAL = re.compile(r"\b(?:he|she|his|her)\b|他|她", re.I)
NOT_NAMES = words(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december english french german spanish italian chinese japanese korean russian
    portuguese arabic hindi dutch me him them us our in on at to of off out up back over after for from with by or as
    an a one some any all still even ever only here there came went got had did made took gave found ran said felt flew
    drove ate spent won began became wrote heard brought sent paid broke split left met fell saw lost bought sold told
    knew thought kept let put cut hit quit hurt set slept stood sat rang called cost spoke chose grew wore stole hung
    vegan vegetarian just and but so then because when while if he she it they we you his her its their
    my your this that these those today yesterday tomorrow christmas easter the also never always
    sometimes maybe actually well yes no not
    god who what where why how i'm i've i'll i'd i catholic christian jewish muslim
    buddhist hindu american canadian british irish scottish welsh australian indian mexican polish ukrainian turkish
    greek swedish danish brazilian ok mum mom dad god is was has had will can may should would does did"""
)


def names_in(text: str, before: str = "") -> list[NameMention]:
    """The names in `text`, sorted, without the speaker's own name. `before` is the text before it, for a name whose
    bearer is mentioned there.

    >>> names_in("我养了只白猫，叫小黑。")
    [NameMention(name='小黑', kind='pet')]
    """
    places_by_name = {name: at for at, name in sorted([*_english(text), *_chinese(text)], reverse=True)}
    # Lee is the last part of Mr. Lee, and not another person.
    whole = [
        (at, name)
        for name, at in places_by_name.items()
        if not any(other.endswith(f" {name}") for other in places_by_name)
    ]
    return [NameMention(name, _kind(f"{before}\n{text[:at]}", text, name)) for at, name in sorted(whole)]


def _english(text: str) -> list[tuple[int, str]]:
    is_small = not HAS_CAPITALS.search(text)
    rows = [*SOME_TWO.finditer(text)]
    alone = [*COMPANION.finditer(text), *ALONE.finditer(text)]
    for match in (CALLED_SMALL if is_small else CALLED).finditer(text):
        before = text[: match.start()]
        if WED.search(text[: match.start(1)]) or not (OWN_NAME.search(before) or CALLING.search(before)):
            rows.append(match)
    matches = [(match.start(at), match[at]) for match in alone for at in range(1, len(match.groups()) + 1) if match[at]]
    matches += [(match.start(1), match[1]) for match in TITLED.finditer(text)]
    matches += [(match.start("name"), match["name"]) for match in _named_kin(text)]
    matches += [place for row in rows for place in _row_en(text, row)]
    return [(at, name) for at, matched_name in matches if (name := _name_en(matched_name))]


def _row_en(text: str, first: re.Match[str]) -> list[tuple[int, str]]:
    """The first name of a row, and those joined to it by commas and "and"."""
    row, another = [], cast("re.Match[str] | None", first)
    while another and (another is first or _name_en(another["name"])):
        row.append((another.start("name"), another["name"]))
        another = AND_ANOTHER.match(text, another.end("name"))
    return row


def _named_kin(text: str) -> Iterator[re.Match[str]]:
    """Where the text names a relative, by `KIN_THEN_NAME` and `NAME_THEN_KIN`."""
    is_small = not HAS_CAPITALS.search(text)
    for pattern in NAMED_KIN[is_small::2]:
        yield from (match for match in pattern.finditer(text) if _is_bearer(match, is_small=is_small))


def _is_bearer(match: re.Match[str], *, is_small: bool) -> bool:
    """Whether the name is that of the relative: "a cook, Tom," and "my cook Tom", but not "a cook Tom hired"."""
    whose, link, text = (match["whose"] or "").casefold(), match["link"], match.string
    ends = ENDS.match(text, match.end())
    if match.start("name") == match.start():  # the name comes first
        return (bool(whose) and (link != ", " or bool(ends)) and not is_small) or (link.endswith("(") and bool(ends))
    if "called" in link or "named" in link or "name" in link:
        return True
    if is_small:
        is_one = match["kin"].casefold() not in SEVERAL and not re.search(r"[^s]s$", match["name"])
        is_subject = SMALL_SUBJECT.match(text, match.end()) or TITLED_SMALL.match(match["name"])
        subject = whose in (*POSSESSORS, "") and is_one and is_subject
        return bool(subject if link.isspace() else link.strip() in {",", "(", "–"} and ends)
    if whose in ("a", "an", "one"):
        return link.strip() in {",", "(", "–", "-"} and bool(ends)
    return whose != "the" or not link.isspace()


def _name_en(name: str) -> str:
    """`name` without words that are no names; "" if nothing remains."""
    if CJK.search(name):
        return _name_zh(name)
    parts = name.replace("’", "'").split()
    name_part = " ".join(takewhile(lambda part: part.casefold().removesuffix("'s") not in NOT_NAMES, parts))
    return "" if re.fullmatch(TITLE, f"{name_part} ") else name_part.removesuffix("'s")


def capitalize_name(name: str) -> str:
    """A name of a text without capitals as it is usually written.

    >>> capitalize_name("dr anand"), capitalize_name("Otto")
    ('Dr Anand', 'Otto')
    """
    return name.title() if name.islower() else name


def _chinese(text: str) -> list[tuple[int, str]]:
    matches = [(match.start(1), match[1]) for match in MY_SOMEONE_ZH.finditer(text)]
    by_shape = [
        match
        for pattern in (NAMED_ZH, IS_ZH, NICKNAME_ZH, IS_MINE_ZH, SHORT_KIN_ZH, KEPT_ZH, FAMILIAR_ZH)
        for match in pattern.finditer(text)
    ]
    matches += [(match.start("name"), match["name"]) for match in by_shape if not NO_SHAPE.search(match["name"])]
    for match in CALLED_ZH.finditer(text):
        before = text[: match.start()]
        is_order = match["verb"] == "叫" and not BEFORE_NAME.search(before)
        if not is_order and not OWN_NAME.search(before):
            matches += _row_zh(text, match.start("name"), match["name"])
    for match in SOME_TWO_ZH.finditer(text):
        matches += _row_zh(text, match.start(1), match[1])
    return matches


def _row_zh(text: str, at: int, run: str) -> list[tuple[int, str]]:
    """The name at the beginning of `run`, and the names joined to it by 和."""
    name = _name_zh(run)
    if not name:
        return []
    another = AND_ANOTHER_ZH.match(text, at + len(name))
    second = _name_zh(another[1]) if another else ""
    if another is None or not second or len(second) > MAX_SECOND_ZH:
        return [(at, name)]
    return [(at, name), *_row_zh(text, another.start(1), another[1])]


def _name_zh(run: str) -> str:
    """The name at the beginning of a run of characters; "" if its end is not clear."""
    if not CJK.search(run):
        return run
    name = "" if NO_NAME.search(run) else NAME_ENDS.split(run)[0]
    return name if len(name) <= MAX_NAME_ZH else name[:2] if name[0] in "小阿老" else ""


def _kind(before: str, text: str, name: str) -> str:
    """The kind of the bearer: by the last telling word before the name, otherwise by a pronoun there, otherwise by any
    telling word in the text."""
    kins = [match["kin"].casefold() for match in _named_kin(text) if _name_en(match["name"]) == name]
    kins += [row["kin"] for row in SOME_TWO.finditer(text) if name in {other for _at, other in _row_en(text, row)}]
    if any(match["name"] == name for match in KEPT_ZH.finditer(text)) or set(TOPICS["pet"]).intersection(kins):
        return "pet"
    if kins or re.search(f"{WHO_HELPS}叫$", before):
        return "person"
    if TITLED.match(name) or WED.search(before) or any(match["name"] == name for match in SHORT_KIN_ZH.finditer(text)):
        return "person"
    # 「店员」 is a person, although 「店」 is a place.
    kinds = [(at, len(word), kind) for kind, words in KINDS.items() for at, word in _places(before, words)]
    if kinds:
        return max(kinds)[2]
    by_shape = (*COMPANION.finditer(text), *FAMILIAR_ZH.finditer(text))
    if PERSONAL.search(before) or any(name in match.groups() for match in by_shape):
        return "person"
    return next((kind for kind, words in KINDS.items() if holds(text, words)), "other")


def relation_of(name: str, text: str, before: str = "") -> str:
    """The bearer's relation to the speaker, in the speaker's own words; "" if the text does not say it. `before` is the
    text before it.

    >>> relation_of("Ruth", "my little sister Ruth came"), relation_of("林哲", "我弟林哲在杭州")
    ('sister', '弟弟')
    >>> relation_of("Tom", "my sister came with her husband Tom"), relation_of("苏晨", "苏晚的妹妹苏晨")
    ("sister's husband", '苏晚的妹妹')
    """
    if name.casefold() not in text.casefold():
        return ""
    rows = ((_row_en(text, match), match["kin"]) for match in SOME_TWO.finditer(text))
    if kins := next((kins for row, kins in rows if name in {other for _at, other in row}), ""):
        return {"children": "child"}.get(kins, kins.removesuffix("s"))
    for match in _named_kin(text):
        if _name_en(match["name"]).casefold() == name.casefold():
            whose, kin = (match["whose"] or "").casefold(), match["kin"].casefold()
            if whose.endswith("'s"):
                return f"{re.sub('^(?:my|our) ', '', match['whose'], flags=re.I)} {kin}"
            if whose in POSSESSORS[2:]:
                whom = _last_relative(f"{before}\n{text[: match.start('whose')]}")
                return whom and f"{whom}'s {kin}"
            # "A man called Tom" and "Tom is a nurse" tell no relation, "a friend called Tom" does.
            is_first = match.start("name") == match.start()
            if whose in (*POSSESSORS, "", "the") or kin in BEARERS or not (is_first or kin in NO_RELATION):
                return kin
            return ""
    if own := re.search(OWN_KIN_THEN_PRONOUN.replace("{NAME}", re.escape(name)), f"{before}\n{text}", re.DOTALL):
        return "" if own["kin"].casefold() in NO_RELATION else own["kin"].casefold()
    for pattern in RELATIONS_ZH:
        match = re.search(pattern.replace("{NAME}", re.escape(name)), text)
        # 「我妹要结婚了，对象叫阿杰」: the preceding text says whose partner he is.
        if match and (
            match["kin"] != "对象" or not re.search(rf"我[妈爸弟妹哥姐]|{BEARERS_ZH}", text[: match.start()])
        ):
            whose = match["whose"] or ""
            if whose[:1] in {"他", "她"}:
                whose = _last_relative(f"{before}\n{text[: match.start()]}")
                return whose and f"{whose}的{match['kin']}"
            kin = match["kin"].casefold().removeprefix("我").replace("老妈", "妈妈").replace("老爸", "爸爸")
            whose = re.sub("^我([爸妈弟妹哥姐])(?=的)", r"\1\1", whose).removeprefix("我")
            return whose + (kin + kin if kin in "爸妈弟妹哥姐" else kin)
    return ""


def is_other_name(name: str, other: str, text: str) -> bool:
    """Whether the text gives two names of one bearer.

    >>> is_other_name("Coops", "Cooper", "one brother, coops, cooper, 26"), is_other_name("Leo", "Mia", "Leo and Mia")
    (True, False)
    >>> is_other_name("老蒋", "蒋德福", "老蒋住我家对门，叫蒋德福")
    True
    """
    for match in re.finditer(OTHER_NAME.format(re.escape(name), re.escape(other)), text, re.I):
        # "Coops, Cooper," is one brother, "Leo, Mia," are two.
        if match[1] != "," or (
            name[:2].casefold() == other[:2].casefold() and not AND_ANOTHER.match(text, match.end())
        ):
            return True
    return False


def _last_relative(text: str) -> str:
    """The last word for a relative of the speaker in `text`."""
    return max(_places(text, TOPICS["family"] + TOPICS["people"]), default=(0, ""))[1].removeprefix("我")


def _places(text: str, words: Collection[str]) -> Iterator[tuple[int, str]]:
    """Where any of `words` begins in `text`, as a whole word, and which."""
    lower = text.casefold()
    for word in holds(text, words):
        yield from (
            (match.start(), word)
            for match in re.finditer(re.escape(word) if CJK.search(word) else rf"(?<![a-z]){word}(?![a-z])", lower)
        )


# --- whether two names mean the same ----------------------------------------------------------------------------------
SURELY = r"\s*(?:(?:actually|really|just|also|simply|其实|真的|就|也|都)\s*)*"
# Not "Scott is Tom's brother", 「Scott是小雨的哥哥」.
END = r"(?!['’]s)(?=\s*(?:[^\w\s]|$|[啊呀哦嘛吧啦]|and\b|but\b|so\b))"
# Not "the same age", 「同一个班的」.
ONE = (
    r"(?:one and the same|the same(?: (?:person|one|man|woman|guy|girl|place|thing|cat|dog))?|one person)\b"
    r"(?!\s+(?!as\b)\w)"
)
ONE_ZH = r"(?:同一个?人|一个人|同一位|同一个(?!\w))"
# {N} stands for a name.
SAME = (
    rf"{{N}}\s*(?:is|was|=|＝){SURELY}(?:called\s+|named\s+)?{{N}}{END}",
    rf"{{N}}\s+is{SURELY}{ONE}\s+as\s+{{N}}{END}",
    rf"{{N}}\s+(?:and|&)\s+{{N}}\s+are{SURELY}{ONE}",
    rf"{{N}}{SURELY}是{SURELY}{{N}}{END}",
    rf"{{N}}\s*[和跟与]\s*{{N}}{SURELY}是{SURELY}{ONE_ZH}",
    rf"{{N}}\s*的?(?:中文名|英文名|本名|真名|大名|小名|全名)字?(?:就)?[是叫]\s*{{N}}{END}",
)
DIFFERENT = (
    rf"{{N}}\s+(?:is not|isn't|was not|wasn't){SURELY}(?:{ONE}\s+as\s+)?{{N}}{END}",
    rf"{{N}}\s+(?:and|&)\s+{{N}}\s+(?:are not|aren't){SURELY}{ONE}",
    rf"{{N}}\s+(?:and|&)\s+{{N}}\s+are{SURELY}(?:two|different)\b",
    rf"{{N}}{SURELY}并?不是{SURELY}{{N}}{END}",
    rf"{{N}}\s*[和跟与]\s*{{N}}{SURELY}(?:并?不是{SURELY}{ONE_ZH}|是{SURELY}(?:两个|不同))",
)
ANSWERED_SAME = re.compile(rf"\bthe same (?:person|one|guy|man|woman|place|thing|cat|dog)\b|是{ONE_ZH}", re.I)
ANSWERED_DIFFERENT = re.compile(
    r"\bnot the same\b|\b(?:different|two) (?:people|persons|ones|men|women|places|things|cats|dogs)\b|"
    r"不是(?:同一|一个人)|是两个人|不同的人",
    re.I,
)
YES = re.compile(r"^\W*(?:yes|yeah|yep|right|exactly|correct|对|是的?|嗯|没错)(?![a-z])", re.I)
NO = re.compile(r"^\W*(?:no|nope|不是|不对|不)(?![a-z])", re.I)
ASKED_WHETHER_SAME = re.compile(r"\bsame\b|\bone and the\b|同一|是不是", re.I)


def find_clarifications(material: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The user's statements about names that are known entities or pairs in question: first, second, same. The last
    statement on a pair holds.

    >>> said = [{"role": "user", "content": "Scott就是黄逸扬。"}]
    >>> find_clarifications({"lines": said, "pairs_in_question": [["Scott", "黄逸扬"]]})
    [{'first': 'Scott', 'second': '黄逸扬', 'same': True}]
    """
    pairs = [tuple(pair) for pair in material.get("pairs_in_question", ())]
    known_names = [entity["name"] for entity in material.get("known_entities", ())]
    names = list(dict.fromkeys([*(name for pair in pairs for name in pair), *known_names]))
    clarifications: dict[frozenset[str], dict[str, Any]] = {}
    for text, before in _lines_of_user(material["lines"]):
        pairs_said = [*_stated(text, names), *_answered(text, before, pairs)]
        for first, second, same in pairs_said:
            clarifications[frozenset((first, second))] = {"first": first, "second": second, "same": same}
    return list(clarifications.values())


def _lines_of_user(messages: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The user's messages that were not read before, each with the persona's message before it."""
    before = ""
    for message in messages:
        if message["role"] == "user" and not message.get("read"):
            yield message["content"], before
        before = message["content"] if message["role"] == "persona" else ""


def _stated(text: str, names: Sequence[str]) -> Iterator[tuple[str, str, bool]]:
    """By name, in a sentence that does not ask."""
    if len(_named(text, names)) < 2:
        return
    name = f"({'|'.join(_pattern(name) for name in sorted(names, key=len, reverse=True))})"
    for start, end in sentences(text):
        sentence = text[start:end].replace("’", "'")
        if is_question(sentence):
            continue
        for same, patterns in ((False, DIFFERENT), (True, SAME)):
            match = next((m for pattern in patterns if (m := re.search(pattern.replace("{N}", name), sentence))), None)
            if match and match[1] != match[2]:
                yield match[1], match[2], same
                break


def _answered(text: str, before: str, pairs: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, str, bool]]:
    """Without names, if it can only be about one pair."""
    pairs_asked = [pair for pair in pairs if len(_named(before, pair)) == 2]
    pairs_meant = pairs_asked if len(pairs_asked) == 1 else pairs if len(pairs) == 1 else []
    if not pairs_meant or is_question(text):
        return
    first, second = pairs_meant[0]
    answer = text.replace("’", "'")
    if ANSWERED_DIFFERENT.search(answer):
        yield first, second, False
    elif ANSWERED_SAME.search(answer):
        yield first, second, True
    elif pairs_asked and ASKED_WHETHER_SAME.search(before) and (YES.search(answer) or NO.search(answer)):
        yield first, second, not NO.search(answer)


def _named(text: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if re.search(_pattern(name), text)]


def _pattern(name: str) -> str:
    return re.escape(name) if CJK.search(name) else rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])"
