"""Chats as text, as messengers export them or as people copy them."""

from datetime import datetime

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.chatlog import Chatlog
from memory.imports.readers.types import ImportRejected, Options
from tests.memory.imports.readers.sources import FILES, messages_of, read_items, skips_of, source_of
from tests.table import each_row

MORNING, EVENING, NIGHT = datetime(2024, 1, 15, 9, 5), datetime(2024, 1, 15, 21, 5), datetime(2024, 1, 16, 0, 1)
QQ = """消息记录（此消息记录为文本格式，不支持重新导入）

================================================================
消息分组:我的好友
================================================================
消息对象:小美
================================================================

2024-01-15 21:05:00 安娜(10001)
你好
在吗

2024-01-15 21:05:00 小美(10002)
2024-01-05

2024-01-16 0:01:00 安娜娜(10001)
[图片]

2024-01-16 0:01:00 系统消息(10000)
对方撤回了一条消息

2024-01-16 0:01:00 安娜娜(10001)
晚安

"""
LINE = (FILES / "line.txt").read_text(encoding="utf-8")
LINE_ZH = """[LINE] 與小美的聊天記錄
儲存日期： 2024/01/16 10:22

2024/01/15（週一）
下午09:05\t安娜\t你好
下午09:05\t小美\t嗨

2024/01/16（週二）
上午12:01\t安娜\t晚安
"""
KAKAO_TALK = """민수 님과 카카오톡 대화
저장한 날짜 : 2024-01-16 10:22:33

--------------- 2024년 1월 15일 월요일 ---------------
[안나] [오후 9:05] 안녕
[민수] [오후 9:05] 잘 지내?
여러 줄
--------------- 2024년 1월 16일 화요일 ---------------
[안나] [오전 12:01] 잘 자
"""
KAKAO_TALK_PHONE = """2024년 1월 15일 오후 9:05
2024년 1월 15일 오후 9:05, 안나 : 안녕
2024년 1월 15일 오후 9:05, 민수 : 잘 지내?
여러 줄
2024년 1월 16일 오전 12:01, 안나 : 잘 자
"""
IRC = """--- Log opened Mon Jan 15 21:00:33 2024
21:05 < ana> hello: there
21:05 -!- ben [~b@x] has joined #sea
21:05 <@mira> hi <3
21:06  * ana waves
--- Day changed Tue Jan 16 2024
00:01 < ana> night
"""
WEECHAT = """2024-01-15 21:05:00\tana\thello: there
2024-01-15 21:05:01\t-->\tben has joined
2024-01-15 21:05:00\t@mira\thi <3
2024-01-16 00:01:00\tana\tnight
"""
WECHAT = "安娜 2024-01-15 21:05\n你好\n\n小美 2024-01-15 21:05\n在\n\n安娜 2024-01-16 00:01\n晚安\n"
DISCORD = """==============================================================
Channel: Private / mira
==============================================================

[1/15/2024 9:05 PM] ana
hello there

[1/15/2024 9:05 PM] mira
two
lines

[1/16/2024 12:01 AM] ana
night

==============================================================
Exported 3 message(s)
==============================================================
"""


@each_row(
    ("data", "expected", "skips"),
    [
        (QQ, [("安娜", "你好\n在吗"), ("小美", "2024-01-05"), ("安娜", "晚安")],
         ["nobody", "document", "document", "document", "media", "notice"]),
        (LINE, [("Ana", "Hello"), ("Mira", 'two "good"\nlines'), ("Ana", "night")],
         ["nobody", "media", "notice", "notice", "notice"]),
        (LINE_ZH, [("安娜", "你好"), ("小美", "嗨"), ("安娜", "晚安")], ["nobody"]),
        (KAKAO_TALK, [("안나", "안녕"), ("민수", "잘 지내?\n여러 줄"), ("안나", "잘 자")], ["nobody"]),
        (KAKAO_TALK_PHONE, [("안나", "안녕"), ("민수", "잘 지내?\n여러 줄"), ("안나", "잘 자")], ["notice"]),
        (IRC, [("ana", "hello: there"), ("mira", "hi <3"), ("ana", "night")], ["notice", "notice"]),
        (WEECHAT, [("ana", "hello: there"), ("mira", "hi <3"), ("ana", "night")], ["notice"]),
        (WECHAT, [("安娜", "你好"), ("小美", "在"), ("安娜", "晚安")], []),
        (DISCORD, [("ana", "hello there"), ("mira", "two\nlines"), ("ana", "night")], ["document"] * 4),
    ],
    ids=["qq", "line", "line_zh", "kakaotalk", "kakaotalk_phone", "irc", "weechat", "wechat", "discord"],
)  # fmt: skip
@each_row("end", ["\n", "\r\n"])
def test_a_chat_is_recognised_and_read(data: str, expected: list[tuple[str, str]], skips: list[str], end: str) -> None:
    source = source_of(data.replace("\n", end), "chat.txt")
    assert recognize(source).name == "chatlog"
    items = read_items(Chatlog(), source)
    assert [(message.speaker, message.text) for message in messages_of(items)] == expected
    assert [message.at for message in messages_of(items)] == [EVENING, EVENING, NIGHT]
    assert skips_of(items) == skips


