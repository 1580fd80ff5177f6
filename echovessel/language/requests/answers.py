"""Whether a message answers the question that the persona asked just before. Pure; English and Chinese.

It does if it says yes or no, repeats a word of the question, has the requested form (a number, a time, a person, a
place, one of two), or, if the question asks for more than yes or no, is as short as only answers are; and if it asks
nothing itself. A message about the owner themselves answers only a question about them.
"""

from echovessel.language import lazy_re as re
from echovessel.language import tokenizer
from echovessel.language.requests.types import Request, RequestKind

MAX_TERSE_WORDS, MAX_TERSE_SIGNS = 4, 8
_YES_OR_NO = re.compile(
    r"\W*(?:h?mm?[\s,]+|well[\s,]+|oh[\s,]+|ah[\s,]+|god[\s,]+|haha\W+)?(?:yes|yeah?|yea|yep|yup|ya|yh|aye|no|nope|nah|"
    r"not (?:really|any ?more|quite|yet|so much)|of course|sure|exactly|depends|i'd (?:sooner|rather) not|"
    r"(?:i )?don't (?:see why not|think so|mind)|maybe|sometimes|mostly|never|always|used to|"
    r"right|that's (?:right|him|her|it)|both|neither|either|none|the (?:first|second|third|last|other|former|latter|"
    r"one)|i(?:'d| would) (?:rather|like|prefer)|"
    r"是的?|对的?|没错|不|没有?|有|嗯+|当然|好像|系|唔|两个|[前后](?:面|一|面那)?[个者]|第[一二三四]|只|其实|现在|已经|目前|早就?|"
    r"可以|行|免了|不用|偶尔|有时|看情况|哪)(?:(?![\w'])|(?<=[\u3400-\u9fff]))",
    re.IGNORECASE,
)
_NUMBER = (
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|none|"
    r"a (?:few|couple))\b|[二三四五六七八九十两仨俩几]|(?<![第有同那这万统])一(?=[个只条岁年月天位家口块次辆本])"
)
_TIME = (
    r"\d|\b(?:mon|tue|wed|thu|fri|satur|sun)\w*|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*|"
    r"\b(?:next|last|every|this|till|until|since|ago|noon|midnight|morning|evening|night|spring|summer|autumn|winter|"
    r"today|tomorrow|yesterday|christmas|easter)\b|[今明昨前后]天|[每下上]?(?:周|星期)|"
    r"[\d〇零一二三四五六七八九十两半][月年号点]|[早晚]上|[上下]个|[春夏秋冬]天?"
)
_PERSON = (
    r"\b(?:my|he|she|they|his|her|our|me|myself)\b|(?-i:\b[A-Z][a-z]+)|^\W*[他她]|[爸妈爷奶哥姐弟妹叔姨舅婆公]|"
    r"同[学事]|朋友|老[师板]|邻居"
)
_PLACE = (
    r"\b(?:in|at|near|from|by|off|here|home)\b|(?-i:\b[A-Z][a-z]+)|[省市县镇村区路街]|^\W*[在住从去]|老家|这儿|那儿"
)
_ONE_OF_TWO = (
    r"\b(?:first|second|former|latter|both|neither|either|depends|other|instead|only|just)\b|"
    r"都|[前后]者|那个|先|只|光|哪"
)

_ASKS_FOR_MORE = re.compile(
    r"\b(?:wh(?:at|ich|o|om|ose|en|ere|y)|how|or|tell me)\b|[谁哪几多怎何]|什么|还是|为啥|咋", re.IGNORECASE
)
_OF_ONESELF = re.compile(r"\W*(?:i|i'm|i've|i'd)\b|\W*[我俺咱]", re.IGNORECASE)
_ASKS_YOU = re.compile(r"\b(?:you|your|yours)\b|[你您]", re.IGNORECASE)

# The forms that questions ask for, and the patterns of their answers.
_EXPECTED = [
    (re.compile(asks, re.IGNORECASE), re.compile(holds, re.IGNORECASE))
    for asks, holds in (
        (r"\d|\bhow (?:many|old|much|long|often)\b|[两几]|多[少大久长]|排行", _NUMBER),
        (r"\bwhen\b|\bwh(?:at|ich) (?:day|time|year|month)|什么时候|几[点号月年时]|哪[年天]|何时", _TIME),
        (r"\bwho(?:m|se)?\b|谁|什么人", _PERSON),
        (r"\bwhere\b|哪[里儿]|什么地方", _PLACE),
        (r"\bor\b|还是", _ONE_OF_TWO),
    )
]


def read_answer(text: str, plain: str, question: str) -> Request | None:
    """The message as an answer to an open question of the persona.

    >>> read_answer("leeds", "leeds", "Where did you grow up?").kind.value
    'answer'
    """
    words = text.strip()
    if not question.strip() or not words or words.endswith(("?", "？")):
        return None
    question_words = {token for token in tokenizer.tokenize(question) if not tokenizer.is_function_word(token)}
    answer_words = {token for token in tokenizer.tokenize(plain) if not tokenizer.is_function_word(token)}
    is_beside = _OF_ONESELF.match(plain) and not _ASKS_YOU.search(question)
    answers = (
        _YES_OR_NO.match(plain)
        or question_words & answer_words
        or any(asks.search(question) and holds.search(plain) for asks, holds in _EXPECTED)
        or (_is_terse(plain) and _ASKS_FOR_MORE.search(question) and not is_beside)
    )
    return Request(RequestKind.ANSWER, 0, len(text), words, subject_start=text.find(words)) if answers else None


def _is_terse(plain: str) -> bool:
    is_chinese = re.search(r"[\u3400-\u9fff]", plain)
    return sum(map(str.isalnum, plain)) <= MAX_TERSE_SIGNS if is_chinese else len(plain.split()) <= MAX_TERSE_WORDS
