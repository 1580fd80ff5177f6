"""Memory mode: questions are answered from memory, or with an honest no; a statement gets a short neutral word."""

import re

from django.conf import settings

from echovessel.language.overview import asks_for_overview
from echovessel.language.requests import read_requests
from echovessel.language.style_wishes import styles_in
from echovessel.llm.offline.answers import with_antecedent
from echovessel.llm.offline.phrases import phrases_of
from echovessel.llm.offline.reply import Reply, first_word
from tests.echovessel.llm.offline import answer, talk
from tests.everyday import everyday_messages
from tests.table import each_row, in_samples

KEPT_ZH = (
    "小雨去了海边玩。", "小雨妹妹叫小云，今年考上了北京大学。", "小雨对花生过敏。",
    "小雨下个月要搬到里斯本。", "小雨的生日是5月4日。",
    "小雨爸爸是医生。", "小雨不吃香菜。",
    "豆豆是小雨的猫，最近生病了。", "小雨在成都出生。", "小雨男朋友叫阿杰，是厨师。",
)  # fmt: skip
KEPT_EN = (
    "Ana went to the sea.", "Ana's mom's name is Carol.", "Ana's sister Anna lives in Berlin.",
    "Ana is 29 and they work as a nurse in Leeds.", "Ana was born in 1990.", "Ana's cat Milo died on 2026-03-04.",
    "Ana's wedding is on May 4th.", "Ana's boyfriend's name is Jack and he's a chef.", "Ana's brother Tom is 12.",
)  # fmt: skip
QUOTED_ZH = (
    "小雨：“我去了海边玩。”", "小雨：“我妹妹叫小云，今年考上了北京大学。”", "小雨：“我对花生过敏。”",
    "小雨：“我下个月要搬到里斯本。”", "小雨：“我的生日是5月4日。”", "小雨：“我爸爸是医生。”", "小雨：“我不吃香菜。”",
    "小雨：“豆豆是我的猫，最近生病了。”", "小雨：“我在成都出生。”", "小雨：“我男朋友叫阿杰，是厨师。”",
)  # fmt: skip
QUOTED_EN = (
    "Ana: “I went to the sea.”", "Ana: “My mom's name is Carol.”", "Ana: “My sister Anna lives in Berlin.”",
    "Ana: “I'm 29 and I work as a nurse in Leeds.”", "Ana: “I was born in 1990.”", "Ana: “My cat Milo died.”",
    "Ana: “My wedding is on May 4th.”", "Ana: “My boyfriend's name is Jack and he's a chef.”",
    "Ana: “My brother Tom is 12.”",
)  # fmt: skip
TOLD_ZH = "小雨养了只白猫，叫小黑。他超调皮，老在半夜跳到小雨脸上。"
TOLD_EN = "Ana adopted a white cat named Snowball. He jumps on Ana's face at midnight."
NOT_FOUND = ("nothing about that", "没有找到")
PROMISED = re.compile(r"\bI(?:'ll| will) (?:remember|keep|think|be)|\bI won't forget|我会|记住|记下|不会忘")
PROMISES = re.compile(r"\bI(?:'ll| will)\b|remember|keep|我会|记住|记下|记着")


def shares_a_run(said: str, line: str) -> bool:
    """Whether four words, or characters of Chinese, stand in both in the same order."""
    words, told = (re.findall(r"[a-z']+|[\u3400-\u9fff]", text.lower()) for text in (said, line))
    runs = {tuple(told[at : at + 4]) for at in range(len(told) - 3)}
    return any(tuple(words[at : at + 4]) in runs for at in range(len(words) - 3))


# --- questions --------------------------------------------------------------------------------------------------------
@each_row(
    ("question", "told"),
    [
        ("我妹妹叫什么？", "小云"),
        ("我对什么过敏？", "花生"),
        ("我要搬到哪里？", "里斯本"),
        ("我什么时候搬家", "下个月"),
        ("我生日是哪天？", "5月4日"),
        ("我爸爸是做什么的？", "医生"),
        ("我不吃什么？", "香菜"),
        ("豆豆怎么样了", "生病"),
        ("我在哪儿出生的", "成都"),
        ("我男朋友是谁", "阿杰"),
        ("阿杰是谁", "厨师"),
        ("我们聊过什么", "海边"),
        ("我叫什么", "小雨"),
        ("Who is Carol?", "mom"),
        ("Who's Jack?", "chef"),
        ("Where does my sister live?", "Berlin"),
        ("Where do I live?", "Leeds"),
        ("How old am I?", "29"),
        ("When was I born?", "1990"),
        ("what happened to my cat?", "died"),
        ("when is the wedding?", "May 4th"),
        ("What do you know about me?", "sea"),
        ("Tell me about my brother", "Tom"),
        ("What do I do for work?", "nurse"),
        ("What's my name?", "Ana"),
    ],
)
def test_plain_questions_are_answered_from_what_is_remembered(question: str, told: str) -> None:
    is_chinese = bool(re.search("[\u3400-\u9fff]", question))
    language = "zh" if is_chinese else "en"
    for memories in (KEPT_ZH, QUOTED_ZH) if is_chinese else (KEPT_EN, QUOTED_EN):
        assert told in answer(question, language=language, memories=memories)


