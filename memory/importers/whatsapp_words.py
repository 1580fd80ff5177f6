"""What WhatsApp writes into a chat in the phone's language: parts of the day, and what stands in place of a message.

Known are the languages in which the exports were described to us; what is not in here is taken for words that somebody
said, since a line too many can be seen and a lost one cannot.
"""

import re

# The halves of a clock of twelve hours, without dots: π.μ., ب.ظ.
FORENOON = (
    "am", "sa", "pg", "上午", "凌晨", "清晨", "早上", "早晨", "半夜", "午夜", "오전", "午前", "πμ", "ص", "قظ", "öö",
    "पूर्वाह्न",
)  # fmt: skip
AFTERNOON = (
    "pm", "ch", "ptg", "下午", "中午", "晚上", "傍晚", "오후", "午後", "μμ", "م", "بظ", "ös", "अपराह्न",
)  # fmt: skip
# Noon of Chinese clocks begins before twelve: 中午11:50.
NOON = "中午"
_MERIDIEM = r"[ap]\s?\.?\s?m\b\.?|(?:sa|pg|ch|ptg)\b"
_PARTS = "|".join(r"\.?".join(word) + r"\.?" for word in (*FORENOON, *AFTERNOON) if not word.isascii())
PART_OF_DAY = rf"(?:{_MERIDIEM}|{_PARTS})"

# "<Media omitted>": what is left out is called so by nearly everybody.
_MEDIA_WORDS = (
    "media", "medien", "multimedia", "multimédia", "mídia", "médias", "média", "медиа", "медіа", "мультимедиа", "medya",
    "メディア", "미디어", "媒体", "媒體", "وسائط", "رسانه", "מדיה", "मीडिया", "मिडिया", "πολυμέσ", "สื่อ",
)  # fmt: skip
_OMITTED = ("fichier omis", "archivo omitido", "ficheiro não revelado", "файл пропущен", "file omesso")
_KINDS = (
    "image", "video", "audio", "sticker", "gif", "document", "contact card", "video note", "photo", "voice message",
    "view once photo", "view once video", "view once voice message",
)  # fmt: skip
_OMITTED_KINDS = (
    rf"<?(?:{'|'.join(_KINDS)})\s+omitted>?",
    r"(?:图像|图片|影像|照片|圖片|影片|视频|音频|音訊|语音|贴图|貼圖|动图|文档|文件|名片|联系人名片)\s*(?:已?忽略|已?省略|已?略过|已略去)",
    r"已?(?:忽略|省略|略过)\s*(?:图像|图片|影像|照片|圖片|影片|视频|音频|音訊|贴图|貼圖|文档|文件)",
    r"(?:bild|video|audio|sticker|gif|dokument)\s+(?:weggelassen|ausgelassen)",
    r"(?:imagen|video|audio|sticker|gif|documento)\s+omitid[oa]",
    r"(?:image|vidéo|audio|sticker|gif|document)\s+(?:absente?|omise?)",
    r"(?:imagem|vídeo|áudio|figurinha|gif|documento)\s+(?:ocult|omitid)[oa]",
    r"(?:immagine|video|audio|sticker|gif|documento)\s+omess[oa]",
    r"(?:afbeelding|video|audio|sticker|gif|document)\s+weggelaten",
    r"(?:görüntü|video|ses|çıkartma|gif|belge)\s+dahil edilmedi",
)
_ATTACHED = (
    "file attached", "datei angehängt", "fichier joint", "archivo adjunto", "arquivo anexado", "ficheiro anexado",
    "file allegato", "bestand bijgevoegd", "файл добавлен", "файл додано", "dosya ekli", "文件附件", "檔案附件",
    "附加檔案", "파일 첨부됨", "添付ファイル", "الملف مرفق", "plik dołączony", "file terlampir", "bifogad fil",
    "קובץ מצורף", "फ़ाइल संलग्न है",
)  # fmt: skip
_DELETED = (
    "this message was deleted", "you deleted this message", "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht", "ce message a été supprimé", "vous avez supprimé ce message",
    "se eliminó este mensaje", "eliminaste este mensaje", "este mensaje fue eliminado", "este mensaje se eliminó",
    "mensagem apagada", "esta mensagem foi apagada", "você apagou esta mensagem", "apagou esta mensagem",
    "esta mensagem foi eliminada", "eliminou esta mensagem", "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio", "dit bericht is verwijderd", "je hebt dit bericht verwijderd",
    "u hebt dit bericht verwijderd", "u heeft dit bericht verwijderd", "данное сообщение удалено",
    "вы удалили данное сообщение", "это сообщение удалено", "вы удалили это сообщение", "це повідомлення видалено",
    "ви видалили це повідомлення", "bu mesaj silindi", "bu mesajı sildiniz", "pesan ini telah dihapus",
    "anda menghapus pesan ini", "ta wiadomość została usunięta", "usunięto tę wiadomość", "此消息已删除",
    "此訊息已刪除", "你删除了此消息", "您删除了此消息", "你删除了这条消息", "您删除了这条消息", "你刪除了此訊息",
    "您刪除了此訊息", "這則訊息已刪除", "你已刪除這則訊息", "삭제된 메시지입니다", "이 메시지는 삭제되었습니다",
    "이 메시지를 삭제했습니다", "このメッセージは削除されました", "このメッセージを削除しました", "تم حذف هذه الرسالة",
    "لقد حذفت هذه الرسالة", "حذفت هذه الرسالة", "הודעה זו נמחקה", "מחקת הודעה זו", "यह मैसेज डिलीट किया गया",
    "यह मैसेज हटाया गया", "आपने यह मैसेज डिलीट किया",
)  # fmt: skip
_EDITED = (
    "this message was edited", "diese nachricht wurde bearbeitet", "ce message a été modifié", "se editó este mensaje",
    "mensagem editada", "esta mensagem foi editada", "questo messaggio è stato modificato", "dit bericht is bewerkt",
    "данное сообщение изменено", "сообщение изменено", "це повідомлення змінено", "bu mesaj düzenlendi",
    "pesan ini diedit", "edytowano tę wiadomość", "此消息已编辑", "此訊息已編輯", "消息已编辑", "這則訊息已編輯",
    "이 메시지는 수정되었습니다", "수정된 메시지입니다", "このメッセージは編集されました", "تم تعديل هذه الرسالة",
    "הודעה זו נערכה", "यह मैसेज एडिट किया गया",
)  # fmt: skip
_FILE_IN_ANGLES = r"<[^<>\n]{2,40}[:：]\s?[^<>\n]+\.\w{1,5}>"


