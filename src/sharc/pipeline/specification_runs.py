"""What the arms of all specifications need: splits, features, and each distinct run once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sharc.artifacts.files import digest_of
from sharc.artifacts.runs import DENSE
from sharc.config import Params
from sharc.config.specifications import Select, SpecificationsBlock
from sharc.pipeline.features import seen_settings
from sharc.pipeline.options import train_settings
from sharc.specifications.plan import Arm, Plan, plan


@dataclass(frozen=True)
class StreamSpec:
    """The task stream an arm is trained on: a split of a data set, and features of its images."""

    dataset: str
    params: Params  # under the specification
    block: SpecificationsBlock

    @property
    def split_settings(self) -> dict[str, Any]:
        """How classes and images are assigned to tasks."""
        block, tasks = self.block, self.params.datasets[self.dataset].tasks
        share = self.params.data.validation_share
        sizes = {
            "train": block.train_images,
            "validation": block.train_images and round(block.train_images * share),
            "test": block.test_images,
        }
        return {
            "tasks": tasks,
            "class_order": self.params.data.class_order,
            "validation_share": share,
            "per_task": {part: size and max(size // tasks, 1) for part, size in sizes.items()},
        }

    @property
    def split(self) -> str:
        """Name of the job that makes the split."""
        return _named(self.dataset, self.split_settings)

    @property
    def splits(self) -> dict[str, dict[str, Any]]:
        """Settings of the splits that are needed, by name: the stream's, and its features'."""
        return {self.split: self.split_settings, self._features_split: self._images}

    @property
    def features(self) -> str:
        """Name of the job that makes the features."""
        return f"{self._features_split}/{self._look}"

    @property
    def name(self) -> str:
        """Split and features."""
        return f"{self.split}/{self._look}"

    @property
    def _features_split(self) -> str:
        return _named(self.dataset, self._images)

    @property
    def _images(self) -> dict[str, Any]:
        """A split of the same images, for all orders of the classes if these make no difference."""
        in_order = self.params.switches.bn_mode == "train"
        return self.split_settings | ({} if in_order else {"class_order": "ascending"})

    @property
    def _look(self) -> str:
        """Backbone, and all else the features depend on except the images."""
        seen = {k: v for k, v in seen_settings(self.params).items() if k != "seeds"}
        return _named(self.params.chosen.backbone, seen)


def _named(what: str, settings: dict[str, Any]) -> str:
    return f"{what}@{digest_of(settings)[:8]}"


@dataclass(frozen=True)
class DistinctRun:
    """One run apart from its seed, which several specifications may share."""

    stream: StreamSpec
    settings: dict[str, Any]

    @property
    def id(self) -> str:
        """A digest of all that the run depends on."""
        return digest_of([self.stream.name, self.settings])[:12]


def run_of(arm: Arm, block: SpecificationsBlock, select: Select | None) -> DistinctRun:
    """The run that an arm needs."""
    from sharc.trainer.selection import candidates

    memory = arm.cell.variant.memory or DENSE
    made = train_settings(arm.params, arm.cell.method, memory, [arm.cell])
    (cell,) = made["cells"]
    chosen = {name: getattr(select, name) for name in arm.selects}
    if "theta" in chosen:
        cell |= {"variant": f"{memory}-selected"}
    settings = {
        "method": arm.cell.method,
        "memory": memory,
        "options": made["options"],
        "cell": cell,
        "among": candidates(chosen) if chosen else [],
    }
    return DistinctRun(StreamSpec(arm.cell.dataset, arm.params, block), settings)


def runs_of_arms(params: Params, made: Plan) -> Iterator[tuple[str, Arm, DistinctRun]]:
    """Specification, arm and run, for every arm of every specification."""
    block, select = params.chosen.specifications, params.chosen.select
    if block is None:
        return
    for spec, arms in made.arms.items():
        for arm in arms:
            yield spec, arm, run_of(arm, block, select)


def distinct(params: Params) -> dict[str, DistinctRun]:
    """Every run of the suite once, by its id; none without specifications."""
    if params.chosen.specifications is None:
        return {}
    return {run.id: run for _, _, run in runs_of_arms(params, plan(params))}


def stream_specs(params: Params) -> dict[str, StreamSpec]:
    """Every stream that some run is trained on, by its name."""
    return {run.stream.name: run.stream for run in distinct(params).values()}


def layout(params: Params) -> Mapping[str, Any]:
    """The design as plain values, for the stage that analyses the runs."""
    made = plan(params)
    sample = {spec.id for spec in made.design.sample}
    return {
        "suite": params.suite,
        "fixed": {
            "dataset": params.chosen.datasets[0],
            "method": params.chosen.methods[0],
            "buffer": params.chosen.buffers[0],
        },
        "factors": [
            {"name": f.name, "key": f.key, "values": list(f.values), "why": f.why}
            for f in made.factors
        ],
        "specifications": [
            {"choices": dict(spec.choices), "sample": spec.id in sample} for spec in made.design.all
        ],
        "arms": [
            {"specification": spec, "arm": arm.name, "run": run.id}
            for spec, arm, run in runs_of_arms(params, made)
        ],
        "illegal": [
            {"choices": dict(spec.choices), "why": why} for spec, why in made.design.illegal
        ],
    }
