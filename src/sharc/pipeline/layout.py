"""What tables, figures, claims and the report need to know about the suite."""

from pathlib import Path
from typing import Any

from sharc import looks
from sharc.config import Params
from sharc.registry import replays

PAPER = Path("data/paper/results.csv")
CLAIMS = Path("data/paper/claims.yaml")


def layout(params: Params) -> dict[str, Any]:
    """The suite's layout as plain values."""
    suite = params.chosen
    return {
        "suite": params.suite,
        "protocol": params.protocol,
        "main": suite.buffers,
        "appendix": suite.appendix_buffers,
        "datasets": suite.datasets,
        "backbone": suite.backbone,
        "methods": suite.methods,
        "without_replay": [name for name in suite.methods if not replays(name)],
        "memory": params.sharc.memory,
        "theta": params.sharc.theta.model_dump(),
        "memories": suite.memories.model_dump() if suite.memories else None,
        "thetas": suite.thetas.model_dump() if suite.thetas else None,
        "seeds": suite.seeds,
        "image_size": params.features.image_size,
        "looks": looks.added(),
    }
