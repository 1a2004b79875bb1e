"""The switches between the authors' code and the paper's text, in words for people."""

from typing import Any

ARROW = "\N{RIGHTWARDS ARROW}"
SWITCHES = {
    "read": "how the memory is read",
    "bn_mode": "BatchNorm statistics",
    "normalisation": "input normalisation",
    "budget_count": "what the budget counts",
    "buffer_rule": "which examples are kept",
    "saliency": "which channels are kept",
    "write_scope": "what is written",
    "recall_scope": "what is recalled",
    "recall": "when it is recalled",
    "stored": "what is stored",
    "forget": "when the memory forgets",
    "er_replay": "what ER replays",
    "mer_beta": "MER's β",
    "mer_gamma": "MER's γ",
    "clser_head": "CLS-ER's evaluated head",
}
_VALUES = {
    "read": {"joint_adam": "joint Adam steps", "collapsed": "exact minimum"},
    "bn_mode": {"train": "of each batch, drifting", "eval": "frozen"},
    "normalisation": {
        "dataset": "the data set's",
        "own": "the backbone's",
        "imagenet": "ImageNet's",
    },
    "budget_count": {"nonzero": "non-zero entries", "kept": "kept channels"},
    "buffer_rule": {"batch_prefix": "prefixes of batches", "last": "the last"},
    "saliency": {"relu_ge": "max(α, 0) ≥ Q", "abs_gt": "|α| > Q"},
    "write_scope": {"last_batches": "last batches", "stored": "stored items"},
    "recall_scope": {"last_batches": "last batches", "all": "all stored items"},
    "recall": {"at_store": "when stored", "task_start": "at each task's start"},
    "stored": {"recalled": "recalled dense map", "masked": "kept channels"},
    "forget": {"write": "before every write", "task": "once per task"},
    "er_replay": {"sampled": "a sampled batch", "full": "the whole memory"},
    "clser_head": {"working": "working", "stable": "stable", "plastic": "plastic"},
}


def switch(name: str) -> str:
    """The switch as a short phrase; an unknown one keeps its own name."""
    return SWITCHES.get(name, name)


def value(name: str, setting: Any) -> str:
    """A switch's setting in words; an unknown one, or a number, as it is."""
    text = f"{setting:g}" if isinstance(setting, float) else str(setting)
    return _VALUES.get(name, {}).get(text, text)


def change(name: str, before: Any, after: Any) -> str:
    """`joint Adam steps → exact minimum`."""
    return f"{value(name, before)} {ARROW} {value(name, after)}"
