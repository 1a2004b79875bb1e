"""Each factor alone around the default, and whether the fitted effects say the same."""

from collections.abc import Mapping, Sequence

import pandas as pd

from sharc.results.statistics import difference, estimate
from sharc.specifications.curve import Gains
from sharc.specifications.factors import Factor, Specification


def changes(
    factors: Sequence[Factor], default: Specification, gains: Mapping[str, Gains]
) -> pd.DataFrame:
    """Per factor and value: the gain minus the default's, paired by seed (`gains` by id)."""
    rows = []
    for factor in factors:
        for value in factor.values[1:]:
            varied = Specification({**default.choices, factor.name: value})
            paired = difference(gains.get(varied.id, {}), gains.get(default.id, {}))
            found = estimate(list(paired.values()))
            rows.append([factor.name, str(value), found.n, found.mean, found.low, found.high])
    return pd.DataFrame(
        rows, columns=["factor", "value", "seeds", "alone", "alone_low", "alone_high"]
    )


def crosschecked(effects: pd.DataFrame, alone: pd.DataFrame) -> pd.DataFrame:
    """Both side by side; `verdict` is `agree` where the two intervals overlap.

    They need not: one is the change around the default, the other the mean change over all other
    choices. Where they part, the effect depends on the other choices. Without an interval nothing
    is compared.
    """
    both = effects.merge(alone, on=["factor", "value"], how="outer", sort=False)
    apart = (both["low"] > both["alone_high"]) | (both["high"] < both["alone_low"])
    unknown = both[["low", "high", "alone_low", "alone_high"]].isna().any(axis=1)
    both["verdict"] = "agree"
    both.loc[apart, "verdict"] = "differ"
    both.loc[unknown, "verdict"] = "not compared"
    return both
