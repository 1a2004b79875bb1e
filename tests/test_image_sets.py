"""A user's own images: read whatever they are, split as asked, recorded, refused with a reason."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from sharc import looks, registry
from sharc.artifacts.files import read_json
from sharc.config import load_params
from sharc.config.datasets import Dataset
from sharc.datasets.first_sight import content_of
from sharc.datasets.image_folder import ImageFolder
from sharc.datasets.image_parquet import ImageParquet
from sharc.datasets.raw import RawData
from sharc.errors import UserError
from sharc.stages import download

PARAMS = Path(__file__).parent.parent / "params.yaml"


def image(
    seed: int, size: tuple[int, int] = (12, 9), mode: str = "RGB", kind: str = "PNG"
) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 4), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels, "RGBA").convert(mode).save(file, kind)
    return file.getvalue()


def put(folder: Path, *contents: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(contents):
        (folder / f"{number}.png").write_bytes(content)


@pytest.fixture
def birds(tmp_path: Path) -> Path:
    """Two classes of five images each."""
    for at, name in enumerate(("wren", "robin")):
        put(tmp_path / "birds" / name, *(image(10 * at + n) for n in range(5)))
    return tmp_path / "birds"


def built(root: Path, kind: type = ImageFolder, **options: object) -> tuple[RawData, list[str]]:
    key = kind.option
    block = Dataset.model_validate({"tasks": 1, "side": 8, key: str(root)} | options)
    project = root.parent / "project"
    remarks = download.build(
        kind("birds"), project / "data/raw/birds", sources=[key], mirror=None, options=block.reading
    )
    return RawData(project / "data/raw/birds"), remarks


def refused(root: Path, kind: type = ImageFolder, **options: object) -> str:
    with pytest.raises(UserError) as error:
        built(root, kind, **options)
    assert not (root.parent / "project/data/raw/birds/meta.json").exists()
    assert str(error.value).startswith("datasets.birds: ")
    return str(error.value)


def test_class_folders_become_squares_and_a_fifth_of_each_class_is_the_test(birds: Path):
    raw, remarks = built(birds)
    assert raw.meta["classes"] == ["robin", "wren"]
    assert raw.images("train").shape == (8, 8, 8, 3)
    assert np.bincount(raw.labels("train")).tolist() == [4, 4]
    assert np.bincount(raw.labels("test")).tolist() == [1, 1]
    pixels = raw.images("train").reshape(-1, 3) / 255
    np.testing.assert_allclose(raw.meta["mean"], pixels.mean(0), atol=1e-4)
    np.testing.assert_allclose(raw.meta["std"], pixels.std(0), atol=1e-4)
    assert any("10 of 10 images were cropped and scaled to 8×8" in said for said in remarks)


def test_the_drawn_test_depends_on_the_seed_and_not_on_the_files_names(birds: Path):
    first = built(birds)[0].meta["splits"]["test"]["digest"]
    other = built(birds, test_seed=1)[0].meta["splits"]["test"]["digest"]
    assert first != other
    for number, path in enumerate(sorted(birds.rglob("*.png"), reverse=True)):
        path.rename(path.with_name(f"renamed{number}.png"))
    (birds.parent / "project/data/digests/birds.json").unlink()  # names are part of the record
    assert built(birds)[0].meta["splits"]["test"]["digest"] == first


def test_train_and_test_folders_are_taken_as_they_are(tmp_path: Path):
    root = tmp_path / "images"
    for at, name in enumerate(("a", "b")):
        put(root / "train" / name, *(image(10 * at + n) for n in range(3)))
        put(root / "val" / name, image(10 * at + 9))
    raw, _ = built(root)
    assert np.bincount(raw.labels("train")).tolist() == [3, 3]
    assert np.bincount(raw.labels("test")).tolist() == [1, 1]


def test_order_and_names_of_the_classes_are_options(birds: Path):
    assert built(birds, classes=["wren", "robin"])[0].meta["classes"] == ["wren", "robin"]
    named, _ = built(birds, classes={"wren": "Eurasian wren", "robin": "European robin"})
    assert named.meta["classes"] == ["Eurasian wren", "European robin"]


def test_any_mode_becomes_rgb_and_it_is_said_once(tmp_path: Path):
    root = tmp_path / "images"
    modes = ("L", "P", "RGBA", "CMYK", "1", "LA")
    kinds = ("PNG", "PNG", "PNG", "TIFF", "PNG", "PNG")
    put(
        root / "a",
        *(image(n, mode=m, kind=k) for n, (m, k) in enumerate(zip(modes, kinds, strict=True))),
    )
    put(root / "b", image(20), image(21))
    _, remarks = built(root)
    said = [remark for remark in remarks if "converted to RGB" in remark]
    assert said == ["6 of 8 images were converted to RGB (1 1, 1 CMYK, 1 L, 1 LA, 1 P, 1 RGBA)"]


def test_sixteen_bits_are_scaled_and_transparency_is_white(tmp_path: Path):
    root = tmp_path / "images"
    (root / "deep").mkdir(parents=True)
    deep = np.full((8, 8), 128 * 257, dtype=np.uint16)
    Image.fromarray(deep).save(root / "deep/a.png")
    Image.fromarray(deep + 1).save(root / "deep/b.png")
    (root / "clear").mkdir()
    for name in "ab":
        Image.new("RGBA", (8, 8), (0, 0, ord(name), 0)).save(root / f"clear/{name}.png")
    raw, _ = built(root)
    assert raw.meta["classes"] == ["clear", "deep"]
    assert {
        int(i.min()) for i, y in zip(raw.images("train"), raw.labels("train"), strict=True) if y
    } == {128}
    assert {
        int(i.min()) for i, y in zip(raw.images("train"), raw.labels("train"), strict=True) if not y
    } == {255}


def test_a_turned_photograph_is_turned_back(tmp_path: Path):
    pixels = np.zeros((8, 8, 3), np.uint8)
    pixels[:4] = 255  # white above
    for number in range(2):
        for name in "ab":
            picture = Image.fromarray(pixels)
            exif = picture.getexif()
            exif[0x0112] = 3  # upside down
            (tmp_path / "i" / name).mkdir(parents=True, exist_ok=True)
            picture.save(tmp_path / f"i/{name}/{number}.png", exif=exif)
    raw, _ = built(tmp_path / "i")
    assert raw.images("train")[0, 0].max() == 0
    assert raw.images("train")[0, -1].min() == 255


def test_the_digest_is_recorded_at_first_sight_and_checked_ever_after(birds: Path):
    _, remarks = built(birds)
    record = birds.parent / "project/data/digests/birds.json"
    assert any(f"its digest was written to {record}; commit that file" in r for r in remarks)
    assert {name: part["files"] for name, part in read_json(record).items()} == {
        "robin": 5,
        "wren": 5,
    }
    _, again = built(birds)
    assert not any("digest" in remark for remark in again)
    (birds / "robin/0.png").write_bytes(image(99))
    (birds / "wren/5.png").write_bytes(image(98))
    with pytest.raises(UserError, match=r"delete .*birds\.json and build again") as error:
        built(birds)
    assert "robin 5 files before, 5 files now with other content" in str(error.value)
    assert "wren 5 files before, 6 files now" in str(error.value)


def test_other_options_are_no_other_images(birds: Path):
    built(birds)
    raw, _ = built(birds, test_share=0.4, classes=["wren", "robin"])
    assert np.bincount(raw.labels("test")).tolist() == [2, 2]


def test_a_clone_without_the_images_goes_by_the_record(birds: Path, tmp_path: Path, monkeypatch):
    built(birds)
    monkeypatch.chdir(birds.parent / "project")
    here = content_of("birds", birds)
    birds.rename(tmp_path / "elsewhere")
    assert content_of("birds", birds) == here
    with pytest.raises(UserError, match=r"datasets.fish: .* does not exist"):
        content_of("fish", birds)


def test_the_same_image_in_train_and_test_is_counted(tmp_path: Path):
    root = tmp_path / "images"
    for at, name in enumerate("ab"):
        put(root / "train" / name, image(at), image(5 + at))
        put(root / "test" / name, image(at), image(8 + at))
    _, remarks = built(root)
    assert any("2 of 4 test images are training images of the same class" in r for r in remarks)


def test_what_file_managers_leave_behind_is_no_image_and_no_class(birds: Path):
    (birds / "wren/.DS_Store").write_bytes(b"x")
    (birds / "wren/Thumbs.db").write_bytes(b"x")
    (birds / ".cache").mkdir()
    assert built(birds)[0].meta["classes"] == ["robin", "wren"]


def test_an_empty_class_folder_is_named(birds: Path):
    (birds / "crow").mkdir()
    assert f"the class folder {birds / 'crow'} is empty" in refused(birds)


def test_one_class_is_too_few(tmp_path: Path):
    put(tmp_path / "i/only", image(0), image(1))
    assert "holds 1 class, 'only': continual learning needs at least two" in refused(tmp_path / "i")


def test_a_class_of_one_image_has_nothing_left_to_train_on(birds: Path):
    put(birds / "crow", image(50))
    assert "class 'crow' has no training image" in refused(birds)


def test_a_file_that_is_no_image_is_named(birds: Path):
    (birds / "wren/notes.txt").write_text("seen in May")
    assert f"{birds / 'wren/notes.txt'} is not an image: replace or remove it." in refused(birds)


def test_a_cut_image_is_named(birds: Path):
    (birds / "wren/0.png").write_bytes(image(0)[:60])
    assert f"{birds / 'wren/0.png'} is not an image that can be read" in refused(birds)


def test_a_folder_without_class_folders_is_refused(tmp_path: Path):
    put(tmp_path / "i", image(0))
    assert "holds no class folders" in refused(tmp_path / "i")


def test_an_unknown_class_names_its_neighbour(birds: Path):
    assert "unknown class 'wrn'. Did you mean 'wren'?" in refused(birds, classes=["wrn", "robin"])


def table(path: Path, rows: list[tuple[bytes, int]], names: list[str] | None = None) -> None:
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    made = arrow.table(
        {"image": [{"bytes": b, "path": None} for b, _ in rows], "label": [y for _, y in rows]}
    )
    if names:
        features = {"image": {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": names}}
        made = made.replace_schema_metadata(
            {"huggingface": json.dumps({"info": {"features": features}})}
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(made, path)


def test_parquet_files_of_the_hub_are_read_with_their_class_names(tmp_path: Path):
    root = tmp_path / "hub"
    names = ["wren", "robin"]
    table(root / "train-00000-of-00001.parquet", [(image(n), n % 2) for n in range(6)], names)
    table(root / "test-00000-of-00001.parquet", [(image(9 + n), n) for n in range(2)], names)
    raw, _ = built(root, ImageParquet, classes=["wren", "robin"])
    assert raw.meta["classes"] == ["wren", "robin"]
    assert np.bincount(raw.labels("train")).tolist() == [3, 3]
    assert np.bincount(raw.labels("test")).tolist() == [1, 1]


def test_a_single_parquet_file_has_its_test_drawn_and_labels_in_the_order_of_numbers(
    tmp_path: Path,
):
    table(tmp_path / "all.parquet", [(image(n), n // 3) for n in range(36)])
    raw, _ = built(tmp_path / "all.parquet", ImageParquet)
    assert raw.meta["classes"] == [str(n) for n in range(12)]
    assert np.bincount(raw.labels("test")).tolist() == [1] * 12


def test_a_table_without_images_says_which_columns_it_has(tmp_path: Path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table({"text": ["a"], "label": [0]}), tmp_path / "t.parquet")
    message = refused(tmp_path / "t.parquet", ImageParquet)
    assert "has no column image or img, only text, label" in message


def params_with(tmp_path: Path, block: object) -> Path:
    raw = yaml.safe_load(PARAMS.read_text())
    raw["datasets"]["birds"] = block
    raw["suites"]["demo"]["datasets"].append("birds")
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(raw))
    return tmp_path / "params.yaml"


@pytest.fixture(autouse=True)
def _nothing_added_afterwards():
    yield
    registry.adopt({})
    looks.adopt({})


def test_one_line_of_params_yaml_registers_the_images(birds: Path):
    params = load_params(
        params_with(birds.parent, {"folder": "birds", "tasks": 2, "label": "S-Birds"})
    )
    assert registry.load("dataset", "birds") is ImageFolder
    assert looks.look("dataset", "birds").label == "S-Birds"
    assert params.datasets["birds"].images == birds


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"folder": "x", "tasks": 2, "test_share": 1.5}, "datasets.birds.test_share"),
        ({"folder": "x", "tasks": 2, "sdie": 8}, "Did you mean 'side'?"),
        ({"folder": "x", "parquet": "y", "tasks": 2}, "give a folder or parquet, not both"),
        ({"folder": 3, "tasks": 2}, "datasets.birds.folder"),
        ({"tasks": 2}, "unknown dataset 'birds'"),
    ],
)
def test_a_wrong_line_is_one_message(tmp_path: Path, block: object, said: str):
    with pytest.raises(UserError) as error:
        load_params(params_with(tmp_path, block))
    assert said in str(error.value)
