"""What a line asks of memory at once: which words are to be remembered, and what only sounds like it."""

from hypothesis import given
from hypothesis import strategies as st

from echovessel.language.requests import RequestKind, read_requests
from tests.table import each_row

BEFORE = "(the line before)"
ASKED = {
    "remember this: my sister's birthday is on May 3rd": "my sister's birthday is on May 3rd",
    "Remember: I take my coffee black.": "I take my coffee black.",
    "Please remember that I'm allergic to nuts.": "I'm allergic to nuts.",
    "please remember that the meeting moved to Friday": "the meeting moved to Friday",
    "Please remember my name is Jo, not Joe.": "my name is Jo, not Joe.",
    "Can you please remember I don't eat meat?": "I don't eat meat?",
    "Could you remember that I work nights this week?": "I work nights this week?",
    "Hey Mira, remember that I hate surprises!": "I hate surprises!",
    "Oh, and remember, I'm a vegetarian.": "I'm a vegetarian.",
    "Remember that my mother's name is Rosa": "my mother's name is Rosa",
    "Remember my cat is called Milo.": "my cat is called Milo.",
    "Don't forget that I start at the bakery on Monday.": "I start at the bakery on Monday.",
    "don’t forget I’m allergic to cats, ok?": "I’m allergic to cats",
    "Never forget that I love you.": "I love you.",
    "Keep in mind that I can't drink alcohol.": "I can't drink alcohol.",
    "keep in mind: no phone calls before ten": "no phone calls before ten",
    "Bear in mind, I'm not a morning person.": "I'm not a morning person.",
    "I want you to remember that we moved to Lyon.": "we moved to Lyon.",
    "I'd like you to remember something: Tom and I broke up.": "Tom and I broke up.",
    "Make a note: dentist on Tuesday at 9.": "dentist on Tuesday at 9.",
    "Write this down: my locker is 217.": "my locker is 217.",
    "Save this to your memory: I play the cello.": "I play the cello.",
    "Please remember to ask me about the interview on Friday.": "to ask me about the interview on Friday.",
    "I'm allergic to shellfish. Please remember that.": "I'm allergic to shellfish.",
    "My exam is on Thursday, remember that please": "My exam is on Thursday",
    "I quit! Remember this.": "I quit!",
    "We are engaged! Keep that in mind, ok?": "We are engaged!",
    "Remember this. I never lied to you.": "I never lied to you.",
    "remember this": BEFORE,
    "Please remember that!": BEFORE,
    "Mira, please remember this for me.": BEFORE,
    "Don't forget that, ok?": BEFORE,
    "Keep that in mind.": BEFORE,
    "please remember": BEFORE,
    "记住：我对花生过敏。": "我对花生过敏。",
    "记住，我下周三面试": "我下周三面试",
    "请记住我不吃香菜。": "我不吃香菜。",
    "你要记住我妈妈叫陈兰": "我妈妈叫陈兰",
    "记一下，周五下午三点看牙": "周五下午三点看牙",
    "帮我记一下：车停在B2的17号": "车停在B2的17号",
    "帮我记着我明天要交房租，好吗？": "我明天要交房租",
    "麻烦帮我记住这个：护照在蓝色抽屉里": "护照在蓝色抽屉里",
    "别忘了我对青霉素过敏！": "我对青霉素过敏！",
    "别忘了明天是我生日": "明天是我生日",
    "千万不要忘记我爸爸五月三号做手术。": "我爸爸五月三号做手术。",
    "你要记得我喜欢喝乌龙茶": "我喜欢喝乌龙茶",
    "以后一定要记得，我不喜欢别人叫我胖子": "我不喜欢别人叫我胖子",
    "对了，记住我搬到杭州了。": "我搬到杭州了。",
    "我对海鲜过敏，帮我记着。": "我对海鲜过敏",
    "我下周三做手术。记住了哦！": "我下周三做手术。",
    "我怀孕了，你记一下好吗？": "我怀孕了",
    "我叫林小雨，别忘了": "我叫林小雨",
    "你记住了，我最讨厌迟到。": "我最讨厌迟到。",
    "记住这件事，我从来没骗过你": "我从来没骗过你",
    "记住这个": BEFORE,
    "帮我记住": BEFORE,
    "帮我记一下这个好吗？": BEFORE,
    "请把这件事记下来": BEFORE,
    "把我说的话都记住": BEFORE,
    "别忘了哦": BEFORE,
    "记着啊": BEFORE,
    "Could you remember this for me? I moved to Porto last week.": "I moved to Porto last week.",
    "Would you remember it for me please? My bike is green.": "My bike is green.",
    "請記住我對花生過敏。": "我對花生過敏。",
    "幫我記一下：明天十點開會": "明天十點開會",
    "別忘了我媽媽的生日是五月三號": "我媽媽的生日是五月三號",
    "記住這個": BEFORE,
}
NOT_ASKED = [
    "do you remember this?",
    "Do you remember that I told you about Tom?",
    "I can't remember",
    "I can't remember that at all.",
    "I remember that I was afraid.",
    "remember when we went to the sea?",
    "Remember when we first talked. That was nice.",
    "Remember the time we got lost",
    "Remember Tom? He called me.",
    "Remember my cat?",
    "Remember me?",
    "Please remember me.",
    "Don't forget me.",
    "Remember that I told you about my boss? He quit.",
    "Remember I said I would call her",
    "remember this?",
    "Remember that movie we saw?",
    "Remember that night",
    "Will you remember this?",
    "Can you remember my name?",
    "Can you remember what I said yesterday?",
    "Did you remember to eat?",
    "Remember to drink some water",
    "Don't forget to eat",
    "I won't forget that you helped me",
    "You never forget anything, do you?",
    "I'll keep that in mind.",
    "I keep in mind that he is old.",
    "As far as I remember: it was red.",
    "Things to remember: milk, eggs",
    "He said: remember this, you are nothing.",
    "My mother told me, remember that the world is cruel.",
    "I want to remember this day forever.",
    "She doesn't remember that we met.",
    "It is hard to remember: the words are long.",
    "Nobody remembers me",
    "What should I keep in mind?",
    "Now I remember, I left it at home.",
    "你还记得吗",
    "你记得我的猫吗？",
    "还记得我说过的话吗",
    "我记得你说过这个。",
    "我不记得了",
    "我不记得我说过什么。",
    "记住密码好难",
    "记住我的密码好难啊",
    "要记住单词就得多读",
    "我总是记不住别人的名字",
    "我记住了",
    "好的，记住了",
    "记住了！",
    "你记住了我的生日！",
    "你记住了吗？",
    "他记住了我说的每一句话",
    "你能记住我说的话吗？",
    "我要记住今天。",
    "我想记住这一刻",
    "你要记得吃饭",
    "记得早点睡哦",
    "别忘了吃饭",
    "别忘了带伞",
    "别忘了我",
    "别忘记我们啊",
    "请记得我",
    "老师说：记住，要好好学习",
    "妈妈告诉我，记住，别相信陌生人",
    "记着呢，放心吧",
    "我记一下，你慢点说",
    "我记下来了",
    "谁还记得那天的事",
    "你给我记住！",
    "忘了就忘了吧",
    "昨天看了一部电影叫记住我",
    "",
    "   \n",
    "👍",
]