@each_row(
    ("question", "told"),
    [
        ("你还记得我的猫吗", TOLD_ZH), ("我的猫叫什么？", TOLD_ZH), ("你记得小黑吗？", TOLD_ZH),
        ("你还记得我说过什么吗？", TOLD_ZH), ("Do you remember my cat?", TOLD_EN), ("What's my cat's name?", TOLD_EN),
        ("do you remember what I told you", TOLD_EN),
    ],
)  # fmt: skip
def test_a_memory_is_told_to_whom_it_is_about(question: str, told: str) -> None:
    said = answer(question, language="zh" if told is TOLD_ZH else "en", memories=(told,))
    assert ("小黑" in said and "你脸上" in said) or ("Snowball" in said and "your face" in said)


@each_row(
    ("kept", "told"),
    [
        ("Ana is tired and they hate their job.", "You are tired and you hate your job."),
        ("Ana really loves tea.", "You really love tea."),
        ("The boss praised Ana.", "The boss praised you."),
        ("Will said he will come.", "Will said he will come."),
        ("Ana loves Mira, Mira is Ana's friend.", "You love me, I am your friend."),
    ],
)
def test_a_name_becomes_you(kept: str, told: str) -> None:
    assert told in answer("What do you know about me?", memories=(kept,))


@each_row(
    ("question", "memory", "told"),
    [
        ("Where does my sister live?", "Ana: “My sister Rosa lives in Lisbon.”", "“My sister Rosa lives in Lisbon.”"),
        ("我对什么过敏？", "小雨：“我对花生过敏。”", "“我对花生过敏。”"),
        ("What's my dog called?", "Ana: “My dog is Rex.” “No, it's Max.”", "“My dog is Rex.” “No, it's Max.”"),
        ("What can't I eat?", "Ana: “I'm allergic to nuts.”", "“I'm allergic to nuts.”"),
        ("我不能吃什么？", "小雨：“我对虾过敏。”", "“我对虾过敏。”"),
    ],
)  # fmt: skip
def test_the_owners_own_words_are_told_as_they_stand(question: str, memory: str, told: str) -> None:
    said = answer(question, memories=(memory,), language="zh" if memory[0] == "小" else "en")
    assert told in said
    assert "You: “" not in said


def test_words_like_yesterday_are_told_with_their_day() -> None:
    item = {"text": "Ana: “My boss fired me yesterday.”", "layer": "L3", "speaker": None, "when": "two weeks ago"}
    assert "“My boss fired me yesterday.” (two weeks ago)" in answer(
        "What happened with my boss?", recollections=[item]
    )


@each_row(
    "question", ["Who is Carol?", "Where do I live?", "我妹妹叫什么？", "豆豆怎么样了", "Do you remember my birthday?"]
)
def test_what_was_never_told_is_honestly_not_remembered(question: str) -> None:
    assert any(word in answer(question) for word in NOT_FOUND)


def test_nobody_is_passed_off_as_somebody_else() -> None:
    for question, memories in (
        ("我姐姐在哪里工作", KEPT_ZH),
        ("Where is my car?", ("Ana's mom's name is Carol.", "Ana went to the sea.")),
        ("Do you remember my dog?", (TOLD_EN,)),
        ("Where does my sister live?", ("Mira: “I would love to meet your sister.”",)),
    ):
        assert any(word in answer(question, memories=memories) for word in NOT_FOUND)
    lines = [
        {"text": "你还记得我的猫吗", "layer": "L2", "speaker": "user"},
        {"text": "你的猫叫小白呀。", "layer": "L2", "speaker": "persona"},
    ]
    assert "小白" not in answer("你记得我的猫吗？", language="zh", recollections=lines)


@each_row("question", ["What is the capital of France?", "今天天气怎么样？", "What should I do?", "Tell me a joke."])
def test_other_questions_are_left_to_a_model(question: str) -> None:
    assert any(word in answer(question) for word in ("model", "模型"))


# --- what is said now, and what the owner wrote -----------------------------------------------------------------------
def test_the_moment_is_remembered_without_recall() -> None:
    recent = [{"role": "user", "content": "My sister is called Ruth."}, {"role": "persona", "content": "I see."}]
    assert "Ruth" in answer("What did I just say my sister is called?", recent=recent, memories=("Ana has a cat.",))
    assert "Ruth" in answer("My sister is called Ruth. What did I just say my sister is called?")
    assert "小云" in answer("我妹妹叫小云。", "我刚才说我妹妹叫什么？", language="zh")
    small = [{"role": "user", "content": one} for one in ("hi", "fine thanks", "I like tea")]
    assert "tea" in answer("do you remember what I said?", recent=small)


