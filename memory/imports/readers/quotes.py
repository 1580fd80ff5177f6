"""Quotes of the answered message inside a reply: they are somebody else's words. Pure."""

import re

_QUOTES = (
    # WeFlow, ChatLab: a line in brackets above the reply.
    re.compile(r"\A\[(?:引用|回复|回復|引用消息|Reply|Quote)[:：]? ?[^\n：:]{0,60}[：:].{0,4000}?\](?:\r?\n|\Z)", re.S),
    # Copied from WeChat and QQ: in corner brackets, with a rule beneath.
    re.compile(r"\A「[^\n「」]{1,60}[：:].{0,4000}?」[ \t]*\r?\n(?:[-—–] ?){5,}[ \t]*(?:\r?\n|\Z)", re.S),
)


def without_quote(text: str) -> str:
    """`text` without a quote at its beginning.

    >>> without_quote("[引用 林小满：吃了]\\n给我留几个"), without_quote("「阿May：几点?」\\n- - - - - - - -\\n八点")
    ('给我留几个', '八点')
    >>> without_quote("[引用] is Chinese for a quote")
    '[引用] is Chinese for a quote'
    """
    for quote in _QUOTES:
        if match := quote.match(text):
            return text[match.end() :]
    return text
