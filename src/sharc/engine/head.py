"""The linear head of S runs as one stacked tensor, stepped in closed form.

Two memory layouts, one set of shapes. Up to a few dozen classes everything lies class-major
(W [S, C, D], logits [S, C, R]): at 10 classes the matrix products take half and the softmax an
eighth of the time of the other layout. With more classes W [S, D, C] and logits [S, R, C] win,
unless a step passes hundreds of rows.
Callers see logits and residuals as [S, R, C] either way; only the strides differ.
"""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import linear, pad

CLASS_MAJOR_UP_TO = 32
MIN_ROWS, DEPTH = 16, 256  # of a product over all runs, see logits_of_same


class Head:
    """logits = x W + b for S runs."""

    def __init__(self, weight: Tensor, bias: Tensor, *, many_rows: bool = False) -> None:
        """weight: [S, C, D] as in torch.nn.Linear, bias: [S, C]; both are copied."""
        self.n_runs, self.n_classes, self.n_features = weight.shape
        self.class_major = many_rows or self.n_classes <= CLASS_MAJOR_UP_TO
        self.class_axis = 1 if self.class_major else 2  # of what is `as_stored`
        stored = weight if self.class_major else weight.mT
        self.stored = stored.clone(memory_format=torch.contiguous_format)
        self.b = bias.clone(memory_format=torch.contiguous_format)
        self._b_of_rows = self.b.unsqueeze(2 if self.class_major else 1)  # views cost time too
        self._of_run = list(zip(self.stored.unbind(0), self.b.unbind(0), strict=True))
        self._minus_ones: dict[int, Tensor] = {}  # by how many rows

    @classmethod
    def initial(
        cls,
        generators: list[torch.Generator],
        n_features: int,
        n_classes: int,
        like: Tensor,
        *,
        many_rows: bool = False,
    ) -> "Head":
        """PyTorch's default for Linear: weight and bias uniform in +-1/sqrt(D), one draw a run."""
        drawn = torch.stack(
            [
                torch.rand(n_classes, n_features + 1, generator=g, dtype=torch.float64)
                for g in generators
            ]
        )
        drawn = ((2 * drawn - 1) * n_features**-0.5).to(like)
        return cls(drawn[..., :-1], drawn[..., -1], many_rows=many_rows)

    @classmethod
    def joined(cls, heads: Sequence["Head"]) -> "Head":
        """The runs of all heads, one after the other."""
        if len(heads) == 1:
            return heads[0]
        weight, bias = (
            torch.cat(parts) for parts in zip(*((h.weight, h.b) for h in heads), strict=True)
        )
        return cls(weight, bias, many_rows=heads[0].class_major)

    @property
    def weight(self) -> Tensor:
        """W as a view [S, C, D], whatever the layout."""
        return self.stored if self.class_major else self.stored.mT

    @property
    def parameters(self) -> dict[str, Tensor]:
        """W [S, C, D] and b [S, C], as views that may be written to."""
        return {"weight": self.weight, "bias": self.b}

    @staticmethod
    def apply(weights: Mapping[str, Tensor], x: Tensor) -> Tensor:
        """One run's logits [n, C] of rows x [n, D], for autograd."""
        return linear(x, weights["weight"], weights["bias"])

    def saliency(self, run: Tensor, label: Tensor, x: Tensor) -> Tensor:
        """d z[label] / d x for rows x [k, D] of the runs `run` [k]: W[label] whatever x, [k, D]."""
        return self.weight[run, label]

    def logits(self, x: Tensor) -> Tensor:
        """[S, R, D] -> [S, R, C]."""
        return self.by_row(self.logits_as_stored(x))

    def logits_as_stored(self, x: Tensor) -> Tensor:
        """Logits as they lie in memory, [S, C, R] or [S, R, C]: classes along `class_axis`."""
        if x.shape[1] == 1:  # see inner_products
            return self.logits_as_stored(x.expand(-1, 2, -1)).narrow(3 - self.class_axis, 0, 1)
        if self.class_major:
            return torch.baddbmm(self._b_of_rows, self.stored, x.mT)
        return torch.baddbmm(self._b_of_rows, x, self.stored)

    def by_row(self, as_stored: Tensor) -> Tensor:
        """What is `as_stored` as a view [S, R, C]."""
        return as_stored.mT if self.class_major else as_stored

    def logits_of_same(self, x: Tensor) -> Tensor:
        """The same rows through every run: [n, D] -> [S, n, C].

        Few classes make thin products, hence one product for all runs. Few rows of W are filled
        up to MIN_ROWS, a lone x is doubled, and features are added up DEPTH at a time: otherwise
        the order of a sum would depend on how many runs there are. In double precision it still
        does on some processors, so every run has its own product.
        """
        if not self.class_major or self.stored.dtype == torch.float64:
            return self.logits(x.expand(self.n_runs, -1, -1))
        n, rows = len(x), self.n_runs * self.n_classes
        fill = (0, 0, 0, max(0, MIN_ROWS - rows))
        weight = pad(self.stored.view(rows, -1), fill).split(DEPTH, dim=1)
        parts = (x.expand(2, -1) if n == 1 else x).split(DEPTH, dim=1)
        found = pad(self.b.view(-1, 1), fill).expand(-1, len(parts[0]))
        for w, part in zip(weight, parts, strict=True):
            found = torch.addmm(found, w, part.T)
        return found[:rows, :n].view(self.n_runs, self.n_classes, n).mT

    def ce_residual(self, logits: Tensor, label_offsets: Tensor) -> Tensor:
        """softmax(z) - onehot(y): the residual rows of the cross-entropy, [S, R, C]."""
        return self._residuals(logits.mT if self.class_major else logits, label_offsets)

    def ce_residual_of(self, x: Tensor, label_offsets: Tensor) -> Tensor:
        """The same for rows x [S, R, D] whose logits are not needed."""
        return self._residuals(self.logits_as_stored(x), label_offsets)

    def _residuals(self, as_stored: Tensor, label_offsets: Tensor) -> Tensor:
        rows = label_offsets.numel()
        if rows not in self._minus_ones:
            self._minus_ones[rows] = self.b.new_full((1,), -1.0).expand_as(label_offsets)
        residual = torch.softmax(as_stored, self.class_axis)
        residual.view(-1).index_add_(0, label_offsets, self._minus_ones[rows])
        return self.by_row(residual)

    def label_offsets(self, labels: Tensor) -> Tensor:
        """Where each row's label lies in the memory of [S, R, C]: [..., S, R] -> [..., S * R]."""
        n_rows = labels.shape[-1]
        run = torch.arange(labels.shape[-2], device=labels.device)[:, None]
        row = torch.arange(n_rows, device=labels.device)
        if self.class_major:
            return ((run * self.n_classes + labels) * n_rows + row).flatten(-2)
        return ((run * n_rows + row) * self.n_classes + labels).flatten(-2)

    def descend(self, x: Tensor, residual: Tensor, rate: float) -> None:
        """W <- W - rate X^T R and b <- b - rate sum R, for x [S, R, D], residual [S, R, C]."""
        if x.shape[1] == 1:
            outer = (residual.mT, x)
            step = outer if self.class_major else tuple(o.mT for o in outer)
            self.stored.addcmul_(*step, value=-rate)
        elif self.class_major:
            class_major = residual.mT
            self.stored.baddbmm_(class_major, x, alpha=-rate)
            self.b.sub_(class_major.sum(dim=2), alpha=rate)
            return
        else:
            self.stored.baddbmm_(x.mT, residual, alpha=-rate)
        self.b.sub_(residual.sum(dim=1), alpha=rate)

    def gradients(self, count: int) -> Tensor:
        """Room for `count` gradients of each run, zeros.

        Each begins at a multiple of 64 bytes: a product of rows aligned otherwise may be summed in
        another order, and a run would not give the same bits twice.
        """
        numbers = (self.n_features + 1) * self.n_classes
        return self.b.new_zeros(self.n_runs, count, -(-numbers // 16) * 16)

    def gradient_into(self, out: Tensor, x: Tensor, residual: Tensor) -> None:
        """X^T R and sum R, end to end and as they are stored, into one [S, n] of `gradients`."""
        weight, bias = self._parts(out)
        pair = (residual.mT, x) if self.class_major else (x.mT, residual)
        torch.bmm(*pair, out=weight)
        torch.sum(residual, dim=1, out=bias)

    def move_along(self, gradient: Tensor, rate: float) -> None:
        """W and b <- W and b - rate gradient, for one [S, n] of `gradients`."""
        weight, bias = self._parts(gradient)
        self.stored.sub_(weight, alpha=rate)
        self.b.sub_(bias, alpha=rate)

    def _parts(self, gradient: Tensor) -> tuple[Tensor, Tensor]:
        size = self.n_features * self.n_classes
        weight = gradient[:, :size].unflatten(1, self.stored.shape[1:])
        return weight, gradient[:, size : size + self.n_classes]

    def product(self, factor: Tensor, rows: Tensor) -> Tensor:
        """factor rows, for [S, n, m] and [S, m, C], as logits lie: [S, n, C]."""
        if self.class_major:
            return torch.bmm(rows.mT, factor.mT).mT
        return torch.bmm(factor, rows)

    def add_product(self, logits: Tensor, factor: Tensor, rows: Tensor, scale: float) -> None:
        """logits += scale factor rows, for [S, n, C], [S, n, m] and [S, m, C], in place."""
        if self.class_major:
            logits.mT.baddbmm_(rows.mT, factor.mT, alpha=scale)
        else:
            logits.baddbmm_(factor, rows, alpha=scale)

    def copy(self) -> "Head":
        """An independent head with the same weights."""
        return Head(self.weight, self.b, many_rows=self.class_major)

    def move_towards(self, other: "Head", share: float, runs: Sequence[int] | None = None) -> None:
        """self <- self + share (other - self), for some runs or for all."""
        ours, theirs = [self.stored, self.b], [other.stored, other.b]
        if runs is not None:  # all in one call, and no more of the weights than must be
            ours = [part for run in runs for part in self._of_run[run]]
            theirs = [part for run in runs for part in other._of_run[run]]
        torch._foreach_lerp_(ours, theirs, share)

    def finite(self) -> Tensor:
        """[S] bool: which runs' weights are all finite."""
        return self.stored.isfinite().flatten(1).all(dim=1) & self.b.isfinite().all(dim=1)

    def reset(self, run: int) -> None:
        """Zero one run's head, so that a diverged run is harmless to whatever reads its weights."""
        self.stored[run].zero_()
        self.b[run].zero_()


def inner_products(a: Tensor, b: Tensor) -> Tensor:
    """x_i . x_j for the rows of a [S, n, D] and b [S, m, D]: [S, n, m].

    A lone row is doubled: a product with a vector would be summed in another order for a single
    run than for a stack.
    """
    n, m = a.shape[1], b.shape[1]
    if n > 1 and m > 1:
        return torch.bmm(a, b.mT)
    a = a.expand(-1, 2, -1) if n == 1 else a
    b = b.expand(-1, 2, -1) if m == 1 else b
    return torch.bmm(a, b.mT)[:, :n, :m]
