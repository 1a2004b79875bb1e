"""BayesPCN on a thousand maps, the direct way too: like for like, in about half an hour."""

from typing import Any

import torch

from bench.memory import Direct, error, masks, ours, relu_maps, timed
from bench.section import Section, Size, Table
from bench.timing import Measure
from sharc.engine.device import one_thread

BATCH = 10  # maps that the authors' code writes and reads together


def run(size: Size) -> Section:
    """Write and read the same maps both ways; a tenth of them at the small size."""
    section = Section("thousand", "Associative memory, a thousand maps both ways")
    count = 100 if size.name == "small" else 1000
    x, kept = relu_maps(count), masks(count, 20)
    torch.set_flush_denormal(True)
    with torch.no_grad(), one_thread():
        ways = {"ours": ours(x, kept), "direct": direct(x, kept)}
    table = Table(
        f"BayesPCN, the same {count:,} maps, d = 25,088, h = 256, θ = 0.8",
        ["way", "write, s", "read, s", "error on dropped entries"],
        note="One measurement each, CPU time.",
    )
    for name, found in ways.items():
        table.add(name, *(f"{value:.3g}" for value in found))
    section.tables.append(table)
    (write, read, left), (slow_write, slow_read, slow_left) = ways["ours"], ways["direct"]
    section.measures = {
        "bayes_pcn_all": Measure.of([(slow_write + slow_read) / (write + read)]),
        "bayes_pcn_all_error_share": Measure.of([left / slow_left]),
    }
    return section


def direct(x: Any, kept: Any) -> tuple[float, float, float]:
    """CPU seconds of write and read, ten maps at a time, and the recall error."""
    memory = Direct()

    def write_all() -> None:
        for maps in x.split(BATCH):
            memory.write(maps)

    write, _ = timed(write_all)
    pairs = list(zip(x.split(BATCH), kept.split(BATCH), strict=True))
    read, found = timed(lambda: torch.cat([memory.read(maps, mask) for maps, mask in pairs]))
    return write, read, error(found, x, kept)
