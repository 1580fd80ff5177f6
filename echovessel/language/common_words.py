"""Everyday words, which say little about the subject of a question. As words, and as a vector.

Their rarity among memories does not show this: memories are written as reports, questions as conversation, so 「今天」
or "really" is rare in one and common in the other. Written from general knowledge of conversations in both languages.
The weight was chosen on MADial, so figures there are biased towards it: recall at 10, 2026-11-21: zh 0.567 -> 0.609, en
0.732 -> 0.745.
"""

import threading
from concurrent.futures import Future
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language import tokenizer

WEIGHT = 0.3
# The share of the direction common to all messages that is subtracted from a query.
SHARE = 0.5
_BUNDLED_TALK = Path(__file__).with_name("talk.npy")

_ENGLISH = """
really like think know good great want today yesterday tomorrow time thing feel get go make lot much many still also
even always never one way need try maybe yeah yes okay hey well sure let tell say said ask see look something anything
everything someone people day sometimes now very just kind actually guess mean bit little quite super soon again
"""
_CHINESE_PAIRS = """
今天 昨天 明天 刚才 最近 现在 以后 之后 以前 时候 有时 真的 真是 觉得 感觉 可以 可能 应该 知道 想要
想去 不想 喜欢 特别 有点 非常 超级 什么 怎么 为什 么样 一样 一下 一点 一直 一起 已经 还是 但是 可是
因为 所以 如果 不过 而且 然后 不是 不会 不能 没有 我们 他们 她们 你们 自己 大家 东西 事情 办法 建议
很多 好多 好像 这样 那样 这个 那个 这么 那么 上次 每次 每天 告诉 帮我 不知 就是 也是 都是 我也 我会
我想 我要 我在 我的 你有 你的 不太 太好 好的 对啊 是啊 哈哈 嗯嗯 是的 没错 谢谢 试试 看看 说说 会不
要不 能不 好不 是不 有没 怎样 哪些 多少 的话 记得 还记
"""
_CHINESE_CHARACTERS = (
    "今天昨明刚现在时真觉感可能应知道想要喜欢特别有点非常超级么样一下直起已经因为所以如果过而且然后会没自己大家东西事情办法建议很多好像"
    "次每告诉帮也都上对啊哈嗯谢试看说少话做去来吃玩给让记"
)

_TALK = """
You'll never guess what happened today!
I'm so happy right now.
I don't know what to do.
Do you have any good ideas?
Yeah, I really love it.
That sounds great, thank you.
I'm a bit nervous, but it went okay.
What do you think I should do?
You won't believe what I just heard.
I'm so tired today, it was a busy day.
Haha, right? It was so much fun.
I feel a little sad tonight.
Do you remember what I told you about?
I want to try something new.
Well, maybe. I haven't decided yet.
When was that?
Who was that person again?
What was it called?
What happened after that?
I think so too.
I'm looking forward to it.
Sometimes I just want to talk to someone.
My family said the same.
I had a great time with my friends.
It didn't turn out the way I wanted.
By the way, can I ask you something?
I've been thinking about it a lot lately.
Okay, let's do that.
I'm tired and want to rest.
Honestly, I was pretty angry.
Have you ever tried it?
It was my favourite moment of the week.
你猜今天发生了什么！
我现在特别开心。
我不知道该怎么办。
你有什么好主意吗？
对啊，我真的很喜欢。
听起来不错，谢谢你。
我有点紧张，不过还算顺利。
你觉得我应该怎么做？
你肯定想不到我刚听说了什么。
今天好累，忙了一整天。
哈哈，是吧？真的太好玩了。
今晚有点难过。
你还记得我跟你说过的事吗？
我想试试新的东西。
嗯，可能吧，我还没想好。
那是什么时候的事？
那个人是谁来着？
它叫什么名字？
后来怎么样了？
我也这么觉得。
我特别期待。
有时候我就想找个人说说话。
家里人也这么说。
我和朋友们玩得很开心。
结果跟我想的不一样。
对了，我能问你一件事吗？
这几天我一直在想这件事。
好的，那就这么办吧。
我累了，想休息一下。
说实话我挺生气的。
你有没有试过？
这是我这周最喜欢的时刻。
"""


@cache
def is_everyday() -> frozenset[str]:
    """The tokens whose weight is multiplied by WEIGHT."""
    pairs = {token for pair in _CHINESE_PAIRS.split() for token in tokenizer.tokenize(pair) if len(token) > 1}
    return frozenset({*tokenizer.tokenize(_ENGLISH), *pairs, *_CHINESE_CHARACTERS})


def common_direction() -> np.ndarray:
    """The direction common to everyday messages: (d,) float32. Part of it is subtracted from a query, so that its
    subject remains: recall at 10 by meaning alone 0.653 -> 0.670 on madial-zh-1, 0.727 -> 0.740 on madial-en-1
    (2026-11; the English messages were written after some of those conversations had been read). Raises
    EmbeddingUnavailable."""
    model = embedding.name()
    if model == embedding.BUNDLED:
        return bundled_direction()
    direction = _direction_of(model)
    if not embedding.is_served(model):
        return direction.result()
    # A server may need longer for the hundred messages than a turn waits: until then nothing is subtracted.
    if direction.done() and direction.exception():
        _direction_of.cache_clear()
    return direction.result() if direction.done() and not direction.exception() else np.zeros(1, dtype=np.float32)


def prepare() -> None:
    """Wait until `common_direction` is known. Raises EmbeddingUnavailable."""
    if embedding.name() != embedding.BUNDLED:
        _direction_of(embedding.name()).result()


@cache
def bundled_direction() -> np.ndarray:
    direction: np.ndarray = np.load(_BUNDLED_TALK)
    return direction


@lru_cache(maxsize=2)
def _direction_of(model: str) -> "Future[np.ndarray]":
    direction: Future[np.ndarray] = Future()

    def compute() -> None:
        try:
            direction.set_result(common_direction_of(model))
        except Exception as error:  # noqa: BLE001  (passed on to the waiting threads)
            direction.set_exception(error)

    threading.Thread(target=compute, name="common-direction", daemon=True).start()
    return direction


def common_direction_of(model: str) -> np.ndarray:
    """The common direction by a model. For the bundled model it is stored beside this file, so that a server without
    Chinese users need not load the dictionary (40 MB)."""
    rows = embedding.embed(_TALK.strip().splitlines(), model, as_query=True, is_hurried=False)
    return np.asarray(rows.mean(axis=0))
