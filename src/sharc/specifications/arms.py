"""The arms of a specification and the questions that pairs of them answer."""

SALIENCY, MEMORY = "protocols.paper.saliency", "sharc.memory"
# Values that take one of the paper's two ideas away: not SHARC as the paper means it.
CONTROLS = {SALIENCY: ("random",), MEMORY: ("none", "mean", "oracle", "pooled")}

PLAIN, SHARC, RANDOM, ZEROS = "plain", "sharc", "random", "zeros"
CONTRASTS = {"gain": (SHARC, PLAIN), "saliency": (SHARC, RANDOM), "recall": (SHARC, ZEROS)}
WHAT = {
    "gain": "SHARC's gain",
    "saliency": "gain of salient over random channels",
    "recall": "gain of recall over zeros",
}
