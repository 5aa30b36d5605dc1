"""Writes ONNX graphs node by node, with their weights in one file beside them. Knows no network.

A weight that several graphs use is stored once: each graph names the file, the offset and the length, and ONNX
Runtime maps the file into memory.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from levt.errors import MissingExtra

Array = np.ndarray[Any, np.dtype[Any]]
OPSET, MICROSOFT, IR = 21, 1, 10
"""Versions of the operators and of the format; ONNX Runtime 1.20 reads them."""
PAGE = 4096
"""Weights begin at multiples of this, so that they can be mapped."""
SMALL = 1024
"""Arrays of at most so many bytes lie in the graph itself."""


def onnx_package() -> Any:
    """The package that writes graphs, where it is installed."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise MissingExtra("onnx", "onnx") from error
    return onnx


class Weights:
    """The file of weights that graphs share."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.file, self.name = file, name
        self.places: dict[str, tuple[int, int]] = {}

    def tensor(self, key: str, array: Array) -> Any:
        """An initializer that points into the file, where the array is written the first time."""
        onnx = onnx_package()
        data = np.ascontiguousarray(array)
        if data.nbytes <= SMALL:
            return onnx.numpy_helper.from_array(data, key)
        if key not in self.places:
            self.file.write(b"\0" * (-self.file.tell() % PAGE))
            self.places[key] = self.file.tell(), data.nbytes
            self.file.write(data.tobytes())
        found = onnx.TensorProto(
            name=key,
            data_type=onnx.helper.np_dtype_to_tensor_dtype(data.dtype),
            dims=data.shape,
            data_location=onnx.TensorProto.EXTERNAL,
        )
        offset, length = self.places[key]
        for field, value in (("location", self.name), ("offset", offset), ("length", length)):
            found.external_data.add(key=field, value=str(value))
        return found


class Graph:
    """One graph under construction; values are known by their names."""

    def __init__(self, name: str, weights: Weights) -> None:
        self.name, self.weights = name, weights
        self.helper = onnx_package().helper
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.initializers: dict[str, Any] = {}
        self.made: dict[tuple[Any, ...], str] = {}
        self.rows = ""

    def input(self, name: str, shape: Sequence[int | str], dtype: Any = np.float32) -> str:
        """Declare an input; axes that have a name are free."""
        kind = self.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.inputs.append(self.helper.make_tensor_value_info(name, kind, list(shape)))
        return name

    def output(self, name: str, value: str, shape: Sequence[int | str]) -> None:
        """Declare a value to be an output of that name, in single precision."""
        self.nodes.append(self.helper.make_node("Identity", [value], [name]))
        kind = self.helper.np_dtype_to_tensor_dtype(np.dtype(np.float32))
        self.outputs.append(self.helper.make_tensor_value_info(name, kind, list(shape)))

    def weight(self, key: str, array: Array) -> str:
        """A constant that other graphs may share, by its key."""
        if key not in self.initializers:
            self.initializers[key] = self.weights.tensor(key, array)
        return key

    def default(self, name: str, value: Any, dtype: Any) -> str:
        """An input that need not be given."""
        if name not in self.initializers:
            array = np.asarray(value, dtype)
            self.input(name, array.shape, dtype)
            self.weight(name, array)
        return name

    def constant(self, value: Any, dtype: Any = np.int64) -> str:
        """A small constant of this graph."""
        array = np.asarray(value, dtype)
        return self.weight(f"{array.dtype}{list(array.shape)}:{array.tolist()}", array)

    def op(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Apply an operator with one result; applied to the same inputs again, it is the same value."""
        return self.ops(kind, *inputs, count=1, domain=domain, **attributes)[0]

    def ops(
        self, kind: str, *inputs: str, count: int, domain: str = "", **attributes: Any
    ) -> tuple[str, ...]:
        """Apply an operator with several results."""
        key = (kind, inputs, count, domain, repr(attributes))
        if key not in self.made:
            self.made[key] = f"{kind}_{len(self.nodes)}"
            results = [f"{self.made[key]}:{i}" for i in range(count)]
            self.nodes.append(
                self.helper.make_node(
                    kind, list(inputs), results, name=self.made[key], domain=domain, **attributes
                )
            )
        return tuple(f"{self.made[key]}:{i}" for i in range(count))

    def row_count(self, x: str) -> str:
        """Number of rows of flat states, [1]: all that a graph rounds have the same, so it is asked for once."""
        self.rows = self.rows or self.op("Shape", x, end=1)
        return self.rows

    def write(self, path: Path) -> None:
        """Check the graph and write it."""
        graph = self.helper.make_graph(
            self.nodes, self.name, self.inputs, self.outputs, list(self.initializers.values())
        )
        imports = [self.helper.make_opsetid("", OPSET), self.helper.make_opsetid("com.microsoft", MICROSOFT)]
        model = self.helper.make_model(graph, opset_imports=imports, ir_version=IR, producer_name="levt")
        path.write_bytes(model.SerializeToString())
        onnx_package().checker.check_model(str(path))
