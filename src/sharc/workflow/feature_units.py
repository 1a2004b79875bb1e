"""Units that hold features: of all images, or of those that a stream shows, as it shows them."""

from pathlib import Path
from typing import Any

from sharc.config import Params
from sharc.registry import JOINT, module_of, passes
from sharc.workflow.units import Unit


def features_unit(params: Params, dataset: str) -> Unit:
    """The frozen backbone's, of the whole data set."""
    backbone = params.chosen.backbone
    folder = Path("outputs/features") / dataset / backbone
    return Unit(
        family="features",
        name=f"{dataset}/{backbone}",
        folder=folder,
        receipt=folder / "receipt.json",
        needs=(f"download:{dataset}",),
        params=_frozen(params),
        modules=("sharc.stages.features", module_of("backbone", backbone)),
    )


def _frozen(params: Params) -> dict[str, Any]:
    settings = params.features.model_dump(exclude={"batch", "device"})
    return settings | {"normalisation": params.switches.normalisation}


def streamed_unit(params: Params, dataset: str, methods: list[str], mark: str = "") -> Unit:
    """Of the images in one split; where BatchNorm trains along, each seed's stream has its own.

    `mark` names the split if it holds a part of the data set.
    """
    backbone, switches = params.chosen.backbone, params.switches
    look = f"@{switches.bn_mode}-{switches.normalisation}" if mark else ""
    folder = Path("outputs/streamed") / f"{dataset}{mark}" / f"{backbone}{look}"
    drifts = switches.bn_mode == "train"
    return Unit(
        family="streamed",
        name=f"{dataset}{mark}/{backbone}{look}",
        folder=folder,
        receipt=folder / "receipt.json",
        needs=(f"download:{dataset}", f"split:{dataset}{mark}"),
        params=_drifting(params, methods) if drifts else _frozen(params),
        modules=(
            "sharc.stages.drift" if drifts else "sharc.stages.features",
            module_of("backbone", backbone),
        ),
    )


def _drifting(params: Params, methods: list[str]) -> dict[str, Any]:
    return {
        "image_size": params.features.image_size,
        "views": params.features.views,
        "normalisation": params.switches.normalisation,
        "seeds": params.chosen.seeds,
        "batch": params.train.batch,
        "passes": sorted({passes(method) for method in methods}),
        "joint": JOINT in methods,
    }


def trained_on(params: Params, dataset: str) -> Unit:
    """The features that the suite's tables rest on."""
    if params.switches.bn_mode == "train":
        return streamed_unit(params, dataset, params.chosen.methods)
    return features_unit(params, dataset)
