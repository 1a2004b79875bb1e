"""A head with one hidden layer, for S runs: what strategies by loss may train instead of Head."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.functional import linear

Weights = Mapping[str, Tensor]


class MLPHead:
    """logits = relu(x V^T + a) W^T + b; only autograd knows its gradient."""

    def __init__(self, parameters: Weights) -> None:
        """Stacked weights, each [S, ...] as in torch.nn.Linear; copied."""
        self.parameters = {name: value.clone() for name, value in parameters.items()}
        self.b = self.parameters["bias"]
        self.n_runs, self.n_classes, self.n_hidden = self.parameters["weight"].shape
        self.n_features = self.parameters["hidden.weight"].shape[2]

    @classmethod
    def initial(
        cls, generators: list[torch.Generator], sizes: tuple[int, int, int], like: Tensor
    ) -> "MLPHead":
        """PyTorch's default for two Linear layers; sizes: features, hidden units, classes."""
        n_features, n_hidden, n_classes = sizes
        parts: dict[str, list[Tensor]] = {}
        for g in generators:
            for layer, rows, columns in (("hidden.", n_hidden, n_features),
                                         ("", n_classes, n_hidden)):  # fmt: skip
                drawn = torch.rand(rows, columns + 1, generator=g, dtype=torch.float64)
                drawn = (2 * drawn - 1) * columns**-0.5
                parts.setdefault(f"{layer}weight", []).append(drawn[:, :-1])
                parts.setdefault(f"{layer}bias", []).append(drawn[:, -1])
        return cls({name: torch.stack(part).to(like) for name, part in parts.items()})

    @classmethod
    def joined(cls, heads: Sequence["MLPHead"]) -> "MLPHead":
        """The runs of all heads, one after the other."""
        names = heads[0].parameters
        return cls({name: torch.cat([head.parameters[name] for head in heads]) for name in names})

    @staticmethod
    def apply(weights: Weights, x: Tensor) -> Tensor:
        """One run's logits [n, C] of rows x [n, D]."""
        hidden = linear(x, weights["hidden.weight"], weights["hidden.bias"]).relu()
        return linear(hidden, weights["weight"], weights["bias"])

    def logits(self, x: Tensor) -> Tensor:
        """[S, R, D] -> [S, R, C]."""
        if x.shape[1] == 1:  # a lone row would be summed in another order
            return self.logits(x.expand(-1, 2, -1))[:, :1]
        p = self.parameters
        hidden = torch.baddbmm(p["hidden.bias"].unsqueeze(1), x, p["hidden.weight"].mT).relu_()
        return torch.baddbmm(p["bias"].unsqueeze(1), hidden, p["weight"].mT)

    def logits_of_same(self, x: Tensor) -> Tensor:
        """The same rows through every run: [n, D] -> [S, n, C]."""
        return self.logits(x.expand(self.n_runs, -1, -1))

    def saliency(self, run: Tensor, label: Tensor, x: Tensor) -> Tensor:
        """d z[label] / d x for rows x [k, D] of the runs `run` [k]: [k, D], by autograd."""
        with torch.inference_mode(False), torch.enable_grad():
            weights = {name: value[run] for name, value in self.parameters.items()}  # [k, ...]
            rows = x.detach().clone().requires_grad_()
            logits = torch.vmap(self.apply)(weights, rows.unsqueeze(1)).squeeze(1)  # [k, C]
            score = logits.gather(1, label[:, None]).sum()
            return torch.autograd.grad(score, rows)[0]

    @staticmethod
    def label_offsets(labels: Tensor) -> Tensor:
        """What a closed form looks up; autograd does not: [..., S, R] -> [..., S * R]."""
        return labels.flatten(-2)

    def copy(self) -> "MLPHead":
        """An independent head with the same weights."""
        return MLPHead(self.parameters)

    def finite(self) -> Tensor:
        """[S] bool: which runs' weights are all finite."""
        parts = [value.isfinite().flatten(1).all(dim=1) for value in self.parameters.values()]
        return torch.stack(parts).all(dim=0)

    def reset(self, run: int) -> None:
        """Zero one run's weights, so that a diverged run is harmless to whatever reads them."""
        for value in self.parameters.values():
            value[run].zero_()
