"""WeChat as exported by WeFlow, ChatLab and MemoTrace."""

import json
from typing import Any

from memory.imports.readers import format_named, read, recognize
from memory.imports.readers.types import FileSession, is_between_people
from tests.memory.imports.readers.sources import messages_of, read_items, skips_of, source_of
from tests.table import each_row


def message(number: int, name: str, text: str, own: int | None = 0, kind: str = "文本消息") -> dict[str, Any]:
    return {
        "localId": number, "createTime": 1_700_000_000 + number, "formattedTime": "2023-11-15 06:13:20", "type": kind,
        "localType": 1, "content": text, "isSend": own, "senderUsername": f"wxid_{name}", "senderDisplayName": name,
    }  # fmt: skip


MESSAGES = [
    message(1, "阿华", "你好呀"),
    message(2, "我自己", "在忙吗？", 1),
    message(3, "小红", "[图片]", kind="图片消息"),
    message(4, "小红", "晚上见", kind="语音消息"),
    message(5, "小红", "[语音消息 - 转文字失败]", kind="语音消息"),
    message(6, "", '"老王"加入了群聊', None, "系统消息"),
    message(7, "老王", "大家好", kind="引用消息"),
]
HEARD = [("阿华", "你好呀", ""), ("我自己", "在忙吗？", "user"), ("小红", "晚上见", ""), ("老王", "大家好", "")]


@each_row("tool", [{"weflow": {"version": "1.0.3", "generator": "WeFlow"}}, {}])
def test_the_json_of_weflow_is_read(tool: dict[str, Any]) -> None:
    session = {"wxid": "1@chatroom", "displayName": "周末爬山群", "type": "群聊"}
    session |= {"avatar": "data:" + "A" * 70_000} if tool else {}
    text = json.dumps(tool | {"session": session, "messages": MESSAGES}, ensure_ascii=False)
    source = source_of(text, "群聊.json")
    assert recognize(source).name == "weflow"
    assert is_between_people(recognize(source))
    items = list(read(source))
    assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == HEARD
    assert [session.title for session in items if isinstance(session, FileSession)] == ["周末爬山群"]
    assert skips_of(items) == ["media", "media", "notice"]


def test_the_csv_of_weflow_is_read() -> None:
    text = "\ufeffid,MsgSvrID,type_name,is_sender,talker,msg,src,CreateTime\r\n" + "".join(
        f"{n},{n},{kind},{own},{name},{words},,2023-11-15T06:13:2{n}+08:00\r\n"
        for n, (name, words, own, kind) in enumerate(
            [("阿华", "你好呀", 0, "text"), ("小明", "在吗", 1, "text"), ("阿华", "[图片]", 0, "image")]
        )
    )
    source = source_of(text, "私聊_阿华.csv")
    assert recognize(source).name == "weflow_csv"
    items = list(read(source))
    assert [(message.speaker, message.role) for message in messages_of(items)] == [("阿华", ""), ("小明", "user")]
    assert skips_of(items) == ["media"]


def test_what_weflow_writes_for_chatlab_is_read() -> None:
    header = {"chatlab": {"version": "0.0.2", "generator": "WeFlow"}, "meta": {"name": "阿华", "ownerId": "wxid_me"}}
    messages = [
        {"sender": "wxid_a", "accountName": "阿华", "timestamp": 1_700_000_000, "type": 0, "content": "你好"},
        {"sender": "wxid_me", "accountName": "小明", "timestamp": 1_700_000_001, "type": 25, "content": "好"},
        {"sender": "wxid_a", "accountName": "阿华", "timestamp": 1_700_000_002, "type": 1, "content": "[图片]"},
        {"sender": "x", "accountName": "x", "timestamp": 1_700_000_003, "type": 80, "content": "撤回了一条消息"},
    ]
    records = [{"_type": "header"} | header, *({"_type": "message"} | message for message in messages)]
    for text in (
        json.dumps(header | {"members": [], "messages": messages}),
        "\n".join(json.dumps(record) for record in records),
    ):
        assert recognize(source_of(text)).name == "chatlab"
        items = list(read(source_of(text)))
        assert [(message.speaker, message.role) for message in messages_of(items)] == [("阿华", ""), ("小明", "user")]
        assert skips_of(items) == ["media", "notice"]


