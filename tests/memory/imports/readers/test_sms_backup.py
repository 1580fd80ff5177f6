"""Text messages as SMS Backup & Restore writes them."""

import pytest

from memory.imports.readers import read, recognize, sms_backup
from memory.imports.readers.types import FileSession, ImportRejected, is_between_people
from tests.memory.imports.readers.sources import messages_of, skips_of, source_of, zip_source

HEAD = """<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<!--File Created By SMS Backup &amp; Restore-->
<?xml-stylesheet type="text/xsl" href="sms.xsl"?>
"""


def sms(date: int, kind: int, body: str, address: str = "+48600111222", name: str = "Babcia Zosia") -> str:
    return f'<sms address="{address}" date="{date}" type="{kind}" subject="null" body="{body}" contact_name="{name}" />'


def mms(
    date: int, box: int, *parts: str, address: str = "+48600111222", name: str = "Babcia Zosia", sender: str = ""
) -> str:
    body = "".join(parts)
    return (
        f'<mms date="{date}" msg_box="{box}" address="{address}" contact_name="{name}"><parts>{body}</parts>'
        f'<addrs><addr address="{sender}" type="137" /><addr address="+1" type="151" /></addrs></mms>'
    )


TEXT = '<part seq="0" ct="text/plain" name="null" text="{}" />'
PICTURE = '<part seq="1" ct="image/jpeg" text="null" data="{}" />'
SMIL = '<part seq="-1" ct="application/smil" text="&lt;smil&gt;" />'


def backup(*messages: str) -> str:
    return f'{HEAD}<smses count="{len(messages)}">{chr(10).join(messages)}</smses>'


def test_every_person_has_a_session_of_their_own_and_the_owner_is_known() -> None:
    source = source_of(
        backup(
            sms(1709456400000, 1, "Wnusiu, zrobi&#322;am pierogi &#129367; &amp; kompot"),
            sms(1709456500000, 1, "hi", "12345", "(Unknown)"),
            sms(1709456460000, 2, "B&#281;d&#281; o 14! &#55357;&#56834;", "600 111 222"),
            sms(1709456470000, 3, "a draft"),
            mms(1709474400000, 2, SMIL, PICTURE.format("x" * 200_000)),
            mms(1709474500000, 1, SMIL, TEXT.format("Jakie &#322;adne"), PICTURE.format("abc")),
            mms(
                1709474600000,
                1,
                TEXT.format("me too"),
                address="+48600111222~555777999",
                name="B, C",
                sender="555777999",
            ),
        ),
        "sms.xml",
    )
    assert recognize(source).name == "sms_backup"
    assert is_between_people(recognize(source))
    items = list(read(source))
    assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == [
        ("Babcia Zosia", "Wnusiu, zrobiłam pierogi 🥗 & kompot", ""),
        ("Babcia Zosia", "Jakie ładne", ""),
        ("12345", "hi", ""),
        ("user", "Będę o 14! 😂", "user"),
        ("555777999", "me too", ""),
    ]
    assert sorted(skips_of(items)) == ["media", "media", "not_chosen"]
    assert all(message.at and message.at.year == 2024 for message in messages_of(items))
    assert len({session.source_id for session in items if isinstance(session, FileSession)}) == 3


def test_pieces_of_any_length_say_the_same() -> None:
    text = backup(
        mms(1, 2, PICTURE.format("y" * 9000), TEXT.format("a &#55357;&#56834;")), sms(2, 1, "b&#0;&#55357; c &amp; d")
    )
    for size in (1, 2, 7, 64, 5000, 100_000):
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        mended_text = "".join(sms_backup.mend_references(sms_backup.drop_pictures(pieces)))
        assert "😂" in mended_text, size
        assert "b c &amp; d" in mended_text, size
        assert mended_text.endswith("</smses>"), size
        assert len(mended_text) < len(text) - (8000 if size < 9000 else 4000), size


def test_entities_and_what_is_cut_off_are_refused() -> None:
    bomb = '<!DOCTYPE smses [<!ENTITY a "aaaa"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    for text in (
        f'<smses count="1">{sms(1, 1, "x")}',
        f"<?xml version='1.0'?><smses>{sms(1, 1, '&a;')}</smses>",
        backup(sms(1, 1, "x")).replace("<smses", f"{bomb}<smses"),
    ):
        with pytest.raises(ImportRejected):
            list(read(source_of(text, "sms.xml")))


def test_it_is_read_out_of_a_zip_too() -> None:
    assert [
        message.text for message in messages_of(list(read(zip_source({"sms-1.xml": backup(sms(1, 1, "hello there"))}))))
    ] == ["hello there"]
