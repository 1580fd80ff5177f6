"""Questions about the world, and requests for services, which no memory of a life answers. Pure; English and Chinese.

    "How do black holes evaporate?", 「怎么用Python读取CSV文件？」     of the world
    "Write a haiku about tax law."   「帮我起个网名。」              a service
    "How do I take my coffee?", "How is the kiln?", 「招牌是谁画的？」  neither: of a life, as far as the form shows

Only the form is read, and only forms that people hardly use about their own life: "Why is the sky blue?" has the form
of "Why is the radiator cold?" and is left out.
"""

from collections.abc import Collection

from echovessel.language import lazy_re as re

MAX_LOOKED_AT = 300  # characters
_HAN = re.compile("[\u3400-\u9fff]")
# So does who names a time that was, a day of the year, what somebody owns, or a thing that both know of.
_OF_A_LIFE = re.compile(
    r"\b(?:yesterday|lately|again|ago|on record|last (?:night|week|month|year|time|one)|birthday|anniversary|wedding|"
    r"allerg\w+|grand(?:ma|pa|mother|father)|granny|(?:get|walk|drive|commute) to work|the latest (?:on|about))\b|"
    r"\b(?:with|after|at|on|to|for|about|did|cause|given|treat|dose) the "
    r"(?!(?:world|earth|moon|sun|sea|sky|human|body|brain|word|term|power|internet|nearest)\b|(?-i:[A-Z]))\w+|"
    r"(?-i:\b(?!(?:What|Who|Let|It|That|There|How|Where|Here)\b)[A-Z][a-z]+)['’]s\b|"
    r"昨天|前天|上次|去年|上周|那[天家次只本]|医生(?:说|让|开)|去公司|纪念日|过敏|家里|小时候|喜欢|来着|买了|推荐[过的信]|[写译]的",
    re.I,
)

# --- English --------------------------------------------------------------------------------------------------------
# "I" and "me" of somebody who asks for help; they do not refer to a life.
_HELPED = re.compile(
    r"\b(?:tell|give|show|teach|help|write|explain|recommend|suggest|make|draw|find|for|to) me\b(?! and)|"
    r"\bhow (?:do|does|can|could|should|would) (?:i|we|you|one)\b|\b(?:can|could|would|will) you\b",
    re.I,
)
_SOMEBODY = re.compile(
    r"\b(?:i|i['’](?:m|ve|d|ll)|me|my|mine|myself|we|we['’](?:re|ve|d|ll)|us|our|ours|he|him|his|she|her|hers|they|them|"
    r"their|theirs|your|yours|mum|mom|mother|dad|father|sister|brother|son|daughter|husband|wife)\b",
    re.I,
)
# A question about earlier messages is about this life, whatever its form.
_SAID_BEFORE = re.compile(
    r"\b(?:remember|recall|remind|forg[eo]t(?:ten)?|told|mentioned|said|talked|spoke|spoken)\b|记得|忘|说过|提过|聊过|讲过|告诉过",
    re.I,
)
_BEGIN = r"^(?:(?:please|so|and|ok(?:ay)?|hey|now|then|also|well|but)[, ]+)*"
# Things and beings in general: no names, and nothing that both already know of.
_ANY = r"(?-i:(?!(?:the|it|that|this|there|things?|everything|you)\b)[a-z][\w-]+)"
_SERVICE = re.compile(
    rf"{_BEGIN}(?:(?:can|could|would|will) you (?:please )?)?(?:"
    r"(?:write|draft|compose|translate|convert|explain|summari[sz]e|define|calculate|compute|solve|proofread|spell|"
    r"rephrase|debug|recommend|suggest)\b(?! (?:down|that|it|why|what|how)\b)|"
    r"(?:name|list|describe|tell me|give me) (?:an?|some|two|three|four|five|ten|another)\b)",
    re.I,
)
_GENERAL = re.compile(
    rf"{_BEGIN}(?:"
    r"how (?:do|can|could|should|would) (?:i|you|one|we)\b(?! (?:know|feel|like|look|seem|remember|think|get on|"
    r"usually|always|take|spend|meet)\b)|"
    rf"how (?:do|does|is|are|can) (?:an? )?{_ANY}(?: {_ANY}){{0,2}}? (?:work|made|evaporate|form|function|fly|breathe|"
    r"get|make|reproduce|survive)\b|"
    r"how (?:many|much|long|far|tall|big|heavy|hot|deep|fast) (?:is|are|do|does) an? \w+|how long (?:do you|does it)\b|"
    r"how many [\w ]{1,30} (?:does|has) an? \w+|how many [\w ]{1,30} in an? \w+|"
    r"what(?:['’]s| is| are) (?:the )?(?:capital|currency|population|meaning|definition|difference|boiling point|"
    r"melting point|plot|formula|square root|speed of|exchange rate|time (?:zone )?in|weather|time difference|"
    r"[\w-]+est\b|most\b)|what(?:['’]s| is) a good\b|"
    rf"what(?:['’]s| is) (?:\d|(?:an? )?{_ANY}(?: {_ANY})?\s*\?)|what does ['\"“‘\w -]{{1,40}} mean\b|"
    r"what (?:year|century|time zone) (?:is|are|was|were|did)\b|"
    r"which (?:countr\w+|languages?|planets?|elements?|passports?|vitamins?|shares?|stocks?|rivers?|metals?)\b|"
    r"which is [\w-]+er\b|is it (?:going to|gonna) (?:rain|snow|be (?:sunny|cold|hot|warm))|will it (?:rain|snow)\b|"
    rf"is it (?:safe|legal|true)\b|(?:is|are|do|does|can) (?:an? )?{_ANY} [\w ]{{2,40}}\?|"
    r"(?:is|are) (?-i:[A-Z])\w+ an? \w+(?: \w+)?\?|who (?:invented|discovered|is the (?:president|prime minister))\b|"
    r"who (?:wrote|painted|composed) (?-i:[A-Z])|who won the [\w ]{0,20}(?:world cup|election|war|oscars?|nobel)\b|"
    r"(?:is|has) the (?:president|prime minister|king|queen)\b|let['’]s play\b)",
    re.I,
)

