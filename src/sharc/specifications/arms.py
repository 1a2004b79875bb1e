"""The arms of a specification and the questions that pairs of them answer."""

PLAIN, SHARC, RANDOM, ZEROS = "plain", "sharc", "random", "zeros"
CONTRASTS = {"gain": (SHARC, PLAIN), "saliency": (SHARC, RANDOM), "recall": (SHARC, ZEROS)}
WHAT = {
    "gain": "SHARC's gain",
    "saliency": "gain of salient over random channels",
    "recall": "gain of recall over zeros",
}