@each_row(
    ("form", "at"),
    [
        ("[2024-01-15 21:05] {}: {}", EVENING), ("{} [2024-01-15 21:05]: {}", EVENING), ("{} (21:05): {}", None),
        ("[21:05] {}: {}", None), ("[15/01, 21:05] {}: {}", None), ("15/1/2024 9:05 PM {}: {}", EVENING),
        ("21:05 {}: {}", None), ("21:05:33 From {} to Everyone:\n\t{}", None), ("{}  [9:05 PM]\n{}", None),
        ("[9:05 AM] {}: {}", None),
        ("2024年1月15日 上午9:05 {}：{}", MORNING),
    ],
)  # fmt: skip
def test_copied_chat_logs_of_each_style_are_read(form: str, at: datetime | None) -> None:
    data = "\n".join(
        form.format(name, text) for name, text in (("Ana", "hi"), ("Mira", "yo\n\nso: well"), ("Ana", "ok"))
    )
    items = read_items(Chatlog(), source_of(data))
    assert [(message.speaker, message.text, message.at) for message in messages_of(items)] == [
        ("Ana", "hi", at), ("Mira", "yo\n\nso: well", at), ("Ana", "ok", at),
    ]  # fmt: skip
    assert recognize(source_of(data)).name in ("chatlog", "whatsapp")


@each_row(
    "diary",
    [
        "2024-01-05\n08:00 Breakfast: eggs\n12:00 Lunch: soup\n19:00 Dinner: rice\n" * 3,
        "[2024-01-05 10:00] woke up\n[2024-01-05 11:00] had coffee\n[2024-01-06 10:00] woke late\n",
        "2024-01-05 21:05 Gym\nlegs\n\n2024-01-06 21:05 Work\nlong\n\n2024-01-07 21:05 Beach\nsun\n",
        "2024-01-05 21:05\nI went out.\n\n2024-01-06 21:05\nI stayed.\n\n2024-01-07 20:00\nRain again.\n",
    ],
)
def test_diaries_stay_diaries(diary: str) -> None:
    assert recognize(source_of(diary, "diary.txt")).name == "journal"


def test_where_no_date_tells_the_order_it_is_asked_for() -> None:
    data = LINE.replace("01/15", "01/05").replace("01/16", "01/06")
    with pytest.raises(ImportRejected) as rejected:
        read_items(Chatlog(), source_of(data))
    assert rejected.value.code == "ask_day_first"
    messages = messages_of(read_items(Chatlog(), source_of(data), Options(day_first=False)))
    assert messages[0].at == datetime(2024, 1, 5, 21, 5)


def test_equal_lines_of_one_minute_have_ids_of_their_own_that_a_later_export_keeps() -> None:
    head, rest = LINE_ZH.split("下午", 1)[0], "下午09:05\t安娜\t好\n下午09:05\t安娜\t好\n下午09:06\t小美\t好\n"
    whole, later = (
        messages_of(read_items(Chatlog(), source_of(head + part))) for part in (rest, rest + "下午09:07\t小美\t嗨\n")
    )
    assert len({message.source_id for message in whole}) == 3
    assert [message.source_id for message in later][:3] == [message.source_id for message in whole]


