"""Stage features: data/raw -> outputs/features, the maps of a frozen backbone."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sharc.artifacts.files import sha256_of
from sharc.backbones.made import ADDED, make_backbone
from sharc.config import Params
from sharc.errors import UserError
from sharc.pipeline.download import Download
from sharc.registry import JOINT, passes
from sharc.workflow.graph import Graph
from sharc.workflow.resume import start_over
from sharc.workflow.stage import Build, Job, Result, files_in


@dataclass(frozen=True, eq=False)
class FeatureJob(Job):
    """A job that computes features with one backbone."""

    main = "meta.json"

    backbone: str

    @property
    def classes(self) -> tuple[tuple[str, str], ...]:
        return (("backbone", self.backbone),)

    def extract(self, build: Build, raw: Path, **options: Any) -> Result:
        """The maps of the frozen backbone."""
        from sharc.stages import features

        start_over(self, build)
        backbone, settings = make_backbone(self.backbone, self.settings)
        features.build(
            raw,
            self.folder,
            backbone,
            **settings,
            **options,
            batch=build.params.features.batch,
            device=build.params.features.device,
            threads=build.threads,
        )
        return Result(files_in(self.folder))


@dataclass(frozen=True, eq=False)
class Features(FeatureJob):
    """All images of a data set, as the tables' runs are trained on them."""

    stage = "features"
    resources = "features"
    origins = {"": "features"}

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        params = graph.params
        if params.switches.bn_mode == "train":
            return  # the stage `streamed` has them, one stream per seed
        backbone = params.chosen.backbone
        for dataset in params.chosen.datasets:
            needs = (graph.one(Download, dataset),)
            yield cls(f"{dataset}/{backbone}", frozen_settings(params), needs, backbone)

    def run(self, build: Build) -> Result:
        (raw,) = self.needs
        return self.extract(build, raw.folder)


def frozen_settings(params: Params) -> dict[str, Any]:
    """What the features of a frozen backbone depend on."""
    settings = params.features.model_dump(exclude={"batch", "device"})
    settings |= {"normalisation": params.switches.normalisation}
    return settings | _added_settings(params)


def seen_settings(params: Params, methods: list[str] | None = None) -> dict[str, Any]:
    """What features depend on; those of a backbone that drifts also on the runs' batches.

    `methods`: those trained on them, the suite's if none are named.
    """
    if params.switches.bn_mode == "eval":
        return frozen_settings(params)
    trained = methods or params.chosen.methods
    return {
        "image_size": params.features.image_size,
        "views": params.features.views,
        "normalisation": params.switches.normalisation,
        "seeds": params.chosen.seeds,
        "batch": params.train.batch,
        "passes": sorted({passes(method) for method in trained}),
        "joint": JOINT in trained,
    } | _added_settings(params)


def _added_settings(params: Params) -> dict[str, Any]:
    """What features depend on besides a class: the architecture, and the weights' content."""
    given = params.backbones.get(params.chosen.backbone)
    if given is None or given.library is None:
        return {}
    path = Path(str(given.weights))
    if not path.is_file():
        raise UserError(
            f"params.yaml: backbones.{params.chosen.backbone}.weights: {path} does not exist: "
            "write where your weights are."
        )
    architecture = getattr(given, given.library)
    weights = {"path": str(path), "sha256": sha256_of(path)}
    return {ADDED: {"library": given.library, "architecture": architecture, "weights": weights}}
