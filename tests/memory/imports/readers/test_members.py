"""Zips that no format recognizes as a whole: each file in them is read as it would be alone."""

import io
import json
import zipfile

import pytest

from memory.imports.readers import mapper, read, recognize
from memory.imports.readers.types import FileSession, ImportRejected, Options, Remembered
from tests.memory.imports.readers.sources import messages_of, skips_of, source_of, zip_of, zip_source

MEM0 = json.dumps({"results": [{"id": "1", "memory": "Has a cat", "user_id": "ana", "created_at": "2024-01-02"}]})
ZEP = json.dumps({"edges": [{"uuid": "2", "fact": "Ana lives in Porto", "created_at": "2024-01-02T00:00:00Z"}]})
AGENT = json.dumps(
    {
        "name": "Sam",
        "agent_type": "memgpt_agent",
        "core_memory": [{"label": "human", "value": "Her name is Ana."}],
        "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
    }
)
RECORDS = json.dumps({"items": [{"who": name, "txt": text} for name, text in (("Ana", "Tea?"), ("Ben", "Gladly!"))]})
KAKAO = "수민 님과 카카오톡 대화\n저장한 날짜 : 2024-05-04 10:00:00\n\n--------------- 2024년 5월 3일 금요일 ---------------\n[수민] [오후 3:00] 안녕\n[지훈] [오후 3:01] 응 잘 지내?\n"  # noqa: E501


def test_a_file_in_a_zip_is_read_by_the_format_that_it_is_of() -> None:
    for files, name, memories, message_count in [
        ({"export/memories.json": MEM0, "export/readme.txt": "Thanks."}, "mem0", 1, 0),
        ({"zep/edges.json": ZEP}, "zep", 1, 0),
        ({"sam.af": AGENT, "tools.json": '{"a": {"b": 1}}'}, "letta", 1, 2),
        ({"m.json": MEM0, "z.json": ZEP, "sam.af": AGENT}, "letta", 3, 2),
        ({"chat/talk.txt": KAKAO, "chat/photo.jpg": "\xff\xd8"}, "chatlog", 0, 2),
    ]:
        source = zip_source(files)
        assert recognize(source).name == name or memories == 3, files
        items = list(read(source))
        assert len([memory for memory in items if isinstance(memory, Remembered)]) == memories, files
        assert len(messages_of(items)) == message_count, files


def test_records_in_a_zip_are_asked_about_and_read_as_answered() -> None:
    source = zip_source({"out/settings.json": '{"theme": "dark"}', "out/items.json": RECORDS})
    with pytest.raises(ImportRejected) as rejected:
        list(read(source))
    assert rejected.value.code == "ask_mapping"
    items = list(read(source, options=Options(mapping=mapper.guess(source))))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [("Ana", "Tea?"), ("Ben", "Gladly!")]
    assert skips_of(items) == ["unknown"]


def test_sessions_of_two_files_stay_two_and_what_is_wrong_names_its_file() -> None:
    data = json.dumps([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
    items = list(read(zip_source({"a.json": data, "b.json": data})))
    sessions = [session for session in items if isinstance(session, FileSession)]
    assert len({session.source_id for session in sessions}) == 2 == len(sessions)
    with pytest.raises(ImportRejected) as rejected:
        list(read(zip_source({"a.json": data, "b.json": data[:-5]})))
    assert rejected.value.location.startswith("b.json")


def test_a_zip_of_settings_and_an_empty_one_are_turned_down_by_what_they_hold() -> None:
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    for data, sentence in [
        (zip_of({"a.json": '{"theme": "dark", "items": [{"name": "x", "n": 1}]}'}), "1 JSON file"),
        (empty.getvalue(), "zip is empty"),
    ]:
        with pytest.raises(ImportRejected, match=sentence):
            recognize(source_of(data, "some.zip"))