def words_of(line: str) -> str | None:
    asked = next((one for one in read_requests(line) if one.kind is RequestKind.REMEMBER and one.sure), None)
    return None if asked is None else asked.subject or BEFORE


@each_row("line", ASKED)
def test_a_request_is_understood_and_so_is_what_it_asks_for(line: str) -> None:
    assert words_of(line) == ASKED[line]


@each_row("line", NOT_ASKED)
def test_what_only_speaks_of_remembering_asks_for_nothing(line: str) -> None:
    assert words_of(line) is None


PIECES = st.sampled_from(
    ["remember", "that", "I'm", "记住", "别忘了", "我", "，", ":", "?", ". ", "\n", " ", "好吗", "ok", "’", "x"]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=30).map("".join))
def test_what_is_understood_always_lies_within_the_line(line: str) -> None:
    for asked in read_requests(line, question="cat", previous="x"):
        assert 0 <= asked.start < asked.end <= len(line)
        if asked.subject_start >= 0:
            assert line[asked.subject_start :].startswith(asked.subject) or asked.kind is RequestKind.CORRECTION


def test_a_request_anywhere_in_a_long_line_is_found() -> None:
    line = "It rained all day and nobody came. " * 500 + "Please remember that I'm moving to Lyon in May. See you!"
    assert words_of(line) == "I'm moving to Lyon in May. See you!"
