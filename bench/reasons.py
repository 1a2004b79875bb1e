"""Where the time goes in what missed its target, as its profile showed; by measure."""

_CALLS = (
    "The arithmetic is under a fifth of a step (floor 2.8 µs per step and run): most is the cost "
    "of calling torch some ten times per step, which five runs share; "
)
_PRODUCTS = (
    "At 100 classes the two matrix products over W, 205 kB per run and beyond the first-level "
    "cache, take most of a step, and they cost the plain loop the same; "
)

REASONS: dict[str, str] = {
    "features_percent_of_peak_efficientnet_lite0": "Depthwise convolutions do few operations per "
    "byte: they wait for memory, not for the multipliers.",
    "features_percent_of_peak_resnet18": "The first convolutions, with few channels, and the "
    "pooling run below the product's speed.",
    "features_vs_authors_resnet18": "Both sides spend their time in the same convolutions; the "
    "authors' eager way already reaches about half of the peak, so no engine can be 5 × faster. "
    "The gain is in computing features once instead of three passes per step.",
    "er_vs_plain_10": _CALLS + "gathering rows 15 %, products 20 %, evaluation 15 %.",
    "er_full_vs_plain_10": "The memory's 200 rows take part in every step: three quarters are "
    "matrix products, which the plain loop does as fast.",
    "derpp_vs_plain_10": _CALLS + "gathering rows and their stored logits is a quarter.",
    "agem_vs_plain_10": _CALLS + "four inner products for the projection are a fifth.",
    "clser_vs_plain_10": _CALLS + "evaluating three heads is a quarter, averaging them an eighth.",
    "agem_vs_avalanche_10": _CALLS + "four inner products for the projection are a fifth.",
    "agem_vs_avalanche_100": _PRODUCTS + "A-GEM adds its inner products.",
    "er_vs_framework_10": _CALLS + "gathering rows 15 %, products 20 %.",
    "er_vs_framework_100": _PRODUCTS + "stacking more seeds does not help.",
    "er_vs_avalanche_10": _CALLS + "gathering rows 15 %, products 20 %.",
    "er_vs_avalanche_100": _PRODUCTS + "stacking more seeds does not help.",
}