@each_row(
    ("question", "told"),
    [
        ("Where do I live?", "“Ana lives in York and works as a nurse.”"),
        ("How old are you?", "“Mira is 34 and comes from Leeds.”"),
        ("Where are you from?", "“Mira is 34 and comes from Leeds.”"),
        ("Who is Ruth?", "Ana's sister, a painter."),
    ],
)
def test_the_texts_that_the_owner_wrote_are_answered_from(question: str, told: str) -> None:
    blocks = {
        "persona": "Mira is 34 and comes from Leeds. She bakes bread.",
        "user": "Ana lives in York and works as a nurse.",
    }
    entities = [{"name": "Ruth", "description": "Ana's sister, a painter."}]
    assert told in answer(question, blocks=blocks, entities=entities)


def test_it_says_its_name_and_that_it_is_an_ai_without_a_model() -> None:
    for question, name in (("What is your name?", "Mira"), ("你叫什么名字？", "阿澜"), ("Are you a human?", "Mira")):
        said = answer(question, language="zh" if name == "阿澜" else "en")
        assert name in said
        assert "AI" in said


# --- statements -------------------------------------------------------------------------------------------------------
@each_row(
    "line",
    ["I went to the market.", "My sister Rosa lives in Lisbon.", "I love tea.", "My brother is ill and I'm worried.",
     "My grandmother died last night.", "I got the job!", "我去了趟超市。", "我妹妹叫小云。", "我好累。",
     "我奶奶昨晚去世了。", "我升职了！", "My ex hit me last night", "我被裁了怎么办？",
     "My mom has cancer, what should I do?"],
)  # fmt: skip
def test_a_statement_gets_a_short_word_that_quotes_and_promises_nothing(line: str) -> None:
    said = answer(line, memories=KEPT_EN)
    assert len(said) < 60
    assert "“" not in said
    assert not PROMISES.search(said)
    assert not shares_a_run(said, line)


@in_samples
def test_hundreds_of_messages_of_others_are_neither_parroted_nor_promised(every: int) -> None:
    """Written by other hands for other tests: harmless messages of all kinds, and requests and what looks like them."""
    count = 0
    for language in ("en", "zh"):
        requests = (settings.BASE_DIR / "tests" / "echovessel" / "language" / "requests" / "aside.tsv").read_text(
            "utf-8"
        )
        lines = everyday_messages(language)[::13]
        lines += [line.split("\t")[1] for line in requests.splitlines()[1:] if "\t" in line]
        recent: list[dict[str, str]] = []
        asked: list[bool] = []
        for line in lines[::every]:
            said = answer(line, language=language, recent=recent[-20:])
            recent += [{"role": "user", "content": line}, {"role": "persona", "content": said}]
            asked.append(said.endswith(("?", "？")))
            count += 1
            assert len(said) < 110 or asks_for_overview(line), (line, said)
            told_before = "“" in said  # from the messages of the moment
            assert told_before or not shares_a_run(said, line), (line, said)
            is_kept = any(one.kind == "remember" and one.sure for one in read_requests(line))
            assert told_before or is_kept or not PROMISED.search(said), (line, said)
        assert all(sum(asked[at : at + 3]) <= 1 for at in range(len(asked) - 2))
    assert count > 500 // every


def test_after_a_death_nothing_is_asked_and_nothing_is_glad() -> None:
    for line in ("My mother died.", "We got engaged, and then he died.", "我爸爸去世了。", "I lost my baby."):
        for turn in range(6):
            recent = [{"role": role, "content": "I see."} for _ in range(turn) for role in ("user", "persona")]
            said = answer(line, recent=recent, language="zh" if "我" in line else "en")
            assert not re.search(r"[?？]|good|glad|真好|不错", said)
            assert re.search(r"sorry|抱歉|很重|不容易", said)


def test_at_most_one_question_is_asked_in_three_messages() -> None:
    lines = [f"I went for a walk in the park on day {number}." for number in range(30)]
    recent: list[dict[str, str]] = []
    asked = []
    for line in lines:
        said = answer(line, recent=recent)
        asked.append("?" in said)
        recent += [{"role": "user", "content": line}, {"role": "persona", "content": said}]
    assert any(asked)
    assert all(sum(asked[at : at + 3]) <= 1 for at in range(len(asked) - 2))


def test_the_same_session_gets_the_same_words_and_other_sessions_get_others() -> None:
    lines = [f"I went for a walk on day {number}" for number in range(8)]
    replies = [answer(line) for line in lines]
    assert replies == [answer(line) for line in lines]
    assert len(set(replies)) > 2


@each_row("line", ["", "😀", "{name}", "%s {0} {told}", "\x00", "？？？", "“”", "a" * 20_000])
def test_odd_lines_get_an_answer(line: str) -> None:
    assert answer(line)


@each_row(("line", "words"), [("ok bye", ("next time", "See you")), ("好的 拜拜", ("休息", "晚点见"))])
def test_a_goodbye_after_an_ok_is_a_goodbye(line: str, words: tuple[str, str]) -> None:
    assert any(word in answer(line) for word in words)


def test_a_greeting_recites_nothing() -> None:
    assert not re.search(
        "kill|sea", answer("hello", memories=("Ana wants to kill themselves.", "Ana went to the sea."))
    )


