"""A backbone's time by kind of operator, as the engine that computes it tells."""

import json
import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime

from bench.authors_features import network_of
from bench.features import CASES, OUR_BATCH, chosen_engine, extractor_of
from sharc.backbones.base import Backbone
from sharc.features.engines import example
from sharc.features.folding import fold_batchnorm
from sharc.features.onnx_graph import to_onnx
from sharc.features.pipeline import Extractor
from sharc.registry import load

SIDE, PASSES, SHOWN, LEADING = 32, 20, 14, 3


def by_operator(name: str) -> str:
    """Operators and their weights' shapes, the dearest first."""
    pixels, _ = CASES[name]
    backbone: Backbone = load("backbone", name)()
    module = extractor_of(backbone, network_of(backbone, pixels), SIDE, pixels)
    folded = fold_batchnorm(module, example(SIDE))
    engine = chosen_engine(backbone, SIDE, pixels, threads=1).name
    spent = _onnx(folded)
    whole = sum(spent.values())
    kinds: Counter[str] = Counter()
    for what, took in spent.items():
        kinds[_kind(what)] += took
    leading = ", ".join(f"{k} {100 * t / whole:.0f} %" for k, t in kinds.most_common(LEADING))
    lines = [f"{100 * took / whole:5.1f} %  {what}" for what, took in spent.most_common(SHOWN)]
    return "\n".join(
        [f"{name} at {pixels} px: time by {engine}'s own count", leading, "", *lines, ""]
    )


def _kind(what: str) -> str:
    """`Conv 3×3`, `depthwise Conv 5×5`, or the operator's name."""
    operator, _, shape = what.partition(" ")
    found = re.fullmatch(r"\[(\d+), (\d+), (\d+), (\d+)\]", shape)
    if not found:
        return operator
    depthwise = "depthwise " if found[2] == "1" else ""
    return f"{depthwise}{operator} {found[3]}×{found[4]}"


def _images() -> np.ndarray:
    return np.zeros((OUR_BATCH, SIDE, SIDE, 3), dtype=np.uint8)


def _onnx(extractor: Extractor) -> "Counter[str]":
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    spent: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        options.enable_profiling, options.profile_file_prefix = True, str(Path(folder) / "profile")
        graph = to_onnx(extractor, example(SIDE))
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        for _ in range(PASSES):
            session.run(None, {"images": _images()})
        events = json.loads(Path(session.end_profiling()).read_text())
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("kernel_time"):
            shapes = [str(*shape.values()) for shape in event["args"]["input_type_shape"][1:2]]
            spent[f"{event['args']['op_name']} {' '.join(shapes)}"] += event["dur"]
    return spent
