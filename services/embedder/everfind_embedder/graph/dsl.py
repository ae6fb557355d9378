"""A few words to write an ONNX graph with: constants, named weights, operators."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper, numpy_helper

MICROSOFT = "com.microsoft"
OPSET = 21
IR_VERSION = 10

Array = npt.NDArray[np.generic]


class Graph:
    """Collects nodes and initialisers in the order in which they are asked for.

    Values are names (str). The same calls give the same bytes: every name is derived from the order of calls, and
    equal constants are stored once.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._nodes: list[NodeProto] = []
        self._initializers: dict[str, TensorProto] = {}
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def weight(self, name: str, values: Array) -> str:
        """A named initialiser."""
        self._initializers[name] = numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def constant(self, values: object, dtype: type[np.generic]) -> str:
        """An unnamed small initialiser; equal ones are shared."""
        array = np.asarray(values, dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.weight(f"constant_{len(self._constants)}", array)
        return self._constants[key]

    def axes(self, *axes: int) -> str:
        """A list of axes or sizes, as the operators take it."""
        return self.constant(axes, np.int64)

    def op(self, kind: str, *inputs: str, output: str = "", domain: str = "", **attributes: object) -> str:
        """An operator with one output; returns the output's name."""
        return self.op_with_outputs(kind, inputs, [output or self._fresh()], domain=domain, **attributes)[0]

    def split(self, value: str, sizes: Sequence[int]) -> list[str]:
        """``value`` cut along its last axis into pieces of these sizes."""
        base = self._fresh()
        outputs = [f"{base}_{i}" for i in range(len(sizes))]
        return self.op_with_outputs("Split", [value, self.axes(*sizes)], outputs, axis=-1)

    def op_with_outputs(
        self, kind: str, inputs: Sequence[str], outputs: list[str], *, domain: str = "", **attributes: object
    ) -> list[str]:
        """An operator with the named outputs."""
        name = f"{kind}_{len(self._nodes)}"
        node = helper.make_node(kind, list(inputs), outputs, name=name, domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in sorted(attributes.items()))
        self._nodes.append(node)
        return outputs

    def model(self, inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto]) -> ModelProto:
        """The finished model."""
        graph = helper.make_graph(self._nodes, self.name, inputs, outputs, list(self._initializers.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)

    def _fresh(self) -> str:
        return f"value_{len(self._nodes)}"
