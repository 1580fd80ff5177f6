"""How common a word of English is in the world, so that a single word can be told to point at one thing.

The order of the bundled model's vocabulary says it: BERT's word pieces are listed by how often they occur. Of words in
other scripts it knows nothing; there, and for what is rare in one memory, the memory itself is asked.
"""

from functools import cache

from echovessel.embeddings.embedding import BUNDLED_FOLDER
from echovessel.language import tokenizer
from echovessel.language.common_words import everyday

# Ranks (2026-11): mother 2,388, doctor 3,460, garden 3,871, coffee 4,157, divorce 8,179, pottery 11,378, dentist
# 24,385; sarcoidosis is no word of it.
COMMON = 3_500  # such a word says nothing by itself
TELLING = 10_000  # a rarer one is hardly said again by chance


_COUNTING = frozenset("一二两三四五六七八九十百千万几半第个只条张本件位名块双年月日号点分钟")


@cache
def _ranks() -> dict[str, int]:
    """The rank of each of the commoner words, as they are cut."""
    pieces = (BUNDLED_FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()[:TELLING]
    ranks: dict[str, int] = {}
    for rank, piece in enumerate(pieces):
        if piece.isascii() and piece.isalpha():
            for token in tokenizer.cut(piece):
                ranks.setdefault(token, rank)
    return ranks


def is_common(token: str) -> bool:
    """Whether many say it, whatever they speak of; numbers too. A pair of Chinese characters of which one says nothing
    is most often a part of two words."""
    if not token.isascii():
        return any(tokenizer.is_function_word(sign) or sign in everyday() or sign in _COUNTING for sign in token)
    return token.isdecimal() or len(token) < 3 or _ranks().get(token, TELLING) < COMMON


def is_telling_alone(token: str) -> bool:
    """Whether hardly anybody says it by chance. A pair of Chinese characters may be a part of two words."""
    return token.isascii() and not is_common(token) and token not in _ranks()
