"""GEM's quadratic programme, as small as the number of past tasks."""

import numpy as np
import quadprog
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]


def gem_duals(gram: Tensor, products: Tensor, margin: float, ridge: float) -> Tensor:
    """argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v subject to v >= margin, for each run.

    gram: G G^T [S, t, t], products: G g [S, t]; 0 for a run that violates nothing. Solved in
    float64 on the CPU: the only values that leave the device within a step. A run whose values
    are not finite gets 0; it is stopped elsewhere.
    """
    hessians = gram.to("cpu", torch.float64).numpy()
    linear = products.to("cpu", torch.float64).numpy()
    hessians = (hessians + hessians.transpose(0, 2, 1)) / 2 + ridge * np.eye(linear.shape[1])
    finite = np.isfinite(hessians).all(axis=(1, 2)) & np.isfinite(linear).all(axis=1)
    with np.errstate(invalid="ignore", over="ignore"):
        slope = margin * hessians.sum(axis=2) + linear  # of the objective at v = margin
    v = np.zeros_like(linear)
    for run in np.flatnonzero(finite & (linear < 0).any(axis=1)):
        # nothing to gain from leaving the corner: v = margin fulfils the optimality conditions
        at_corner = (slope[run] >= 0).all()
        v[run] = margin if at_corner else solve(hessians[run], linear[run], margin)
    return torch.from_numpy(v).to(products)


def solve(hessian: Floats, linear: Floats, margin: float) -> Floats:
    """argmin 1/2 v^T H v + linear^T v subject to v >= margin.

    Zero or repeated gradients make G G^T singular. The ridge mends that; where the gradients'
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
