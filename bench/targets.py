"""What the page shows first: each promise about speed and memory, and whether it was kept."""

from collections.abc import Mapping
from dataclasses import dataclass

from bench.section import Table
from bench.timing import Measure, number

PRODUCTS = "both sides spend their time in the same products"
CALLS = "calls of torch of a few µs each"
REPLAY = "five times as many rows are replayed"


@dataclass(frozen=True)
class Target:
    """A measure that must reach a floor or, if it is a cost, stay under a ceiling."""

    what: str
    measure: str
    bound: float
    why: str = ""  # what leads its time, said where it was missed
    cost: str | None = None  # the unit of a cost, which may be empty; others have none

    @property
    def is_ratio(self) -> bool:
        """Drawn in the picture."""
        return self.cost is None and "percent" not in self.measure and "equals" not in self.measure

    def met(self, found: Measure) -> bool:
        """At the bound a floor is reached and a ceiling kept."""
        return found.median >= self.bound if self.cost is None else found.median <= self.bound

    def said(self, found: Measure | None) -> str:
        """`≥ 5 ×`, and the reason where that was missed."""
        sign = "≥" if self.cost is None else "≤"
        text = f"{sign} {number(self.bound)} {'×' if self.is_ratio else self.cost or ''}".strip()
        if found is None or self.met(found):
            return text
        return f"{text}, **missed**" + (f": {self.why}" if self.why else "")


def _trained(suffix: str, where: str) -> list[Target]:
    rows = (("ER, 10 replayed", "er", 15), ("ER, whole memory", "er_full", 15),
            ("DER++", "derpp", 15), ("A-GEM", "agem", 15), ("CLS-ER", "clser", 15),
            ("GEM", "gem", 5), ("MER", "mer", 5))  # fmt: skip
    drawn = {"er", "derpp", "agem", "clser"}
    return [
        Target(f"{label}: plain PyTorch loop, {where}", f"{method}_vs_plain{suffix}", bound, CALLS)
        for label, method, bound in rows
        if "stacked" not in suffix or method in drawn
    ]


TARGETS = [
    Target("Features, EfficientNet-Lite0 at 128 px: the authors' way",
           "features_vs_authors_efficientnet_lite0", 5, "convolutions on both sides"),
    Target("Features, ResNet18 at 224 px: the authors' way", "features_vs_authors_resnet18", 5,
           "convolutions on both sides"),
    Target("Features, EfficientNet-Lite0: the authors' way with their saliency",
           "features_vs_authors_saliency_efficientnet_lite0", 5),
    Target("Features, ResNet18: the authors' way with their saliency",
           "features_vs_authors_saliency_resnet18", 5),
    *_trained("_10", "5 seeds"),
    *_trained("_stacked_10", "5 seeds × 3 buffers"),
    *(Target(f"{label} by loss: plain PyTorch loop, 5 seeds", f"{method}_vs_plain_by_loss_10", 3)
      for label, method in (("SGD", "sgd"), ("ER, 10 replayed,", "er"), ("A-GEM", "agem"),
                            ("DER++", "derpp"))),
    Target("ER: Avalanche, 10 classes", "er_vs_avalanche_10", 35, CALLS),
    Target("ER: Avalanche, 100 classes", "er_vs_avalanche_100", 18, PRODUCTS),
    Target("A-GEM: Avalanche, 10 classes", "agem_vs_avalanche_10", 40, CALLS),
    Target("A-GEM: Avalanche, 100 classes", "agem_vs_avalanche_100", 40, PRODUCTS),
    Target("A-GEM: Avalanche, 10 classes, 5 seeds × 3 buffers",
           "agem_vs_avalanche_stacked_10", 40),
    Target("ER: a framework's step (Mammoth's), 10 classes", "er_vs_framework_10", 25, CALLS),
    Target("ER: a framework's step (Mammoth's), 100 classes", "er_vs_framework_100", 10, PRODUCTS),
    Target("BayesPCN, write and read: direct Adam, the same 10 maps", "bayes_pcn_same_ten", 50),
    Target("BayesPCN, read: direct Adam, the same 10 maps", "bayes_pcn_read_same_ten", 50),
    Target("BayesPCN, write and read: direct Adam, the same 1,000 maps", "bayes_pcn_all", 50),
    Target("Share of the matmul peak in features, ResNet18, %",
           "features_percent_of_peak_resnet18", 65),
    Target("Share of the matmul peak in features, EfficientNet-Lite0, %",
           "features_percent_of_peak_efficientnet_lite0", 65, "depthwise convolutions"),
    Target("Methods of eight whose runs alone and stacked are equal bit for bit",
           "stacked_equals_lone", 8),
    Target("BayesPCN's error over direct Adam's, the same 10 maps", "bayes_pcn_error_share", 1,
           cost="×"),
    Target("BayesPCN's error over direct Adam's, the same 1,000 maps", "bayes_pcn_all_error_share",
           1, cost="×"),
    *(Target(f"A run with {label} over a dense one, {name}",
             f"sharc_cost_{method}_{memory}_{case}", bound, REPLAY, "×")
      for memory, label, bound in (
          ("modern_hopfield", "Hopfield", 3), ("bayes_pcn", "BayesPCN", 10)
      )
      for method, case, name in (
          ("er", "512_1", "ER, 10 replayed"),
          ("er_full", "512_1", "ER, whole memory"),
          ("er_full", "512_5", "ER, whole memory, 5 runs stacked"),
          ("er_full", "1280_1", "ER, whole memory, 1280 channels"),
      )),
    Target("300 dense runs, 2 cores", "300_dense_runs_minutes", 10, cost="min"),
    Target("450 runs that replay by draws, 2 cores", "450_sampled_runs_minutes", 5, cost="min"),
    Target("540 runs, ER and GEM over the whole memory, 2 cores, without recall",
           "540_runs_minutes", 20, "100 classes and 5,000 examples", "min"),
    Target("Suite demo, 2 cores", "demo_minutes", 3, cost="min"),
    Target("Suite offline, 2 cores", "offline_minutes", 120, cost="min"),
    Target("Peak memory of the features stage", "peak_mb_features", 2048, cost="MB"),
    Target("Peak memory of BayesPCN, 1,000 maps", "bayes_pcn_peak_gb", 2, cost="GB"),
    *(Target(f"Growth with {axis}: largest exponent, 1 is linear", f"growth_{axis}", 1.1,
             cost="") for axis in ("steps", "classes", "buffer", "seeds")),
]  # fmt: skip


def tables(measures: Mapping[str, Measure]) -> list[Table]:
    """Ratios first, then shares and costs; each with its target."""
    ratios = Table("How many times as fast", ["what: compared with", "× as fast", "target"])
    costs = Table("What it costs", ["what", "measured", "target"])
    for target in TARGETS:
        found = measures.get(target.measure)
        shown = "not measured" if found is None else str(found)
        if target.cost and found is not None:
            shown = f"{shown} {target.cost}"
        table = ratios if target.is_ratio else costs
        table.add(target.what, shown, target.said(found))
    return [ratios, costs]
