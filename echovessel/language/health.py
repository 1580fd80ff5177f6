"""Whether a sentence says something lasting about somebody's health or safety, in English and Chinese. Pure.

Allergies, chronic illnesses, medicine, pregnancy, what somebody cannot eat or drink, people they must be kept safe
from: what a companion must know whatever the topic. A cold last week does not count, and neither does a film about
cancer.
"""

from collections.abc import Iterable, Iterator

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

_WORDS = re.compile(
    r"\b(?:allerg(?:y|ic|ies)|anaphyla\w*|epi-?pen|(?:lactose|gluten|fructose|histamine|alcohol) intoleran\w*|"
    r"intoleran(?:t|ce)|c(?:o)?eliac\w*|diabet\w+|insulin|epilep\w+|seizures?|asthma\w*|inhaler|pacemaker|"
    r"arrhythmia|heart (?:condition|disease|defect|failure|attack)|blood (?:thinners?|clots?|type)|(?:high|"
    r"low) blood pressure|hypertension|hypoglyc\w+|haemophilia|hemophilia|an(?:a)?emi[ac]|sickle cell|"
    r"chronic(?:ally)?|migraines|cancer|chemo\w*|tumou?r|leuk(?:a)?emia|lymphoma|hiv|hepatitis|crohn'?s?|colitis|"
    r"ibs|lupus|multiple sclerosis|parkinson'?s?|alzheimer'?s?|dementia|arthritis|fibromyalgia|endometriosis|pcos|"
    r"thyroid\w*|glaucoma|cataracts?|stents?|(?:clinical |major )?depression|bipolar|schizophreni\w+|ptsd|(?:anxiety|"
    r"panic|eating|"
    r"personality) disorder|panic attacks|ocd|adhd|autis\w+|asperger'?s?|anorexi\w+|bulimi\w+|antidepressants?|"
    r"lithium|warfarin|(?:is on|are on|am on|'m on|takes?|taking|prescribed) (?:[\w-]+ ){0,3}(?:medication|meds|"
    r"medicine|pills?|tablets?|ssris?|steroids)|alcoholi\w+|sober|in recovery|recovering (?:from|addict|"
    r"alcoholic)|addict(?:ed|ion)?|relapsed?|self-?harm\w*|pregnan(?:t|cy)|breast-?feeding|hearing aids?|deaf|"
    r"hard of hearing|blind|visually impaired|wheelchair|disab(?:led|ility)|prosthe\w+|dyslexi\w+|stutter\w*|"
    r"transplant\w*|dialysis|immunocompromised|vegan|vegetarian|kosher|halal|phobia|phobic|(?:[a-z]+phobia)|"
    r"restraining order|stalk(?:er|ed|ing)|domestic (?:violence|abuse)|abusive (?:ex|husband|wife|partner|father|"
    r"mother|boyfriend|girlfriend|parents?)|in hiding|witness protection)\b",
    re.IGNORECASE,
)
_FOOD = re.compile(
    r"\b(?:(?:can(?:'t|not| not)|must(?:n't| not)|(?:is|are|am|'m) not (?:allowed|supposed) to|isn't (?:allowed|"
    r"supposed) to|never|doesn't|does not|don't|do not) (?:eat|drink|have|digest|tolerate) (?:any |"
    r"anything with )?(?:[\w-]+ ){0,2}?(?:nuts?|peanuts?|milk|dairy|gluten|wheat|eggs?|fish|shellfish|seafood|"
    r"shrimps?|prawns?|soy|meat|pork|beef|alcohol|sugar|caffeine|coffee|lactose|sesame|spicy|cheese|bread|wine|"
    r"beer))\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"过敏|不耐受|乳糜泻|糖尿病|胰岛素|癫痫|哮喘|起搏器|支架|青光眼|白内障|血糖|血压|心脏病|心律不齐|低血糖|贫血|"
    r"血友病|血型|"
    r"慢性|偏头痛|癌|肿瘤|化疗|白血病|艾滋|肝炎|克罗恩|红斑狼疮|帕金森|阿尔茨海默|老年痴呆|关节炎|甲状腺|甲亢|"
    r"甲减|痛风|抑郁症|双相|躁郁|精神分裂|创伤后|焦虑症|惊恐|强迫症|多动症|自闭症|孤独症|厌食症|暴食症|戒酒|戒毒|"
    r"酒瘾|酗酒|自残|怀孕|孕妇|哺乳|失明|失聪|耳聋|聋|盲人|助听器|轮椅|残疾|义肢|移植|透析|吃素|素食|清真|忌口|"
    r"(?:不能|不可以|不会|从不|不)(?:吃|喝|碰)(?!了|饭|完|惯|亏|惊|力|醋|香(?!菜)|苦(?!瓜))[\u3400-\u9fff]|恐惧症|"
    r"恐高|(?:在|要|得|一直|每天|长期)(?:吃|服)[\u3400-\u9fff]{0,4}药|服药|家暴|跟踪狂|被跟踪|人身保护令|限制令"
)
# Everything that _WORDS matches contains one of these: this search takes microseconds, _WORDS a millisecond.
_SIGNS = re.compile(
    "allerg|anaphyla|epipen|epi-pen|intoleran|eliac|diabet|insulin|epilep|seizure|asthma|inhaler|pacemaker|"
    "arrhythmia|heart|blood|hypertension|hypoglyc|philia|anemi|anaemi|sickle|chronic|migraine|cancer|chemo|tumo|"
    "leuk|lymphoma|hiv|hepatitis|crohn|colitis|ibs|lupus|sclerosis|parkinson|alzheimer|dementia|arthritis|"
    "fibromyalgia|endometriosis|pcos|thyroid|glaucoma|cataract|stent|depress|bipolar|schizo|ptsd|disorder|panic|ocd|"
    "adhd|autis|asperger|"
    "anorexi|bulimi|lithium|warfarin|medic|meds|pill|tablet|ssri|steroid|alcohol|sober|recover|addict|relapse|"
    "harm|pregnan|feeding|hearing|deaf|blind|visually|wheelchair|disab|prosthe|dyslexi|stutter|transplant|"
    "dialysis|immuno|vegan|vegetarian|kosher|halal|phobi|restraining|stalk|domestic|abusive|hiding|witness"
)
_DENIALS, _CONSUMING = ("n't", "not", "never"), ("eat", "drink", "have", "digest", "tolerate")
_TOLD_OF = re.compile(
    r"\b(?:film|movie|book|novel|series|show|documentary|podcast|article|news|paper|essay|lecture|exam|course|"
    r"research|"
    r"fundrais\w+|charity|donat\w+)\b|电影|小说|电视剧|纪录片|新闻|论文|考试|文章|讲座|捐",
    re.IGNORECASE,
)


