"""Notices that messengers write between messages, without a time of their own: who was invited, joined or left; and
placeholders of deleted messages. Pure."""

import re
from collections.abc import Container

# If nobody has such a name, the word before 님 is a title: "the teacher left".
_KOREAN = re.compile(
    r"(?P<who>\S[^\n]{0,100}?)님(?:이|께서|과|와|,)? ?(?:[^\n]{0,150}님[을를과와,]? ?[^\n]{0,20})?"
    r"(?:초대(?:했|하였)습니다|나갔습니다|들어왔습니다|내보냈습니다|입장(?:했|하였)습니다"
    r"|퇴장(?:했|하였)습니다|강퇴(?:했|되었)습니다|부?방장이 되었습니다"
    r"|(?:채팅방|방|그룹)[^\n]{0,60}변경(?:했|하였)습니다)\.?"
)
_KOREAN_OTHERS = re.compile(r"채팅방 관리자가 메시지를 가렸습니다\.?|운영정책을 위반한 메시지로[^\n]{0,120}")
_TITLES = (
    "선생",
    "사장",
    "부장",
    "과장",
    "팀장",
    "교수",
    "어머",
    "아버",
    "형",
    "손",
    "고객",
    "대표",
    "회장",
    "원장",
    "하느",
)
_JAPANESE = re.compile(
    r"\S[^\n]{0,60}(?:が|さんが)[^\n]{1,60}を(?:招待|退会させ|追加)(?:しま|ま)?した。?"
    r"|\S[^\n]{0,60}(?:が|さんが)(?:退出|退会|参加|入室)しました。?"
)
_CHINESE = re.compile(
    r"[\"“]?\S[^\n]{0,60}[\"”]?邀请[\"“]?[^\n]{1,120}[\"”]?加入了?群聊。?|[\"“]?\S[^\n]{0,60}[\"”]?(?:退出|加入)了?(?:群聊|本群|群組|聊天室)。?"
    r"|[\"“]?[^\n]{0,40}[\"”]?撤回了一条消息|[\"“]?[^\n]{0,40}[\"”]?收回(?:了)?(?:一則)?訊息。?|以上是打招呼的内容|你已添加了[^\n]{1,60}，现在可以开始聊天了。?"
)
_INVITED = re.compile(
    r"(?P<who>\S[^\n]{0,59}?) (?:invited|has invited|added) (?P<whom>[^\n]{1,200}?)"
    r"(?: to (?:the|this) [a-z ]{4,20})?\.?"
)
_CAME_OR_LEFT = re.compile(
    r"(?P<who>\S[^\n]{0,59}?) (?:(?:has )?(?:joined|left|entered)"
    r"(?: (?:the|this) (?:chat|chat ?room|group|conversation))?"
    r"|was removed(?: from (?:the|this) (?:chat|chat ?room|group|conversation))?)\.?"
)
_AND = re.compile(r",? and |, |、")
# "invited me to dinner": words, not people.
_NOT_NAMES = frozenset(
    {
        "me", "us", "him", "her", "them", "you", "it", "everyone", "everybody", "all", "some", "my", "his", "their",
        "our", "your", "the", "a", "an", "this",
    }
)  # fmt: skip
_DELETED = re.compile(
    r"삭제된 메시지입니다\.?|메시지가 삭제되었습니다\.?|this message (?:was|has been) deleted\.?"
    r"|(?:.{1,40} )?unsent a (?:message|photo)\.?|.{0,40}ยกเลิก(?:การส่ง)?ข้อความ(?:แล้ว)?"
    r"|.{0,40}메시지 (?:전송|보내기)[을를] 취소했습니다\.?"
    r"|.{0,40}membatalkan pengiriman pesan\.?"
    r"|.{0,40}メッセージの送信を取り消しました。?|[\"“]?.{0,40}[\"”]?撤回了一条消息"
    r"|.{0,40}已?收回訊息。?|message deleted\.?",
    re.I,
)
# Placeholders that KakaoTalk writes for content other than text.
KAKAO_TALK_MEDIA = re.compile(
    r"사진(?: \d+장)?|동영상|이모티콘|\(이모티콘\)|음성메시지|지도: .*|파일: .*|연락처: .*"
    r"|보이스톡 .*|페이스톡 .*|라이브톡 .*"
    r"|photos?(?: \d+)?|\d+ photos|video|emoticons?|\(emoticon\)|voice (?:note|message)|file: .*|map: .*"
    r"|写真|動画|スタンプ|音声メッセージ",
    re.I,
)
_INVITATION_ENDS = ("초대했습니다.", "초대하였습니다.", "초대했습니다", "초대하였습니다")
_LONGEST = 300


