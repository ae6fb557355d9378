"""onnxruntime as the embedder uses it: one thread a run, many runs at once, nothing leaves the machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from everfind_core.errors import ModelUnusableError

_ERRORS_ONLY = 3


class Session:
    """A loaded model. A run uses the calling thread only, so throughput comes from calling it in several threads."""

    def __init__(self, model: bytes | Path, external: Mapping[str, npt.NDArray[np.generic]] | None = None) -> None:
        """Load ``model``; ``external`` are the arrays of its external initialisers, used where they lie.

        Raises:
            ModelUnusableError: onnxruntime does not accept the model.
        """
        onnxruntime = load_onnxruntime()
        options = _options(onnxruntime)
        # onnxruntime does not own this memory: it must live as long as the session.
        self._values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in (external or {}).values()]
        if external:
            options.add_external_initializers(list(external), self._values)
        try:
            self._session = onnxruntime.InferenceSession(
                model if isinstance(model, bytes) else str(model),
                options,
                providers=["CPUExecutionProvider"],
                # The fused kernel is slower than its parts on CPUs.
                disabled_optimizers=["SkipLayerNormFusion"],
            )
        except Exception as error:  # onnxruntime's own classes have no common base
            name = "the built-in graph" if isinstance(model, bytes) else str(model)
            raise ModelUnusableError(
                f"onnxruntime cannot load {name}: {first_line(error)}",
                hint="Use a model exported to ONNX that onnxruntime supports, and check that its files are complete.",
                details={"path": name},
            ) from error
        self.inputs: tuple[str, ...] = tuple(value.name for value in self._session.get_inputs())
        self.outputs: tuple[str, ...] = tuple(value.name for value in self._session.get_outputs())

    def run(self, output: str, inputs: Mapping[str, npt.NDArray[np.int64]]) -> npt.NDArray[np.float32]:
        """Compute one output. May be called from several threads at once."""
        result: npt.NDArray[np.float32] = self._session.run([output], inputs)[0]
        return result


def load_onnxruntime() -> ModuleType:
    """The module ``onnxruntime``, with its telemetry off and its log quiet."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
    module: ModuleType = onnxruntime
    return module


def first_line(error: Exception) -> str:
    """The start of a library's message, fit for one sentence."""
    return str(error).strip().partition("\n")[0][:300]


def _options(onnxruntime: ModuleType) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options
