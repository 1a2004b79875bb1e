"""Where the time goes in what missed its target, as its profile showed; by measure."""

_CALLS = (
    "A step of five runs is some fifteen calls of torch of a few µs each, of which little is "
    "arithmetic (floor: 2.8 µs per step and run); "
)
_WIDE = "Fifteen runs share the calls; what is left is each run's own memory traffic and products: "
_PRODUCTS = (
    "The two matrix products over W, 205 kB per run and beyond the first-level cache, are nearly "
    "half of a run and cost the others as much; stacking more seeds does not help; "
)

_MEMORY = (
    "Five times as many maps as dense are written, grouped and recalled at each task's start, in "
    "map space: copying and multiplying 25,088 numbers per map, which no other run shares"
)

REASONS: dict[str, str] = {
    "sharc_cost_er_modern_hopfield_512_1": _MEMORY + ".",
    "sharc_cost_er_bayes_pcn_512_1": _MEMORY + ".",
    "sharc_cost_er_full_modern_hopfield_512_1": _MEMORY + ".",
    "sharc_cost_er_full_modern_hopfield_512_5": _MEMORY + ", while dense steps are shared.",
    "sharc_cost_er_full_modern_hopfield_1280_1": _MEMORY + ".",
    "sharc_cost_er_full_bayes_pcn_512_5": _MEMORY + ", while dense steps are shared.",
    "features_vs_authors_efficientnet_lite0": "Convolutions with few operations per byte, on both "
    "sides; the authors' saliency passes are counted in a row of their own.",
    "growth_buffer": "Linear or below by the fit; from 1,000 to 2,000 slots ER over the whole "
    "memory grows faster, where the rows of five runs pass from 10 to 20 MB: probably the cache.",
    "features_percent_of_peak_efficientnet_lite0": "Pointwise convolutions with few channels lead "
    "the profile, depthwise ones follow: few operations per byte, too thin for the multipliers.",
    "features_percent_of_peak_resnet18": "The first convolutions, with few channels, and the "
    "pooling run below the product's speed.",
    "features_vs_authors_resnet18": "Both sides spend their time in the same convolutions, and "
    "the share of the peak that eager torch reaches leaves no engine room for 5 ×; what the "
    "authors' saliency adds is the next row.",
    "er_vs_plain_10": _CALLS + "gathering rows 12 %, products 17 %.",
    "er_full_vs_plain_10": "Twice the calls of a step that draws; products 34 %, gathering rows "
    "7 %; the plain loop passes 200 rows through W in one call.",
    "450_sampled_runs_minutes": "The cells of 100 classes, several times as dear as those of 10: "
    "the products over W (see ER against a framework's step).",
    "540_runs_minutes": "ER and GEM over 5,000 examples at 100 classes, by far the dearest cells "
    "of the table below.",
    "offline_minutes": "SHARC with BayesPCN is 79 % of its CPU time (cpu_seconds in "
    "outputs/provenance), and of that ER and GEM, which replay the whole memory of up to 5,000 "
    "examples at every step, are 59 %.",
    "bayes_pcn_read_same_ten": "Two maps share a mask, and R Rᵀ is formed for each mask; where "
    "fifty share one the aim is met.",
    "derpp_vs_plain_10": _CALLS + "gathering rows and their logits 21 %, products 20 %, "
    "evaluation 6 %.",
    "agem_vs_plain_10": _CALLS + "gathering rows 14 %, products 14 %, the projection's inner "
    "products 5 %.",
    "clser_vs_plain_10": _CALLS + "the teachers 23 %, gathering rows 12 %, averaging 10 %, "
    "evaluating three heads 9 %.",
    "agem_vs_avalanche_10": _CALLS + "gathering rows 14 %, products 14 %.",
    "agem_vs_avalanche_100": _PRODUCTS + "A-GEM adds its inner products.",
    "er_vs_framework_10": _CALLS + "gathering rows 12 %, products 17 %.",
    "er_vs_framework_100": _PRODUCTS + "gathering rows 6 %.",
    "er_vs_avalanche_10": _CALLS + "gathering rows 12 %, products 17 %.",
    "er_vs_avalanche_100": _PRODUCTS + "gathering rows 6 %.",
    "er_vs_plain_stacked_10": _WIDE + "gathering rows 15 %, products 22 %.",
    "derpp_vs_plain_stacked_10": _WIDE + "gathering rows and their logits 25 %, products 27 %.",
    "agem_vs_plain_stacked_10": _WIDE + "products 19 %, gathering rows 16 %.",
    "clser_vs_plain_stacked_10": _WIDE + "the teachers 20 %, averaging 14 %, gathering rows 13 %.",
    "agem_vs_avalanche_stacked_10": _WIDE + "products 19 %, gathering rows 16 %.",
}
