"""Reads tensors out of an ONNX file without ``onnx``: a protobuf walk over a memory-mapped file.

Field numbers are those of ``onnx.proto``: ModelProto.graph 7; GraphProto.node 1, initializer 5; NodeProto.op_type 4;
TensorProto.dims 1, data_type 2, name 8, raw_data 9, external_data 13; StringStringEntryProto.key 1, value 2.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from everfind_core.causes import cause
from everfind_core.errors import ModelUnusableError

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DTYPES: dict[int, type[np.generic]] = {1: np.float32, 3: np.int8, 7: np.int64}


@dataclass(slots=True)
class StoredTensor:
    """An initialiser as the file describes it. ``raw`` is the range of its bytes; empty if they lie elsewhere."""

    name: str = ""
    data_type: int = 0
    shape: list[int] = field(default_factory=list)
    raw: range = range(0)
    external: dict[str, str] = field(default_factory=dict)


class OnnxFile:
    """Initialisers and operators of the ONNX file at ``path``.

    Arrays share the pages of the file, so that a tensor costs its memory once.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            self.tensors: dict[str, StoredTensor] = {}
            self.operators: set[str] = set()
            self._read_graph()
        except (OSError, ValueError, IndexError) as error:
            raise ModelUnusableError(
                f"{path} is not a readable ONNX file: {cause(error)}",
                hint="Use a model exported to ONNX, and check that its file is complete.",
                details={"path": str(path)},
            ) from error

    def array(self, name: str) -> npt.NDArray[np.generic]:
        """The initialiser ``name``, read-only, over the file's own bytes.

        Raises:
            ModelUnusableError: the file has no such tensor of a known type inside.
        """
        tensor = self.tensors.get(name)
        if tensor is None or tensor.data_type not in _DTYPES or not tensor.raw:
            raise ModelUnusableError(f"{self.path} has no tensor {name!r}", hint="Install the model again.")
        dtype = np.dtype(_DTYPES[tensor.data_type])
        flat = np.frombuffer(self._data, dtype, len(tensor.raw) // dtype.itemsize, tensor.raw.start)
        return flat.reshape(tensor.shape)

    def external_files(self) -> list[Path]:
        """The files beside this one that hold data of its tensors."""
        names = {tensor.external["location"] for tensor in self.tensors.values() if "location" in tensor.external}
        return [self.path.parent / name for name in sorted(names)]

    def _read_graph(self) -> None:
        for number, graph in self._fields(range(len(self._data))):
            if number != 7 or not isinstance(graph, range):
                continue
            for inner, value in self._fields(graph):
                if inner == 1 and isinstance(value, range):
                    self.operators.update(self._text(part) for n, part in self._spans(value) if n == 4)
                elif inner == 5 and isinstance(value, range):
                    tensor = self._tensor(value)
                    self.tensors[tensor.name] = tensor

    def _tensor(self, span: range) -> StoredTensor:
        tensor = StoredTensor()
        for number, value in self._fields(span):
            match number, value:
                case 1, int():
                    tensor.shape.append(value)
                case 1, range():
                    tensor.shape.extend(self._packed_varints(value))
                case 2, int():
                    tensor.data_type = value
                case 8, range():
                    tensor.name = self._text(value)
                case 9, range():
                    tensor.raw = value
                case 13, range():
                    pair = {n: self._text(part) for n, part in self._spans(value)}
                    tensor.external[pair.get(1, "")] = pair.get(2, "")
        return tensor

    def _fields(self, span: range) -> Iterator[tuple[int, int | range]]:
        """Number and value of each field in ``span``: an int, or the range of a length-delimited value's bytes."""
        position = span.start
        while position < span.stop:
            key, position = self._varint(position)
            number, wire_type = key >> 3, key & 7
            if wire_type == _VARINT:
                value, position = self._varint(position)
                yield number, value
            elif wire_type == _BYTES:
                size, position = self._varint(position)
                if position + size > span.stop:
                    raise ValueError("it is cut off or not protobuf")
                yield number, range(position, position + size)
                position += size
            elif wire_type in (_FIXED32, _FIXED64):
                position += 4 if wire_type == _FIXED32 else 8
            else:
                raise ValueError("it is not protobuf")

    def _spans(self, span: range) -> Iterator[tuple[int, range]]:
        """The length-delimited ones of the fields in ``span``."""
        return ((number, value) for number, value in self._fields(span) if isinstance(value, range))

    def _varint(self, position: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = self._data[position]
            position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value, position

    def _packed_varints(self, span: range) -> Iterator[int]:
        position = span.start
        while position < span.stop:
            value, position = self._varint(position)
            yield value

    def _text(self, span: range) -> str:
        return self._data[span.start : span.stop].decode("utf-8", "replace")
