"""GEM's quadratic programme, as small as the number of past tasks."""

import numpy as np
import quadprog
import torch
from torch import Tensor


def gem_dual(gram: Tensor, products: Tensor, margin: float, ridge: float) -> Tensor:
    """argmin 1/2 v^T (G G^T + ridge I) v + (G g)^T v subject to v >= margin.

    gram: G G^T [t, t], products: G g [t]; solved in float64 on the CPU, the only value that
    leaves the device within a step, and only when a constraint is violated. Zero or repeated
    gradients make G G^T singular: the ridge mends that, and is raised if it is too small for
    the scale of the gradients. Values that are not finite give v = 0; the run stops by itself.
    """
    pairs = gram.detach().to("cpu", torch.float64).numpy()
    linear = products.detach().to("cpu", torch.float64).numpy()
    if not (np.isfinite(pairs).all() and np.isfinite(linear).all()):
        return torch.zeros(len(linear), dtype=torch.float64)
    size = np.eye(len(linear))
    pairs = (pairs + pairs.T) / 2
    floor = ridge
    for _ in range(20):
        try:
            v = quadprog.solve_qp(pairs + floor * size, -linear, size, np.full(len(size), margin))
            return torch.from_numpy(v[0])
        except ValueError:  # not positive definite to working precision
            floor = max(10 * floor, 1e-14 * float(np.trace(pairs)))
    return torch.full((len(linear),), margin, dtype=torch.float64)