def bears_on_health(text: str) -> bool:
    """Whether `text` says something lasting about health or safety.

    >>> bears_on_health("Ana is allergic to nuts."), bears_on_health("我不能吃花生"), bears_on_health("Ana had a cold.")
    (True, True, False)
    """
    plain = _plain(text)
    return any(pattern.search(plain) for pattern in _patterns_for(plain)) and not _TOLD_OF.search(plain)


def health_terms(text: str) -> set[str]:
    """The words in `text` that concern health.

    >>> sorted(health_terms("Ana is diabetic and takes insulin."))
    ['diabetic', 'insulin']
    """
    plain = _plain(text)
    return {match[0] for pattern in _patterns_for(plain) for match in pattern.finditer(plain)}


def _plain(text: str) -> str:
    return (text if text.isascii() else straighten(text)).lower()


def _patterns_for(plain: str) -> Iterator[re.Pattern]:
    """The patterns that could match; quick tests spare most texts the slow patterns."""
    if _SIGNS.search(plain):
        yield _WORDS
    if _has_any(plain, _DENIALS) and _has_any(plain, _CONSUMING):
        yield _FOOD
    if not plain.isascii():
        yield _CHINESE


def _has_any(text: str, pieces: Iterable[str]) -> bool:
    return any(piece in text for piece in pieces)
