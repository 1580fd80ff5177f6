"""What WhatsApp writes into a chat in the phone's language: parts of the day, and what stands in place of a message.

Known are the languages in which the exports were described to us; what is not in here is taken for words that somebody
said, since a line too many can be seen and a lost one cannot.
"""

import re

# The halves of a clock of twelve hours.
FORENOON = ("am", "上午", "凌晨", "清晨", "早上", "早晨", "半夜", "午夜", "오전", "午前", "πμ", "ص", "पूर्वाह्न")
AFTERNOON = ("pm", "下午", "中午", "晚上", "傍晚", "오후", "午後", "μμ", "م", "अपराह्न")
# Noon of Chinese clocks begins before twelve: 中午11:50.
NOON = "中午"
_MERIDIEM = r"[ap]\s?\.?\s?m\b\.?"
_PARTS = "|".join(word for word in (*FORENOON, *AFTERNOON) if not word.isascii())
PART_OF_DAY = rf"(?:{_MERIDIEM}|{_PARTS})"

_OMITTED = (
    "media omitted", "medien ausgeschlossen", "médias omis", "fichier omis", "multimedia omitido", "archivo omitido",
    "arquivo de mídia oculto", "mídia oculta", "ficheiro não revelado", "media omessi", "media weggelaten",
    "без медиафайлов", "файл пропущен", "medya dahil edilmedi", "media tidak disertakan", "pominięto multimedia",
    "省略多媒体文件", "媒体文件已省略", "忽略多媒體檔", "略过多媒体文件", "多媒體檔案已略去", "媒體已略去",
    "미디어 파일을 제외한 내보내기",
    "メディアは含まれていません", "メディア除外", "تم استبعاد الوسائط",
)  # fmt: skip
_OMITTED_KINDS = (
    r"(?:image|video|audio|sticker|gif|document|contact card|video note|photo)\s+omitted",
    r"(?:图像|图片|影像|照片|圖片|影片|视频|音频|音訊|语音|贴图|貼圖|动图|文档|文件|名片|联系人名片)\s*(?:已?忽略|已?省略|已?略过|已略去)",
    r"(?:忽略|省略|略过)\s*(?:图像|图片|影像|照片|圖片|影片|视频|音频|音訊|贴图|貼圖|文档|文件)",
    r"(?:bild|video|audio|sticker|gif|dokument)\s+weggelassen",
    r"(?:imagen|video|audio|sticker|gif|documento)\s+omitid[oa]",
    r"(?:image|vidéo|audio|sticker|gif|document)\s+absente?",
    r"(?:imagem|vídeo|áudio|figurinha|gif|documento)\s+ocult[oa]",
    r"(?:immagine|video|audio|sticker|gif|documento)\s+omess[oa]",
)
_ATTACHED = (
    "file attached", "datei angehängt", "fichier joint", "archivo adjunto", "arquivo anexado", "ficheiro anexado",
    "file allegato", "bestand bijgevoegd", "файл добавлен", "dosya ekli", "文件附件", "檔案附件", "附加檔案",
    "파일 첨부됨", "添付ファイル", "الملف مرفق",
)  # fmt: skip
_DELETED = (
    "this message was deleted", "you deleted this message", "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht", "ce message a été supprimé", "vous avez supprimé ce message",
    "se eliminó este mensaje", "eliminaste este mensaje", "este mensaje fue eliminado", "mensagem apagada",
    "esta mensagem foi apagada", "você apagou esta mensagem", "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio", "dit bericht is verwijderd", "данное сообщение удалено",
    "вы удалили данное сообщение",
    "bu mesaj silindi", "pesan ini telah dihapus", "此消息已删除", "此訊息已刪除", "你删除了此消息", "您删除了此消息",
    "你删除了这条消息", "您删除了这条消息", "你刪除了此訊息", "您刪除了此訊息", "這則訊息已刪除", "你已刪除這則訊息",
    "삭제된 메시지입니다",
    "このメッセージは削除されました", "تم حذف هذه الرسالة",
)  # fmt: skip
_EDITED = (
    "this message was edited", "diese nachricht wurde bearbeitet", "ce message a été modifié", "se editó este mensaje",
    "mensagem editada", "questo messaggio è stato modificato", "dit bericht is bewerkt", "данное сообщение изменено",
    "此消息已编辑", "此訊息已編輯", "消息已编辑", "這則訊息已編輯",
)  # fmt: skip


def _any_of(words: tuple[str, ...]) -> str:
    return "|".join(re.escape(word) for word in words)


MEDIA = re.compile(rf"<\s*(?:{_any_of(_OMITTED)})\s*>|{'|'.join(_OMITTED_KINDS)}", re.I)
# "IMG-20231231-WA0001.jpg (file attached)"; what follows in the next line is a caption.
ATTACHED = re.compile(rf"[^\n()]+\.\w{{1,5}}\s\((?:{_any_of(_ATTACHED)})\)", re.I)
DELETED = re.compile(rf"(?:{_any_of(_DELETED)})[.。]?", re.I)
# Behind the words. With its invisible mark it is WhatsApp's in any language.
EDITED = re.compile(rf"\s?(?:\u200e\s?<[^<>\n]{{3,80}}>|<(?:{_any_of(_EDITED)})[.。]?>)$", re.I)
ATTACHED_BEHIND = re.compile(r"\s?\u200e?<[^<>\n]{2,40}:\s[^<>\n]+\.\w{1,5}>$")
