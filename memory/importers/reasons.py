"""Every reason for which something of a file is left out, or a file refused: a closed list, with words for people."""

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
