"""Without a model the owner's own sentences are remembered, as many as qualify, and nothing else."""

import re
from datetime import date
from itertools import product
from typing import Any

from echovessel.language.dates import days_in
from echovessel.language.sentences import is_question, is_small_talk
from echovessel.llm.offline.extraction import draft_quotations, extract
from echovessel.llm.offline.feeling import impact_of
from echovessel.llm.offline.names import NameMention, names_in
from tests.echovessel.llm.offline import kept, session
from tests.table import each_row, in_samples

TODAY = date(2026, 3, 5)
CAT_ZH = "我养了只白猫，叫小黑。他超调皮，老在半夜跳到我脸上。"
CAT_EN = "I adopted a white cat named Snowball. He jumps on my face at midnight."


def named(*lines: str, **changes: Any) -> list[tuple[str, str]]:
    found = extract(session(*lines, **changes))["mentioned_entities"]
    return [(entity["canonical_name"], entity["kind"]) for entity in found]


# --- the owner's own words --------------------------------------------------------------------------------------------
def test_a_memory_is_a_quotation_with_its_speaker_and_nothing_is_concluded() -> None:
    for line, language, told, name in (
        (CAT_ZH, "zh", f"小雨：“{CAT_ZH}”", "小黑"),
        (CAT_EN, "en", f"Ana: “{CAT_EN}”", "Snowball"),
    ):
        found = extract(session(line, language=language))
        [event] = found["events"]
        assert event["description"] == told
        assert event["evidence"] == [{"message_id": "m0", "quote": line}]
        assert (event["subject"], event["event_time"], event["supersedes"]) == ("user", None, [])
        assert event["emotion_tags"] == []
        [entity] = found["mentioned_entities"]
        assert (entity["canonical_name"], entity["kind"], entity["in_events"]) == (name, "pet", [0])
        assert found["session_mood_signal"] == {"mood": "在听" if language == "zh" else "listening", "energy": 5}
        assert found["session_summary"] == ""


@each_row(
    "line",
    [
        "I play the cello in an amateur orchestra.", "My sister Rosa lives in Lisbon.", "I'm allergic to nuts.",
        "I'm going to move to Oslo in the autumn.", "I promised my mother to call her on Sunday.",
        "My flight to Lisbon leaves on Friday.", "I have three brothers.", "We got engaged yesterday!",
        "I can't stand coriander and I love tea.", "Otto and I met at work.", "I don't eat meat.",
        "My neighbour Mr. Lee fixed the roof.", "I'll start a new job next month.", "When I was ten, my dad died.",
        "我对花生过敏。", "我妹妹叫小云，在北京上大学。", "我打算明年去冰岛。", "我答应了妈妈周日回家。",
        "我在银行上班。", "我从小弹钢琴。", "我不吃香菜。", "我下周五要做手术。",
        "我奶奶上周走了。", "我有两个孩子，乐乐和安安。",
    ],
)  # fmt: skip
def test_facts_plans_promises_and_people_by_name_are_kept(line: str) -> None:
    language = "zh" if re.search("[\u3400-\u9fff]", line) else "en"
    assert kept(line, language=language) == [f"“{line}”"]


def test_all_that_qualifies_is_kept_and_the_same_once() -> None:
    lines = [f"My friend Tom{number} lives in Rome and I love visiting him." for number in range(9)]
    assert kept(*lines) == [f"“{line}”" for line in lines]
    assert len(kept(*["My sister Anna lives in Rome."] * 40)) == 1


@each_row(
    "line",
    [
        "Do you like tea?", "你喜欢什么？", "hi", "lol ok", "ok bye", "好的 拜拜", "It rained a bit.", "", "😀",
        "？？？", "“”", "a" * 20_000, "\x00", "{name}", "我什么时候搬家", "我之前跟你说过我的猫叫什么来着",
        "Tell me about my brother",
        "please remind me of my sister's birthday", "我妹妹去哪了", "我男朋友是谁", "When is my wedding?",
        "如果我搬到巴黎，你会想我吗？", "Do you remember when my dad died?", "我是做什么的", "> I lost my job.",
    ],
)  # fmt: skip
def test_what_asks_greets_or_is_the_personas_is_no_memory(line: str) -> None:
    assert kept(line) == []


@each_row(
    ("line", "told"),
    [
        ("几天前我妈妈去世了", "几天前我妈妈去世了"),
        ("我妈妈去世了，我该怎么办呢？", "我妈妈去世了"),
        ("我被裁了怎么办？", "我被裁了"),
        ("My mom has cancer, what should I do?", "My mom has cancer"),
        ("Did I tell you I got engaged?", "I got engaged"),
        ("Help me, I lost my baby", "I lost my baby"),
    ],
)
def test_a_weighty_thing_is_kept_though_it_stands_in_a_question(line: str, told: str) -> None:
    assert kept(line) == [f"“{told}”"]


