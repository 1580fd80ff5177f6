"""WhatsApp's own words in a chat, in the phone's language: parts of the day, and placeholders of messages.

Known are the languages whose exports were described to us; unknown wordings count as messages, because a superfluous
message can be seen and a lost one cannot.
"""

from echovessel.language import lazy_re as re

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

# "<Media omitted>": nearly all languages have one of these words for omitted content.
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
    "यह मैसेज हटाया गया", "यह मैसेज मिटाया गया", "आपने यह मैसेज डिलीट किया",
)  # fmt: skip
# The wordings that only the person who deleted the message sees: the owner of the phone.
_DELETED_HERE = (
    "you deleted this message", "du hast diese nachricht gelöscht", "vous avez supprimé ce message",
    "eliminaste este mensaje", "você apagou esta mensagem", "apagou esta mensagem", "eliminou esta mensagem",
    "hai eliminato questo messaggio", "je hebt dit bericht verwijderd", "u hebt dit bericht verwijderd",
    "u heeft dit bericht verwijderd", "вы удалили данное сообщение", "вы удалили это сообщение",
    "ви видалили це повідомлення", "bu mesajı sildiniz", "anda menghapus pesan ini", "你删除了此消息", "您删除了此消息",
    "你删除了这条消息", "您删除了这条消息", "你刪除了此訊息", "您刪除了此訊息", "你已刪除這則訊息",
    "이 메시지를 삭제했습니다", "このメッセージを削除しました", "لقد حذفت هذه الرسالة", "حذفت هذه الرسالة",
    "מחקת הודעה זו", "आपने यह मैसेज डिलीट किया",
)  # fmt: skip
# Missed calls, if the export puts no mark before them.
_MISSED = (
    "(?:missed|silenced) (?:group )?(?:voice|video) call", "verpasster (?:gruppen-?)?(?:sprach|video)anruf",
    "appel (?:vocal|vidéo)(?: de groupe)? manqué", "(?:video)?llamada(?: de voz| grupal)? perdida",
    "(?:chamada|ligação) de (?:voz|vídeo) perdida", "(?:chiamata|videochiamata)(?: vocale)? persa",
    "gemiste (?:spraak|video|audio)-?oproep", "пропущенный (?:аудио|видео)звонок", "пропущений (?:аудіо|відео)дзвінок",
    "cevapsız (?:sesli|görüntülü) arama", "panggilan (?:suara|video) tak terjawab",
    "nieodebrane połączenie (?:głosowe|wideo)", "未接(?:语音|語音|视频|視訊)(?:通话|通話|来电|來電)",
    "(?:不在着信|(?:音声通話|ビデオ通話)の不在着信)", "부재중 (?:음성|영상) ?통화", "مكالمة (?:صوتية|فيديو) فائتة",
    "שיחת (?:קולית|וידאו|שמע) שלא נענתה",
)  # fmt: skip
# Other calls: only with a duration are they no people's words.
_CALLS = (
    "(?:voice|video) call", "(?:sprach|video)anruf", "appel (?:vocal|vidéo)", "(?:video)?llamada(?: de voz)?",
    "(?:chamada|ligação) de (?:voz|vídeo)", "(?:chiamata vocale|videochiamata)", "(?:spraak|video)-?oproep",
    "(?:аудио|видео)звонок", "(?:sesli|görüntülü) arama", "panggilan (?:suara|video)", "połączenie (?:głosowe|wideo)",
    "(?:语音|語音|视频|視訊)(?:通话|通話)", "(?:音声|ビデオ)通話", "(?:음성|영상) ?통화",
)  # fmt: skip
# Words before the address of a place.
_PLACES = (
    "location", "live location shared", "live location", "standort", "live-standort", "ort", "position",
    "localisation", "emplacement",
    "ubicación", "ubicacion", "localização", "posizione", "locatie", "местоположение", "геопозиция", "геолокація",
    "місцезнаходження", "konum", "lokasi", "lokalizacja", "plats", "位置", "位置情報", "위치", "موقع", "الموقع",
    "מיקום", "स्थान",
    "लोकेशन",
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
# "IMG-20231231-WA0001.jpg (file attached)"; text in the next line is a caption.
ATTACHED = re.compile(rf"[^\n()]+\.\w{{1,5}}\s\((?:{_any_of(_ATTACHED)})\)", re.I)
DELETED = re.compile(rf"(?:{_any_of(_DELETED)})(?: by admin [^\n]+)?[.。]?", re.I)
DELETED_HERE = re.compile(rf"(?:{_any_of(_DELETED_HERE)})[.。]?", re.I)
# Android writes "null" for a picture that could be seen once.
NOTHING = "null"
CALL = re.compile(
    rf"(?:{'|'.join(_MISSED)})[.。]?(?:\s\u200e?tap to call back[.…]?)?"
    rf"|(?:{'|'.join(_CALLS)})[.,·•]\s?\u200e?\d{{1,3}}\s?[^\W\d_]{{1,10}}\.?",
    re.I,
)
# A poll: its head, its question, and below it every option with its votes, under the same word.
POLL = re.compile(
    r"\u200e?[^\W\d_]{2,20}[:：]\s*\n(?:[^\n]*\n){1,3}?\u200e?(?P<option>[^\W\d_]{2,20})[:：][^\n]*\([^()\n]*\d[^()\n]*\)"
    r"(?:\s*\n\u200e?(?P=option)[:：][^\n]*\([^()\n]*\d[^()\n]*\)){1,20}\s*"
)
# After the words. With its invisible mark it is WhatsApp's in any language.
EDITED = re.compile(rf"\s?(?:\u200e\s?<[^<>\n]{{3,80}}>|<(?:{_any_of(_EDITED)})[.。]?>)$", re.I)
# A file after its caption.
BEHIND = re.compile(rf"\s?(?:\u200e?{_FILE_IN_ANGLES}|\u200e(?:{_KIND_OMITTED}))$", re.I)
# The line before a file with pages: "\u200eBill.pdf • \u200e3 pages".
DOCUMENT = re.compile(r"\u200e[^\n]*|[^\n]+\s•\s\u200e?\d+\s[^\n]{1,20}")
# After the mark, in place of content that an export leaves out.
LEFT_OUT = re.compile(
    r"omitted|weggelassen|ausgelassen|omitid|omess|absent|omis\b|ocult|weggelaten|отсутству|пропущ|вилуч|dahil edilmedi"
    r"|除外|省略|忽略|略过|略去|제외|생략|حذف|استبعاد|הושמט|לא נכלל|छोड़|utelämn|udeladt|utelatt|pomini|vynech|kihagy",
    re.I,
)
_PLACE = r"https://(?:maps\.google\.com/|(?:www\.)?google\.[a-z.]{2,6}/maps|(?:www\.)?foursquare\.com/)\S*"
PLACE = re.compile(rf"\u200e[^\n]{{0,200}}{_PLACE}|(?:{_any_of(_PLACES)})\s?[:：]\s?\u200e?{_PLACE}", re.I)
# Notices of groups, in the languages of many phones: who made them, their names, who came. A notice is before a colon
# if the group's name contains one.
GROUP_EVENT = re.compile(
    r"\b(?:created|changed|updated|deleted|edited|set)\b.{0,40}\b(?:group|subject|description|icon|settings|community)\b"
    r"|\bchanged (?:to \+|their phone|from .+ to )|\bpinned a message\b|\bsecurity code\b|\bjoined (?:using|from|via)\b"
    r"|\b(?:gruppe|gruppen\w*|betreff)\b.{0,60}\b(?:erstellt|geändert|geaendert|angelegt|beigetreten)\b"
    r"|\bhat die gruppe\b"
    r"|\bhat den betreff\b|\bha (?:creado|cambiado)\b.{0,30}\b(?:grupo|asunto)\b"
    r"|\b(?:creó|cambió|creaste|cambiaste)\b"
    r".{0,30}\b(?:grupo|asunto|descripción|ícono|icono)\b|\b(?:criou|mudou|alterou|criaste|alteraste)\b.{0,30}\b(?:grupo|nome"
    r"|assunto)\b|\b(?:a|avez|as) (?:créé|changé|modifié)\b.{0,30}\b(?:groupe|sujet|objet)\b|\bha (?:creato|cambiato"
    r"|modificato)\b.{0,30}\b(?:gruppo|oggetto|nome)\b|\b(?:heeft|hebt)\b.{0,40}\b(?:groep|onderwerp|groepsnaam)\b"
    r"|(?:созда|измени|смени)\w*.{0,30}(?:групп|тем)\w*|(?:створи|зміни)\w*.{0,30}(?:груп|тем)\w*|\b(?:grubu|grup)\b.{0,40}"
    r"\b(?:oluşturdu|değiştirdi)|\b(?:membuat|mengubah)\b.{0,30}\b(?:grup|subjek)\b"
    r"|\b(?:utworzył|zmienił)\w*.{0,30}\b(?:grup|temat)"
    r"|(?:创建|建立|更改|变更|變更|修改)了?.{0,12}(?:群组|群組|群|主题|主旨|名称|名稱)"
    r"|(?:グループ|件名).{0,40}(?:作成|変更)"
    r"|그룹.{0,40}(?:만들|변경)"
    r"|님이 (?:그룹|제목)|さんが(?:グループ|件名)|(?:أنشأ|غيّر|غير).{0,30}(?:المجموعة"
    r"|الموضوع)|(?:יצר|שינה).{0,30}(?:קבוצה|נושא)",
    re.I,
)
# "Messages and calls are end-to-end encrypted": the first line of every chat, in some under the name of the group.
_ENCRYPTED = (
    "end-to-end encrypted", "end-to-end encryption", "ende-zu-ende-verschlüssel", "chiffrés de bout en bout",
    "cifrados de extremo a extremo", "criptografia de ponta a ponta", "encriptadas ponto a ponto",
    "encriptação ponto a ponto", "crittografati end-to-end", "crittografia end-to-end", "end-to-end versleuteld",
    "сквозным шифрованием", "наскрізним шифруванням", "наскрізне шифрування", "uçtan uca şifre",
    "terenkripsi secara end-to-end",
    "enkripsi end-to-end", "szyfrowane w pełni", "szyfrowaniem end-to-end", "szyfrowaniu end-to-end",
    "端到端加密", "端對端加密", "エンドツーエンド", "종단간 암호화", "종단 간 암호화",
    "مشفرة تمام", "التشفير التام", "מוצפנות מקצה לקצה",
    "एंड-टू-एंड एन्क्रिप्ट", "από άκρο σε άκρο", "totalsträckskrypter", "end-to-end-krypter", "ende-til-ende-krypter",
    "päästä päähän", "koncovým šifrováním", "criptate integral",
)  # fmt: skip
ENCRYPTED = re.compile(_any_of(_ENCRYPTED), re.I)
# The text under a group's name begins with this, or with the notice of encryption.
MADE_GROUP = re.compile(
    r"\b(?:created|creó|creaste|criou|criaste|has created|ha creado|ha creato|hai creato|a créé|avez créé|membuat)"
    r" (?:(?:this|the|this|este|el|o|esse|questo|il|ce|le) )?(?:group|grupo|gruppo|groupe|grup)\b"
    r"|\b(?:hat|hast|haben) (?:die|diese) gruppe\b.{0,60}\berstellt"
    r"|\b(?:heeft|hebt) (?:de|deze) groep\b.{0,60}\bgemaakt"
    r"|(?:созда|створи)\w* (?:эту |цю )?груп\w*|grubu oluşturdu|utworzył\w* (?:tę )?grupę"
    r"|(?:创建|建立)了?(?:此|该|這個)?群"
    r"|グループを作成|그룹을 만들|أنشأ.{0,20}المجموعة|יצר.{0,20}קבוצה",
    re.I,
)
# Notices under the group's own name: all text there is of this kind.
UNDER_ITS_NAME = re.compile(
    rf"{GROUP_EVENT.pattern}|\b(?:added|removed|left|joined|admin|were added|was added|turned (?:on|off)|disappear"
    r"|hinzugefügt|entfernt|verlassen|beigetreten|ajouté|quitté|supprimé|añadió|añadido|agregó|salió|eliminó|adicionou|saiu"
    r"|removeu|aggiunto|uscito|abbandonato|rimosso|toegevoegd|verlaten|verwijderd|ekledi|ayrıldı|menambahkan|keluar)\b"
    r"|добавил|покинул|вышел|удалил|додав|вийшов|添加|新增|退出|加入|移除|追加|退出しました|退会|추가|나갔|들어|내보|أضاف|غادر|הוסיף|יצא",
    re.I,
)
