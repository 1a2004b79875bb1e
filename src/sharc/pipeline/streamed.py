"""Stage streamed: data/raw and a split -> outputs/streamed, features of the images in that split.

If BatchNorm is in training mode (`bn_mode: train`), the features differ between seeds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

from sharc.backbones.made import make_backbone
from sharc.config import Params
from sharc.ladder import rungs
from sharc.pipeline.download import Download
from sharc.pipeline.features import FeatureJob, seen_settings
from sharc.pipeline.specification_runs import stream_specs
from sharc.pipeline.split import PART, Split
from sharc.workflow.graph import Graph
from sharc.workflow.resume import start_over
from sharc.workflow.stage import Build, Result, files_in


@dataclass(frozen=True, eq=False)
class Streamed(FeatureJob):
    """The images of one split, seen by a frozen backbone or by one whose BatchNorm drifts."""

    stage = "streamed"
    resources = "train"
    origins = {"batch": "train", "seeds": "suites.{suite}.seeds", "": "features"}

    dataset: str
    drifts: bool

    @classmethod
    def jobs(cls, graph: Graph) -> Iterator[Self]:
        params = graph.params
        if params.switches.bn_mode == "train":
            for dataset in params.chosen.datasets:
                yield cls._of(graph, params, dataset, dataset, params.chosen.backbone)
        if ladder := params.chosen.ladder:
            for dataset in ladder.datasets:
                names = {backbone_part(rung.params): rung.params for rung in rungs(params, ladder)}
                for look, under in names.items():
                    yield cls._of(graph, under, dataset, f"{dataset}{PART}", look, ladder.methods)
        streams = {stream.features: stream for stream in stream_specs(params).values()}
        for name, stream in streams.items():
            split, look = name.split("/")
            yield cls._of(graph, stream.params, stream.dataset, split, look)

    @classmethod
    def _of(
        cls,
        graph: Graph,
        params: Params,
        dataset: str,
        split: str,
        look: str,
        methods: list[str] | None = None,
    ) -> Self:
        drifts = params.switches.bn_mode == "train"
        settings = seen_settings(params, methods)
        needs = (graph.one(Download, dataset), graph.one(Split, split))
        return cls(f"{split}/{look}", settings, needs, params.chosen.backbone, dataset, drifts)

    def run(self, build: Build) -> Result:
        raw, split = self.needs
        if not self.drifts:
            return self.extract(build, raw.folder, split=split.target)
        from sharc.stages import drift

        start_over(self, build)
        backbone, settings = make_backbone(self.backbone, self.settings)
        device = build.params.features.device
        drift.build(raw.folder, split.target, self.folder, backbone, **settings, device=device)
        return Result(files_in(self.folder))


def backbone_part(params: Params) -> str:
    """The last part of a folder's name on the ladder: the backbone, and how it is used."""
    switches = params.switches
    return f"{params.chosen.backbone}@{switches.bn_mode}-{switches.normalisation}"
