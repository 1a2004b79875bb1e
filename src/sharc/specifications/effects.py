"""What the gain depends on: main effects and two-way interactions of the choices.

Ordinary least squares on the mean gain of each specification, every factor coded against its
default (statsmodels). The intervals use the HC3 covariance, because gains scatter more under some
choices than under others; a pair of factors is tested by the F of nested fits. Specifications
share seeds and images, so an interval says how the gain varies over choices, not over new data.
P-values are Holm's over all effects of a kind.
"""

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.multitest import multipletests

from sharc.specifications.factors import Factor, Specification

LEVEL = 0.95
FEWEST = 10  # gains below which nothing is fitted
_NOTHING = 1e-12  # squared points per specification: rounding, not scatter
_EXACT = 1e-9  # a leverage so near 1 is 1, and a weight so near 0 is 0
Rows = list[dict[str, Any]]


def main_effects(
    factors: Sequence[Factor], found: Sequence[Specification], gains: Sequence[float]
) -> pd.DataFrame:
    """Per factor and value: how many points the gain changes when it takes the default's place."""
    names, design = _main(factors, found)
    fit = _fit(design, gains)
    low, high, p = _scatter(fit)
    columns = ["factor", "value", "default", "effect", "low", "high", "p", "n"]
    rows = [
        [name, str(value), str(default), fit.params[k], low[k], high[k], p[k], n]
        for k, (name, value, default, n) in enumerate(names, start=1)
    ]
    table = pd.DataFrame(rows, columns=columns)
    table["p_holm"] = _holm(table["p"])
    return table


def between(
    factors: Sequence[Factor],
    found: Sequence[Specification],
    gains: Sequence[float],
    key: str,
    groups: tuple[Sequence[Any], Sequence[Any]],
) -> tuple[float, float, float] | None:
    """How much more is gained with some values of a parameter than with others, with interval.

    The mean effect of each group's values; None if one of them, or its scatter, cannot be
    identified.
    """
    names, design = _main(factors, found)
    known = {factor.default: 0 for factor in factors if factor.key == key}
    asked = {factor.name for factor in factors if factor.key == key}
    known |= {value: k for k, (name, value, _, _) in enumerate(names, 1) if name in asked}
    if not all(known.keys() >= set(group) for group in groups):
        return None
    weights = np.zeros(design.shape[1])
    for sign, group in zip((1, -1), groups, strict=True):
        for value in group:
            weights[known[value]] += sign / len(group)
    weights[0] = 0  # the default's effect is zero
    fit = _fit(design, gains)
    if not _varies(fit, weights):
        return None
    tested = fit.t_test(weights)
    low, high = tested.conf_int(1 - LEVEL)[0]
    return float(tested.effect[0]), float(low), float(high)


def interactions(
    factors: Sequence[Factor], found: Sequence[Specification], gains: Sequence[float]
) -> pd.DataFrame:
    """Each pair of factors whose interaction can be fitted, the largest first.

    `share` is how much of what the main effects leave unexplained the pair explains; the strongest
    single coefficient of the pair is given with its interval.
    """
    _, base = _main(factors, found)
    whole = _fit(base, gains)
    rows = []
    for first, second in combinations(factors, 2):
        names, products = _products(first, second, found)
        wider = np.column_stack([base, products])
        if not names or np.linalg.matrix_rank(wider) < wider.shape[1] or _spare(wider) < 1:
            continue  # a combination that no specification makes
        rows.append(_interaction(first, second, names, _fit(wider, gains), whole))
    columns = ["first", "second", "share", "p", "at", "effect", "low", "high"]
    table = pd.DataFrame(rows, columns=columns).sort_values("share", ascending=False)
    table["p_holm"] = _holm(table["p"])
    return table.reset_index(drop=True)


def _interaction(
    first: Factor, second: Factor, names: list[str], fit: Any, whole: Any
) -> list[Any]:
    """F test of the pair against the main effects alone, and its largest coefficient."""
    gone = max(whole.ssr - fit.ssr, 0.0)
    varies = whole.ssr > _NOTHING * len(whole.resid)
    left = max(fit.ssr / fit.df_resid, _NOTHING)
    p = float(stats.f.sf(gone / len(names) / left, len(names), fit.df_resid)) if varies else 1.0
    extra = range(len(fit.params) - len(names), len(fit.params))
    largest = max(extra, key=lambda k: abs(fit.params[k]))
    low, high, _ = _scatter(fit)[:, largest]
    share = gone / whole.ssr if varies else 0.0
    at = names[largest - extra.start]
    return [first.name, second.name, share, p, at, fit.params[largest], low, high]


def _main(
    factors: Sequence[Factor], found: Sequence[Specification]
) -> tuple[list[tuple[str, Any, Any, int]], Any]:
    """One column per value that is not the default, after the constant.

    Left out are values made only once, whose scatter is unknown, and those that always come
    together with others.
    """
    names: list[tuple[str, Any, Any, int]] = []
    design = np.ones((len(found), 1))
    for factor in factors:
        for value in factor.values[1:]:
            column = _is(factor, value, found)
            wider = np.column_stack([design, column])
            if column.sum() >= 2 and np.linalg.matrix_rank(wider) == wider.shape[1]:
                names.append((factor.name, value, factor.default, int(column.sum())))
                design = wider
    return names, design


def _products(first: Factor, second: Factor, found: Sequence[Specification]) -> tuple[Any, Any]:
    names, columns = [], []
    for a in first.values[1:]:
        for b in second.values[1:]:
            column = _is(first, a, found) * _is(second, b, found)
            if column.any():
                names.append(f"{a}, {b}")
                columns.append(column)
    return names, np.column_stack(columns) if columns else np.empty((len(found), 0))


def _is(factor: Factor, value: Any, found: Sequence[Specification]) -> Any:
    return np.array([float(spec.choices[factor.name] == value) for spec in found])


def _spare(design: Any) -> int:
    """Degrees of freedom left for the scatter."""
    return int(design.shape[0] - design.shape[1])


def _fit(design: Any, gains: Sequence[float]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # 0 / 0 where the fit is exact
        return OLS(np.asarray(gains, dtype=float), design).fit(cov_type="HC3", use_t=True)


def _scatter(fit: Any) -> Any:
    """Low and high end and p of each coefficient; not numbers where nothing varies about it."""
    found = np.vstack([fit.conf_int(1 - LEVEL).T, fit.pvalues])
    found[:, ~_varies(fit, np.eye(len(fit.params)))] = np.nan
    return found


def _varies(fit: Any, weights: Any) -> Any:
    """Whether no specification that the fit meets exactly has a part in some sum of coefficients.

    One that alone decides a coefficient has a residual of 0 and a leverage of 1 whatever it
    gained, and HC3 divides the one by the other's distance from 1: rounding by rounding.
    """
    inverse = fit.model.pinv_wexog  # [coefficients, specifications]
    exact = np.einsum("nk,kn->n", fit.model.exog, inverse) > 1 - _EXACT
    return (np.abs(weights @ inverse[:, exact]) < _EXACT).all(axis=-1)


def _holm(p: "pd.Series[float]") -> Any:
    """Holm's adjustment of those that are numbers."""
    adjusted = p.to_numpy(dtype=float, copy=True)
    known = np.isfinite(adjusted)
    if known.any():
        adjusted[known] = multipletests(adjusted[known], method="holm")[1]
    return adjusted
