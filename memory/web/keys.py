"""Keys of rows in addresses and forms."""


def read_key(text: str) -> int:
    """The key that the text is; 0, which no row has, where it is none.

    >>> read_key("12"), read_key("-1"), read_key("x"), read_key("9" * 30)
    (12, 0, 0, 0)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
