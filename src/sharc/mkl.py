"""Matrix products whose bits do not depend on the memory alignment of their rows."""

import os
from pathlib import Path


def fix_order_of_sums(processor: Path = Path("/proc/cpuinfo")) -> None:
    """Ask MKL for sums in an order that does not follow the alignment of the rows.

    In a stack, a run's rows begin wherever the run before it ends; alone, they begin at a multiple
    of 64 bytes. MKL's code for AVX-512 adds up both alike; its code for AVX2, which it uses on
    other makers' processors even where they have AVX-512, does so only in this mode, which is as
    fast. MKL reads the variable at its first product, so it is set before anything is computed; a
    value set by the user is kept.
    """
    text = processor.read_text() if processor.is_file() else ""
    if not ("GenuineIntel" in text and "avx512f" in text):
        os.environ.setdefault("MKL_CBWR", "AUTO")
