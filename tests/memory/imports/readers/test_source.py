"""Sources: encodings, zips, and limits on how much is held in memory."""

import io
import stat
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers.source import Source
from memory.imports.readers.types import ImportRejected, Limits
from tests.memory.imports.readers.sources import source_of, zip_of, zip_source
from tests.table import each_row

CHINESE = "今天我去了湖边，天气很好。\n小黑说：你一个人去的吗？\n"


def text_of(source: Source, member: str = "") -> str:
    return "".join(source.texts(member))


def code_of(source: Source, member: str = "") -> str:
    with pytest.raises(ImportRejected) as rejected:
        text_of(source, member)
    return rejected.value.code


@each_row("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gbk", "gb18030"])
def test_chinese_is_read_in_every_encoding_it_comes_in(encoding: str) -> None:
    text = CHINESE * 200
    assert text_of(source_of(text.encode(encoding))) == text


@each_row("encoding", ["latin-1", "cp1251", "big5", "shift-jis", "utf-32"])
def test_other_encodings_are_refused_and_not_guessed(encoding: str) -> None:
    text = {"cp1251": "Привет, как дела?\n", "big5": "今天天氣很好嗎？\n", "shift-jis": "こんにちは、元気ですか。\n"}
    assert code_of(source_of((text.get(encoding, "Größe, café, Müller\n") * 50).encode(encoding))) == "encoding"


def test_chinese_that_begins_late_is_told_by_where_it_begins() -> None:
    text = "Ana: hello\n" * 10_000 + CHINESE
    for encoding in ("utf-8", "gbk"):
        assert text_of(source_of(text.encode(encoding))) == text


@supposing(text=some.text(some.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), max_size=300))
def test_utf_8_is_always_read_as_what_it_says(text: str) -> None:
    assert text_of(source_of(text.encode())) == text


def test_a_decoding_error_names_line_and_byte() -> None:
    data = "Ana: 你好\n".encode() * 20_000 + b"\xff\xfe"
    with pytest.raises(ImportRejected) as rejected:
        text_of(source_of(data))
    assert rejected.value.location == f"line 20001, byte {len(data) - 2}"


def test_a_few_zeros_within_text_are_dropped_and_many_are_refused_with_their_line() -> None:
    assert text_of(source_of("好" * 70_000 + "\nx\0y")) == "好" * 70_000 + "\nxy"
    assert text_of(source_of("Ana: h\0i")) == "Ana: hi"
    with pytest.raises(ImportRejected) as rejected:
        text_of(source_of("好" * 70_000 + "\n" + "x\0y" * 40_000))
    assert (rejected.value.code, rejected.value.location) == ("binary", "line 2")


def test_lines_end_where_text_files_end_them_and_nowhere_else() -> None:
    lines = list(source_of("one\r\ntwo\u2028still two\x0b\x85\n\nfour").lines())
    assert [(line.number, line.text) for line in lines] == [
        (1, "one"), (2, "two\u2028still two\x0b\x85"), (3, ""), (4, "four"),
    ]  # fmt: skip


