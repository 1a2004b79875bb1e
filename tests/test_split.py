"""Split: which class and which image belongs to which task."""

import json

import numpy as np
import pytest

from sharc.artifacts.files import write_json
from sharc.datasets.raw import Split, item_digests, write_split
from sharc.errors import UserError
from sharc.stages import split

PER_CLASS = 10


@pytest.fixture
def raw(tmp_path):
    """Six classes with ten training and two test images each."""
    for name, count in (("train", PER_CLASS), ("test", 2)):
        labels = np.repeat(np.arange(6), count)
        images = np.arange(len(labels), dtype=np.uint8)[:, None, None, None].repeat(3, 3)
        content = Split(images, labels)
        write_split(tmp_path / f"{name}.safetensors", content, item_digests(content))
    write_json(tmp_path / "meta.json", {"dataset": "toy", "classes": list("abcdef")})
    return tmp_path


def built(raw, **changes):
    settings = {"tasks": 3, "class_order": "ascending", "validation_share": 0.0} | changes
    split.build(raw, raw / "split.json", **settings)
    return json.loads((raw / "split.json").read_text())


def test_ascending_order_puts_two_neighbouring_classes_in_each_of_three_tasks(raw):
    content = built(raw)
    assert [task["classes"] for task in content["tasks"]] == [[0, 1], [2, 3], [4, 5]]
    assert content["tasks"][1]["train"] == list(range(20, 40))
    assert content["tasks"][1]["test"] == [4, 5, 6, 7]
    assert content["tasks"][1]["validation"] == []


def test_a_seeded_order_is_a_permutation_and_the_same_each_time(raw):
    first, again, other = (built(raw, class_order=seed) for seed in (1, 1, 2))
    assert first == again
    assert sorted(first["class_order"]) == list(range(6))
    assert first["class_order"] != other["class_order"]
    joined = [label for task in first["tasks"] for label in task["classes"]]
    assert joined == first["class_order"]


def test_validation_takes_a_fifth_of_every_class_and_nothing_twice(raw):
    for task in built(raw, validation_share=0.2)["tasks"]:
        assert not set(task["train"]) & set(task["validation"])
        assert len(task["train"]) + len(task["validation"]) == 2 * PER_CLASS
        labels = np.array(task["validation"]) // PER_CLASS
        assert np.bincount(labels)[task["classes"]].tolist() == [2, 2]


def test_the_same_images_are_held_out_whatever_the_class_order(raw):
    def held(order):
        tasks = built(raw, validation_share=0.3, class_order=order)["tasks"]
        return sorted(row for task in tasks for row in task["validation"])

    assert held("ascending") == held(5)


@pytest.mark.parametrize("tasks", [0, 4, 7])
def test_a_number_of_tasks_that_does_not_divide_is_refused_with_the_legal_ones(raw, tasks):
    with pytest.raises(UserError, match=f"tasks is {tasks}.*6 classes.*Legal: 1, 2, 3, 6"):
        built(raw, tasks=tasks)
    assert not (raw / "split.json").exists()


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_a_validation_share_that_leaves_one_side_empty_is_refused(raw, share):
    with pytest.raises(UserError, match="leaves both sides at least one image"):
        built(raw, validation_share=share)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_validation_share_outside_zero_to_one_is_refused(raw, share):
    with pytest.raises(UserError, match="at least 0 and below 1"):
        built(raw, validation_share=share)


@pytest.mark.parametrize("order", ["descending", True])
def test_an_unknown_class_order_is_refused(raw, order):
    with pytest.raises(UserError, match="class_order"):
        built(raw, class_order=order)


def test_a_part_takes_the_first_images_of_every_class_evenly(raw):
    content = built(raw, per_task={"train": 6, "test": None})
    assert content["tasks"][1]["train"] == [20, 21, 22, 30, 31, 32]
    assert content["tasks"][1]["test"] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("part", "key"),
    [("train", "train_images in"), ("test", "test_images in"), ("validation", "data.validation")],
)
def test_a_part_without_an_image_of_each_class_names_the_key_to_raise(raw, part, key):
    with pytest.raises(UserError, match=rf"1 {part} images of a task of 2 classes .*raise .*{key}"):
        built(raw, validation_share=0.4, per_task={part: 1})


def test_a_part_takes_validation_images_from_those_held_out(raw):
    whole = built(raw, validation_share=0.4)["tasks"][1]
    part = built(raw, validation_share=0.4, per_task={"train": 4, "validation": 4})["tasks"][1]
    assert len(whole["validation"]) == 8
    assert len(part["validation"]) == 4
    assert set(part["validation"]) < set(whole["validation"])
    assert set(part["train"]) < set(whole["train"])


def test_a_task_with_fewer_images_than_a_batch_is_refused_before_anything_is_written(raw):
    with pytest.raises(UserError, match="task 1 of toy has 20 training images") as error:
        built(raw, batch=21)
    assert "lower train.batch to at most 20" in str(error.value)
    assert not (raw / "split.json").exists()