def test_a_message_heard_as_a_cry_is_kept_whatever_its_words() -> None:
    for line in ("你觉得活着累吗？", "Would anyone notice if I was gone?", "I wrote everyone a letter."):
        lines = [session(line)["lines"][0] | {"crisis": True}]
        assert kept(line, lines=lines) == [f"“{line}”"]
    assert kept("你觉得今天热吗？") == []


OPENINGS = ("", "Well, ", "So, ", "You know, ", "Honestly, ", "Yesterday ", "By the way, ")
SUBJECTS = ("my sister Rosa", "our dog Otto", "my boss", "I", "my mother", "we", "my friend Ben's wife")
ACTIONS = ("moved to Lisbon", "was ill for a week", "love the sea; it's calm", "will start a course next month",
         "said “never again”", "lost the keys… again", "sold the house, and bought a boat")  # fmt: skip
OPENINGS_ZH = ("", "对了，", "其实", "昨天", "说真的，")
SUBJECTS_ZH = ("我妹妹小云", "我家的猫豆豆", "我", "我妈妈", "我们", "我的老板")
ACTIONS_ZH = ("搬到了里斯本", "病了一个星期", "很喜欢海边", "下个月要去上课", "说“再也不去了”", "把房子卖了，买了条船")


@in_samples
def test_nothing_is_invented_in_hundreds_of_sentences(every: int) -> None:
    """Every quotation stands in what was said, letter for letter; so do names, and no wrong one is made."""
    lines = [f"{opening}{subject} {action}." for opening, subject, action in product(OPENINGS, SUBJECTS, ACTIONS)]
    lines += [
        f"{opening}{subject}{action}。" for opening, subject, action in product(OPENINGS_ZH, SUBJECTS_ZH, ACTIONS_ZH)
    ]
    count = 0
    for first, second in list(zip(lines, lines[7:], strict=False))[::every]:
        found = extract(session(first, second))
        for event in found["events"]:
            count += 1
            assert event["description"] == "Ana: " + " ".join(f"“{one['quote']}”" for one in event["evidence"])
            for one in event["evidence"]:
                assert one["quote"] in {"m0": first, "m1": second}[one["message_id"]]
        right = {"Rosa", "Otto", "Ben's", "Ben", "小云", "豆豆"}
        assert {entity["canonical_name"] for entity in found["mentioned_entities"]} <= right
    assert count > 500 // every


def test_a_very_long_sentence_is_quoted_from_its_beginning() -> None:
    line = "I moved to Oslo because " + "of the sea and " * 90
    [quote] = kept(line)
    assert line.startswith(quote.strip("“”"))
    assert len(quote) <= 602


# --- fragments --------------------------------------------------------------------------------------------------------
@each_row(
    "message",
    [
        "got a dog btw. pickle. he's a whippet, two years old", "I moved. Bristol. Because of the rent.",
        "allergic to shellfish. prawns mainly. last time I ended up in A&E.", "I hate my job. Call centre. Nights.",
        "Mum's in hospital. Her hip. Since Tuesday.", "I have asthma. Since I was a kid. Blue inhaler.",
        "He's gone. My brother. Car crash. Tuesday night.", "Promoted! Head of year. Starting September.",
        "海鲜过敏！尤其虾", "养了条狗。叫豆包。柯基，两岁。", "我妈住院了。髋骨骨折。上周二摔的。",
        "我讨厌我的工作。客服。夜班。", "科目二过了！！第三次才过。", "他走了。我哥。车祸。周二晚上。",
    ],
)  # fmt: skip
def test_a_fact_that_goes_on_over_fragments_is_kept_whole(message: str) -> None:
    assert kept(message) == [f"“{message}”"]
    pieces = [piece for piece in re.split(r"(?<=[.!。！])(?![.!！])\s*", message) if piece.strip()]
    assert kept(*pieces) == [" ".join(f"“{piece}”" for piece in pieces)], "the same as messages of their own"


