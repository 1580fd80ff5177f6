"""Every reason for which something of a file is left out, or a file refused: a closed list, with words for people."""

from collections.abc import Sequence

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

# What is left out while the rest is read.
SKIPS = {
    "altered": _("does not match the checksum beside it, as if it had been changed since; it was read all the same"),
    "broken": _("could not be read"),
    "deleted": _("was deleted by whoever wrote it"),
    "document": _("a document, not something that was said"),
    "duplicate": _("stands in the file twice"),
    "empty": _("holds no words"),
    "hidden": _("was hidden in the conversation itself"),
    "media": _("a picture, recording or file without words"),
    "nobody": _("stands before anybody speaks"),
    "not_chosen": _("an earlier or other version that was not kept in the conversation"),
    "notice": _("a notice of the app, not something that somebody said"),
    "outdated": _("was no longer true for the system that had kept it"),
    "settings": _("settings and data about the account"),
    "thinking": _("what the assistant thought before it spoke, not what it said"),
    "too_deep": _("is nested too deeply"),
    "too_long": _("is longer than a message may be"),
    "tool": _("what a tool was asked or answered, not something that was said"),
    "unknown": _("a kind of thing that is not known here"),
}

# Why a file is not read. The placeholders are the facts of ImportRejected.
REJECTIONS = {
    "archive_broken": _("The archive cannot be taken in: %(reason)s"),
    "ask_chat_or_notes": _("Please say whether this is a chat of several people, or your own notes."),
    "ask_day_first": _("Dates like 03/04 can be read in two ways here. Please say whether day or month is first."),
    "ask_mapping": _("Please say which fields hold who spoke, what was said and when."),
    "binary": _("This is not text."),
    "empty": _("The file is empty."),
    "encoding": _("The text is in an encoding that is not known, or it is damaged."),
    "line_too_long": _("A line is too long for a file of this kind."),
    "member_missing": _("The archive holds none of the files that belong to this format."),
    "nested_zip": _("An archive within an archive is not opened."),
    "not_json": _("This is not JSON, or it is damaged or cut off."),
    "not_this": _("This file is not what a file of the format “%(format)s” looks like."),
    "nothing_found": _("Nothing that could be imported was found in the file."),
    "page_of_chatgpt": _("This is the page of a ChatGPT export. Please bring conversations.json, or the whole zip."),
    "page_of_discord": _("This is a web page. Please export again with DiscordChatExporter, and choose JSON."),
    "page_of_telegram": _("This is a web page. Please export again with Telegram Desktop, and choose “JSON”."),
    "picture_broken": _("The picture is damaged or cut off."),
    "picture_without_card": _("The picture holds no character card."),
    "several_archives": _("It holds archives of several personas. Please unpack it, and bring one of them at a time."),
    "table_broken": _("A quotation mark in the table is never closed, or a cell is far too long."),
    "other_day_first": _("Dates in the file do not exist if day and month are read in the order you chose."),
    "too_big": _("The file is too big."),
    "too_deep": _("The data is nested too deeply."),
    "unknown_format": _("The file was not recognised. It was compared with: %(formats)s."),
    "web_page": _("This is a web page. Please export again as JSON or plain text, if the program offers that."),
    "zip_bomb": _("The archive unpacks to far more than an honest one would."),
    "zip_broken": _("The archive is damaged."),
    "zip_encrypted": _("The archive is encrypted. Please unpack it first."),
    "zip_entries": _("The archive holds too many files."),
    "zip_method": _("The archive is packed in a way that is not supported."),
    "zip_name": _("The archive holds a file under a name that is not allowed."),
}

# What a file that is no text may be, and what is in a zip, by how many.
KINDS = {
    "pdf": _("This is a PDF: please bring the export of the app itself, or the text."),
    "picture": _("This is a picture, and not a conversation."),
    "recording": _("This is a recording, and not a conversation."),
    "video": _("This is a video, and not a conversation."),
    "database": _("This is a database: please bring what the app itself exports."),
    "packed": _("This file is packed in a way that is not opened here: please unpack it, or pack it as a zip."),
    "document": _("This is a document of a word processor: please save it as plain text."),
    "spreadsheet": _("This is a spreadsheet: please save it as CSV."),
    "presentation": _("This is a presentation, and not a conversation."),
    "book": _("This is a book, and not a conversation."),
}


def describe_contents(contents: str) -> str:
    """What is in a file that nothing was found in, as one sentence in the language of the moment; `contents` is what
    `contents_of` gave: "kind:pdf", "zip:pictures=214,pages=3", "json:a,b", "text:12"."""
    kind, _colon, rest = contents.partition(":")
    names = [name for name in rest.split(",") if name]
    if kind == "kind" and rest in KINDS:
        return str(KINDS[rest])
    if kind == "zip" and names:
        held = [_counted(*name.split("=", 1)) for name in names]
        return gettext("The zip holds %(contents)s, but no conversations.") % {"contents": _joined(held)}
    if kind == "zip":
        return gettext("The zip holds no files.")
    if kind == "json" and names:
        fields = gettext(", ").join(names)
        return gettext("JSON with the fields %(fields)s: none of them holds what somebody said.") % {"fields": fields}
    if kind == "json":
        return gettext("The JSON in it is empty.")
    if kind == "damaged":
        return str(REJECTIONS["not_json"])
    if kind == "text" and rest.isdecimal():
        lines = ngettext("%(count)d line", "%(count)d lines", int(rest)) % {"count": int(rest)}
        return gettext("A text of %(lines)s, in which nobody is named who says something, and no day.") % {
            "lines": lines
        }
    return str(REJECTIONS["nothing_found"])


def _counted(kind: str, number: str) -> str:
    count = int(number)
    words = {
        "pictures": ngettext("%(count)d picture", "%(count)d pictures", count),
        "videos": ngettext("%(count)d video", "%(count)d videos", count),
        "recordings": ngettext("%(count)d recording", "%(count)d recordings", count),
        "pages": ngettext("%(count)d web page", "%(count)d web pages", count),
        "texts": ngettext("%(count)d text file", "%(count)d text files", count),
        "json": ngettext("%(count)d JSON file", "%(count)d JSON files", count),
        "tables": ngettext("%(count)d table", "%(count)d tables", count),
        "documents": ngettext("%(count)d document", "%(count)d documents", count),
        "archives": ngettext("%(count)d archive", "%(count)d archives", count),
    }
    return words.get(kind, ngettext("%(count)d other file", "%(count)d other files", count)) % {"count": count}


def _joined(parts: Sequence[str]) -> str:
    *before, last = parts
    if not before:
        return last
    return gettext("%(parts)s and %(last)s") % {"parts": gettext(", ").join(before), "last": last}
