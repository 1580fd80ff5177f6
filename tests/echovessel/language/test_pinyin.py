"""The sounds of Chinese text are those of pypinyin with all its phrases."""

import json
import os
import random
import subprocess
import sys

from echovessel.language.pinyin import load_phrases, possible_sounds, sounds

REFERENCE = """
import json, sys
from pypinyin import Style, lazy_pinyin, pinyin
texts = json.load(sys.stdin)
print(json.dumps([(lazy_pinyin(text), pinyin(text, style=Style.NORMAL, heteronym=True)) for text in texts]))
"""


def test_sounds_are_those_of_pypinyin() -> None:
    phrases = load_phrases().words.tolist()
    dice = random.Random(3)
    # Beginnings of phrases one after another: where one ends and the next begins is what is hard.
    mixed = ["".join(dice.choice(phrases)[: dice.randint(1, 5)] for _ in range(4)) for _ in range(3_000)]
    texts = [*phrases, *mixed, "", " ", "ok", "😀你好 ok，我去银行。", "龘𠮷𪚥", "〇一", "\ue815"]
    environment = {name: value for name, value in os.environ.items() if name != "PYPINYIN_NO_PHRASES"}
    reference = subprocess.run(
        [sys.executable, "-c", REFERENCE], input=json.dumps(texts), env=environment, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    expected = {text: tuple(both) for text, both in zip(texts, json.loads(reference.stdout), strict=True)}
    assert [text for text in texts if (sounds(text), possible_sounds(text)) != expected[text]] == []
    assert len(phrases) > 40_000
