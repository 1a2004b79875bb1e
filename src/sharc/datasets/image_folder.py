"""A folder of images: one folder per class, perhaps below train/ and test/ (or val/)."""

from pathlib import Path

from sharc.datasets.first_sight import files_below
from sharc.datasets.image_set import ImageSet, Item, require_classes
from sharc.errors import UserError

TRAIN, HELD_OUT = "train", ("test", "val")


class ImageFolder(ImageSet):
    """`datasets: {birds: {folder: path/to/images, tasks: 5}}`."""

    option = "folder"

    def items(self, root: Path) -> list[Item]:
        """The images of all class folders; an empty folder is a mistake worth a message."""
        return [
            Item(str(file), folder.name, split, file.read_bytes)
            for split, top in _tops(root)
            for folder in _class_folders(top)
            for file in _images(folder)
        ]


def class_names(root: Path) -> list[str]:
    """The names of the class folders: at least two, none of them empty."""
    if not root.is_dir():
        raise UserError(f"{root} does not exist: name the folder of your images.")
    folders = [folder for _, top in _tops(root) for folder in _class_folders(top)]
    names = sorted({folder.name for folder in folders if _images(folder)})
    require_classes(names, root)
    return names


def _tops(root: Path) -> list[tuple[str | None, Path]]:
    """What holds class folders, and which split it is: `root` itself, or train/ and test/."""
    held_out = next((root / name for name in HELD_OUT if (root / name).is_dir()), None)
    if not (root / TRAIN).is_dir():
        return [(None, root)]
    if held_out is None:
        return [(None, root / TRAIN)]
    return [("train", root / TRAIN), ("test", held_out)]


def _class_folders(top: Path) -> list[Path]:
    if not top.is_dir():
        raise UserError(f"{top} is not a folder: name the one that holds the class folders.")
    found = sorted(p for p in top.iterdir() if p.is_dir() and not p.name.startswith("."))
    if not found:
        raise UserError(f"{top} holds no class folders: put the images of each class into one.")
    return found


def _images(folder: Path) -> list[Path]:
    found = files_below(folder)
    if not found:
        raise UserError(f"the class folder {folder} is empty: add images to it or remove it.")
    return found