def test_a_person_who_says_that_it_is_a_chat_is_believed() -> None:
    data = "2024-01-15 21:05 Ana\nhi\n2024-01-15 21:06 Mira\nyo\n"
    assert recognize(source_of(data)).name != "chatlog"
    assert [message.speaker for message in messages_of(read_items(Chatlog(), source_of(data)))] == ["Ana", "Mira"]
    with pytest.raises(ImportRejected) as rejected:
        read_items(Chatlog(), source_of("Dear diary,\nit rained.\n"))
    assert rejected.value.code == "not_this"


KAKAO_TALK_GROUP = """우리방 5 님과 카카오톡 대화
저장한 날짜 : 2024-01-16 10:22:33

--------------- 2024년 1월 15일 월요일 ---------------
민수님이 안나님과 지수님을 초대했습니다.
[안나] [오후 9:05] 안녕
하나님이 들어왔습니다.
[민수] [오후 9:06] 잘 지내?
민수님이 보라님을 초대했습니다.
선생님이 나갔습니다.
[지수] [오후 1:30] 사진
[지수] [오후 1:31] 좋아민수님이 보라님을 초대했습니다.
[지수] [오후 1:32] 삭제된 메시지입니다.
지수님이 나갔습니다.
"""
KAKAO_TALK_IOS = """우리방.txt
저장한 날짜 : 2025. 10. 14. 오전 10:22

2025년 10월 14일 화요일
2025. 10. 14. 오전 9:30: 길동님이 철수님을 초대했습니다.
2025. 10. 14. 오전 9:30, 길동 : 안녕
2025. 10. 14. 오후 1:30, 철수 : 네
두 줄
2025. 10. 14. 오후 1:31, 철수 : 이모티콘
"""
KAKAO_TALK_EN = """Friends with KakaoTalk Chats
Date Saved : 2024-01-16 10:22:33

--------------- Monday, January 15, 2024 ---------------
Ana invited Ben and Mira.
[Ana] [9:05 AM] Hello
Ben left.
[Mira] [1:30 PM] ok
Mira invited me to dinner.
[Ana] [1:31 PM] nice
"""
KAKAO_TALK_PHONE_EN = """Friends 3 KakaoTalk Chats
Date Saved : January 16, 2024 at 10:22 AM

January 15, 2024 at 9:05 AM, Ana invited Ben and Mira
January 15, 2024 at 9:05 AM, Ana : Hello: all
January 15, 2024 at 1:30 PM, Mira : Photo
January 15, 2024 at 1:30 PM, Mira : so
"""
LINE_EN = """[LINE] Chat history with Mira
Saved on: 26/04/2026, 04:36PM

Sun, 26/04/2026
09:35AM\tAna\tLet's try it
01:30PM\tMira\t[Sticker]
01:30PM\tMira\tok
01:31PM\t\tMira unsent a message.
"""
LINE_TH = """[LINE] ประวัติการแชทกับ Mira
บันทึกวันที่: 2024/01/15 10:30

2024/01/15 จันทร์
9:30\tAna\tสวัสดีครับ
13:31\tMira\tสวัสดี!
"""
WE_FLOW = """2024-01-15 09:05:00 '我'
在吗

2024-01-15 13:06:10 '小美: 家'
在
好的

2024-01-15 13:06:20 '小美: 家'
[图片]

"""
WE_LINK = "张三(z00123456) 2024-01-15 9:22\n你好\n李四(l00654321) 2024-01-15 13:23\n在\n"
ZOOM_DE = "[15. Januar 2024 um 9:05 vorm.] Ana: hallo\n[15. Januar 2024 um 1:30 nachm.] Mira: na\n" * 2
SPANISH = "lunes, 15 de enero de 2024, 9:05 a. m. - Ana: hola\nlunes, 15 de enero de 2024, 1:30 p. m. - Mira: sí\n" * 2
COPIED = "Ana  [Jan 15, 2024 9:05 AM]\nhi\nMira  [Jan 15, 2024 1:30 PM]\nyo\nAna  [Jan 15, 2024 1:31 PM]\nok\n"


