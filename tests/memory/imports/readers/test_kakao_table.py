"""KakaoTalk on a Mac writes a table."""

from memory.imports.readers import read, recognize
from memory.imports.readers.types import is_between_people
from tests.memory.imports.readers.sources import messages_of, skips_of, source_of

TABLE = """\ufeffDate,User,Message
2024-02-10 00:00:05,"은우","새해 복 많이 받으세요 🙇"
2024-02-10 00:01:12,"Hana Park","은우야, 너도!
올해는 ""꼭"" 여행 가자"
2024-02-10 00:02:00,"은우","은우님이 지민님을 초대했습니다."
2024-02-10 00:03:33,"지민","사진 찍을게요"
2024-02-10 00:04:00,"Hana Park","동영상"
2024-02-10 00:04:10,"Hana Park","사진 3장"
2024-02-10 00:04:20,"지민","이모티콘"
2024-02-10 00:04:30,"지민","삭제된 메시지입니다."
2024-02-10 00:05:00,"Hana Park","Hana Park left this chatroom."
"""


def test_invitations_and_what_stands_for_pictures_are_nobodys_words() -> None:
    source = source_of(TABLE, "KakaoTalk_Chat.csv")
    assert recognize(source).name == "kakao_table"
    assert is_between_people(recognize(source))
    items = list(read(source))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [
        ("은우", "새해 복 많이 받으세요 🙇"),
        ("Hana Park", '은우야, 너도!\n올해는 "꼭" 여행 가자'),
        ("지민", "사진 찍을게요"),
    ]
    assert skips_of(items) == ["notice", "media", "media", "media", "deleted", "notice"]