def test_what_is_no_fragment_of_it_stands_alone_or_is_left_out() -> None:
    for messages, memories in (
        (["I'm pregnant", "haha", "ok", "12 weeks"], ["“I'm pregnant” “12 weeks”"]),
        (["I live alone. Not by choice.", "Don't ask me questions."], ["“I live alone. Not by choice.”"]),
        (["I'm a nurse. Remember that. Night shifts."], ["“I'm a nurse.” “Night shifts.”"]),
        (["I have two sons. I work in Leeds."], ["“I have two sons.”", "“I work in Leeds.”"]),
        (
            ["We met in May, Sam and I", "allergic to shellfish", "prawns mainly"],
            ["“We met in May, Sam and I”", "“allergic to shellfish” “prawns mainly”"],
        ),
        (["我搬家了", "好的", "在城东"], ["“我搬家了” “在城东”"]),
        (["我吃素。忘掉我说过爱吃火腿。天天吃。"], ["“我吃素。”"]),
        (["我在银行上班。我妹妹在北京上大学。"], ["“我在银行上班。”", "“我妹妹在北京上大学。”"]),
    ):
        assert kept(*messages) == memories, messages
    [earlier, later] = session("I got a dog", "Two hours")["lines"]
    assert kept(lines=[earlier, later | {"at": "2026-03-05T19:00:00+00:00"}]) == ["“I got a dog”"], "hours later"


@each_row(
    ("line", "name", "relation"),
    [
        ("My sister Rosa is a doctor.", "Rosa", "sister"), ("My cousin is Big Sam, he's a baker.", "Big Sam", "cousin"),
        ("My brother Patrick's had a baby girl.", "Patrick", "brother"), ("my friend's called Zoe", "Zoe", "friend"),
        ("I'm seeing someone, her names Samantha", "Samantha", ""), ("I'm engaged to Priscilla", "Priscilla", ""),
        ("My mate Dan from work came", "Dan", "mate"), ("My best friend in Leeds, Kim, rang", "Kim", "friend"),
        ("Otis (our son) is three", "Otis", "son"), ("My wife's sister Jo rang", "Jo", "wife's sister"),
        ("mum came with her fella trevor and two goats", "Trevor", "mum's fella"),
        ("I have a son. His name's Leo.", "Leo", "son"),
        ("My mum met a man, his name's Walt", "Walt", ""), ("Dan, who's my cousin, left", "Dan", "cousin"),
        ("my old roommate from there, lena, shes fun", "Lena", "roommate"),
        ("my sister bisi is flying in", "Bisi", "sister"),
        ("登记那天来了苏晚的妹妹苏晨", "苏晨", "苏晚的妹妹"), ("我弟的女朋友思思在株洲", "思思", "弟弟的女朋友"),
        ("儿子八岁了，叫乐乐", "乐乐", "儿子"), ("给我供豆子的叫江南，普洱人", "江南", "给我供豆子的"),
        ("我和我哥李明去爬山", "李明", "哥哥"), ("表弟小峰下周结婚", "小峰", "表弟"),
        ("My mother-in-law Ruth moved in", "Ruth", "mother-in-law"), ("I met Tom's mum, Sunita", "Sunita", "Tom's mum"),
        ("我同事小林升职了", "小林", "同事"), ("我妈叫王秀英，六十二了", "王秀英", "妈妈"),
        ("我老公陈明在杭州出差", "陈明", "老公"), ("我跟一个学姐合租，她叫方蕾", "方蕾", "学姐"),
        ("我儿子乐乐五岁了", "乐乐", "儿子"), ("我的导师是张伟", "张伟", "导师"),
        ("我奶奶李桂芳九十了", "李桂芳", "奶奶"), ("我妹要结婚了，对象叫阿杰", "阿杰", ""),
    ],
)  # fmt: skip
def test_who_somebody_is_to_the_owner_is_kept_with_the_name(line: str, name: str, relation: str) -> None:
    [found] = extract(session(line))["mentioned_entities"]
    assert (found["canonical_name"], found["kind"], found["relation"]) == (name, "person", relation)


@each_row(
    "line",
    [
        "护士，武汉，儿科，第五年了。",
        "我妈今天高兴坏了",
        "我妹在北京上学",
        "My brother never calls me",
        "我老师马上要走了",
    ],
)
def test_a_place_or_a_word_beside_somebody_is_no_name(line: str) -> None:
    assert named(line) == []


def test_what_is_asked_for_beside_a_fact_takes_nothing_from_it() -> None:
    for line, memory in (
        ("我血糖高，每顿饭前吃二甲双胍，你记着，别劝我吃甜的", "“我血糖高，每顿饭前吃二甲双胍，你记着，别劝我吃甜的”"),
        ("yeah diesel mechanic for the city, nights mostly", "“yeah diesel mechanic for the city, nights mostly”"),
    ):
        assert kept(line) == [memory]