def test_notices_are_nobodys_words_and_halves_of_the_day_nobodys_names() -> None:
    cases = {
        KAKAO_TALK_GROUP: [("안나", "안녕", 21), ("민수", "잘 지내?\n선생님이 나갔습니다.", 21), ("지수", "좋아", 13)],
        KAKAO_TALK_IOS: [("길동", "안녕", 9), ("철수", "네\n두 줄", 13)],
        KAKAO_TALK_EN: [("Ana", "Hello", 9), ("Mira", "ok\nMira invited me to dinner.", 13), ("Ana", "nice", 13)],
        KAKAO_TALK_PHONE_EN: [("Ana", "Hello: all", 9), ("Mira", "so", 13)],
        LINE_EN: [("Ana", "Let's try it", 9), ("Mira", "ok", 13)],
        LINE_TH: [("Ana", "สวัสดีครับ", 9), ("Mira", "สวัสดี!", 13)],
        WE_FLOW: [("我", "在吗", 9), ("小美: 家", "在\n好的", 13)],
        WE_LINK: [("张三", "你好", 9), ("李四", "在", 13)],
        ZOOM_DE: [("Ana", "hallo", 9), ("Mira", "na", 13)] * 2,
        SPANISH: [("Ana", "hola", 9), ("Mira", "sí", 13)] * 2,
        COPIED: [("Ana", "hi", 9), ("Mira", "yo", 13), ("Ana", "ok", 13)],
    }
    for data, expected in cases.items():
        for end, encoding in (("\n", "utf-8"), ("\r\n", "utf-16")):
            source = source_of(data.replace("\n", end).encode(encoding), "chat.txt")
            assert recognize(source).name in ("chatlog", "whatsapp"), data
            messages = messages_of(list(read(source)))
            assert [
                (message.speaker, message.text, message.at and message.at.hour) for message in messages
            ] == expected, data


def test_where_times_and_names_may_be_notes_it_is_asked_and_the_answer_holds() -> None:
    unclear = (
        "张三 00123456 2024-01-15 10:22:33\n你好\n\n李四 00654321 2024-01-15 10:23:33\n在\n",
        "小美 10:22:33\n在吗\n安娜 10:23:01\n在\n",
        "2024-01-15 21:05 小美\n在吗\n2024-01-15 21:06 小美\n到了\n",
        "21:05 Ana: hi\n21:06 Mira: yo\n21:07 Ben: hey\n21:08 Ana: so\n",
    )
    for data in unclear:
        source = source_of(data, "copy.txt")
        with pytest.raises(ImportRejected) as rejected:
            list(read(source))
        assert rejected.value.code == "ask_chat_or_notes", data
        assert len(messages_of(list(read(source, options=Options(kind="chat"))))) > 1, data
        assert not messages_of(list(read(source, options=Options(kind="notes")))), data


def test_what_is_copied_out_of_other_windows_has_names_without_marks_and_is_never_the_owners_prose() -> None:
    rows = (("Ana", "10:14 AM", "hi"), ("Mira", "1:30 PM", "yo: so"), ("Ana", "1:31 PM", "ok"))
    for form in (
        "{} (5/24/2020 {})\n{}\n", "{}, [24 May 2020 at {}]:\n{}\n", "**{}** (2020-05-24 {}):\n{}\n",
        "5/24/2020 {1}: {0}: {2}\n",
    ):  # fmt: skip
        messages = messages_of(list(read(source_of("\n".join(form.format(*row) for row in rows), "copy.txt"))))
        assert [(message.speaker, message.text, message.at and message.at.hour) for message in messages] == [
            ("Ana", "hi", 10), ("Mira", "yo: so", 13), ("Ana", "ok", 13),
        ], form  # fmt: skip
    copies = {
        "[10:14:22 AM] Ana: hi\n[1:30:05 PM] Mira: yo\n": ["Ana", "Mira"],
        "Ana\n  1:30 PM\nhi\nMira\n  1:31 PM\nyo\n": ["Ana", "Mira"],
        "2025.12.30 火曜日\n23:43 natsumi_ スタンプ\n23:47 泰地 わ！\n見ます!\n23:48 natsumi_ うん\n": [
            "泰地", "natsumi_",
        ],
    }  # fmt: skip
    for data, names in copies.items():
        with pytest.raises(ImportRejected) as rejected:
            list(read(source_of(data, "copy.txt")))
        assert rejected.value.code == "ask_chat_or_notes", data
        messages = messages_of(list(read(source_of(data, "copy.txt"), options=Options(kind="chat"))))
        assert [message.speaker for message in messages] == names, data


