"""Notices that Messenger and Instagram write into a chat, in the language of the account.

A notice is recognized by its whole wording and by its subject: a participant, or "you". Unknown wordings count as
messages, because a superfluous message can be seen and a lost one cannot.
"""

from echovessel.language import lazy_re as re

_EMOJI = r"[^\w\s]{1,12}"
_ANY = r"[^\n]{1,120}"
_THINGS = (
    r"(?:an?|one|\d+)\s(?:attachment|photo|video|gif|sticker|voice message|audio message|voice clip|link|file|location|"
    r"live location|post|story|reel|clip|contact|poll|plan|song|profile)s?"
)
# Predicates of notices about "You" and the participants; the subject is put in front.
_DEEDS = (
    # English
    rf"(?:sent|shared) {_THINGS}", r"sent (?:photos|videos|messages)", rf"reacted {_EMOJI} to {_ANY}",
    r"(?:liked|loved|laughed at|disliked|emphasi[sz]ed) a message",
    r"(?:started|ended|joined|left|missed) (?:a|an|the|your) (?:video |audio |group |voice )*(?:call|chat)",
    r"(?:unsent|deleted|pinned|unpinned) a message", rf"named the group {_ANY}",
    r"created (?:the|this|a) (?:group|poll|plan)(?: chat)?", rf"created a poll: {_ANY}", rf"added {_ANY} to the group",
    r"left the (?:group|conversation|chat)", r"joined the (?:group|conversation|chat)",
    rf"removed {_ANY} from the group",
    rf"set (?:the|your|his|her|their|{_ANY}'s) (?:own )?nickname(?: for {_ANY})? to {_ANY}",
    rf"set (?:his|her|their|your) own nickname(?: to {_ANY})?",
    rf"(?:set|cleared) (?:the|your|his|her|their) (?:quick reaction|emoji|nickname)\b{_ANY}",
    rf"cleared (?:the|your|his|her|their|{_ANY}'s) (?:own )?nickname(?: for {_ANY})?",
    rf"changed the (?:chat )?(?:theme|colou?rs|group photo|group name|background|word effects?)(?: to {_ANY})?",
    rf"changed the group(?:'s)? (?:photo|name)(?: to {_ANY})?", rf"voted (?:for )?{_ANY} in the poll{_ANY}",
    (
        r"turned (?:on|off) (?:vanish mode|disappearing messages|member requests|message requests"
        r"|end-to-end encryption)(?:\. .*)?"
    ),
    r"waved at (?:you|each other)", r"are now connected on (?:messenger|instagram)",
    r"can now (?:message|call) (?:and call )?each other and see info like active status and when you've read messages",
    r"(?:paid|sent|requested) (?:you )?[$€£]\s?[\d.,]+",
    # Deutsch
    (
        r"(?:hast|hat) (?:einen|eine|ein|\d+) (?:anhang|foto|fotos|video|videos|gif|sticker|sprachnachricht|link"
        r"|standort|beitrag|story|reel) (?:gesendet|geteilt)"
    ),
    rf"(?:hast|hat) mit {_EMOJI} auf {_ANY} reagiert", r"(?:hast|hat) eine nachricht mit „gefällt mir“ markiert",
    r"(?:hast|hat) (?:einen|den) (?:videochat|anruf|videoanruf|sprachanruf|audioanruf) (?:gestartet|beendet|verpasst)",
    (
        rf"(?:hast|hat) (?:die gruppe (?:erstellt|verlassen)|die gruppe {_ANY} genannt"
        rf"|das (?:chat-)?design (?:geändert|zu {_ANY} geändert)|{_ANY} zur gruppe hinzugefügt"
        rf"|eine nachricht zurückgenommen|das gruppenfoto geändert)"
    ),
    # Français
    (
        r"(?:avez|a|as) envoyé (?:une? |\d+ )(?:pièces? jointes?|photos?|vidéos?|gif|stickers?|autocollants?"
        r"|message vocal|liens?|publication|story|reel)"
    ),
    rf"(?:avez|a|as) réagi {_EMOJI} à {_ANY}", r"(?:avez|a|as) aimé un message",
    (
        r"(?:avez|a|as) (?:démarré|commencé|lancé|terminé|manqué|rejoint) (?:un|une|l['’]) ?(?:appel|appel vidéo"
        r"|appel audio|discussion vidéo)"
    ),
    (
        rf"(?:avez|a|as) (?:créé le groupe|quitté le groupe|nommé le groupe {_ANY}|ajouté {_ANY} au groupe"
        rf"|modifié le thème|changé le thème{_ANY}|annulé l['’]envoi d['’]un message)"
    ),
    # Español
    (
        r"(?:enviaste|envió|ha enviado|has enviado) (?:un|una|\d+) (?:archivos? adjuntos?|adjunto|fotos?|vídeos?"
        r"|videos?|gif|stickers?|mensaje de voz|enlace|publicación|historia|reel)"
    ),
    rf"(?:reaccionaste|reaccionó|ha reaccionado|has reaccionado) con {_EMOJI} a {_ANY}",
    r"indicaste que te gusta un mensaje",
    (
        r"(?:iniciaste|inició|finalizó|finalizaste|perdió|perdiste) (?:un|una|la) (?:videollamada|llamada"
        r"|videochat|videollamada grupal|chat de vídeo|chat de video)"
    ),
    (
        rf"(?:creaste el grupo|creó el grupo|abandonaste el grupo|abandonó el grupo|salió del grupo"
        rf"|saliste del grupo|nombró al grupo {_ANY}|añadió a {_ANY} al grupo|agregó a {_ANY} al grupo"
        rf"|cambió el tema{_ANY}|anuló el envío de un mensaje)"
    ),
    # Português
    (
        r"(?:enviou|enviaste) (?:um|uma|\d+) (?:anexos?|fotos?|vídeos?|gif|figurinhas?|mensagem de voz|link"
        r"|publicação|story|reel)"
    ),
    rf"reagiu com {_EMOJI} (?:à|a) {_ANY}", r"curtiu uma mensagem", r"gostou de uma mensagem",
    (
        r"(?:iniciou|encerrou|perdeu) (?:uma?|a) (?:bate-papo por vídeo|chamada|chamada de vídeo|ligação"
        r"|videochamada|ligação de vídeo)"
    ),
    (
        rf"(?:criou o grupo|saiu do grupo|nomeou o grupo {_ANY}|adicionou {_ANY} ao grupo|alterou o tema{_ANY}"
        rf"|cancelou o envio de uma mensagem)"
    ),
    # Italiano
    r"(?:hai|ha) inviato (?:un|una|\d+) (?:allegat[oi]|foto|video|gif|adesivo|messaggio vocale|link|post|storia|reel)",
    rf"(?:hai|ha) reagito con {_EMOJI} (?:al|a) {_ANY}", r"(?:hai|ha) messo ['“\"]?mi piace['”\"]? a un messaggio",
    r"(?:hai|ha) (?:avviato|terminato|perso) (?:una|la) (?:chat video|videochiamata|chiamata)",
    (
        rf"(?:hai|ha) (?:creato il gruppo|abbandonato il gruppo|aggiunto {_ANY} al gruppo|cambiato il tema{_ANY}"
        rf"|annullato l['’]invio di un messaggio)"
    ),
    # Nederlands, polski
    r"(?:hebt|heeft) een (?:bijlage|foto|video|gif|sticker|spraakbericht|link) (?:verzonden|verstuurd|gestuurd)",
    rf"(?:hebt|heeft) met {_EMOJI} gereageerd op {_ANY}",
    r"(?:wysłał\(?a?\)?|wysłała|wysłałeś|wysłałaś) (?:załącznik|zdjęcie|film|gif|naklejkę|wiadomość głosową|link)",
    rf"(?:zareagował\(?a?\)?|zareagowała|zareagowałeś|zareagowałaś) {_EMOJI} na {_ANY}",
    # 中文, 日本語
    (
        r"(?:发送|傳送|传送|分享)了(?:一个|一個|一张|一張|一段|一条|一則|\s?\d+\s?[个個张張段条則])?\s?(?:附件"
        r"|照片|图片|圖片|视频|影片|动图|贴图|貼圖|语音消息|語音訊息|链接|連結|位置|帖子|貼文)"
    ),
    rf"(?:对|對)(?:你|您|{_ANY})的(?:消息|訊息)(?:做出了?|傳達了?|表达了?)\s?{_EMOJI}\s?(?:的?回应|的?回應|的?心情)?",
    r"(?:赞了|點讚了|對)一(?:条|則)(?:消息|訊息)(?:按讚)?",
    (
        r"(?:发起|發起|开始|開始|结束|結束|加入)了(?:一?[个個次场場通]?)(?:视频聊天|視訊聊天|视频通话|視訊通話"
        r"|语音通话|語音通話|通话|通話)"
    ),
    r"(?:创建|建立|退出|離開|离开)了?(?:该|這個|这个|此)?(?:群组|群組|群聊|小组)", r"撤回了一(?:条|則)(?:消息|訊息)",
    r"(?:が|さんが|は)?\s?(?:添付ファイル|写真|動画|スタンプ|ボイスメッセージ|リンク)を送信しました",
    rf"(?:が|さんが|は)?\s?{_ANY}に{_EMOJI}(?:で)?リアクションしました",
    r"(?:が|さんが|は)?\s?メッセージに「いいね！」しました",
)  # fmt: skip
# Notices without names.
_BARE = (
    rf"reacted {_EMOJI} to your message", r"liked a message", r"(?:you|someone) unsent a message",
    r"this message was unsent", r"this poll is no longer available",
    r"(?:the )?(?:video|audio|group|voice) (?:chat|call) (?:ended|started)",
    r"(?:missed )?(?:video|audio|voice) (?:chat|call)", r"(?:the )?call ended", r"missed call",
    rf"say hi to your new facebook friend, {_ANY}", rf"you are now connected on messenger{_ANY}?",
    rf"you(?: and {_ANY})? are now (?:connected|friends)(?: on messenger)?",
    rf"messages and calls are secured with end-to-end encryption{_ANY}?",
    r"hat mit .{1,12} auf deine nachricht reagiert", r"hat eine nachricht mit „gefällt mir“ markiert",
    r"gefällt eine nachricht", r"(?:a )?aimé un message", r"le gustó un mensaje", r"a réagi .{1,12} à votre message",
    r"reaccionó con .{1,12} a tu mensaje", r"curtiu uma mensagem", r"reagiu com .{1,12} à sua mensagem",
    r"ha messo ['“\"]?mi piace['”\"]? a un messaggio", r"wysłano załącznik",
    r"(?:视频|语音|視訊|語音)(?:通话|通話|聊天)已?结?結?束", r"你们现在已成为 messenger 好友.*",
    r"添付ファイルを送信しました", r"メッセージに「いいね！」しました",
)  # fmt: skip
_YOU = ("you", "du", "vous", "tu", "você", "voce", "usted", "je", "ty", "你", "您", "あなた")
# Who is left out of such sentences: "Enviaste un adjunto", "Hai inviato un allegato", "Liked a message".
_MARKS = " \t\n.。!！"
_DEED = re.compile("|".join(_DEEDS), re.I)
_NOBODYS = re.compile("|".join(_BARE), re.I)