# --- days -------------------------------------------------------------------------------------------------------------
@each_row(
    ("line", "start", "end"),
    [
        ("We adopted Milo two years ago in October.", "2024-10-01", "2024-10-31"),
        ("I started at the bank last May.", "2025-05-01", "2025-05-31"),
        ("I broke my leg in spring three years ago.", "2023-03-01", "2023-05-31"),
        ("We're getting married in June.", "2026-06-01", "2026-06-30"),
        ("I had surgery in August.", "2025-08-01", "2025-08-31"),
        ("I saw Tom on Friday.", "2026-02-27", "2026-02-27"),
        ("I'm flying to Rome on Friday.", "2026-03-06", "2026-03-06"),
        ("we're off to Portugal! leaving on the 3rd!", "2026-04-03", "2026-04-03"),
        ("Dentist thursday, root canal, dreading it.", "2026-03-12", "2026-03-12"),
        ("我们前年十月结的婚。", "2024-10-01", "2024-10-31"),
        ("我爸是三年前的春天走的。", "2023-03-01", "2023-05-31"),
        ("去年国庆我去了西安。", "2025-10-01", "2025-10-07"),
        ("国庆我要去云南。", "2026-10-01", "2026-10-07"),
        ("上上周三我去面试了。", "2026-02-18", "2026-02-18"),
        ("我只剩毕业设计了，六月三十号答辩", "2026-06-30", "2026-06-30"),
        ("We open june 6", "2026-06-06", "2026-06-06"),
        ("My birthday is in May.", None, None),
        ("I always get sad in winter.", None, None),
        ("I have choir every Thursday.", None, None),
        ("我每周四要上课。", None, None),
    ],
)
def test_a_day_is_the_one_that_all_its_words_say(line: str, start: str | None, end: str | None) -> None:
    [event] = extract(session(line))["events"]
    found = event["event_time"] or {"start": None, "end": None}
    assert (found["start"], found["end"]) == (start, end)


# --- requests ---------------------------------------------------------------------------------------------------------
@each_row(
    "line",
    [
        "Forget that I'm allergic to peanuts.", "Please forget that I work in Leeds.", "Call me Sam.",
        "When I'm sad, just be with me.", "忘了我对花生过敏这件事。", "叫我小林。", "以后我难过的时候，你就陪着我。",
        "Please don't give me advice when I'm angry.",
    ],
)  # fmt: skip
def test_a_request_is_no_memory(line: str) -> None:
    assert kept(line) == []


@each_row("line", ["Remember this.", "Please remember that for me!", "记住这个", "请帮我记住这件事哦"])
def test_the_wish_that_something_be_remembered_is_itself_nothing_to_remember(line: str) -> None:
    assert kept("My sister Rosa lives in Lisbon.", line) == ["“My sister Rosa lives in Lisbon.”"]


def test_of_a_request_to_remember_its_words_are_kept() -> None:
    assert kept("Remember this: I hate tea") == ["“I hate tea”"]
    assert kept("Please remember that the blue key opens the shed.") == ["“the blue key opens the shed.”"]


def test_what_is_to_be_forgotten_in_the_same_message_is_not_kept() -> None:
    assert kept("I kissed Tom at work. Forget that!") == []


# --- corrections: both stand there as they were said ------------------------------------------------------------------
@each_row(
    ("wrong", "right", "names"),
    [
        ("我的狗叫旺财。", "不对，它其实叫来福，我说错了。", [("来福", "pet")]),
        ("My dog is called Rex.", "Actually, no, his name is Max.", [("Max", "pet")]),
        ("My dog is called Rex.", "Oops, I meant Max.", [("Max", "pet")]),
        ("I have a daughter.", "Her name is Mia.", [("Mia", "person")]),
        ("我周四有个面试。", "不对，是周五。", []),
        ("My interview is on Thursday.", "Sorry, I meant Friday.", []),
        ("My sister Ruth lives in Leeds.", "Actually Ruth lives in York.", [("Ruth", "person")]),
    ],
)
def test_what_puts_a_statement_right_is_quoted_beside_it(wrong: str, right: str, names: list[tuple[str, str]]) -> None:
    assert kept(wrong, right) == [f"“{wrong}” “{right}”"]
    assert named(wrong, right) == names
    assert [event["supersedes"] for event in extract(session(wrong, right))["events"]] == [[]]


@each_row(
    ("lines", "expected"),
    [
        (["我有个弟弟，在北京读书。我昨天去了医院。他叫王明。"],
         ["“我有个弟弟，在北京读书。” “他叫王明。”", "“我昨天去了医院。”"]),
        (["I have a brother.", "I went to the hospital yesterday.", "His name is Gareth."],
         ["“I have a brother.” “His name is Gareth.”", "“I went to the hospital yesterday.”"]),
        (["I adopted a cat. I lost my job yesterday. She's called Pepper."],
         ["“I adopted a cat.” “She's called Pepper.”", "“I lost my job yesterday.”"]),
    ],
)  # fmt: skip
def test_a_name_is_kept_with_whom_it_means_and_not_with_the_sentence_between(
    lines: list[str], expected: list[str]
) -> None:
    assert kept(*lines, language="zh" if lines[0] > "z" else "en") == expected


