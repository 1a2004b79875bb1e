"""OpenVINO on the CPU, for networks with depthwise convolutions.

ONNX Runtime spends a sixth of EfficientNet-Lite's time on the upper bound of ReLU6 (measured by
leaving it out); OpenVINO takes a fifth less in all. Left to itself OpenVINO keeps channels last,
which is slow where they are few, so its kernels for blocks of sixteen channels are asked for by
name; a processor that lacks them falls back on what OpenVINO would have chosen.
"""

import io
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import numpy as np
import openvino

from sharc.datasets.tensors import Array
from sharc.features.engines import example
from sharc.features.onnx_graph import to_onnx
from sharc.features.pipeline import Extractor

_BLOCKED = {
    "Convolution": "cpu:jit_avx512_1x1,cpu:jit_avx512",
    "GroupConvolution": "cpu:jit_avx512_dw,cpu:jit_avx512",
}


class OpenVinoEngine:
    """`threads` batches at once, one thread each, as with ONNX Runtime."""

    name = "openvino"

    def __init__(
        self, extractor: Extractor, side: int, batch: int, threads: int, *, counts: bool = False
    ) -> None:
        """With `counts`, OpenVINO notes the time of each operator, which takes time itself."""
        self._batch = batch
        core = openvino.Core()
        model = _blocked(core, to_onnx(extractor, example(side)))
        model.reshape([batch, side, side, 3])  # kernels are made for one shape
        settings = {
            "INFERENCE_PRECISION_HINT": "f32",  # some processors would take bfloat16
            "NUM_STREAMS": threads,
            "INFERENCE_NUM_THREADS": threads,
            "ENABLE_CPU_PINNING": False,  # other processes pin to the same cores
            "PERF_COUNT": counts,
        }
        compiled = core.compile_model(model, "CPU", settings)
        self._requests = [compiled.create_infer_request() for _ in range(threads)]

    def counts(self) -> list[Any]:
        """OpenVINO's own account of the last batch, operator by operator."""
        return list(self._requests[0].get_profiling_info())

    def features(self, images: Array) -> tuple[Array, Array]:
        """Batches side by side, started and collected in turn from this one thread.

        OpenVINO has threads of its own; inferring from several of Python's can lock up.
        """
        parts: list[tuple[Array, Array]] = []
        running: deque[tuple[Any, int]] = deque()
        for number, start in enumerate(range(0, len(images), self._batch)):
            if len(running) == len(self._requests):
                parts.append(_result(*running.popleft()))
            request = self._requests[number % len(self._requests)]
            chunk = images[start : start + self._batch]
            request.start_async([self._full(chunk)])
            running.append((request, len(chunk)))
        parts += [_result(*one) for one in running]
        pooled, maps = zip(*parts, strict=True)
        return np.concatenate(pooled), np.concatenate(maps)

    def _full(self, images: Array) -> Array:
        """A short batch is filled up with black images, whose results are dropped."""
        full = np.zeros((self._batch, *images.shape[1:]), dtype=np.uint8)
        full[: len(images)] = images
        return full


def _result(request: Any, count: int) -> tuple[Array, Array]:
    """Wait, and copy what the request's next run will overwrite."""
    request.wait()
    pooled, maps = (request.get_tensor(name).data[:count].copy() for name in ("pooled", "maps"))
    return pooled, maps


def _blocked(core: Any, graph: bytes) -> Any:
    """The ONNX graph as a model whose convolutions name their kernels.

    Only the written form of a model can carry the names: Python cannot make such an attribute.
    """
    with TemporaryDirectory() as folder:
        written, weights = Path(folder, "model.xml"), Path(folder, "model.bin")
        openvino.serialize(core.read_model(io.BytesIO(graph)), written, weights)
        tree = ElementTree.parse(written)
        for layer in tree.iter("layer"):
            if kernels := _BLOCKED.get(layer.get("type", "")):
                _name_kernels(layer, kernels)
        return core.read_model(ElementTree.tostring(tree.getroot()), weights.read_bytes())


def _name_kernels(layer: ElementTree.Element, kernels: str) -> None:
    """Add the attribute to the layer's run-time information."""
    info = layer.find("rt_info")
    if info is None:
        info = ElementTree.SubElement(layer, "rt_info")
    named = {"name": "primitives_priority", "version": "0", "value": kernels}
    ElementTree.SubElement(info, "attribute", named)
