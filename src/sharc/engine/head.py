"""The linear head of S runs as one stacked tensor, stepped in closed form."""

import torch
from torch import Tensor

# Up to this many classes the matrix products are faster with features innermost (measured:
# 6 against 10 us per step and run at 10 classes, 60 against 40 at 100).
FEATURES_INNERMOST_UP_TO = 32


class Head:
    """logits = x W + b for S runs; W is stored as [S, C, D] for few classes, else [S, D, C]."""

    def __init__(self, weight: Tensor, bias: Tensor) -> None:
        """weight: [S, C, D] as in torch.nn.Linear, bias: [S, C]; both are copied."""
        self.n_runs, self.n_classes, self.n_features = weight.shape
        self.features_innermost = self.n_classes <= FEATURES_INNERMOST_UP_TO
        stored = weight if self.features_innermost else weight.transpose(1, 2)
        self.stored = stored.contiguous().clone()
        self.b = bias.clone()

    @classmethod
    def initial(
        cls, generators: list[torch.Generator], n_features: int, n_classes: int, like: Tensor
    ) -> "Head":
        """PyTorch's default for Linear: weight and bias uniform in +-1/sqrt(D), one draw a run."""
        bound = n_features**-0.5
        draws = [
            (torch.rand(n_classes, n_features + 1, generator=g, dtype=torch.float64) * 2 - 1)
            for g in generators
        ]
        drawn = (bound * torch.stack(draws)).to(like)
        return cls(drawn[..., :-1], drawn[..., -1])

    @property
    def weight(self) -> Tensor:
        """A view of W as [S, C, D], whatever the layout."""
        return self.stored if self.features_innermost else self.stored.transpose(1, 2)

    @property
    def _as_factor(self) -> Tensor:
        return self.stored.transpose(1, 2) if self.features_innermost else self.stored

    def logits(self, x: Tensor) -> Tensor:
        """[S, R, D] -> [S, R, C]."""
        return torch.baddbmm(self.b.unsqueeze(1), x, self._as_factor)

    def class_rows(self, run: Tensor, label: Tensor) -> Tensor:
        """The weight rows W[label] of the given runs, [k] and [k] -> [k, D]."""
        return self.weight[run, label]

    def descend(self, x: Tensor, residual: Tensor, rate: float) -> None:
        """W <- W - rate X^T R and b <- b - rate sum R, for x [S, R, D], residual [S, R, C]."""
        if self.features_innermost:
            self.stored.baddbmm_(residual.transpose(1, 2), x, alpha=-rate)
        else:
            self.stored.baddbmm_(x.transpose(1, 2), residual, alpha=-rate)
        self.b.sub_(residual.sum(dim=1), alpha=rate)

    def copy(self) -> "Head":
        """An independent head with the same weights."""
        return Head(self.weight, self.b)

    def finite(self) -> Tensor:
        """[S] bool: which runs' weights are all finite."""
        return self.stored.isfinite().all(dim=2).all(dim=1) & self.b.isfinite().all(dim=1)

    def reset(self, run: int) -> None:
        """Zero one run's head, so that a diverged run stays harmless to what reads its weights."""
        self.stored[run].zero_()
        self.b[run].zero_()