def test_what_is_told_for_the_first_time_after_a_question_is_no_correction() -> None:
    found = extract(session("我该怎么称呼自己？你叫我什么？", "我妹妹小雨在昆明当护士。", language="zh"))
    assert [event["relational_tags"] for event in found["events"]] == [[]]


def test_a_correction_of_its_own_is_kept_and_makes_nobody_up() -> None:
    chemistry = "其实我妹妹学的是化学，不是生物"
    assert kept(chemistry, language="zh") == [f"“{chemistry}”"]
    assert named(chemistry) == named("Actually Ruth lives in York") == []
    assert named("我妹妹叫小云。", chemistry) == [("小云", "person")]
    assert kept("Actually Ruth lives in York") == ["“Actually Ruth lives in York”"]
    assert named("Actually Ruth lives in York", known_entities=[{"name": "Ruth", "kind": "person"}]) == [
        ("Ruth", "person")
    ]
    assert kept("No, it's on Friday.") == []
    assert sorted(named("My dog is called Rex.", "Actually, my sister Anna lives in Rome.")) == [
        ("Anna", "person"), ("Rex", "pet"),
    ]  # fmt: skip


# --- days, prose and talks of others ----------------------------------------------------------------------------------
def test_days_count_from_the_message_in_the_zone_of_the_owner_and_the_words_stay() -> None:
    line = "My boss fired me yesterday."
    [event] = extract(session(line, at="2026-11-21T23:30:00+00:00"))["events"]
    assert event["event_time"] == {"start": "2026-11-21", "end": "2026-11-21"}  # already the 22nd in Shanghai
    assert (event["description"], event["emotional_impact"]) == (f"Ana: “{line}”", -7)
    [undated] = extract(session(line, dated=False))["events"]
    assert undated["event_time"] is None


def test_of_prose_all_that_qualifies_is_kept_and_nothing_thought() -> None:
    heavy = "My dog died. My father died. I lost my job. I cried for hours."
    answer = extract(session(heavy, prose=True))
    assert len(answer["events"]) == 4
    assert answer["thoughts"] == []
    assert "thoughts" not in extract(session(heavy))


def test_what_others_said_is_nothing_to_remember() -> None:
    line = {"id": "", "role": "system", "speaker": "Kim", "content": "I lost my job.", "at": "2024-01-05T12:00:00Z"}
    assert extract(session("", lines=[line]))["events"] == []


@each_row(
    ("line", "language", "drafted"),
    [
        ("I'm a nurse and I live in Leeds. It rained.", "en", ["Ana: “I'm a nurse and I live in Leeds.”"]),
        ("I am allergic to nuts.", "en", ["Ana: “I am allergic to nuts.”"]),
        ("我在银行上班。今天下雨", "zh", ["小雨：“我在银行上班。”"]),
        ("我有两个孩子，乐乐和安安", "zh", ["小雨：“我有两个孩子，乐乐和安安”"]),
        ("I'm a bit tired.", "en", []),
        ("Do I live in Leeds?", "en", []),
        ("I work at the fair on Friday.", "en", []),
        ("Forget that I live in York.", "en", []),
        ("My sister lives in Rome.", "en", []),
        ("我是说你别来", "zh", []),
        ("> I'm a baker.", "en", []),
    ],
)
def test_of_an_import_the_owners_own_words_of_who_they_are_are_drafted(
    line: str, language: str, drafted: list[str]
) -> None:
    answer = draft_quotations(session(line, language=language))
    assert [one["text"] for one in answer["drafts"]] == drafted
    assert {one["label"] for one in answer["drafts"]} <= {"user"}
    assert all(quote["quote"] in line for one in answer["drafts"] for quote in one["evidence"])


