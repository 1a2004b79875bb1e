"""What each method really holds in memory, what the paper counts, and the gain at equal bytes."""

from typing import Any

import pandas as pd

from sharc.results.cells import line_of
from sharc.results.equal_bytes import EqualBase, equal_base
from sharc.results.folder import Results
from sharc.results.layout import SCENARIOS, Layout, Row
from sharc.results.statistics import estimate
from sharc.results.tidy import cell_name
from sharc.results.verdicts import direction

SIZES = ("items", "counted_floats", "total_bytes")
COLUMNS = (
    "scenario", "dataset", "buffer", "method",
    *(f"{kind}{size}" for size in SIZES for kind in ("", "plus_")), "bytes_ratio", "sample_ratio",
    "equal_buffer", "equal_ratio", "gain", "gain_low", "gain_high", "gain_n", "gain_n_missing",
    "verdict", "cell", "plus_cell", "equal_cell",
)  # fmt: skip


def ledger(results: Results, layout: Layout) -> pd.DataFrame:
    """One row per scenario, data set, buffer and replay method that this suite has."""
    lines = [
        line
        for scenario in SCENARIOS
        for dataset in layout.datasets
        for buffer in layout.buffers
        for method in layout.plus_methods()
        if (line := _line(results, layout, scenario, dataset, method, buffer)) is not None
    ]
    return pd.DataFrame(lines, columns=list(COLUMNS))


def _line(
    results: Results, layout: Layout, scenario: str, dataset: str, method: str, buffer: int
) -> dict[str, Any] | None:
    base, plus = (
        line_of(results, layout, scenario, dataset, Row(method, sharc, buffer))
        for sharc in (False, True)
    )
    if base is None and plus is None:
        return None
    line = {
        "scenario": scenario, "dataset": dataset, "buffer": buffer, "method": method,
        "verdict": "", "equal_cell": "",
    }  # fmt: skip
    line |= _held("", base) | _held("plus_", plus)
    if plus is None:
        return line
    if base is not None:
        line |= _ratios(base, plus)
    equal = equal_base(results, layout, scenario, dataset, method, buffer)
    return line if equal is None else line | _equal(equal, int(plus["n"] + plus["n_missing"]))


def _held(kind: str, found: pd.Series | None) -> dict[str, Any]:
    if found is None:
        return {f"{kind}cell": ""}
    return {f"{kind}{size}": found[size] for size in SIZES} | {f"{kind}cell": cell_name(found)}


def _ratios(base: pd.Series, plus: pd.Series) -> dict[str, float]:
    """Bytes of "+" over the base's: in all, and per stored sample."""
    held = plus["total_bytes"] / base["total_bytes"]
    return {"bytes_ratio": held, "sample_ratio": held / (plus["items"] / base["items"])}


def _equal(equal: EqualBase, planned: int) -> dict[str, Any]:
    gain = estimate(list(equal.gain.values()))
    return {
        "equal_buffer": equal.buffer, "equal_ratio": equal.ratio, "equal_cell": equal.cell,
        "gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high,
        "gain_n": gain.n, "gain_n_missing": planned - gain.n, "verdict": direction(gain),
    }  # fmt: skip