# --- requests ---------------------------------------------------------------------------------------------------------
@each_row(
    "line",
    ["Please forget that.", "Forget that I'm allergic to peanuts.", "忘了这件事", "Just listen to me from now on.",
     "Call me Sam.", "叫我小林。", "No, York, not Leeds.", "其实我妹妹学的是化学，不是生物",
     "When I'm sad, just be with me.", "以后我难过的时候，你就陪着我。"],
)  # fmt: skip
def test_a_request_is_neither_echoed_nor_promised(line: str) -> None:
    said = answer(line)
    assert not re.search("peanut|Leeds|York|Sam|化学|小林|sad|陪", said)
    assert not re.search(r"\bI(?:'ll| will)\b|我会|remember|记住", said)
    assert "model" not in said


def test_a_wish_and_a_name_that_were_stored_are_told_and_no_others() -> None:
    assert "小林" in answer("以后叫我小林", language="zh", user_name="小林")
    assert "Sam" in answer("Call me Sam from now on.", user_name="Sam")
    wishes = [("zh", "我难过的时候先陪着我", "记下"), ("en", "When I'm sad, just be with me first.", "oted")]
    for language, wish, noted in wishes:
        said = answer(wish, language=language, lessons=["Keep it short"], new_lessons=[wish.rstrip(".")])
        assert noted in said, said
        assert wish.rstrip(".") in said, said
        unstored = answer(wish, language=language, lessons=["Keep it short"])
        assert noted not in unstored, unstored


def test_who_asks_that_something_be_kept_hears_so_and_off_the_record_that_it_is_not() -> None:
    for line, kept, gone in (
        ("Please remember that I'm allergic to nuts.", "kept|memories", "off the record"),
        ("请记住我对花生过敏。", "记忆里|记住", "不留记录"),
    ):
        assert re.search(kept, answer(line))
        assert re.search(gone, answer(line, off_the_record=True))


@each_row("line", ["I can't forget that day at the sea.", "Don't forget that I moved.", "别忘了我搬家了"])
def test_who_cannot_forget_asks_for_nothing_to_be_forgotten(line: str) -> None:
    assert not re.search("decision|confirm|确认", answer(line))


# --- a hard hour ------------------------------------------------------------------------------------------------------
CARE = re.compile("emergency number|心理援助")


@each_row("line", ["我不想活了", "I want to kill myself", "I wrote a letter to everyone.", "Would anyone notice?"])
def test_a_message_heard_as_a_cry_meets_care_and_the_way_to_people(line: str) -> None:
    for crisis in ("plain", "doubtful"):
        said = answer(line, crisis=crisis)
        assert CARE.search(said)
        assert "AI" in said


@each_row(
    "line",
    [
        "细胞自杀是一种正常的生理过程", "看了部讲自杀的纪录片", "新闻里说有个明星自杀了", "股市崩溃了", "加班加到想死",
        "I watched a documentary about suicide", "apoptosis is basically cell suicide", "My laptop wants to die",
        "This deadline is killing me", "I could kill for a pizza", "the hero died at the end of that film",
        "Suicide Squad was a terrible film",
    ],
)  # fmt: skip
def test_without_a_cry_no_words_bring_care(line: str) -> None:
    said = answer(line)
    assert not CARE.search(said)
    assert not re.search("sorry|抱歉|太不容易|很重", said)


def test_care_is_said_once_and_again_in_other_words_and_then_the_conversation_goes_on() -> None:
    recent: list[dict[str, str]] = []
    replies = []
    for line, crisis in (
        ("I want to die", "plain"), ("I mean it", "plain"), ("hello?", "lately"), ("Do you remember my cat?", "lately"),
        ("I went to the market.", "lately"), ("thanks", "lately"),
    ):  # fmt: skip
        said = answer(line, crisis=crisis, recent=recent, memories=("Ana has a cat.",))
        recent += [{"role": "user", "content": line}, {"role": "persona", "content": said}]
        replies.append(said)
    assert all(CARE.search(said) for said in replies[:2])
    assert replies[0] != replies[1]
    assert "cat" in replies[3]
    assert not any(CARE.search(said) or "?" in said for said in replies[3:])


def test_a_doubtful_cry_does_not_stand_before_a_sure_answer_or_a_request() -> None:
    cat = {"memories": (TOLD_EN,), "crisis": "doubtful"}
    assert "Snowball" in answer("What's my cat's name?", **cat)
    assert not CARE.search(answer("Forget that I smoke.", **cat))
    assert CARE.search(
        answer("What happens if I take all of my pills?", memories=("Ana takes pills.",), crisis="doubtful")
    )


# --- the first word ---------------------------------------------------------------------------------------------------
def opening(about: str = "", language: str = "en", **changes: object) -> str:
    material = talk(language=language, trigger="silence", about=about, about_day=None, today="2026-03-06", **changes)
    assert first_word(material) == first_word(material)
    return str(first_word(material)["message"])


def test_a_first_word_says_what_is_remembered_and_blames_nobody() -> None:
    assert "“My interview is on Friday”" in opening("Ana: “My interview is on Friday.”")
    assert "你的妈妈" in opening("小雨的妈妈去世了。", "zh")
    said = opening("Ana's mother died.")
    assert "Your mother died" in said
    assert "no need to answer" in said
    for language in ("en", "zh"):
        silent = opening("", language)
        assert silent.endswith(("?", "？"))
        assert not re.search("haven't written|ignore|lonely|miss|why|怎么不", silent)


