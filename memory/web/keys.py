"""Keys of rows in URLs and forms."""


def read_key(text: str) -> int:
    """The text as a key; 0, which no row has, if it is not a key.

    >>> read_key("12"), read_key("-1"), read_key("x"), read_key("9" * 30)
    (12, 0, 0, 0)
    """
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0
