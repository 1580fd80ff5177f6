"""Whether a sentence is about a work, the news, a lesson or nature rather than the speaker's life. Pure; English and
Chinese.

"The hero died in that film" is no loss of the owner's, 「细胞自杀」 is nobody's despair. If the sentence also mentions
the owner or people close to them, it is about their life: "we watched a film the night my dad died".
"""

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten

_OF_A_STORY = re.compile(
    r"\b(?:films?|movies?|books?|novels?|chapters?|tv (?:show|series)|(?:that|this|the) (?:show|series|play|game)|"
    r"sitcoms?|"
    r"(?<!depressive )(?<!manic )(?<!psychotic )episodes?|documentar(?:y|ies)|podcasts?|articles?|(?:on|in|from) the "
    r"(?:news|papers?)|"
    r"news (?:story|report|about)|newspapers?|headlines?|essays?|thesis|lectures?|museum|historical|songs?|lyrics|"
    r"albums?|operas?|"
    r"poems?|video games?|characters?|hero(?:es|ine)?|villains?|protagonist|plot|fiction(?:al)?|fanfic|anime|manga|"
    r"comics?|myths?|"
    r"legends?|shakespeare|romeo|juliet|hamlet|karenina|schopenhauer|netflix|apoptosis|cells? (?:\w+ )?(?:dies?|"
    r"kill\w*|destroy)|"
    r"bacteria|species|lemmings|dinosaurs?|biology|storyline|cult)\b|"
    r"电影|影片|小说|电视剧|连续剧|剧里|剧中|这部剧|综艺|动漫|动画片|漫画|番剧|游戏|角色|主角|男主|女主|反派|结局|"
    r"剧情|纪录片|新闻|报道|热搜|"
    r"论文|文章|课本|课上|讲座|这本书|书里|书中|《|歌词|这首歌|历史(?:上|书|剧)|皇帝|博物馆|细胞|凋亡|细菌|恒星|物种|"
    r"恐龙|旅鼠|股市|防线|赛季",
    re.I,
)
_PEOPLE = (
    "mom|mum|mother|dad|father|brother|sister|grandma|grandpa|grandmother|grandfather|gran|nan|husband|wife|son|"
    "daughter|"
    "baby|child|kids?|aunt|uncle|cousin|friend|boyfriend|girlfriend|partner|boss|dog|cat"
)
_OWN = re.compile(
    rf"\b(?:my|our) (?:\w+ )?(?:{_PEOPLE})\b|\bi (?:was|am|got|have been|wish|want|feel|might|could|should|think "
    rf"about|keep thinking)\b|"
    r"\bi'm\b|我(?:的|们|家|前)?(?:妈|爸|哥|弟|姐|妹|奶|爷|外婆|外公|姥|老公|老婆|丈夫|妻子|儿子|女儿|孩子|朋友|同学|"
    r"男友|女友|猫|狗)|"
    r"我(?:也)?(?:想|要|被|得了|确诊|觉得|感觉|快)",
    re.I,
)


def is_of_a_story(sentence: str) -> bool:
    """Whether `sentence` is about a work, the news, a lesson or nature, and mentions nobody close.

    >>> [is_of_a_story(text) for text in ("The hero died in that film.", "My dad died while we watched a film.")]
    [True, False]
    >>> is_of_a_story("纪录片里讲细胞自杀"), is_of_a_story("我奶奶走了")
    (True, False)
    """
    plain = straighten(sentence)
    return bool(_OF_A_STORY.search(plain)) and not _OWN.search(plain)