def test_what_the_owner_said_under_an_earlier_name_is_quoted_to_them_without_it() -> None:
    remembered = {"layer": "L3", "speaker": None, "subject": "user"}
    cases = [
        ("zh", "我对什么过敏？", "林子：“我对芒果过敏。”", "“我对芒果过敏。”", "林子"),
        ("en", "What am I allergic to?", "Annie: “I'm allergic to mango.”", "“I'm allergic to mango.”", "Annie"),
        ("en", "What am I allergic to?", "Annie (to Ben): “I'm allergic to mango.”", "(to Ben)", "In your own words"),
    ]
    for language, question, text, holds, lacks in cases:
        said = answer(question, language=language, recollections=[{**remembered, "text": text}])
        assert holds in said, said
        assert lacks not in said, said


# --- what changed, and how the owner wants to be spoken to ------------------------------------------------------------
def in_a_conversation(question: str, memory: str, *said: str) -> str:
    """The answer after these messages of the owner; the memory is of months ago."""
    language = "zh" if question[0] > "z" else "en"
    memories = [{"text": memory, "layer": "L3", "speaker": None, "subject": "user", "at": "2026-01-02T09:00:00"}]
    recent = [
        line for text in said for line in ({"role": "user", "content": text}, {"role": "persona", "content": "."})
    ]
    return answer(question, language=language, recollections=memories, recent=recent)


def test_a_name_that_stood_alone_is_found() -> None:
    told = in_a_conversation("what's my dog called?", "Ana: “got a dog btw. pickle. he's a whippet, two years old”")
    assert "pickle" in told
    assert "isn't in my memory" not in told
    assert "haven't told me" not in told


@each_row(
    ("question", "memory", "said", "later"),
    [
        ("where do I work?", "Ana: “I work at the post office.”", "I quit, I started at the bakery today", "bakery"),
        ("where do I live?", "Ana: “I live in Leeds.”", "we moved to York yesterday!", "York"),
        ("what's my job?", "Ana: “I'm a nurse.”", "I retired last week", "retired"),
        ("我在哪儿上班？", "小雨：“我在邮局上班。”", "今天去面包店上班了，邮局的工作辞了", "面包店"),
        ("我住哪里？", "小雨：“我住在广州。”", "我搬到深圳了", "深圳"),
    ],
)  # fmt: skip
def test_where_one_thing_holds_at_a_time_the_last_word_is_told_alone(
    question: str, memory: str, said: str, later: str
) -> None:
    told = in_a_conversation(question, memory, said, "the weather is fine")
    assert later in told
    assert memory.split("“")[1].rstrip("”。.") not in told


def test_ended_facts_are_quoted_with_their_end() -> None:
    for question, memory, said in (
        ("what's my dog called?", "Ana: “My dog is called Rex.”", "Rex died yesterday"),
        ("who is my boyfriend?", "Ana: “My boyfriend Tom is a baker.”", "Tom and I broke up"),
        ("我男朋友是谁？", "小雨：“我男朋友叫阿杰，是厨师。”", "我跟阿杰分手了"),
    ):
        told = in_a_conversation(question, memory, said)
        assert memory.split("“")[1][:10] in told
        assert said in told
    assert "tired" not in in_a_conversation(
        "what's my dog called?", "Ana: “My dog is called Rex.”", "I quit, I'm tired"
    )


SAID = {
    "en": ("I passed my exam!!", "had a quiet day", "hello", "lol", "I baked bread, it came out well", "my cat died"),
    "zh": ("我考试过了！！", "今天没什么事", "你好", "哈哈哈", "今天烤了面包，味道还行", "我的猫死了"),
}


@each_row(
    ("wish", "breaks"),
    [
        ("never ask me questions", "[?？]"), ("No exclamation marks please.", "[!！]"), ("stop using my name", "Ana"),
        ("stop saying sorry", "sorry"), ("别问我问题", "[?？]"), ("别用感叹号", "[!！]"), ("别叫我的名字", "小雨"),
        ("不要说抱歉", "抱歉"),
    ],
)  # fmt: skip
def test_a_manner_that_was_wished_is_kept_to(wish: str, breaks: str) -> None:
    language = "zh" if wish[0] > "z" else "en"
    recent = [{"role": "user", "content": "."}, {"role": "persona", "content": "."}] * 3
    for line in SAID[language]:
        changes = {"language": language, "recent": recent}
        assert not re.search(breaks, answer(line, lessons=[wish], **changes)), line
        said_before = [{"role": "user", "content": wish}, *recent]
        unrecorded = changes | {"recent": said_before, "off_the_record": True}
        assert not re.search(breaks, answer(line, **unrecorded)), "of this very conversation, where nothing is kept"
    about = first_word(talk(language=language, lessons=[wish], about="Ana: “I have a cat.”"))
    assert not re.search(breaks, about["message"])


