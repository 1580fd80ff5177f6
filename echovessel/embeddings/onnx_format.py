"""Writes a model in the ONNX format (onnx.proto3): only the messages and fields that a small graph needs.

The `onnx` package would write the same with 35 MB of libraries. Protocol buffers are simple to write: a field is its
number and type, then an integer in groups of seven bits, or a length and that many bytes.

>>> varint(300).hex(), field(1, "ab").hex(), field(3, 5).hex()
('ac02', '0a026162', '1805')
"""

import struct
from collections.abc import Iterable, Sequence

import numpy as np

Value = int | float | str | bytes

IR_VERSION = 8
MICROSOFT, STANDARD = "com.microsoft", ""
OPSETS = {STANDARD: 18, MICROSOFT: 1}
_ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_FLOAT, _INT = 1, 2


def varint(number: int) -> bytes:
    """A 64-bit number, seven bits per byte, lowest first."""
    number &= 2**64 - 1
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def field(number: int, value: Value) -> bytes:
    """One field of a message."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(content)) + content


def tensor(name: str, array: np.ndarray) -> bytes:
    """A TensorProto: constant weights."""
    dimensions = b"".join(field(1, size) for size in array.shape)
    content = np.ascontiguousarray(array).tobytes()
    return dimensions + field(2, _ELEMENT_TYPES[array.dtype.name]) + field(8, name) + field(9, content)


def node(
    operator: str, inputs: Iterable[str], outputs: Iterable[str], domain: str = STANDARD, **attributes: int | float
) -> bytes:
    """A NodeProto: one operation. An omitted input is an empty name."""
    parts = [field(1, name) for name in inputs] + [field(2, name) for name in outputs] + [field(4, operator)]
    for name, value in attributes.items():
        number, kind = (2, _FLOAT) if isinstance(value, float) else (3, _INT)
        parts.append(field(5, field(1, name) + field(number, value) + field(20, kind)))
    return b"".join(parts) + field(7, domain)


def float_value(name: str, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto: a float32 input or output. A dimension given by name may have any size."""
    sizes = b"".join(field(1, field(1 if isinstance(size, int) else 2, size)) for size in shape)
    return field(1, name) + field(2, field(1, field(1, _ELEMENT_TYPES["float32"]) + field(2, sizes)))


def model(nodes: Iterable[bytes], tensors: Iterable[bytes], inputs: Iterable[bytes], outputs: Iterable[bytes]) -> bytes:
    """A ModelProto: a whole file."""
    parts = ((1, nodes), (5, tensors), (11, inputs), (12, outputs))
    graph = b"".join(field(number, part) for number, some in parts for part in some) + field(2, "graph")
    opsets = (field(8, field(1, domain) + field(2, version)) for domain, version in OPSETS.items())
    return field(1, IR_VERSION) + field(7, graph) + b"".join(opsets)