def is_notice(text: str, people: frozenset[str]) -> bool:
    """Whether the text is a notice of the app in a chat of `people`, rather than one of their messages.

    >>> is_notice("You sent an attachment.", frozenset()), is_notice("Zoë named the group Trip.", frozenset({"Zoë"}))
    (True, True)
    >>> is_notice("He sent a photo.", frozenset({"Zoë"}))
    False
    """
    if len(text) > 400:
        return False
    bare = text.strip(_MARKS)
    if _NOBODYS.fullmatch(bare):
        return True
    # The predicate of "you" or of a participant, by whole or first name; a verb may include its subject.
    folded = bare.casefold()
    names = {name.casefold() for name in people} | {name.split()[0].casefold() for name in people if name.split()}
    for name in sorted((*filter(None, names), *_YOU), key=len, reverse=True):
        rest = bare[len(name) :]
        is_whole = rest and (
            rest[0].isspace() or not name[-1].isascii() or not rest[0].isalnum() or not rest[0].isascii()
        )
        if folded.startswith(name) and is_whole:
            return _DEED.fullmatch(rest.strip().strip(_MARKS)) is not None
    return folded.split(" ")[0] in _ALONE and _DEED.fullmatch(bare) is not None


_ALONE = (
    "enviaste", "has", "hai", "reaccionaste", "iniciaste", "creaste", "saliste", "abandonaste", "enviou", "wysłałeś",
    "wysłałaś", "zareagowałeś", "zareagowałaś",
)  # fmt: skip