def _any_of(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


_KIND_OMITTED = "|".join(_OMITTED_KINDS)
MEDIA = re.compile(
    rf"<[^<>\n]{{0,30}}(?:{_any_of(_MEDIA_WORDS)})[^<>\n]{{0,40}}>|<(?:{_any_of(_OMITTED)})>|{_KIND_OMITTED}", re.I
)
# "IMG-20231231-WA0001.jpg (file attached)"; what follows in the next line is a caption.
ATTACHED = re.compile(rf"[^\n()]+\.\w{{1,5}}\s\((?:{_any_of(_ATTACHED)})\)", re.I)
DELETED = re.compile(rf"(?:{_any_of(_DELETED)})(?: by admin [^\n]+)?[.。]?", re.I)
# Behind the words. With its invisible mark it is WhatsApp's in any language.
EDITED = re.compile(rf"\s?(?:\u200e\s?<[^<>\n]{{3,80}}>|<(?:{_any_of(_EDITED)})[.。]?>)$", re.I)
# A file behind its caption.
BEHIND = re.compile(rf"\s?(?:\u200e?{_FILE_IN_ANGLES}|\u200e(?:{_KIND_OMITTED}))$", re.I)
# What stands before a file that has pages: "\u200eBill.pdf • \u200e3 pages".
DOCUMENT = re.compile(r"\u200e[^\n]*|[^\n]+\s•\s\u200e?\d+\s[^\n]{1,20}")
# Behind the mark, in place of what an export leaves out.
LEFT_OUT = re.compile(
    r"omitted|weggelassen|ausgelassen|omitid|omess|absent|omis\b|ocult|weggelaten|отсутству|пропущ|вилуч|dahil edilmedi"
    r"|除外|省略|忽略|略过|略去|제외|생략|حذف|استبعاد|הושמט|לא נכלל|छोड़|utelämn|udeladt|utelatt|pomini|vynech|kihagy",
    re.I,
)
PLACE = re.compile(r"https://(?:maps\.google\.com/|(?:www\.)?foursquare\.com/)")
