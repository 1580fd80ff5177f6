"""All reasons for skipping content of a file, or for refusing a file: a closed list, with sentences for people."""

from django.utils.translation import gettext, ngettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

# Content that is skipped while the rest is read.
SKIPS = {
    "altered": _("the checksum does not match, so the file may have been changed; it was read anyway"),
    "broken": _("could not be read"),
    "deleted": _("deleted by its author"),
    "document": _("a document, not a message"),
    "duplicate": _("duplicate in the file"),
    "empty": _("no text"),
    "hidden": _("hidden in the original conversation"),
    "media": _("a picture, recording or file without text"),
    "nobody": _("text before the first message"),
    "not_chosen": _("an earlier or discarded version of a message"),
    "notice": _("a notice from the app, not a message"),
    "outdated": _("marked as no longer true by the other app"),
    "settings": _("settings and data about the account"),
    "thinking": _("the assistant's reasoning, not its reply"),
    "too_deep": _("nested too deeply"),
    "too_long": _("longer than a message may be"),
    "tool": _("a tool's input or output, not a message"),
    "unknown": _("unknown content"),
}

# Why a file is refused. The placeholders are the facts of ImportRejected.
REJECTIONS = {
    "archive_broken": _("The archive cannot be imported: %(reason)s"),
    "ask_chat_or_notes": _("Please say whether this is a chat of several people, or your own notes."),
    "ask_day_first": _(
        "Dates like 03/04 can be read in two ways. Please say whether the day or the month comes first."
    ),
    "ask_mapping": _("Please choose the fields for the sender, the text and the time."),
    "binary": _("This is not text."),
    "empty": _("The file is empty."),
    "encoding": _("The text is in an encoding that is not known, or it is damaged."),
    "line_too_long": _("A line in the file is too long for this format."),
    "member_missing": _("The archive contains no file of this format."),
    "nested_zip": _("An archive within an archive is not opened."),
    "not_json": _("This is not JSON, or it is damaged or cut off."),
    "not_this": _("This file does not look like “%(format)s”."),
    "nothing_found": _("Nothing that could be imported was found in the file."),
    "page_of_chatgpt": _(
        "This is the web page of a ChatGPT export. Please choose conversations.json or the whole zip."
    ),
    "page_of_discord": _("This is a web page. Please export again with DiscordChatExporter, and choose JSON."),
    "page_of_telegram": _("This is a web page. Please export again with Telegram Desktop, and choose “JSON”."),
    "picture_broken": _("The picture is damaged or cut off."),
    "picture_without_card": _("The picture contains no character card."),
    "several_archives": _("It contains archives of several companions. Please unpack it and import them one by one."),
    "table_broken": _("A quotation mark in the table is never closed, or a cell is far too long."),
    "other_day_first": _("In the order of day and month you chose, some dates in the file do not exist."),
    "too_big": _("The file is too big."),
    "too_deep": _("The data is nested too deeply."),
    "unknown_format": _("The file was not recognised. Supported formats: %(formats)s."),
    "web_page": _("This is a web page. Please export again as JSON or plain text, if the program offers that."),
    "zip_bomb": _("The archive unpacks to a suspiciously large size."),
    "zip_broken": _("The archive is damaged."),
    "zip_encrypted": _("The archive is encrypted. Please unpack it first."),
    "zip_entries": _("The archive contains too many files."),
    "zip_method": _("The archive uses an unsupported compression."),
    "zip_name": _("The archive contains a file with a forbidden name."),
}

# Kinds of files that are no text, and kinds of files in a zip, with their number.
KINDS = {
    "pdf": _("This is a PDF. Please choose the export file of the app, or plain text."),
    "picture": _("This is a picture, not a conversation."),
    "recording": _("This is a recording, not a conversation."),
    "video": _("This is a video, not a conversation."),
    "database": _("This is a database. Please choose a file that the app itself exported."),
    "packed": _("This kind of archive cannot be opened. Please unpack it, or make it a zip."),
    "document": _("This is a word processor document. Please save it as plain text."),
    "spreadsheet": _("This is a spreadsheet. Please save it as CSV."),
    "presentation": _("This is a presentation, not a conversation."),
    "book": _("This is a book, not a conversation."),
}
COUNTS = {
    "pictures": ngettext_lazy("%(count)d picture", "%(count)d pictures", "count"),
    "videos": ngettext_lazy("%(count)d video", "%(count)d videos", "count"),
    "recordings": ngettext_lazy("%(count)d recording", "%(count)d recordings", "count"),
    "pages": ngettext_lazy("%(count)d web page", "%(count)d web pages", "count"),
    "texts": ngettext_lazy("%(count)d text file", "%(count)d text files", "count"),
    "json": ngettext_lazy("%(count)d JSON file", "%(count)d JSON files", "count"),
    "tables": ngettext_lazy("%(count)d table", "%(count)d tables", "count"),
    "documents": ngettext_lazy("%(count)d document", "%(count)d documents", "count"),
    "archives": ngettext_lazy("%(count)d archive", "%(count)d archives", "count"),
}
OTHER_COUNT = ngettext_lazy("%(count)d other file", "%(count)d other files", "count")


def describe_contents(contents: str) -> str:
    """What a file without messages contains, as one sentence in the current language; `contents` is the result of
    `contents_of`: "kind:pdf", "zip:pictures=214,pages=3", "json:a,b", "text:12"."""
    kind, _colon, rest = contents.partition(":")
    names = [name for name in rest.split(",") if name]
    if kind == "kind" and rest in KINDS:
        return str(KINDS[rest])
    if kind == "zip" and names:
        counts = (name.split("=", 1) for name in names)
        *before, last = (str(COUNTS.get(kind, OTHER_COUNT) % {"count": int(number)}) for kind, number in counts)
        parts = gettext(", ").join(before)
        joined = gettext("%(parts)s and %(last)s") % {"parts": parts, "last": last} if before else last
        return gettext("The zip contains %(contents)s, but no conversations.") % {"contents": joined}
    if kind == "zip":
        return gettext("The zip is empty.")
    if kind == "json" and names:
        fields = gettext(", ").join(names)
        return gettext("JSON with the fields %(fields)s: none of them contains messages.") % {"fields": fields}
    if kind == "json":
        return gettext("The JSON in it is empty.")
    if kind == "damaged":
        return str(REJECTIONS["not_json"])
    if kind == "text" and rest.isdecimal():
        line_words = ngettext("%(count)d line", "%(count)d lines", int(rest)) % {"count": int(rest)}
        return gettext("A text of %(lines)s without names of speakers or dates.") % {"lines": line_words}
    return str(REJECTIONS["nothing_found"])
