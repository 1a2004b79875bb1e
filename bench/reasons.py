"""Where the time goes in what missed its target, in words; the shares stand in its profile."""

_CALLS = "A step of five runs is some fifteen calls of torch of a few µs each, with little to do."
_WIDE = "Fifteen runs share the calls; what is left is each run's own memory traffic and products."
_PRODUCTS = (
    "The two matrix products over W, 205 kB per run and beyond the first-level cache, lead, and "
    "cost the other side as much; stacking more seeds does not help."
)
_RECALL = (
    "At each task's start five times as many maps as dense are written, grouped and recalled in "
    "map space, and no other run shares that."
)
_REPLAY = (
    "Five times as many rows as dense are replayed at every step, and at each task's start as many "
    "maps are recalled; the dense run's step is mostly calls."
)

_STEPS = ("er", "agem", "derpp", "clser", "mer", "gem")
_SIDES = ("avalanche", "framework")

REASONS: dict[str, str] = {
    **{f"{method}_vs_plain_10": _CALLS for method in _STEPS},
    **{f"{method}_vs_plain_stacked_10": _WIDE for method in _STEPS},
    **{f"{method}_vs_{side}_10": _CALLS for method in _STEPS for side in _SIDES},
    **{f"{method}_vs_{side}_stacked_10": _WIDE
       for method in _STEPS for side in _SIDES},
    **{f"{method}_vs_{side}_100": _PRODUCTS
       for method in _STEPS for side in _SIDES},
    **{f"sharc_cost_er_{memory}_512_1": _RECALL for memory in ("modern_hopfield", "bayes_pcn")},
    **{f"sharc_cost_er_full_{memory}_{case}": _REPLAY
       for memory in ("modern_hopfield", "bayes_pcn") for case in ("512_1", "512_5", "1280_1")},
    "er_full_vs_plain_10": "Twice the calls of a step that draws, while the plain loop passes its "
    "whole memory through W in one.",
    "features_vs_authors_efficientnet_lite0": "Convolutions with few operations per byte, on both "
    "sides; what the authors' saliency adds is a row of its own.",
    "features_vs_authors_resnet18": "Both sides spend their time in the same convolutions, and "
    "the share of the peak that eager torch reaches leaves no engine room for 5 ×; what the "
    "authors' saliency adds is a row of its own.",
    "features_percent_of_peak_efficientnet_lite0": "Pointwise and depthwise convolutions with few "
    "channels: few operations per byte, too thin for the multipliers.",
    "features_percent_of_peak_resnet18": "The first convolutions, with few channels, and the "
    "pooling run below the product's speed.",
    "300_dense_runs_minutes": "ER and GEM over the whole memory at 100 classes.",
    "450_sampled_runs_minutes": "The cells of 100 classes, several times as dear as those of 10: "
    "the products over W.",
    "540_runs_minutes": "ER and GEM over 5,000 examples at 100 classes, by far the dearest cells "
    "of the grid.",
    "offline_minutes": "Training is nearly all of it (`cost` in results/offline/made.json); the "
    "dearest units are ER and GEM over all that BayesPCN recalls, at 100 classes.",
    "demo_minutes": "A process per unit that imports torch, and BayesPCN's writes and reads.",
    **{f"growth_{axis}": "Linear or below by the fit; between the two largest sizes it grows "
       "faster, probably where what the runs pass over outgrows a cache."
       for axis in ("steps", "classes", "buffer", "seeds")},
    **{f"bayes_pcn_{what}same_ten": "Two maps share a mask, and R Rᵀ is formed for each mask; "
       "where fifty share one, per map it is several times as fast." for what in ("", "read_")},
    **{f"bayes_pcn_{what}": "The search for each map's hidden units, over R of 256 × 25,088."
       for what in ("per_map", "read_per_map", "all", "peak_gb")},
    "bayes_pcn_all_error_share": "Not a matter of time: a thousand maps are more than 256 hidden "
    "units can hold, and the two ways lose different ones.",
    "stacked_close_on_cuda": "Not measured: there is no GPU on this machine.",
}  # fmt: skip