# --- Chinese --------------------------------------------------------------------------------------------------------
_HELPED_ZH = re.compile("(?:帮|给|替|教|告诉)我|你(?:能|可以|会)")
_SOMEBODY_ZH = re.compile(
    "[我咱俺您你他她它]|爸|妈|爷|奶|外婆|外公|哥|姐|弟|妹|叔|姨|姑|舅|老公|老婆|丈夫|妻子|儿子|女儿|男友|女友|老师|师傅"
)
_SERVICE_ZH = re.compile(
    r"^(?:那|对了|嗯|好|请|麻烦|再|[，、 ])*(?:帮我|给我|替我|你能|你可以|能不能|可以)*(?:给\w{1,5}?(?=写|翻译))?(?:"
    r"(?:写|翻译|解释|总结|概括|换算|计算|算一?下|列出|推荐|润色|校对|改一?下|解一?下|用[一两三]句话)|"
    r"(?:讲|说|来|起|取)[一几两三]?[个首段条句](?!事))"
)
_GENERAL_ZH = re.compile(
    r"^(?:那|对了|嗯|请问|[，、 ])*(?:怎么|如何|怎样)(?!样|了|回事|说|看|办|认识)(?!.*[的了][？?]?$)|"
    r"是?什么(?:意思|原理|区别)[？?]?$|有(?:什么|何)(?:区别|不同|差别)|"
    r"怎么(?:工作|用|读|算|玩|计算|形成|制造|保证|产生|打结)(?:的)?[？?]?$|"
    r"[^，。]{1,6}为什么(?:会|是)[^，。]{1,8}|等于多少|有?多少(?:根|颗|种)|有几(?:根|颗|种)|有哪些(?:维生素|成分|种类)|"
    r"是谁(?:发现|发明|提出)的|的(?:首都|沸点|熔点|首相|总统|人口)|哪个(?:国家|时区)|哪国|世界上|全世界|历史上|"
    r"哪个(?:重|大|高|快|远)|算不算|现在算|还?会(?:涨|跌|下雨|下雪)|天气|下雨吗|[今明]天冷吗|汇率|股票|大选|总统选举|世界杯|"
    r"什么\w{0,4}好[？?]?$|煮几分钟|报错"
)


def asks_of_the_world(text: str, names: Collection[str] = ()) -> bool:
    """Whether a message asks about the world or for a service, and mentions nobody, including `names`.

    >>> asks_of_the_world("How do vaccines work?"), asks_of_the_world("How do I take my coffee?")
    (True, False)
    >>> asks_of_the_world("写一首关于雾的短诗。"), asks_of_the_world("对联是谁写的？")
    (True, False)
    """
    text = text.strip()[:MAX_LOOKED_AT]
    folded = text.casefold()
    is_of_a_life = _SAID_BEFORE.search(text) or _OF_A_LIFE.search(text)
    if is_of_a_life or any(name and name.casefold() in folded for name in names):
        return False
    if _HAN.search(text):
        about = _HELPED_ZH.sub("", text)
        return not _SOMEBODY_ZH.search(about) and bool(_SERVICE_ZH.search(text) or _GENERAL_ZH.search(text))
    about = _HELPED.sub(" ", text)
    return not _SOMEBODY.search(about) and bool(_SERVICE.search(text) or _GENERAL.search(text))
