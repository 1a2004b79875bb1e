"""GEM's quadratic programme, as small as the number of past tasks."""

from collections.abc import Callable

import numpy as np
import quadprog
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]


def gem_duals(
    gram: Callable[[], Tensor],
    sums: Callable[[], Tensor],
    products: Tensor,
    margin: float,
    ridge: float,
) -> Tensor | None:
    """argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v subject to v >= margin, for each run.

    products: G g [S, t]; sums: G G^T 1 [S, t] and gram: G G^T [S, t, t], each asked for only where
    it is needed. In about every second case, nothing is gained by leaving the corner v = margin, as
    the sums alone show. 0 for a run that violates nothing, and for one whose values are not finite,
    which is stopped elsewhere; None if no run violates anything. Solved in float64 on the CPU,
    where v stays: these three are the only values that leave the device within a step.
    """
    linear = _read(products)
    with np.errstate(invalid="ignore", over="ignore"):
        if not (linear < 0).any():
            return None
        slope = margin * (_read(sums()) + ridge) + linear  # of the objective at the corner
    violated = (linear < 0).any(axis=1) & np.isfinite(slope).all(axis=1)
    at_corner = (slope >= 0).all(axis=1)
    v = np.zeros_like(linear)
    v[violated & at_corner] = margin
    beyond = np.flatnonzero(violated & ~at_corner)
    if len(beyond):
        hessians = _read(gram())
        hessians = (hessians + hessians.transpose(0, 2, 1)) / 2 + ridge * np.eye(linear.shape[1])
        for run in beyond:
            if np.isfinite(hessians[run]).all():
                v[run] = solve(hessians[run], linear[run], margin)
    return torch.from_numpy(v).to(products.dtype)


def _read(values: Tensor) -> Floats:
    found: Floats = values.to("cpu", torch.float64).numpy()
    return found


def solve(hessian: Floats, linear: Floats, margin: float) -> Floats:
    """argmin 1/2 v^T H v + linear^T v subject to v >= margin.

    Zero or repeated gradients make G G^T singular. The ridge fixes that; where the gradients'
    scale swallows it, it is raised until H is positive definite to working precision.
    """
    size = len(linear)
    identity, bound = np.eye(size), np.full(size, margin)
    extra = 0.0
    for _ in range(20):
        try:
            return np.asarray(
                quadprog.solve_qp(hessian + extra * identity, -linear, identity, bound)[0]
            )
        except ValueError:  # not positive definite
            extra = max(10 * extra, 1e-14 * float(np.trace(hessian)))
    return bound
