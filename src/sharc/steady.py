"""Matrix products whose bits do not depend on where their rows lie in memory."""

import os
from pathlib import Path


def steady_products() -> None:
    """Ask MKL for sums in an order that does not follow the alignment of the rows.

    In a stack, a run's rows begin wherever the run before it ends; alone, they begin at a multiple
    of 64 bytes. With AVX-512 MKL adds up both alike; its code for AVX2 does so only in this mode,
    which is as fast. MKL reads the variable at its first product, hence before anything else is
    computed; what the user has set stays.
    """
    processor = Path("/proc/cpuinfo")
    if not (processor.is_file() and "avx512f" in processor.read_text()):
        os.environ.setdefault("MKL_CBWR", "AUTO")