# --- names ------------------------------------------------------------------------------------------------------------
@each_row(
    ("text", "found"),
    [
        ("My sister Anna lives in Rome.", [NameMention("Anna", "person")]),
        ("I have a dog called 小白 and a cat", [NameMention("小白", "pet")]),
        ("我妹妹叫小美在医院上班", [NameMention("小美", "person")]),
        ("There is a restaurant called Blue Door.", [NameMention("Blue Door", "place")]),
        ("I work for a company called Acme", [NameMention("Acme", "org")]),
        ("我叫李雷", []),
        ("我叫外卖吃", []),
        ("老板叫我加班", []),
        ("My name is Ana", []),
        ("I called Mom", []),
        ("My boss Mr. Lee announced it", [NameMention("Mr. Lee", "person")]),
        ("I have two cats called Tom and Jerry.", [NameMention("Tom", "pet"), NameMention("Jerry", "pet")]),
        ("我养了两只猫，叫小黑和小白", [NameMention("小黑", "pet"), NameMention("小白", "pet")]),
        ("We have two kids, Leo and Mia.", [NameMention("Leo", "person"), NameMention("Mia", "person")]),
        ("我家有只狗叫得很大声", []),
        ("我朋友叫王大力他很胖", [NameMention("王大力", "person")]),
        ("My friend Monday was bad", []),
        ("My boss Just fired me", []),
        ("My cat is 3. He is called Bo.", [NameMention("Bo", "pet")]),
        ("其实我妹妹学的是化学", []),
        ("我妹妹小雨在北京当护士", [NameMention("小雨", "person")]),
        ("我的狗豆豆去年走了", [NameMention("豆豆", "pet")]),
        ("豆豆是我家的狗", [NameMention("豆豆", "pet")]),
        ("男朋友周予在成都", [NameMention("周予", "person")]),
        ("我的学生丁小舟考上了博士", [NameMention("丁小舟", "person")]),
        ("我妈身体不好", []),
        ("我妈小时候住在海边", []),
        ("我爸天天喝酒", []),
        ("我妈妈高兴坏了", []),
        ("我同学周末来", []),
        ("我有一个女儿，特别乖", []),
        ("my stepdad Graham, hes alright", [NameMention("Graham", "person")]),
        (
            "I have a daughter, Therese, and a son, Colm",
            [NameMention("Therese", "person"), NameMention("Colm", "person")],
        ),
        ("Me and Imran separated", [NameMention("Imran", "person")]),
        (
            "I've two kids, Zayn who's 11 and Hafsa who's 6",
            [NameMention("Zayn", "person"), NameMention("Hafsa", "person")],
        ),
        ("The midwife is Aoife", [NameMention("Aoife", "person")]),
        ("Otto is my dog", [NameMention("Otto", "pet")]),
        ("My sons Leo and Max are loud", [NameMention("Leo", "person"), NameMention("Max", "person")]),
        ("I saw Auntie Joan and uncle Bob", [NameMention("Joan", "person"), NameMention("Bob", "person")]),
        ("lachie (boyfriend, sparky) is here", [NameMention("lachie", "person")]),
        ("my landlord mr khan wont fix it", [NameMention("mr khan", "person")]),
        ("a bearded dragon called kevin. mine.", [NameMention("kevin", "other")]),
        ("my brother still lives at home", []),
        ("my wife left and i cried", []),
        ("my sister, thankfully, is fine", []),
        ("my mum turns 60", []),
        ("My brother is Vegan", []),
        ("隔壁老李又喝多了", [NameMention("老李", "person")]),
        ("跟王姨吃饭", [NameMention("王姨", "person")]),
        ("一个端盘子，给我供豆子的叫江南，普洱人", [NameMention("江南", "person")]),
        ("店员叫蒋楠", [NameMention("蒋楠", "person")]),
        ("老毛病又犯了", []),
        ("老高兴了", []),
        ("She is from Cork and I understand little", []),
        ("The bowls club is on Tuesdays and I play", []),
        ("My mother is Catholic", []),
    ],
)
def test_names_and_what_bears_them(text: str, found: list[NameMention]) -> None:
    assert names_in(text) == found


def test_known_names_are_found_again() -> None:
    known = [{"name": "小黑", "kind": "pet"}]
    assert named("小黑今天生病了，我很担心。", language="zh", known_entities=known) == [("小黑", "pet")]


# --- how heavy it weighs ----------------------------------------------------------------------------------------------
@each_row(
    "line",
    ["我男朋友走了，去美国读书。", "我的钱包没了", "就这些，没了", "My phone died.", "I died laughing at that show",
     "Nobody died, luckily.", "饿死了", "笑死了", "车走了", "I'm engaged in a project", "The news hit me hard",
     "He beat me at chess", "我朋友打我电话", "我被打断了", "I'm not suicidal", "纪录片里讲细胞自杀",
     "自杀式袭击的历史",
     "There was a suicide bombing in the news", "The villain wanted to end it all", "妈妈走了五公里", "那步棋等于自杀",
     "My character in the game wants to die", "Romeo and Juliet both commit suicide", "妈妈今天走了，去上班"],
)  # fmt: skip
def test_sayings_weigh_nothing(line: str) -> None:
    assert impact_of(line) == 0


