"""Exports of other assistants: DeepSeek, Gemini, Character.AI, and messages with roles."""

import json
from typing import Any

from memory.imports.readers import read, recognize
from memory.imports.readers.types import FileSession, ReaderItem
from tests.memory.imports.readers.sources import FILES, fixture, messages_of, skips_of, source_of, zip_source
from tests.table import each_row


def roles_and_texts(items: list[ReaderItem]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages_of(items)]


READ = {
    "deepseek": (
        [("user", "我的猫叫小黑。"), ("persona", "真是个好名字。"), ("user", "谢谢！")],
        ["thinking", "tool", "media", "not_chosen"],
    ),
    "gemini": (
        [
            ("user", "What shall I call\nmy cat?"), ("persona", "Blackie."), ("user", "And a dog?"),
            ("persona", "Call him Rex.\n\n- short\n- loud & clear"),
        ],
        ["media", "notice"],
    ),
    "role_messages": (
        [
            ("user", "I planted tomatoes."), ("persona", "They need sun."), ("user", "I planted tomatoes."),
            ("persona", "Again?"), ("user", "Look.\n\nMy cat."), ("persona", "小黑!"),
        ],
        ["hidden", "tool", "tool", "media", "thinking"],
    ),
    "character_ai": (
        [("persona", "Hello, Ana."), ("user", "I went to the lake."), ("persona", "Is it *cold* there?")],
        ["not_chosen"],
    ),
}  # fmt: skip


@each_row("name", READ)
def test_what_was_said_is_read_and_the_rest_is_told(name: str) -> None:
    source = fixture(f"{name}.json")
    assert recognize(source).name == name
    items = list(read(source))
    assert (roles_and_texts(items), skips_of(items)) == READ[name]
    assert len({message.source_id for message in messages_of(items)}) == len(messages_of(items))


@each_row(
    ("name", "member"),
    [("deepseek", "conversations.json"), ("gemini", "Takeout/My Activity/Gemini Apps/MyActivity.json")],
)
def test_the_zip_is_read_as_the_file_in_it(name: str, member: str) -> None:
    source = zip_source({member: (FILES / f"{name}.json").read_bytes(), "user.json": "{}"})
    assert recognize(source).name == name
    items = list(read(source))
    assert roles_and_texts(items) == READ[name][0]
    assert skips_of(items) == ["settings", *READ[name][1]]


def test_a_takeout_of_gemini_is_put_in_order_and_questions_stay_before_their_answers() -> None:
    activities = json.loads((FILES / "gemini.json").read_bytes())
    assert roles_and_texts(list(read(source_of(json.dumps(activities[::-1]))))) == READ["gemini"][0]
    assert [role for role, _text in roles_and_texts(list(read(source_of(json.dumps(activities[:1])))))] == [
        "user",
        "persona",
    ]


def takeout(prompts: list[str], minutes: list[int], header: str = "Gemini Apps") -> str:
    return json.dumps(
        [
            {
                "header": header,
                "title": prompt,
                "time": f"2024-05-01T10:{minute:02}:00.000Z",
                "products": [header],
                "safeHtmlItem": [{"html": f"<p>Answer {number}</p>"}],
            }
            for number, (prompt, minute) in enumerate(zip(prompts, minutes, strict=True))
        ],
        ensure_ascii=False,
    )


@each_row("minutes", [[5, 5, 3], [5, 5, 5], [5, 3, 3]])
def test_prompts_of_one_time_keep_the_order_of_a_file_that_goes_back(minutes: list[int]) -> None:
    turns = roles_and_texts(list(read(source_of(takeout(["Prompted C", "Prompted B", "Prompted A"], minutes)))))
    assert [text for _role, text in turns] == ["A", "Answer 2", "B", "Answer 1", "C", "Answer 0"]


@each_row(
    ("member", "header", "wrapping"),
    [
        ("Takeout/Meine Aktivitäten/Gemini-Apps/MeineAktivitäten.json", "Gemini-Apps", "Eingegebener Prompt: {}"),
        (
            "Takeout/マイ アクティビティ/Gemini アプリ/マイアクティビティ.json",
            "Gemini アプリ",
            "「{}」というプロンプトを送信しました",
        ),
        ("Takeout/我的活动/Gemini 应用/我的活动记录.json", "Gemini 应用", "提示了 {}"),
        ("Takeout/Mon activité/Applications Gemini/MonActivité.json", "Applications Gemini", "Requête saisie : {}"),
        ("x.json", "Bard", "{}"),
    ],
)
def test_a_takeout_in_another_language_is_read_without_the_words_around_a_prompt(
    member: str, header: str, wrapping: str
) -> None:
    prompts = ["Wie heißt der Hund?", "What is it?", "什么时候下雨？"]
    activities = takeout([wrapping.format(text) for text in prompts], [9, 6, 3], header)
    other = json.dumps([{"header": "Search", "title": "Searched for Gemini", "time": "2024-05-01T10:00:00Z"}])
    source = zip_source({member: activities, "Takeout/My Activity/Search/MyActivity.json": other})
    assert recognize(source).name == "gemini"
    items = list(read(source))
    assert [text for role, text in roles_and_texts(items) if role == "user"] == prompts[::-1]
    assert skips_of(items) == ["settings"]


def test_words_that_a_person_begins_with_are_not_taken_off() -> None:
    prompts = ["What is rain?", "What is snow?", "What is hail?"]
    turns = roles_and_texts(list(read(source_of(takeout(prompts, [3, 2, 1], "Gemini-Apps")))))
    assert [text for role, text in turns if role == "user"] == prompts[::-1]


def test_who_speaks_is_named_and_when_is_told_where_the_file_says_it() -> None:
    *_others, look, cat = messages_of(list(read(fixture("role_messages.json"))))
    assert (cat.speaker, cat.at, look.at and look.at.isoformat()) == ("Mira", None, "2024-01-05T21:30:00+00:00")
    (session,) = (session for session in read(fixture("character_ai.json")) if isinstance(session, FileSession))
    assert (session.title, session.source_id) == ("Mira", "x-1")
    assert [message.speaker for message in session.lines] == ["Mira", "Ana", "Mira"]


ALONE: list[dict[str, Any]] = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
PAIR = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]


@each_row(
    ("data", "session_count"),
    [
        (json.dumps(ALONE), 1),
        (json.dumps({"messages": ALONE}, indent=1), 1),
        (json.dumps({"messages": ALONE}), 1),
        ("\n".join(json.dumps(message) for message in ALONE), 1),
        ("\n".join(json.dumps({"messages": ALONE}) for _time in range(3)), 3),
        (json.dumps([{"conversations": PAIR}, {"conversations": PAIR}]), 2),
        (json.dumps([ALONE, ALONE]), 2),
        (json.dumps([ALONE[0], {"role": "assistant", "tool_calls": [{}]}, None, ALONE[1]]), 1),
        (
            json.dumps(
                [
                    {"role": message["role"], "content": [{"type": "text", "text": {"value": message["content"]}}]}
                    for message in ALONE
                ]
            ),
            1,
        ),
    ],
)
def test_messages_with_roles_are_read_however_they_are_put_together(data: str, session_count: int) -> None:
    source = source_of(data, "talks.jsonl")
    assert recognize(source).name == "role_messages"
    items = list(read(source))
    assert roles_and_texts(items) == [("user", "Hi"), ("persona", "Hello")] * session_count
    assert len({session.source_id for session in items if isinstance(session, FileSession)}) == session_count
    assert len({message.source_id for message in messages_of(items)}) == 2 * session_count
