"""Text that imessage-exporter adds to a message beside the sender's words. Pure.

It is in English whatever the language of the phone: replies and tapbacks, effects, edited or unsent messages, paths of
attachments, and content of apps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from echovessel.language import lazy_re as re

_SPACE = r"[ \u00a0\u202f]"
_URL = re.compile(r"https?://\S+", re.I)
_SUFFIXES = (
    "heic|heif|jpe?g|png|gif|webp|tiff?|bmp|dng|mov|mp4|m4v|3gpp?|avi|mkv|webm|caf|amr|m4a|mp3|aac|wav|aiff?|opus|ogg|pdf|vcf|ics"
    "|zip|docx?|xlsx?|pptx?|pages|numbers|key|txt|csv|rtf|html?|usdz|reality|pkpass|json|plist|pluginpayloadattachment"
)
_PATH = re.compile(
    rf"(?:~|\.{{1,2}}|[A-Za-z]:)?[\\/]?(?:[^\\/\n:*?\"<>|]+[\\/])+[^\\/\n]*\.(?:{_SUFFIXES})"
    r"|(?:~|\.|/|[A-Za-z]:\\)?(?:[^\n]*[\\/])?(?:attachments|Attachments|StickerCache)[\\/][^\n]*\S",
    re.I,
)
# A file without a path: a name without blanks, or a name that Apple's own apps use.
_FILE = re.compile(
    rf"(?:[^\s\\/]+|(?:Audio Message|Screen ?shot|Screen Recording|RPReplay|IMG|Image|Photo"
    r"|FullSizeRender|Untitled|Movie)"
    rf"[^\\/\n]{{0,60}})\.(?:{_SUFFIXES})",
    re.I,
)
_STICKER = re.compile(r"(?:\S+ )?Sticker from [^\n]+(?:: [^\n]*| not found!)")
_TAPBACKS = re.compile(r"(?:Tapbacks|Reactions):")
_TAPBACK = re.compile(
    r"\s*(?:(?:Loved|Liked|Disliked|Laughed|Emphasized|Questioned|[^\w\s]\S{0,15}) by \S.*|(?:\S+ )?Sticker from .*)"
)
_RESPONDED = "This message responded to an earlier message."
_DELETED = "This message was deleted from the conversation!"
_UNSENT = re.compile(r"\S[^\n]* (?:(?:deleted|unsent) a message[.!]|unsent this message part\b[^\n]*[.!])")
_EFFECT = re.compile(
    r"Sent with (?:Confetti|Echo|Fireworks|Balloons|Heart|Lasers|Shooting Start?|Sparkles|Spotlight|Slam|Loud|Gentle"
    r"|Invisible Ink|Celebration)|com\.apple\.\S+"
)
_EDITED = re.compile(r"Edited (?:\d+ [a-z]+(?:, )?)* ?later: ?")
_NOTICES = re.compile(
    rf"SharePlay Message|(?:Started|Stopped) sharing location!|Unable to format (?:app message: .*|announcement!)"
    rf"|Handwritten messages are not yet supported!|Digital Touch Message(?:: .*)?|Photo album: .*|Find My(?:: .*)?"
    rf"|(?:Fitness|Activity|Workout)\S* message: .*|Check{_SPACE}In(?:: .*)?"
    r"|(?:Checked in|Expected|Was expected) at .*\d.*"
    r"|[^\n]{1,40} transaction: (?:unknown amount|[^\n]*(?:[$€£¥]\s?\d|\d\s?[$€£¥])[^\n]*)"
)
_ANNOUNCED = re.compile(
    r"\S[^\n]{0,80} (?:(?:re)?named the (?:conversation|group)\b.*|changed the (?:conversation|group) \w+.*"
    r"|removed the (?:conversation|group) \w+\.?"
    r"|(?:added|removed) [^\n]{1,80} (?:to|from) the (?:conversation|group)\.?"
    r"|(?:left|joined) the (?:conversation|group)\.?|unsent a message[.!])"
)
_OF_APP = re.compile(
    r"(?!(?:My|Your|His|Her|Our|Their|This|That|The|A|New|Last|First|Next|Here|Voice|Text|Secret) )"
    r"(?:\w+(?:\.\w+){1,6}|[A-Z0-9][\w’'&+!-]*(?: [A-Z0-9&][\w’'&+!-]*){0,3}) message:"
)
_MAX_LINES_OF_APP = 8
_MAX_LINES_OF_PREVIEW = 2
# Apple's own links: the lines around them describe the song, app or place.
_SONG_OR_APP = re.compile(r"https?://(?:geo\.)?(?:music|itunes|apps)\.apple\.com/\S+", re.I)
_PLACE = re.compile(r"https?://maps\.apple\.com/\S+", re.I)
_TRANSCRIBED = "Transcription: "
_TRANSLATED = "Translated from:"
_POLL = re.compile(r"- .+ \(\d+\)|  - .+")
_DRAWN = re.compile(r"[\s*.·#\u2800-\u28ff]+")
_LEAST_LINES_DRAWN = 5
# Tapbacks received as SMS quote the message in typographic quotation marks.
_TAPBACK_AS_TEXT = re.compile(
    r"(?:Loved|Liked|Disliked|Laughed at|Emphasized|Questioned|Reacted \S{1,12} to|Removed an? [^“\n]{3,30} from) "
    r"(?:“.*”|an? (?:image|movie|photo|video|attachment|audio message|sticker|link|contact))",
    re.S,
)
_OBJECT = "\ufffc"


@dataclass
class NoticePhrases:
    """The sender's words in a message, and why text beside them is left out."""

    text: str = ""
    left_out: list[str] = field(default_factory=list)