@each_row(
    "said",
    [
        "She said to me, don't ask any questions.", "Mum always said: never ask questions.", "我妈总说别问那么多。",
        "I told Tom: don't ask me questions.", 'In my story the king says: "Stop asking questions!"',
    ],
)  # fmt: skip
def test_a_manner_that_others_wish_for_is_not_kept_to(said: str) -> None:
    recent = [{"role": "user", "content": said}, {"role": "persona", "content": "."}]
    for material in (talk(said), talk("I baked bread.", recent=recent, off_the_record=True)):
        assert not Reply(material).styles


def test_a_wish_that_was_taken_back_acts_no_more_though_its_message_still_stands() -> None:
    recent = [{"role": "user", "content": "Never ask me questions."}, {"role": "persona", "content": "."}]
    assert not Reply(talk("I baked bread.", recent=recent)).styles


@each_row(
    "wish",
    [
        "Don't keep it so short.", "Please don't be brief.", "Your answers are too short.", "别太简短",
        "I never want short answers.", "Don't stop asking me questions.", "Never hesitate to ask questions.",
        "不要回答得太短", "别停止提问",
    ],
)  # fmt: skip
def test_a_wish_for_more_is_none_for_less(wish: str) -> None:
    assert not styles_in([wish])


def test_short_answers_are_the_shorter_ones_and_help_is_said_whatever_is_wished() -> None:
    asked = {"question": "what's my dog called?", "memories": ("Ana: “My dog is Rex.”", "Ana: “My dog Rex is old.”")}
    long = answer(asked["question"], memories=asked["memories"])
    assert len(answer(asked["question"], memories=asked["memories"], lessons=["short answers please"])) <= len(long)
    cry = answer("I want to kill myself", crisis="plain", lessons=["never ask me questions", "be brief"])
    assert cry == answer("I want to kill myself", crisis="plain")


# --- stock words that fit what was said -------------------------------------------------------------------------------
ASIDE = {"language": "en", "recent": [{"role": "user", "content": "."}, {"role": "persona", "content": "."}] * 3}


@each_row(
    ("occasion", "lines"),
    [
        ("heavy", ["we buried dad today", "it should have been me", "The house is so quiet without her",
                   "今天给爸爸下葬了", "我还是会给她留一双筷子"]),
        ("sad", ["no sleep. back on shift at 5. kill me", "nan broke her wrist", "团子又吐了，我抱着它去的急诊",
                 "你说我该不该跟他分手", "work was crap",
                 "nobody came to my party", "I can't sleep", "tired", "腰又疼了",
                 "没人来我的生日会", "好想他"]),
        ("glad", ["I'm pregnant!", "We made up", "he's going to be ok!!", "I'm going to be an aunt!", "和好了",
                  "它没事了！", "他回我消息了！！"]),
        ("hurry", ["gtg ttyl", "brb", "running late for the train!!", "can't talk now, meeting", "先不说了，开会",
                   "赶车，回头聊"]),
        ("link", ["https://example.org/a?b=c", "www.example.org"]),
        ("joke", ["knock knock", "what do you call a fish with no eyes?", "为什么程序员怕冷？因为没有被子"]),
        ("laughter", ["just kidding", "haha got you", "逗你玩的", "笑不活了", "2333"]),
        ("complaint", ["u suck", "you never listen to me", "Why are you ignoring me??", "你根本不懂我",
                       "你怎么不说话"]),
        ("leave_it", ["I don't want to talk about it", "不想说了"]),
        ("itself", ["ur just a script arent u", "I love you", "are you mad at me?", "do you like me?",
                    "how was your day?", "你喜欢我吗", "你生气了吗"]),
        ("invites", ["guess what", "猜猜怎么了"]),
        ("wish", ["shut up", "闭嘴"]),
        ("sorry", ["sorry for rambling"]),
        ("no_answer", ["三加五等于几", "讲个笑话", "tell me something nice"]),
        ("cannot", ["set a timer for 10 mins", "can you play some music", "turn off the lights", "帮我定个七点的闹钟",
                    "你会写作业吗帮我写个作文", "放首歌"]),
        ("praise", ["You're a good listener.", "that's so sweet of you", "你真好", "你好贴心呀"]),
        ("wish", ["don't say anything", "don't comfort me", "别安慰我", "别回了"]),
        ("thanks", ["ta", "tysm", "cheers", "you know what, thank you", "谢了兄弟"]),
        ("sorry", ["sry that was mean"]),
        ("greeting", ["吃了没", "hiya"]),
        ("remembers_nothing", ["上周末我干了啥", "what did I do last weekend?"]),
    ],
)  # fmt: skip
def test_a_stock_word_fits_what_was_said(occasion: str, lines: list[str]) -> None:
    for line in lines:
        language = "zh" if re.search("[\u3400-\u9fff]", line) else "en"
        said = answer(line, **ASIDE | {"language": language})
        fitting = [re.sub(r"\{\w+\}", "", one) for one in phrases_of(language)[occasion]]
        assert any(one.strip() in said.replace("Ana, ", "").replace("小雨，", "") for one in fitting), (line, said)
        assert not re.search("[?？]", said) or occasion in ("glad", "link"), (line, said)