def test_a_path_and_an_upload_are_the_same(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Ana: hello")
    with Source(path) as from_path:
        assert (from_path.name, text_of(from_path)) == ("notes.txt", "Ana: hello")
    upload = source_of("Ana: hello", "../../notes.txt")
    assert (upload.name, text_of(upload)) == ("notes.txt", "Ana: hello")


def test_one_file_can_be_read_by_several_at_once() -> None:
    source = source_of("".join(f"line {number}\n" for number in range(50_000)))
    assert all(line == other for line, other in zip(source.lines(), source.lines(), strict=True))


def test_a_file_that_is_too_big_is_refused_at_once() -> None:
    with pytest.raises(ImportRejected) as rejected:
        source_of(b"x" * 1_001, limits=Limits(file_bytes=1_000))
    assert rejected.value.code == "too_big"


def test_members_are_read_without_being_unpacked() -> None:
    source = zip_source(
        {"chat/_chat.txt": CHINESE.encode("gbk"), "__MACOSX/._chat.txt": b"x", ".DS_Store": b"", "b/": b""}
    )
    assert source.members == ("chat/_chat.txt",)
    assert text_of(source, "chat/_chat.txt") == CHINESE


def test_what_is_no_zip_has_no_members() -> None:
    assert source_of("Ana: hello").members == ()
    assert source_of("PK: a name\n").members == ()


def test_a_member_that_is_not_there_is_refused() -> None:
    assert code_of(zip_source({"a.txt": "x"}), "b.txt") == "member_missing"


@each_row("name", ["../a.txt", "a/../../b.txt", "/etc/passwd", "C:/a.txt", "..\\a.txt", "a\nb.txt", "a\x1b[0m.txt"])
def test_names_that_lead_out_are_refused(name: str) -> None:
    assert rejected_zip(zip_of({name: "x"})) == "zip_name"


def rejected_zip(data: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(ImportRejected) as rejected:
        source_of(data, limits=limits).members  # noqa: B018
    return rejected.value.code


def pack_member(info: zipfile.ZipInfo, data: bytes = b"x", method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(info, data, method)
    return buffer.getvalue()


def test_links_are_refused() -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert rejected_zip(pack_member(info, b"/etc/passwd")) == "zip_name"


def test_encrypted_members_are_refused() -> None:
    data = bytearray(zip_of({"a.txt": "x"}))
    flags = data.index(b"PK\x01\x02") + 8
    data[flags] |= 1
    assert rejected_zip(bytes(data)) == "zip_encrypted"


@each_row("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packing_whose_output_cannot_be_bounded_is_refused(method: int) -> None:
    assert rejected_zip(pack_member(zipfile.ZipInfo("a.txt"), b"x", method)) == "zip_method"


def test_a_bomb_is_refused_by_its_ratio() -> None:
    assert rejected_zip(zip_of({"a.txt": b"\0" * 20_000_000})) == "zip_bomb"


def test_a_bomb_that_lies_about_its_size_gives_no_more_than_it_says() -> None:
    data = bytearray(zip_of({"a.txt": b"x" * 20_000_000}))
    struct.pack_into("<L", data, data.index(b"PK\x01\x02") + 24, 1_000)
    assert code_of(source_of(bytes(data)), "a.txt") == "zip_broken"


def test_members_that_overlap_are_refused() -> None:
    """Many names for the same bytes."""
    data = zip_of({"a.txt": b"".join(str(number).encode() for number in range(50_000))})
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    entries = [data[start:end].replace(b"a.txt", b"%c.txt" % letter) for letter in b"abcdefgh"]
    directory = b"".join(entries)
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 8, 8, len(directory), start, 0)
    assert rejected_zip(data[:start] + directory + tail) == "zip_bomb"


def test_too_many_members_are_refused() -> None:
    data = zip_of({f"{number}.txt": "" for number in range(30)})
    assert rejected_zip(data, Limits(zip_entries=20)) == "zip_entries"
    assert rejected_zip(data, Limits(zip_entries=2)) == "zip_entries"


def test_a_name_that_stands_there_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.txt", "x")
        archive.writestr("b.txt", "y")
    data = buffer.getvalue().replace(b"b.txt", b"a.txt")
    assert rejected_zip(data) == "zip_name"


def test_a_zip_in_a_zip_is_not_opened() -> None:
    assert code_of(zip_source({"a.txt": zip_of({"b.txt": "x"})}), "a.txt") == "nested_zip"


def test_damaged_zips_are_refused_or_read() -> None:
    data = zip_of({"_chat.txt": CHINESE * 50, "b.txt": "x" * 500})
    for place in range(len(data)):
        for damaged_zip in (data[:place], data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]):
            source = source_of(damaged_zip)
            try:
                for member in source.members or ("",):
                    text_of(source, member)
            except ImportRejected as rejected:
                assert rejected.reason  # noqa: PT017


def test_a_huge_directory_is_not_even_read() -> None:
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 50_000_000, 0, 0)
    assert rejected_zip(b"PK\x03\x04" + b"\0" * 60_000_000 + tail) == "zip_entries"


def test_a_large_text_is_never_held() -> None:
    source = source_of(CHINESE.encode() * 40_000)
    tracemalloc.start()
    try:
        assert sum(1 for _line in source.lines()) == 80_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_a_sample_never_raises() -> None:
    for data in (b"", b"\0\1", b"\xff\xff", b"PK\x03\x04", zip_of({"../a": "x"}), b"[" * 70_000, b'{"a":' * 20_000):
        sample = source_of(data).sample
        assert sample.members == ()
        assert isinstance(sample.text, str)
        assert isinstance(sample.paths, frozenset)
        assert sample.inside("nothing").head == b""


def test_a_sample_tells_where_keys_stand() -> None:
    paths = source_of('[{"mapping": {"a": 1}, "list": [{"id": 2}]}').sample.paths
    assert paths == {"item.mapping", "item.mapping.a", "item.list", "item.list.item.id"}
