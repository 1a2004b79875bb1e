"""Every promise about speed and memory, and whether this run kept it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bench.section import Table
from bench.timing import Measure, number


@dataclass(frozen=True)
class Target:
    """A measure that must reach a floor, or stay under a ceiling; the aim is what is hoped for."""

    what: str
    measure: str
    must: float
    aim: float | None = None
    ceiling: bool = False
    unit: str = "×"

    def reached(self, bound: float | None, value: Measure) -> str:
        """`met`, `not met`, or nothing where there is no such bound."""
        if bound is None:
            return ""
        kept = value.median <= bound if self.ceiling else value.median >= bound
        return "met" if kept else "**not met**"

    def bound(self, value: float | None) -> str:
        """How the bound is written."""
        return (
            "" if value is None else f"{'≤' if self.ceiling else '≥'} {number(value)} {self.unit}"
        )


def _ceiling(what: str, measure: str, must: float, unit: str, aim: float | None = None) -> Target:
    return Target(what, measure, must, aim, ceiling=True, unit=unit)


def _plain(label: str, method: str, must: float, aim: float | None = None) -> Target:
    what = f"{label} against a plain PyTorch loop, 5 seeds of Split CIFAR-10"
    return Target(what, f"{method}_vs_plain_10", must, aim)


def _stacked(label: str, method: str, must: float, aim: float | None = None) -> Target:
    """A method that draws: the pipeline trains its buffers in one stack as well."""
    what = f"{label} against a plain PyTorch loop, 5 seeds × 3 buffers of Split CIFAR-10 stacked"
    return Target(what, f"{method}_vs_plain_stacked_10", must, aim)


TARGETS = [
    Target("Features against the authors' way, EfficientNet-Lite0 at 128 px",
           "features_vs_authors_efficientnet_lite0", 5),
    Target("Features against the authors' way, ResNet18 at 224 px",
           "features_vs_authors_resnet18", 5),
    Target("… and with the passes their saliency takes, ResNet18",
           "features_vs_authors_saliency_resnet18", 5),
    Target("… and with the passes their saliency takes, EfficientNet-Lite0",
           "features_vs_authors_saliency_efficientnet_lite0", 5),
    Target("Features, share of the matmul peak, ResNet18",
           "features_percent_of_peak_resnet18", 65, 85, unit="%"),
    Target("Features, share of the matmul peak, EfficientNet-Lite0",
           "features_percent_of_peak_efficientnet_lite0", 65, 85, unit="%"),
    _ceiling("Peak memory of the features stage", "peak_mb_features", 2048, "MB"),
    _plain("ER, 10 replayed", "er", 15, 40),
    _plain("ER, whole memory", "er_full", 15, 40),
    *(_plain(label, method, 15) for label, method in
      (("DER++", "derpp"), ("A-GEM", "agem"), ("CLS-ER", "clser"))),
    _plain("GEM", "gem", 5), _plain("MER", "mer", 5),
    _stacked("ER, 10 replayed", "er", 15, 40),
    *(_stacked(label, method, 15) for label, method in
      (("DER++", "derpp"), ("A-GEM", "agem"), ("CLS-ER", "clser"))),
    Target("ER against Avalanche, 10 classes", "er_vs_avalanche_10", 35, 140),
    Target("ER against Avalanche, 100 classes", "er_vs_avalanche_100", 18, 35),
    Target("A-GEM against Avalanche, 10 classes", "agem_vs_avalanche_10", 40),
    Target("A-GEM against Avalanche, 100 classes", "agem_vs_avalanche_100", 40),
    Target("A-GEM against Avalanche, 10 classes, 5 seeds × 3 buffers stacked",
           "agem_vs_avalanche_stacked_10", 40),
    Target("ER against a framework's step (Mammoth's), 10 classes", "er_vs_framework_10", 25, 100),
    Target("ER against a framework's step (Mammoth's), 100 classes", "er_vs_framework_100", 10, 20),
    _ceiling("300 dense runs, 2 cores", "300_dense_runs_minutes", 10, "min"),
    _ceiling("450 runs that replay by draws, 2 cores", "450_sampled_runs_minutes", 5, "min", 1),
    _ceiling("540 runs, ER and GEM over the whole memory, 2 cores, without recall",
             "540_runs_minutes", 20, "min", 10),
    _ceiling("Suite demo, 2 cores, from its first to its last unit", "demo_minutes", 3, "min"),
    _ceiling("Suite offline, 2 cores, from its first to its last unit", "offline_minutes", 120,
             "min", 60),
    *(_ceiling(f"Growth with {axis}: largest exponent", f"growth_{axis}", 1.1, "")
      for axis in ("steps", "classes", "buffer", "seeds")),
    Target("BayesPCN write and read against direct, the same ten maps", "bayes_pcn_same_ten", 50),
    Target("BayesPCN write and read per map, ours on 1,000 maps, direct extrapolated",
           "bayes_pcn_per_map", 50),
    Target("BayesPCN read against direct, the same ten maps", "bayes_pcn_read_same_ten", 50, 200),
    Target("BayesPCN read per map, ours on 1,000 maps, direct extrapolated",
           "bayes_pcn_read_per_map", 50, 200),
    _ceiling("… its error over the direct way's, the same ten maps",
             "bayes_pcn_error_share", 1, ""),
    Target("BayesPCN write and read against direct, the same 1,000 maps", "bayes_pcn_all", 50),
    _ceiling("… its error over the direct way's, the same 1,000 maps",
             "bayes_pcn_all_error_share", 1, ""),
    _ceiling("… its peak memory", "bayes_pcn_peak_gb", 2, "GB"),
    *(_ceiling(f"SHARC run with {label}, multiple of dense, {name}",
               f"sharc_cost_{method}_{memory}_{case}", must, "×")
      for memory, label, must in (("modern_hopfield", "Hopfield", 3), ("bayes_pcn", "BayesPCN", 10))
      for method, case, name in (
          ("er", "512_1", "ER, 10 replayed, lone run"),
          ("er_full", "512_1", "ER, whole memory, lone run"),
          ("er_full", "512_5", "ER, whole memory, 5 runs stacked"),
          ("er_full", "1280_1", "ER, whole memory, lone run, 1280 channels"),
      )),
    Target("Stacked run equals the lone run, methods bit for bit of eight",
           "stacked_equals_lone", 8, unit=""),
    Target("… and within 0.1 % of it on CUDA", "stacked_close_on_cuda", 8, unit=""),
]  # fmt: skip


def table(measures: Mapping[str, Measure], told: Callable[[str], str]) -> Table:
    """All targets with what was measured; `told` says where a measure's time goes."""
    columns = ["target", "measured", "must", "", "aim", "", "where the time goes"]
    found = Table("Targets", columns)
    short = missed(measures)
    for target in TARGETS:
        value = measures.get(target.measure)
        must, aim = (
            "" if value is None else target.reached(bound, value)
            for bound in (target.must, target.aim)
        )
        why = told(target.measure) if value is None or target.measure in short else ""
        shown = "not measured" if value is None else f"{value} {target.unit}".strip()
        found.add(target.what, shown, target.bound(target.must).strip(), must,
                  target.bound(target.aim).strip(), aim, why)  # fmt: skip
    return found


def missed(measures: Mapping[str, Measure]) -> list[str]:
    """Measures that did not reach what they must, or what was aimed at."""
    return [
        t.measure
        for t in TARGETS
        if (value := measures.get(t.measure))
        and "not" in t.reached(t.must, value) + t.reached(t.aim, value)
    ]
