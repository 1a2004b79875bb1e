"""README and docs/specifications.md say what the committed specifications say."""

import shutil

import published
import pytest
from docs import answer

from sharc.artifacts.files import write_json
from sharc.config import load_params
from sharc.pipeline.specification_runs import distinct

INDEX = {
    "answer": ["SHARC helps in 7 of 9.", "It hurts in none of them.", "Saliency is a reason."],
    "claims": [
        {
            "id": "class-il-most", "says": "SHARC improves most cases.", "median": -0.25,
            "counts": {"reproduced": 7, "not reproduced": 0, "undecided": 2}, "text": "",
        },
        {"id": "smaller-buffer", "says": "Smaller is better.", "text": "Undecided by +0.1 points."},
    ],
    "counts": {"kept": 10, "kept_missing": 1, "sample": 20},
    "factors": [{"name": "data set"}, {"name": "method"}],
    "figures": [{"caption": "Each point is one specification."}],
    "flips": ["Class-IL: nothing flips."],
    "power": ["Class-IL: 5 seeds detect 2.0 points."],
}  # fmt: skip


@pytest.mark.parametrize("name", answer.PAGES)
def test_a_page_says_what_the_committed_results_say(name):
    made = answer.filled(name, answer.ROOT / "results")
    assert made == (answer.ROOT / name).read_text(), "make it with `python -m docs.answer`"


def test_the_readme_has_the_three_sentences_and_whose_they_are(tmp_path):
    write_json(tmp_path / "specifications/index.json", INDEX)
    (tmp_path / "specifications/specifications.csv").write_text(
        "specification,sample,data set,method\n"
        "1,True,cifar10,er\n2,True,cifar100,er\n3,False,cifar10,gem\n"
    )
    text = answer.filled("README.md", tmp_path)
    assert " ".join(INDEX["answer"]) in text
    said = " ".join(text.split())
    assert "We drew 20 combinations of 1 such choices at random" in said  # a method is varied alone
    assert "; these are the 9 that keep both of the paper's ideas. One more diverged and" in said
    assert text.count(answer.BEGIN) == text.count(answer.END) == 1
    shutil.rmtree(tmp_path / "specifications")
    assert INDEX["answer"][0] not in answer.filled("README.md", tmp_path)


def test_the_page_counts_each_sentence_of_the_paper_and_lists_what_seeds_decide(tmp_path):
    write_json(tmp_path / "specifications/index.json", INDEX)
    power = tmp_path / "power"
    write_json(power / "index.json", INDEX)
    (power / "specifications.csv").write_text(
        "specification,sample,data set,method\n12e45678,True,cifar100,agem\n"
    )
    (power / "power.csv").write_text(
        "contrast,scenario,specification,gain,sd,n,detects_5,detects_20,verdict_5,verdict_20\n"
        "gain,class_il,12e45678,-1.25,1,20,1.68,0.66,undecided,down\n"
    )
    text = answer.page(tmp_path)
    assert "| SHARC improves most cases. | 7 | 0 | 2 | −0.2 |" in text
    assert "- Smaller is better. Undecided by +0.1 points." in text
    row = "| Class-IL | S-CIFAR-100 | A-GEM | −1.25 | 1.7 | 0.7 | undecided | down |"
    assert row in text


def test_the_page_says_how_large_the_suite_is():
    params = load_params(answer.ROOT / "params.yaml", "specifications")
    block, found = params.chosen.specifications, distinct(params).values()
    kinds = {run.stream.features for run in found}
    assert (
        f"{block.train_images:,} training and {block.test_images:,} test images, evenly over the "
        f"classes, because {len(kinds)} kinds of features are needed, for {len(found)} different "
    ) in published.page("docs/specifications.md")
    varied = sum(not factor.alone for factor in block.factors.values())
    assert f"**A sample** of {block.sample} random combinations of {varied} factors" in (
        published.page("docs/specifications.md")
    )