def is_tapback(line: str) -> bool:
    """Whether a line below "Tapbacks:" is a tapback."""
    return _TAPBACK.fullmatch(line) is not None


def is_announcement(line: str) -> bool:
    """Whether the line, in the place of a name, reports a change of the conversation."""
    return _ANNOUNCED.fullmatch(line.strip()) is not None


def begins_tapbacks(line: str) -> bool:
    return _TAPBACKS.fullmatch(line.strip()) is not None


def is_edit(line: str) -> bool:
    """Whether a line is a later version of the one before: "Edited 30 seconds later: …"."""
    return _EDITED.match(line.lstrip()) is not None


def words_in(lines: Sequence[str], after_stamp: Callable[[str], str | None]) -> NoticePhrases:
    """The sender's words in the lines of a message. `after_stamp` returns the text after the time at the beginning of a
    line, None if it begins with none."""
    phrases = NoticePhrases()
    clean_lines = [line.replace(_OBJECT, "").rstrip() for line in lines]
    if clean_lines and clean_lines[0] == _DELETED:
        return NoticePhrases("", ["deleted"])
    clean_lines = _without_tapbacks(_trimmed(clean_lines), phrases)
    if clean_lines and clean_lines[-1] == _RESPONDED:
        clean_lines = _trimmed(clean_lines[:-1])
    # The last version of an edited message.
    edits = [number for number, line in enumerate(clean_lines) if _EDITED.match(line)]
    if edits:
        first = next((number for number in range(edits[0]) if after_stamp(clean_lines[number]) is not None), edits[0])
        last = edits[-1]
        clean_lines = [*clean_lines[:first], _EDITED.sub("", clean_lines[last], count=1), *clean_lines[last + 1 :]]
    # An effect without other lines is the sender's words: effects are below the text they were sent with.
    without_effects = [line for number, line in enumerate(clean_lines) if not (number and _EFFECT.fullmatch(line))]
    clean_lines = []
    for line in _trimmed(without_effects):
        is_file = "://" not in line and (_PATH.fullmatch(line) or _FILE.fullmatch(line)) is not None
        if line == "Attachment missing!" or _STICKER.fullmatch(line) or is_file:
            phrases.left_out.append("media")
        elif _UNSENT.fullmatch(line):
            phrases.left_out.append("deleted")
        else:
            # A transcription is spoken text, which counts as the sender's words.
            clean_lines.append(line.removeprefix(_TRANSCRIBED))
    # A translation is above the original words.
    clean_lines = _trimmed(clean_lines)
    clean_lines = (
        _trimmed(clean_lines[clean_lines.index(_TRANSLATED) + 1 :]) if _TRANSLATED in clean_lines[1:-1] else clean_lines
    )
    clean_lines = _trimmed(_without_previews(_trimmed(_without_apps(clean_lines, phrases)), phrases))
    phrases.text = "\n".join(clean_lines)
    if _TAPBACK_AS_TEXT.fullmatch(phrases.text):
        phrases.text = ""
        phrases.left_out.append("notice")
    return phrases


def _trimmed(lines: list[str]) -> list[str]:
    """Without blank lines at both ends."""
    first = next((number for number, line in enumerate(lines) if line), len(lines))
    last = next((number for number in range(len(lines), first, -1) if lines[number - 1]), first)
    return lines[first:last]


def _without_tapbacks(lines: list[str], phrases: NoticePhrases) -> list[str]:
    kept_lines: list[str] = []
    number = 0
    while number < len(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if begins_tapbacks(lines[number]) and is_tapback(following):
            number += 1
            while number < len(lines) and is_tapback(lines[number]):
                number += 1
            phrases.left_out.append("notice")
            continue
        kept_lines.append(lines[number])
        number += 1
    return _trimmed(kept_lines)


def _without_apps(lines: list[str], phrases: NoticePhrases) -> list[str]:
    if not lines:
        return lines
    of_app = _OF_APP.fullmatch(lines[0]) and len(lines) <= _MAX_LINES_OF_APP
    poll = lines[0].startswith("- ") and all(_POLL.fullmatch(line) for line in lines)
    drawn = len(lines) >= _LEAST_LINES_DRAWN and all(_DRAWN.fullmatch(line) or not line for line in lines)
    if of_app or poll or drawn:
        phrases.left_out.append("media" if drawn else "notice")
        return []
    notices = [line for line in lines if _NOTICES.fullmatch(line)]
    if not notices:
        return lines
    phrases.left_out.append("notice")
    ended = "Ended" if "SharePlay Message" in notices else None
    return [line for line in lines if line not in notices and line != ended]


def _without_previews(lines: list[str], phrases: NoticePhrases) -> list[str]:
    """Of a link with its preview only the link: the lines below are the page's title and summary."""
    links = [number for number, line in enumerate(lines) if _URL.fullmatch(line)]
    if len(links) != 1 or len(lines) < 2:
        return lines
    number, others = links[0], len(lines) - 1
    place = _PLACE.fullmatch(lines[number]) and number <= 1 and others > number
    song = _SONG_OR_APP.fullmatch(lines[number]) and number == others and others >= 2
    if place or song or (number == 0 and others <= _MAX_LINES_OF_PREVIEW and all(lines)):
        phrases.left_out.append("notice")
        return [lines[number]]
    return lines