def test_archives_in_markdown_are_chats_and_no_diary() -> None:
    rows = (("阿岚", "19:20", "下班了吗"), ("我", "19:25", "还没"), ("阿岚", "19:26", "\\- 先吃饭"))
    for form in ("- **{}** `{}` — {}\n", "**{}** ({}): {}\n", "**{}:** {} {}\n", "### **{}** {}\n{}\n"):
        for front in (
            "",
            "---\ntitle: 聊天\nexported-at: 2026-04-02\n---\n\n# 聊天归档 · 阿岚\n\n> 由 2026-04-02 生成\n\n",
        ):
            data = f"{front}## 📅 2026-03-30\n\n" + "".join(form.format(*row) for row in rows)
            assert recognize(source_of(data, "chat.md")).name == "chatlog", data
            messages = messages_of(list(read(source_of(data, "chat.md"))))
            assert [(message.speaker, message.text, str(message.at)) for message in messages] == [
                ("阿岚", "下班了吗", "2026-03-30 19:20:00"), ("我", "还没", "2026-03-30 19:25:00"),
                ("阿岚", "- 先吃饭", "2026-03-30 19:26:00"),
            ], data  # fmt: skip


def test_copies_that_say_no_day_have_no_time_and_no_clock_among_the_words() -> None:
    for form in (
        "{}：  20:15:33\n{}\n\n",
        "{}  10:14 AM\n{}\n\n",
        "{} — Today at 10:14 AM\n{}\n",
        "[10:14 AM] {}\n{}\n",
    ):
        data = "".join(form.format(*row) for row in (("小葵", "你睡了吗"), ("南风", "没"), ("小葵", "那陪我")))
        messages = messages_of(list(read(source_of(data, "copy.txt"))))
        assert [(message.speaker, message.text, message.at) for message in messages] == [
            ("小葵", "你睡了吗", None), ("南风", "没", None), ("小葵", "那陪我", None),
        ], form  # fmt: skip


def test_members_of_a_group_of_qq_are_called_without_titles_and_by_number_where_they_have_no_name() -> None:
    data = (
        "2017-02-25 10:40:20 【群主】班长(10001)\n好\n\n2017-02-25 10:41:00 【潜水】土豆<p@example.com>\n收到\n\n"
        "2017-02-25 10:43:00 (55555)\n2017-02-24 的活动\n"
    )
    messages = messages_of(list(read(source_of(data, "qq.txt"))))
    assert [(message.speaker, message.text) for message in messages] == [
        ("班长", "好"), ("土豆", "收到"), ("55555", "2017-02-24 的活动"),
    ]  # fmt: skip


def test_a_weekday_tells_the_order_of_day_and_month_and_so_does_the_day_of_saving() -> None:
    cases = {
        "Saved on: 5/6/2024, 9:14 PM\n\nSat, 5/4/2024\n": (5, 4), "\nเสาร์, 04/05/2024\n": (5, 4),
        "\n04/05/2024(土)\n": (5, 4),
        "\n05/04/2024, Sábado\n": (5, 4), "Saved on: 31/05/2024, 9:14 PM\n\n5/4/2024\n": (4, 5),
    }  # fmt: skip
    for head, (month, day) in cases.items():
        data = f"{head}08:10PM\tNan\thi\n08:11PM\tBo\tUnsent a message.\n08:12PM\tBo\t[รูป]\n"
        data += "08:13PM\tBo\t[アルバム] 文化祭\n"
        items = list(read(source_of(data, "line.txt")))
        assert [(message.text, message.at) for message in messages_of(items)] == [
            ("hi", datetime(2024, month, day, 20, 10))
        ], head
    with pytest.raises(ImportRejected) as rejected:
        list(read(source_of("\n5/4/2024\n08:10PM\tNan\thi\n08:11PM\tBo\tyo\n", "line.txt")))
    assert rejected.value.code == "ask_day_first"