def test_who_mourns_is_not_asked_for_more_and_gets_no_plain_word() -> None:
    grief = [{"role": "user", "content": "my wife died on Sunday"}, {"role": "persona", "content": "I'm so sorry."}]
    recent = grief + [{"role": "user", "content": "."}, {"role": "persona", "content": "."}] * 3
    for line in ("her coat is still in the hall", "I made two cups of tea this morning without thinking"):
        assert answer(line, recent=recent) in phrases_of("en")["mourning"]


def test_a_message_is_told_once_though_a_memory_quotes_parts_of_it() -> None:
    message = {
        "text": "I have a brother. I was ill. His name is Gareth.",
        "layer": "L2",
        "speaker": "user",
        "at": "2026-02-02",
    }
    memory = {
        "text": "Ana: “I have a brother.” “His name is Gareth.”",
        "layer": "L3",
        "speaker": None,
        "subject": "user",
    }
    told = answer("What's my brother called?", recollections=[memory | {"at": "2026-02-01"}, message])
    assert told.count("Gareth") == 1


def test_only_a_death_is_mourned_over_several_messages() -> None:
    for news, is_mourned in (("我爸妈离婚了", False), ("我爷爷去世了", True)):
        recent = [{"role": "user", "content": news}, {"role": "persona", "content": "."}]
        said = answer("今天投进了一个三分绝杀，全班都看到了", language="zh", recent=recent)
        assert (said in phrases_of("zh")["mourning"]) == is_mourned


KAREN = "Ana: “My daughter Karen lives in Phoenix with her husband Steve.”"


@each_row(
    ("question", "memory", "told"),
    [
        ("And her husband?", KAREN, "Steve"),
        ("And Karen's husband, his name slips my mind.", KAREN, "Steve"),
        ("whats Karen up to these days", KAREN, "Phoenix"),
        (
            "What can't I eat with my pills?",
            "Ana: “I take warfarin so no grapefruit.” “The pastor comes.”",
            "grapefruit.”",
        ),
        ("老刘的女儿哪天结婚？", "小雨：“最近耳朵背，想去配助听器” “老刘的女儿下周六结婚”", "：“老刘的女儿下周六结婚”"),
        ("我跟谁住", "小雨：“我爸妈离婚了，我跟我妈住”", "我跟我妈住"),
        ("whats my birds name", "Ana: “got a parrot named Mango” “my uncle Rio sings”", "Mango"),
        ("我工作室叫什么", "小雨：“我不在威尔士上班了，自己开了工作室” “我的工作室叫铁屋”", "铁屋"),
        ("where does my son want to go?", "Ana: “Our son Oisin is 17.” “Oisin wants to study in Glasgow.”", "Glasgow"),
        ("数学老师叫啥来着哈哈突然想不起来", "小雨：“班主任姓许，教数学，超凶”", "姓许"),
    ],
)
def test_questions_in_other_words_find_the_one_memory_that_answers(question: str, memory: str, told: str) -> None:
    recent = [{"role": "user", "content": "Where does my daughter live?"}, {"role": "persona", "content": "Phoenix."}]
    assert told in answer(question, language="zh" if "小" in memory else "en", recent=recent, memories=(memory,))


@each_row(
    "question", ["why do people say they're fine when they're not", "Is he nice?", "What's the weather in Phoenix?"]
)
def test_a_question_about_nobody_in_particular_quotes_nobody(question: str) -> None:
    recent = [{"role": "user", "content": "Where does my daughter live?"}, {"role": "persona", "content": "Phoenix."}]
    assert "“" not in answer(question, recent=recent, memories=(KAREN,))


def test_nobody_is_quoted_for_what_they_would_say() -> None:
    for question in ("what would mum say", "What would mum have said?"):
        assert "“" not in answer(question, memories=("Ana: “mum died in 2020”",))


def test_a_link_is_answered_in_the_language_of_the_conversation() -> None:
    assert answer("https://b23.tv/abc", language="zh") in phrases_of("zh")["link"]


@each_row(
    ("language", "later", "is_last_word"),
    [
        ("en", "I don't work at the post office any more, I work at the bank.", True),
        ("en", "I used to work at the post office but now I work at the bank.", True),
        ("zh", "我不在邮局上班了，我在银行上班", True), ("zh", "我以前在邮局上班，现在在银行上班", True),
        ("en", "I work at the bank.", True), ("en", "I don't work here, I work at the bank.", True),
        ("en", "I don't work at the bank.", False), ("en", "Tom says: I work at the bank.", False),
        ("en", "They think I work at the bank.", False), ("en", "I might work at the bank next year.", False),
        ("en", 'My neighbour said: "I work at the bank."', False),
        ("zh", "我在银行上班。", True), ("zh", "我没在银行上班。", False), ("zh", "小王现在在银行上班。", False),
        ("zh", "他说我在银行上班。", False), ("zh", "要是我在银行上班就好了。", False),
        ("zh", "我梦见我在银行上班。", False),
    ],
)  # fmt: skip
def test_the_last_word_is_one_that_says_so(language: str, later: str, is_last_word: bool) -> None:
    question, before = {
        "en": ("Where do I work?", "I work at the post office."), "zh": ("我在哪里上班？", "我在邮局上班。"),
    }[language]  # fmt: skip
    recollections = [
        {"text": text, "layer": "L2", "speaker": "user", "at": at}
        for text, at in ((before, "2026-01-01"), (later, "2026-02-01"))
    ]
    for in_some_order in (recollections, recollections[::-1]):
        told = answer(question, language=language, recollections=in_some_order)
        assert (later in told, before in told) == (is_last_word, not is_last_word)


