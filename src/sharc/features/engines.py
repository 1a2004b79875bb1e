"""The engines that run the extractor: PyTorch anywhere, ONNX Runtime on a CPU, where it is faster.

Their pooled vectors agree to 1e-4 of the largest entry (tested). ONNX Runtime keeps depthwise
convolutions in a blocked layout and is several times faster; one session with one thread per run,
and several runs at once, beats one run with several threads, and makes the result independent of
the number of threads.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np
import torch

from sharc.artifacts.arrays import Array
from sharc.engine.device import resolve_device
from sharc.errors import UserError
from sharc.features.folding import fold_batchnorm
from sharc.features.pipeline import Extractor

Run = Callable[[Array], tuple[Array, Array]]


class Engine(Protocol):
    """Images uint8 (n, h, w, 3) -> pooled fp32 (n, K), maps fp16 (n, H, W, K)."""

    name: str

    def features(self, images: Array) -> tuple[Array, Array]:
        """Pooled vectors and maps of every image, in order."""


class TorchEngine:
    """PyTorch with folded BatchNorm and channels_last weights, on any device."""

    name = "torch"

    def __init__(
        self, extractor: Extractor, device: torch.device | str, batch: int, threads: int
    ) -> None:
        torch.set_num_threads(threads)
        self._batch = batch
        self._device = torch.device(device)
        extractor.backbone.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self._extractor = extractor.to(self._device)

    def features(self, images: Array) -> tuple[Array, Array]:
        """One batch after the other."""
        return _filled(self._run, images, self._batch, map)

    @torch.inference_mode()
    def _run(self, images: Array) -> tuple[Array, Array]:
        batch = torch.from_numpy(np.ascontiguousarray(images)).to(self._device)
        pooled, maps = self._extractor(batch)
        return pooled.cpu().numpy(), maps.cpu().numpy()


class OnnxEngine:
    """ONNX Runtime on the CPU: `threads` batches at once, one thread each."""

    name = "onnx"

    def __init__(self, extractor: Extractor, side: int, batch: int, threads: int) -> None:
        import onnxruntime

        from sharc.features.onnx_graph import to_onnx

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._batch = batch
        self._session = onnxruntime.InferenceSession(
            to_onnx(extractor, example(side)), options, providers=["CPUExecutionProvider"]
        )
        self._workers = ThreadPoolExecutor(threads)

    def features(self, images: Array) -> tuple[Array, Array]:
        """Batches side by side; each result lands in its own rows, so the order is fixed."""
        return _filled(self._run, images, self._batch, self._workers.map)

    def _run(self, images: Array) -> tuple[Array, Array]:
        pooled, maps = self._session.run(None, {"images": np.ascontiguousarray(images)})
        return pooled, maps


def example(side: int) -> torch.Tensor:
    """An input of the right type and size to trace with."""
    return torch.zeros(2, side, side, 3, dtype=torch.uint8)


def _filled(
    run: Run, images: Array, batch: int, spread: Callable[..., object]
) -> tuple[Array, Array]:
    """Run batch by batch and collect in order; `spread` is `map` or a pool's map."""
    starts = range(0, len(images), batch)
    parts = list(spread(lambda at: run(images[at : at + batch]), starts))  # type: ignore[call-overload]
    pooled, maps = zip(*parts, strict=True)
    return np.concatenate(pooled), np.concatenate(maps)


def choose_device(name: str) -> torch.device:
    """The device that runs the backbone."""
    return resolve_device(name, "features.device")


def choose_engine(
    extractor: Extractor, side: int, *, engine: str, device: str, batch: int, threads: int
) -> Engine:
    """The requested engine; `auto` is the fastest one that can run this network here."""
    from sharc.features.onnx_operations import UnsupportedOperationError

    chosen = choose_device(device)
    on_cpu = chosen.type == "cpu"
    if engine == "onnx" and not on_cpu:
        raise UserError(
            "features.engine onnx runs only on the CPU: set device cpu or engine torch."
        )
    with torch.no_grad():
        fold_batchnorm(extractor, example(side))
    if engine != "torch" and on_cpu:
        try:
            return OnnxEngine(extractor, side, batch, threads)
        except UnsupportedOperationError as error:
            if engine != "auto":
                raise UserError(
                    f"features.engine onnx cannot translate {error}: set engine to auto or torch."
                ) from None
    return TorchEngine(extractor, chosen, batch, threads)
