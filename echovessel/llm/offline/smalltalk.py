"""Words that keep a talk going and tell nothing: greetings, thanks, goodbyes, "ok"."""

import re

LEAD = r"^(?:(?:ok(?:ay)?|alright|right|well|yes|yeah|good|fine|好的?|好吧|好啦|嗯+|行|那|对了|哦)[\s,，.。!！~～]*)*"
GREETING = re.compile(
    r"^(?:你好|您好|嗨|哈喽|哈啰|早|早上好|晚上好|下午好|在吗|我来了|我回来了|"
    r"hi|hello|hey|good (?:morning|evening|afternoon)|"
    r"i'm back)(?![a-z])\W*(?:\w+\W*)?$",
    re.I,
)
THANKS = re.compile(r"^(?:谢谢|多谢|谢啦|感谢|thanks|thank you|thx)", re.I)
GOODBYE = re.compile(
    LEAD + r"(?:晚安|再见|拜拜|拜|我?先走了|我?(?:先|要)(?:去)?睡了|下次(?:再)?聊|明天(?:再)?聊|先这样|good ?night|"
    r"bye|goodbye|"
    r"see (?:you|ya)|talk (?:to you )?(?:later|soon)|(?:i )?(?:have to|gotta|got to) go)(?![a-z])",
    re.I,
)
HOW_ARE_YOU = re.compile(
    r"你好吗|你(?:今天|最近)?(?:怎么样|好不好|过得)|在干嘛|在干什么|how are you|how's it going|what's up",
    re.I,
)
FORGET_THAT = re.compile(
    r"(?<!n't )(?<!not )(?<!never )\b(?:forget|erase|delete)(?: about)? (?:that|this|what i)\b|"
    r"(?<![别不没])(?:忘了|忘掉|忘记|删了|删掉|删除)(?:这|那|我(?:刚才|刚刚|说))|"
    r"(?:这|那)(?:个|件事情?|句话)(?:你)?(?:就|都)?(?:忘了|忘掉|删掉|删了)吧",
    re.I,
)
NOTHING_SAID = re.compile(
    r"^(?:ok(?:ay)?|yes|yeah|no|nope|sure|fine|good|great|cool|lol|haha+|hm+|"
    r"(?:i'm )?(?:fine|good|ok),? (?:thanks|thank you)|好的?|好吧|嗯+|哦+|哈+|是的|对|没事|行)[\s,，.。!！~～]*$",
    re.I,
)
SHORT = 24


def is_small_talk(line: str) -> bool:
    """Whether `line` is nothing but such words.

    >>> is_small_talk("ok bye"), is_small_talk("好的 拜拜"), is_small_talk("Thanks to my sister I moved to Rome")
    (True, True, False)
    """
    bare = line.strip()
    if not bare or NOTHING_SAID.search(bare):
        return True
    return len(bare) <= SHORT and any(words.search(bare) for words in (GREETING, THANKS, GOODBYE, HOW_ARE_YOU))