@each_row(
    ("question", "memory", "said", "told"),
    [
        ("so how old is he", "Ana: “Cian is 14.”", ("how old is Cian?", "he turned 15 yesterday"), "turned 15"),
        ("when is my operation?", "Ana: “My operation is on the 3rd.”",
         ("When is my operation?", "they rang to say it's moved to the 17th"), "17th"),
        ("so when's his birthday?", "Ana: “My son Magnus is 5.”",
         ("when is Magnus's birthday?", "the 4th of May"), "4th of May"),
        ("who is my boss", "Ana: “My boss is called Bertrand.”",
         ("not Bertrand anymore, my new boss is Sandrine",), "Sandrine"),
        ("她生日是哪天", "小雨：“我妈住大兴。”", ("我妈今天打来了", "她生日几号", "11月30号啦"), "11月30号"),
        ("我室友是誰", "小雨：“我室友小胖每天打呼”", ("小胖搬走了，換了一個新室友叫阿國",), "阿國"),
        ("那他现在有对象没得？", "小雨：“儿子廖凯还不找对象”", ("廖凯跟女朋友吹了",), "吹了"),
    ],
)  # fmt: skip
def test_what_was_said_a_moment_ago_answers_though_it_names_nobody(
    question: str, memory: str, said: tuple[str, ...], told: str
) -> None:
    assert told in in_a_conversation(question, memory, *said)


@each_row(
    ("question", "memory", "said", "told"),
    [
        ("Where does my sister live?", "Ana: “I like tea.”",
         ("My sister lives in Leeds.", "In other news I moved to York."), "Leeds"),
        ("How old is my dad?", "Ana: “I like tea.”", ("My dad is 70.", "On Friday I turned 30."), "70"),
        ("我妹妹住在哪？", "小雨：“我爱喝茶”", ("我妹妹住在苏州", "在上海找房子好难"), "苏州"),
        ("我妈对什么过敏？", "小雨：“我爱喝茶”", ("我妈对花生过敏", "在食堂吃虾差点吐"), "花生"),
    ],
)  # fmt: skip
def test_a_message_with_a_subject_of_its_own_does_not_take_the_place_of_the_one_before(
    question: str, memory: str, said: tuple[str, ...], told: str
) -> None:
    reply = in_a_conversation(question, memory, *said)
    assert told in reply
    assert said[1].rstrip(".") not in reply


def test_a_pronoun_means_the_name_that_came_last_as_a_word() -> None:
    names = ["Zoe", "Al", "Bea"]
    assert with_antecedent("How old is she?", ["Also Zoe came."], names[::-1]) == "How old is Zoe?"
    assert with_antecedent("How old is she?", ["Zoe met Bea."], names) == "How old is Bea?"


@each_row(
    ("question", "memory", "told"),
    [
        ("what can't Rory eat?", "Ana: “Rory is coeliac so no wheat here”", "coeliac"),
        ("can I drink milk?", "Ana: “I'm lactose intolerant”", "lactose"),
        ("do I eat fish?", "Ana: “I'm vegetarian, have been since school”", "vegetarian"),
        ("我能吃西瓜不", "小雨：“我有糖尿病，打胰岛素呢”", "糖尿病"),
        ("N1哪天考？", "小雨：“下個月7號第三次考N1”", "7號"),
        ("我的狗叫什麼名字", "小雨：“我養了一隻柴犬叫麻糬”", "麻糬"),
        ("我老公叫咩名", "小雨：“老公阿強做廚房”", "阿強"),
        ("what kind of dog was Duke", "Ana: “old blue heeler named Duke”", "heeler"),
    ],
)
def test_other_words_dialects_and_traditional_characters_find_the_memory(question: str, memory: str, told: str) -> None:
    assert told in answer(question, language="zh" if "小" in memory else "en", memories=(memory,))


def test_no_phrase_claims_that_something_was_not_told() -> None:
    for language, claim in (
        ("en", r"haven't told|never told|isn't in my memory"),
        ("zh", "没跟我说过|没说过|没有这一件"),
    ):
        assert not any(re.search(claim, phrase) for row in phrases_of(language).values() for phrase in row)


@each_row("question", ["which of us is older, my sister?", "is my brother coming?", "她在哪里上班？", "我姐几岁？"])
def test_a_question_of_the_owners_life_without_an_answer_is_no_question_for_a_model(question: str) -> None:
    assert any(word in answer(question) for word in NOT_FOUND)