def is_notice(line: str, names: Container[str]) -> bool:
    """Whether a line without a speaker is a notice of the program. In English it must name somebody `known`, to tell it
    from a sentence.

    >>> is_notice("민수님이 지수님을 초대했습니다.", ())
    True
    >>> [is_notice(line, {"Ana"}) for line in ("Ana invited Ben.", "Ana invited me to dinner.", "Ana left early")]
    [True, False, False]
    """
    bare = line.strip()
    if not bare or len(bare) > _LONGEST:
        return False
    if any(form.fullmatch(bare) for form in (_KOREAN_OTHERS, _JAPANESE, _CHINESE)):
        return True
    if korean := _KOREAN.fullmatch(bare):
        return korean["who"] in names or not korean["who"].endswith(_TITLES)
    if match := _CAME_OR_LEFT.fullmatch(bare):
        return match["who"] in names
    invited = _INVITED.fullmatch(bare)
    return bool(invited and _is_person(invited["who"], names) and _are_people(invited["whom"], names))


def _is_person(who: str, names: Container[str]) -> bool:
    return who in names or who == "You"


def _are_people(whom: str, names: Container[str]) -> bool:
    return all(
        name in names
        or (
            name.split()
            and len(name.split()) <= 3
            and name.split()[0].casefold() not in _NOT_NAMES
            and not (name.split()[0].isascii() and name[:1].islower())
        )
        for name in _AND.split(whom)
    )


_GLUED = re.compile(r"(?P<who>[^\s\n]{1,40}?)님이 [^\n]{1,120}님[을를] 초대(?:했|하였)습니다\.?")


def without_notices(text: str, names: Container[str]) -> tuple[str, int]:
    """`text` without the notices below its first line, and their number. An invitation by somebody `known` may be
    attached to the end of a line.

    >>> without_notices("좋아민수님이 지수님을 초대했습니다.", {"민수"})
    ('좋아', 1)
    """
    first, *rest = text.split("\n")
    kept_lines = [text_line for text_line in rest if not is_notice(text_line, names)]
    whole = "\n".join((first, *kept_lines))
    unglued = whole
    if whole.rstrip().endswith(_INVITATION_ENDS):
        starts = (
            start
            for start in range(whole.rfind("\n") + 1, len(whole))
            if (glued := _GLUED.fullmatch(whole, start)) and glued["who"] in names
        )
        if (start := next(starts, None)) is not None:
            unglued = whole[:start].rstrip()
    return unglued, len(rest) - len(kept_lines) + (unglued != whole)


def invited_in(line: str, names: Container[str]) -> list[str]:
    """The people whom somebody `known` invited: they may never write, and may leave."""
    invited = _INVITED.fullmatch(line.strip()) if len(line) <= _LONGEST else None
    is_one = invited and _is_person(invited["who"], names) and _are_people(invited["whom"], names)
    return _AND.split(invited["whom"]) if invited and is_one else []


def is_deleted(text: str) -> bool:
    """Whether the message is only a placeholder of a deleted one."""
    return len(text) <= _LONGEST and _DELETED.fullmatch(text) is not None