@each_row(
    ("line", "low", "high"),
    [
        ("同事都走了，就剩我一个人加班。", -3, 0),
        ("累死了", -3, 0),
        ("没人爱我", -8, -4),
        ("我爸喜欢喝酒打我", -10, -7),
        ("I can't say I'm happy", -4, 0),
        ("I had a good cry", -5, -1),
        ("I lost, they won", -5, 0),
        ("I was raped", -10, -8),
        ("My ex hit me last night", -10, -8),
        ("my dad beats me", -10, -8),
        ("我被打了", -10, -8),
        ("家暴", -10, -8),
        ("I lost my baby", -10, -8),
        ("He had a heart attack", -10, -7),
        ("昨天出了车祸", -10, -7),
        ("我奶奶上周走了", -10, -8),
        ("小黑死了", -10, -8),
        ("我的狗豆豆去年走了，我还是非常想念它", -10, -8),
        ("我母亲是去年冬至走的", -10, -8),
        ("我爹是前年腊月没的", -10, -8),
        ("my brother Ray passed in 2021, but he passed on his boat", -10, -8),
        ("我很想念她", -5, -2),
        ("My dad died while we watched a film", -10, -8),
        ("面试过了！！！", 4, 8),
        ("Ana wants to kill themselves", -10, -9),
        ("I never felt so happy", 3, 6),
        ("高兴死了", 3, 6),
        ("可爱死了", 1, 4),
        ("癌症痊愈了", 5, 10),
        ("cancer free!", 5, 10),
        ("they're letting me go at the end of the month", -8, -5),
        ("the scan found something, they want me back", -8, -4),
        ("it'd be easier for everyone if I wasn't here", -8, -5),
        ("I got turned down for the mortgage", -6, -3),
        ("I came second in the county final, no big deal", 4, 7),
        ("we got the keys today", 4, 7),
        ("i keep hearing the brakes", -5, -3),
        ("he left me on read for two days", -2, 2),
        ("我消失了也没人知道", -8, -5),
        ("驾照又没过", -6, -3),
        ("上个月比赛我拿了个第一，没啥子", 4, 7),
        ("上周结了婚，简单办的", 6, 8),
        ("眼皮撑不住了", -2, 2),
        ("三天没睡好", -3, 0),
    ],
)
def test_the_sign_and_size_of_a_weight(line: str, low: int, high: int) -> None:
    assert low <= impact_of(line) <= high


def test_who_is_known_by_name_decides_what_gone_means() -> None:
    assert impact_of("豆豆去年走了") == 0
    [event] = extract(session("豆豆去年走了", language="zh", known_entities=[{"name": "豆豆", "kind": "pet"}]))[
        "events"
    ]
    assert event["emotional_impact"] <= -8


# --- reading plain words ----------------------------------------------------------------------------------------------
@each_row(
    "line",
    ["谁都不理我", "哪怕下雨我也去", "我不知道该怎么办", "我在上班呢", "What a day!", "Will called me yesterday",
     "Have a nice day", "没什么", "Do your best", "我想吃什么就吃什么", "我几乎崩溃", "I don't know what to do"],
)  # fmt: skip
def test_question_words_alone_ask_nothing(line: str) -> None:
    assert not is_question(line)


@each_row("line", ["ok bye", "好的 拜拜", "hi", "fine thanks", "晚安", "嗯嗯"])
def test_small_talk_is_told_from_what_tells(line: str) -> None:
    assert is_small_talk(line)
    assert not is_small_talk("Thanks to my sister I moved to Rome")


@each_row("line", ["Ty is my brother", "Ta Nehisi came over", "ok, Ty's my son", "ta-da, I passed"])
def test_a_name_that_is_also_a_word_of_thanks_makes_no_small_talk(line: str) -> None:
    assert not is_small_talk(line)


@each_row(
    ("text", "start", "end"),
    [
        ("十二天前", "2026-02-21", None),
        ("二十天后", "2026-03-25", None),
        ("大前天", "2026-03-02", None),
        ("大后天", "2026-03-08", None),
        ("上上周", "2026-02-16", "2026-02-22"),
        ("下下周", "2026-03-16", "2026-03-22"),
        ("下周三", "2026-03-11", None),
        ("去年5月4号", "2025-05-04", None),
        ("明年5月4日", "2027-05-04", None),
        ("next year on May 4th", "2027-05-04", None),
        ("two weeks ago", "2026-02-16", "2026-02-22"),
        ("my birthday is may 4", "2026-05-04", None),
        ("I was born in 1990", "1990-01-01", "1990-12-31"),
    ],
)
def test_days_that_are_said_plainly(text: str, start: str, end: str | None) -> None:
    days = days_in(text, TODAY)
    assert days is not None
    assert days.as_json() == {"start": start, "end": end or start}


