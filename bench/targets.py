"""What the page shows: each measure next to its target, and what leads the time of a missed one."""

from dataclasses import dataclass

from bench.timing import Measure, number
from sharc.registry import METHODS

THIN = "products this thin stay below the matmul peak; another order of sums would move results"
LOSS = "as for the closed forms, and autograd's own calls remain"


@dataclass(frozen=True)
class Target:
    """A measure that must reach a floor or stay under a ceiling, or one that is only shown."""

    what: str
    measure: str
    bound: float | None = None
    why: str = ""  # shown with the profile where the target is missed
    unit: str = "×"
    ceiling: bool = False

    @property
    def is_ratio(self) -> bool:
        """How many times as fast: drawn in the picture."""
        return self.unit == "×" and not self.ceiling

    def met(self, found: Measure) -> bool:
        """At the bound a floor is reached and a ceiling kept."""
        if self.bound is None:
            return True
        return found.median <= self.bound if self.ceiling else found.median >= self.bound

    def row(self, found: Measure | None, profile: str = "") -> list[str]:
        """What, measured, target, met or not, and why not."""
        shown = "not measured" if found is None else f"{found} {self.unit}".strip()
        if self.bound is None:
            return [self.what, shown, "", "", ""]
        sign = "≤" if self.ceiling else "≥"
        bound = f"{sign} {number(self.bound)} {self.unit}".strip()
        if found is None:
            return [self.what, shown, bound, "", ""]
        if self.met(found):
            return [self.what, shown, bound, "met", ""]
        why = "; ".join(part for part in (profile, self.why) if part)
        return [self.what, shown, bound, "**missed**", why]


def cost(what: str, measure: str, bound: float | None, unit: str, why: str = "") -> Target:
    """A measure that should be small."""
    return Target(what, measure, bound, why, unit, ceiling=True)


STACK = "5 seeds × 3 buffers"
TARGETS = [
    *(Target(f"{label}, {STACK}: plain loop", f"{method}_vs_plain", bound, THIN)
      for label, method, bound in (
          ("ER, 10 replayed", "er", 25), ("DER++", "derpp", 25), ("A-GEM", "agem", 25),
          ("CLS-ER", "clser", 25), ("MER", "mer", 5))),
    Target("ER, whole memory, 5 seeds: plain loop", "er_full_vs_plain", 15, THIN),
    Target("GEM, 5 seeds: plain loop", "gem_vs_plain", 5, THIN),
    *(Target(f"{label} by loss, 5 seeds: plain loop", f"{method}_vs_plain_by_loss", 3, LOSS)
      for label, method in (("SGD", "sgd"), ("ER, 10 replayed,", "er"), ("A-GEM", "agem"),
                            ("DER++", "derpp"))),
    *(Target(f"{label}, {stack}: Avalanche, {classes} classes",
             f"{method}_vs_avalanche_{classes}", bound, THIN)
      for label, method, stack, classes, bound in (
          ("ER, 10 replayed", "er", STACK, 10, 35), ("A-GEM", "agem", STACK, 10, 40),
          ("ER, 10 replayed", "er", "5 seeds", 100, 15), ("A-GEM", "agem", "5 seeds", 100, 15))),
    *(Target(f"Features, {label}: the authors' way{more}", f"features_vs_{way}_{name}", 5,
             "both sides spend their time in convolutions")
      for label, name in (("EfficientNet-Lite0 at 128 px", "efficientnet_lite0"),
                          ("ResNet18 at 224 px", "resnet18"))
      for more, way in (("", "authors"), (" with their saliency", "authors_saliency"))),
    Target("BayesPCN, write and read: direct Adam, the same 50 maps", "bayes_pcn_vs_direct", 50),
    Target("BayesPCN, read: direct Adam, the same 50 maps", "bayes_pcn_read_vs_direct", 50),
    *(Target(f"Features' share of the peak of PyTorch's matmul, {label}",
             f"features_percent_of_peak_{name}", 65, "depthwise convolutions", "%")
      for label, name in (("EfficientNet-Lite0", "efficientnet_lite0"), ("ResNet18", "resnet18"))),
    Target("Strategies whose runs alone and stacked are equal bit for bit", "stacked_equals_lone",
           len(METHODS), unit=f"of {len(METHODS)}"),
    cost("BayesPCN's error over direct Adam's, the same 50 maps", "bayes_pcn_error_share", 1, "×"),
    *(cost(f"A run with {label} over a dense one, {name}",
           f"sharc_cost_{method}_{memory}_{case}", bound, "×",
           "five times as many rows are replayed")
      for memory, label, bound in (
          ("modern_hopfield", "Hopfield", 3), ("bayes_pcn", "BayesPCN", 10)
      )
      for method, case, name in (
          ("er", "512_1", "ER, 10 replayed"),
          ("er_full", "512_1", "ER, whole memory"),
          ("er_full", "512_5", "ER, whole memory, 5 runs stacked"),
          ("er_full", "1280_1", "ER, whole memory, 1280 channels"),
      )),
    cost("Hopfield read of one map, 500 stored", "hopfield_ms_500", None, "ms"),
    cost("Hopfield read of one map, 5,000 stored", "hopfield_ms_5000", None, "ms"),
    cost("300 dense runs, 2 cores", "300_dense_runs_minutes", 10, "min"),
    cost("450 runs that replay by draws, 2 cores", "450_sampled_runs_minutes", 5, "min"),
    cost("540 runs, ER and GEM over the whole memory among them, 2 cores, without recall",
         "540_runs_minutes", 20, "min"),
    cost("Suite demo, 2 cores", "demo_minutes", 3, "min"),
    cost("Suite offline, 2 cores", "offline_minutes", 60, "min",
         "ER and GEM, which replay whole memories recalled at 100 classes"),
    cost("Peak memory of the features stage", "peak_mb_features", 2048, "MB"),
    cost("Peak memory of BayesPCN, 1,000 maps", "bayes_pcn_peak_gb", 2, "GB"),
    *(cost(f"Growth with {axis}: exponent, 1 is linear", f"growth_{axis}", 1.1, "",
           "rows that fit into a cache at one size and not at the next")
      for axis in ("steps", "classes", "buffer", "seeds")),
    cost("`snakemake all` with nothing to do, CPU", "nothing_snakemake_seconds", None, "s"),
    cost("`dvc repro` with nothing to do, CPU", "nothing_dvc_repro_seconds", None, "s"),
    cost("`sharc validate`, CPU", "nothing_validate_seconds", None, "s"),
    cost("A job beyond its own work, CPU", "cpu_seconds_per_job", None, "s"),
    cost("`snakemake -n` with 1,000 training jobs to run, CPU", "graph_seconds", None, "s"),
]  # fmt: skip
