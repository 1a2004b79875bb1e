"""The specification of a run, and its result."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]  # [T, T], row t = after task t, percent, NaN where not measured


@dataclass(frozen=True)
class RunSpec:
    """One run of a method: its seed, its memory's total slots, and theta of a "+" run."""

    seed: int
    buffer: int = 0
    theta: float | None = None  # share of channels dropped; None where memory is whole


@dataclass(frozen=True)
class Accuracies:
    """Accuracy matrices of one head in both scenarios, from the same logits."""

    class_il: Matrix
    task_il: Matrix


@dataclass
class RunResult:
    """Everything a run produces; nothing in it depends on the clock."""

    spec: RunSpec
    accuracy: Accuracies
    untrained: dict[str, list[float]]  # accuracy of the initial head on each task
    heads: dict[str, Accuracies] = field(default_factory=dict)  # other heads (CLS-ER)
    ledger: dict[str, Any] = field(default_factory=dict)
    recall: list[dict[str, Any]] = field(default_factory=list)
    status: str = "ok"  # or "diverged"
    message: str | None = None