@each_row("text", ["日本周边的小岛", "last nightmare", "We may 5 of us go", "99999 days ago", "9999年前"])
def test_no_day_is_read_where_none_is_said(text: str) -> None:
    assert days_in(text, TODAY) is None


@each_row(
    ("line", "language", "impact", "day"),
    [
        ("Dot found a lump, by the way, they're doing tests.", "en", -6, None),
        ("Mum's not well, she gets lost driving to the shops.", "en", -6, None),
        ("我怀孕的表姐周宁住院保胎了", "zh", -6, None),
        ("我们昨天领证了，在汉堡", "zh", 7, "2026-03-04"),
        ("I think you'd guess I hate this job at the bakery.", "en", None, None),
        ("If I win the lottery I'll buy a Tesla and a goat.", "en", None, None),
        ("I watched a film where a woman robs a bank with her club.", "en", None, None),
        ("我昨天做梦中了五百万，先给年糕买个别墅", "zh", None, None),
        ("你是不是觉得我该去贵州？", "zh", None, None),
        ("Like a baby.", "en", None, None),
        ("必须的。", "zh", None, None),
        ("外婆去年冬天走了，我有时候还会梦到她。", "zh", -9, "2025-12-01"),
        ("你好，我叫林晓，在出版社做编辑。", "zh", 0, None),
        ("I can't stand coriander btw", "en", 0, None),
        ("Our flat's on the third floor and there's no lift", "en", 0, None),
        ("I swam for the county at sixteen.", "en", 0, None),
        ("We're flying to Darwin on the 23rd.", "en", 0, "2026-03-23"),
        ("I have my exam tomorrow week, Friday the 13th.", "en", 0, "2026-03-13"),
        ("下下周三我要去体检", "zh", 0, "2026-03-18"),
    ],
)
def test_what_is_kept_weighs_as_it_should_on_its_own_day_and_nothing_imagined_is_kept(
    line: str, language: str, impact: int | None, day: str | None
) -> None:
    events = extract(session(line, language=language))["events"]
    told = [(one["emotional_impact"], one["event_time"] and one["event_time"]["start"]) for one in events]
    assert told == ([] if impact is None else [(impact, day)])


@each_row(
    ("line", "people"),
    [
        ("My little sister Noor made the team.", {"Noor": "sister"}),
        ("Kostas, our landlord, sold the house.", {"Kostas": "landlord"}),
        ("My daughter Helen is a vet. My son Martin is in Toronto.", {"Helen": "daughter", "Martin": "son"}),
        ("我弟林哲在杭州念大二", {"林哲": "弟弟"}),
        ("我养了只柯基叫年糕", {"年糕": ""}),
        ("I met Otto at the station.", {}),
    ],
)
def test_somebody_with_a_name_is_what_the_owner_says_they_are(line: str, people: dict[str, str]) -> None:
    entities = extract(session(line))["mentioned_entities"]
    assert {one["canonical_name"]: one["relation"] for one in entities} == people


@each_row(
    ("line", "weight"),
    [
        ("I passed my driving test!", 5), ("my brother passed the bar exam", 5), ("We passed.", 5),
        ("科目三终于过了！", 5),
        ("我的注册会计师过了，也就那样", 5), ("答辩过了。", 5), ("外婆带大的我，去年冬天走的。", -9),
        ("I passed the salt.", 0), ("i passed out.", 0), ("We passed by the church.", 0), ("下午过了。", 0),
        ("他的考试还没过", 0), ("爷爷在车站，昨天走的那条路堵", 0), ("爸爸出差，昨天走的。", 0),
    ],
)  # fmt: skip
def test_an_examination_that_was_passed_is_a_joy_and_a_grandparent_who_went_long_ago_a_death(
    line: str, weight: int
) -> None:
    assert impact_of(line) == weight


@each_row(
    ("lines", "first"),
    [
        (("I have depression.", "Forget the rest.", "Two years now."), "“I have depression.”"),
        (
            ("My sister is pregnant.", "Her name is Mia. Forget her name."),
            "“My sister is pregnant.” “Her name is Mia.”",
        ),
        (("I play the cello.", "Off the record: my boss steals."), "“I play the cello.”"),
        (("I have a job interview tomorrow.", "Tom says hello."), "“I have a job interview tomorrow.”"),
        (("我有抑郁症。", "别记", "吃药两年了。"), "“我有抑郁症。”"),
        (("我在银行上班。", "忘了我说的银行", "柜员，三年了。"), "“我在银行上班。”"),
    ],
)
def test_nothing_is_joined_to_what_may_be_a_request_to_forget_nor_another_person(
    lines: tuple[str, ...], first: str
) -> None:
    assert kept(*lines, language="zh" if lines[0] > "z" else "en")[0] == first
