"""`sharc validate`: what a build would refuse, found before it begins."""

from pathlib import Path

from sharc.config import Params, load_params
from sharc.config.load import overridden
from sharc.datasets.first_sight import FOLDER
from sharc.errors import UserError
from sharc.external.table import check_external
from sharc.grid import cells
from sharc.options.base import parsed
from sharc.registry import is_added, load


def validate_params(suite: str | None) -> None:
    """Check params.yaml and all that it names; say what the chosen suite would build."""
    params = load_params(suite=suite)
    check_external(params.external)
    _check_options(params)
    for name in params.chosen.datasets:
        _check_images(params, name)
    members = cells(params)
    print(
        f"params.yaml is valid. Suite {params.suite!r}: {len(members)} cells x "
        f"{len(params.chosen.seeds)} seeds = {len(members) * len(params.chosen.seeds)} runs on "
        f"{', '.join(params.chosen.datasets)}."
    )
    for line in without_effect(params):
        print(line)


def without_effect(params: Params) -> list[str]:
    """A line for each value of the blocks that the suite's `set` overrides."""
    return [
        f"{key}: suite {params.suite} sets {value}, so {base} has no effect"
        for key, (value, base) in overridden(params).items()
    ]


def _check_options(params: Params) -> None:
    """The options of the user's own classes, which only the classes know."""
    for block, kind in (("methods", "method"), ("memories", "memory")):
        for name, options in (getattr(params, block).model_extra or {}).items():
            if is_added(kind, name):
                parsed(load(kind, name).Options, options, f"{block}.{name}")


def _check_images(params: Params, name: str) -> None:
    """That a user's images are there, and that their classes divide into the tasks."""
    block = params.datasets[name]
    if block.images is None:
        return
    if not block.images.exists():
        kept = (FOLDER / f"{name}.json", Path("data/raw") / name / "meta.json")
        if not any(path.is_file() for path in kept):
            raise UserError(
                f"datasets.{name}: {block.images} does not exist: write where your images are."
            )
        print(f"datasets.{name}: {block.images} is not here: only what is built can be used.")
        return
    if block.images.is_dir() and block.folder:
        from sharc.datasets.image_folder import class_names  # it imports NumPy and Pillow

        classes = len(block.classes or class_names(block.images))
        if classes % block.tasks:
            legal = [str(n) for n in range(1, classes + 1) if classes % n == 0]
            raise UserError(
                f"datasets.{name}.tasks is {block.tasks}, but {classes} classes do not divide into "
                f"that many tasks. Legal: {', '.join(legal)}."
            )
