"""Words that would mean something only to the people who wrote this project are not in it."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "bench", "docs")
FILES = (
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "REPRODUCIBILITY.md",
    "Makefile", "Snakefile", "dvc.yaml", "params.yaml",
)  # fmt: skip
ENDINGS = {".py", ".md", ".yaml", ".j2", ".js", ".css", ".rst", ".txt", ".ipynb"}
PRIVATE = re.compile(  # also as a part of a name, such as `test_a_door_is_open`
    r"(?<![a-z])(doors?|told|settle[sd]?|shelf|shelves|shelved?|recollections?|yardsticks?|anew"
    r"|kept_as|made_at|climb(s|ed)?|mend(s|ed)?|dear(er|est)?|strangers?|ended well|recipes?"
    r"|famil(y|ies)|beside|steady_products|show_snakemake)(?![a-z])",
    re.IGNORECASE,
)
# A font's family is matplotlib's and CSS's own word.
ALLOWED = re.compile(r"font[.-]family|fontfamily", re.IGNORECASE)


def test_no_private_word_is_left():
    pages = [ROOT / name for name in FILES]
    for folder in FOLDERS:
        pages += [path for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {word[0]}"
        for path in pages
        if path != Path(__file__)
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        for word in PRIVATE.finditer(ALLOWED.sub("", line))
    ]
    assert not found
