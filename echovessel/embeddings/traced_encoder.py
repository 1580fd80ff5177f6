"""The forward pass of a sentence embedding model like BERT, for short texts on a server that has much else to do.

Texts are laid end to end in one row, each of which sees only itself: padded to one length, a line and a long text
together cost as much as two long ones. And the pass is recorded once (TorchScript), so that it runs without the lock
that Python's threads share. Otherwise torch asks for that lock again after each of three hundred operations, and waits
up to 5 ms for it each time: beside one busy thread a line took 740 ms, recorded 34 (2 cores, 2026-11).

Vectors are those of `SentenceTransformer.encode` up to rounding (1e-7).
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

# One row holds about so many tokens, or one longer text: what a text sees costs the square of the row.
ROW_TOKENS = 256
# Recorded passes are made ready in the first runs of them.
_EXAMPLES = (["Hello", "a longer text, so that two lengths are seen"],) * 3

Encode = Callable[[Sequence[str]], np.ndarray]


def trace_encoder(model: Any) -> Encode:
    """What makes vectors (n, dimension) float32 of unit length with `model`, a SentenceTransformer that is made of
    BERT, mean pooling and normalizing."""
    import torch  # noqa: PLC0415  (see embedding.py)

    bert, tokenizer, longest = model[0].auto_model.requires_grad_(False), model.tokenizer, model.max_seq_length

    def vectors(ids: Any, places: Any, texts: Any) -> Any:
        same = texts[:, None] == texts[None, :]
        states = bert(ids[None], attention_mask=same[None, None], position_ids=places[None], return_dict=False)[0][0]
        of = torch.arange(texts.max() + 1)[:, None] == texts[None, :]
        return torch.nn.functional.normalize(of.to(states.dtype) @ states / of.sum(1, keepdim=True))

    def row(tokens: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
        lengths = torch.tensor([len(text) for text in tokens])
        places = torch.cat([torch.arange(len(text)) for text in tokens])
        ids = torch.tensor([token for text in tokens for token in text])
        return ids, places, torch.repeat_interleave(torch.arange(len(tokens)), lengths)

    def tokens_of(texts: Sequence[str]) -> list[list[int]]:
        return list(tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"])

    def encode(texts: Sequence[str]) -> np.ndarray:
        with torch.inference_mode():
            return np.concatenate([run(*row(some)).numpy() for some in _rows(tokens_of(texts))])

    with torch.inference_mode(), warnings.catch_warnings(action="ignore"):
        run = torch.jit.trace(vectors, row(tokens_of(_EXAMPLES[0])), check_trace=False)
    for texts in _EXAMPLES:
        encode(texts)
    return encode


def _rows(tokens: Sequence[list[int]]) -> Iterator[list[list[int]]]:
    """The texts in their order, as many together as one row holds."""
    row: list[list[int]] = []
    for text in tokens:
        if row and sum(map(len, row)) + len(text) > ROW_TOKENS:
            yield row
            row = []
        row.append(text)
    if row:
        yield row
