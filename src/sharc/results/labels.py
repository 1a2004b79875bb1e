"""Labels of methods, memories, data sets and scenarios in tables, figures and report."""

from collections.abc import Iterable

from sharc.looks import Shown, look

METHODS = Shown("method", "label")
DATASETS = Shown("dataset", "label")
MEMORIES = Shown("memory", "label")
SCENARIOS = {"task_il": "Task-IL", "class_il": "Class-IL"}

# The tables' third column is titled S-Mini-ImgNet, but by its JOINT rows (ACC - BWT is the chance
# level 1/20) it is Tiny-ImageNet in 10 tasks of 20 classes; both data sets are compared with it.
PAPER_COLUMN = {
    "cifar10": "cifar10",
    "cifar100": "cifar100",
    "mini_imagenet": "mini_imagenet",
    "tiny_imagenet": "mini_imagenet",
}
THIRD_COLUMN_NOTE = (
    "The paper's third column is titled S-Mini-ImgNet, but its JOINT rows have ACC - BWT = 4.93 in "
    "Task-IL, the chance level of 20 classes per task: by arithmetic it is Tiny-ImageNet in 10 "
    "tasks of 20 classes, not mini-ImageNet in 20 tasks of 5. Read that comparison with care."
)

NAIVE = ("joint", "sgd")
REPLAY = ("gem", "agem", "er", "mer", "derpp", "clser")  # the paper's, in the order of its rows
PAPER_BUFFERS = (200, 500, 1000)
REHEARSAL = "digits"  # not the paper's, but what the paper's claims are rehearsed on
MINUS = "\N{MINUS SIGN}"
DAGGER = "\N{DAGGER}"  # behind what was not computed here
PLUS = "\N{SUPERSCRIPT PLUS SIGN}"  # DER++ with SHARC is DER++⁺, not DER+++


def method(name: str) -> str:
    """The method as the paper writes it; an unknown one keeps its own name."""
    return look("method", name).label


def dataset(name: str) -> str:
    """The data set as the paper's table heads write it."""
    return look("dataset", name).label


def memory(name: str) -> str:
    """The associative memory in words."""
    return look("memory", name).label


def scenario(name: str) -> str:
    """Task-IL or Class-IL."""
    return SCENARIOS.get(name, name)


def variant(memory_name: str, theta: float) -> str:
    """The path segment of a SHARC variant, `bayes_pcn-t0.8`."""
    return f"{memory_name}-t{theta:g}"


def signed(value: float, digits: int = 2) -> str:
    """A difference with its sign, typographic minus: `+1.20`, `−0.30`."""
    rounded = round(value, digits) + 0.0  # no negative zero
    return f"{rounded:+.{digits}f}".replace("-", MINUS)


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