def test_the_page_of_weflow_is_read() -> None:
    def line(number: int, own: int, words: str, name: str = "") -> str:
        name_tag = f'<div class="sender-name">{name}</div>' if name else ""
        text = f'<div class="message-text">{words}</div>' if words else ""
        body = f'<div class="message-time">x</div>{name_tag}<div class="message-content">{text}</div>'
        return json.dumps({"i": number, "t": 1_700_000_000 + number, "s": own, "a": "", "b": body}, ensure_ascii=False)

    rows = [line(1, 0, "你好<br />呀 &amp; 早"), line(2, 1, "早"), line(3, 0, "")]
    page = (
        "<!DOCTYPE html>\n<html lang='zh'><head><title>阿华 - 聊天记录</title></head><body><script>\n"
        "      window.WEFLOW_DATA = [\n" + ",\n".join(rows) + "\n];\n</script></body></html>"
    )
    source = source_of(page, "阿华.html")
    assert recognize(source).name == "weflow_page"
    items = read_items(format_named("weflow_page"), source)
    assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == [
        ("阿华", "你好\n呀 & 早", ""),
        ("我", "早", "user"),
    ]
    assert skips_of(items) == ["media"]


def test_what_a_reply_quotes_is_left_out_of_it() -> None:
    messages = [
        message(1, "老周", "[引用 林小满：吃了，三种馅儿的\n饺子]\n给我留几个", kind="引用消息"),
        message(2, "老周", "「林小满：几点？」\n- - - - - - - - - - - - - - -\n八点"),
        message(3, "老周", "「不好意思」是什么意思"),
    ]
    items = list(read(source_of(json.dumps({"weflow": {}, "session": {"wxid": "w"}, "messages": messages}))))
    assert [message.text for message in messages_of(items)] == ["给我留几个", "八点", "「不好意思」是什么意思"]


MEMOTRACE = """localId,TalkerId,Type,SubType,IsSender,CreateTime,Status,StrContent,StrTime,Remark,NickName,Sender
1,7,1,0,0,1704873600,2,到家了没？,2024-01-10 16:00:00,妈妈,荷花,wxid_mama
2,7,1,0,1,1704873660,2,"到了，
刚进门",2024-01-10 16:01:00,,晨晨,wxid_chen
3,7,3,0,0,1704873700,2,"<?xml version=""1.0""?><msg><img aeskey=""ab"" /></msg>",2024-01-10 16:01:40,妈妈,荷花,wxid_mama
4,7,10000,0,0,1704873800,4,妈妈拍了拍我,2024-01-10 16:03:20,妈妈,荷花,wxid_mama
5,7,49,57,0,1704873900,2,"<msg><appmsg><title>热一下 &amp; 喝</title></appmsg></msg>",,妈妈,,wxid_mama
6,7,49,5,1,1704873910,2,,2024-01-10 16:05:10,,晨晨,wxid_chen
7,7,50,0,1,1704873920,2,,2024-01-10 16:05:20,,晨晨,wxid_chen
"""
MEMOTRACE_PAGE = r"""<!DOCTYPE html><html><head><title>阿远</title></head><body><script>
const chatMessages = [
{type:1, text: '在吗？ it\'s me: 借我本书',is_send:0,timestamp:1700000000,displayname:'阿远'},
{type:1, text: '在，哪本',is_send:1,timestamp:1700000060,displayname:'初夏'},
{type:3, text: './image/ab12.jpg',is_send:0,timestamp:1700000090,displayname:'阿远'},
{type:0, text: '昨天 22:10',is_send:0,avatar_path:'',timestamp:1700000100,displayname:''},
{type:49, text: '《边城》&lt;精装&gt;那本',is_send:0,sub_type:57,timestamp:1700000120,displayname:'阿远'},
];
</script></body></html>"""


def test_memotrace_names_people_as_they_were_saved_and_says_nothing_in_markup() -> None:
    for text, name, expected, skips in [
        (
            MEMOTRACE,
            "memotrace_csv",
            [("妈妈", "到家了没？", ""), ("晨晨", "到了，\n刚进门", "user"), ("妈妈", "热一下 & 喝", "")],
            ["media", "notice", "media", "notice"],
        ),
        (
            MEMOTRACE_PAGE,
            "memotrace_page",
            [
                ("阿远", "在吗？ it's me: 借我本书", ""),
                ("初夏", "在，哪本", "user"),
                ("阿远", "《边城》<精装>那本", ""),
            ],
            ["media", "notice"],
        ),
    ]:
        source = source_of(text, "chat")
        assert recognize(source).name == name
        assert is_between_people(recognize(source))
        items = list(read(source))
        assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == expected
        assert sorted(skips_of(items)) == sorted(skips)
        assert messages_of(items)[0].at is not None
