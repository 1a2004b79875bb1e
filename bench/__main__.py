"""Run the benchmark: python -m bench [--only training memory] [--publish]."""

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path

# One thread per side, set before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

PARTS = ("training", "features", "memory", "grid_cost", "growth", "identity", "pipeline")
OUT = Path("outputs/bench")


def main() -> int:
    """Measure, write outputs/bench, and publish if asked to."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="PART",
                        help=f"parts to measure again: {', '.join(PARTS)}")  # fmt: skip
    parser.add_argument("--publish", action="store_true", help="copy what was measured to docs/")
    parser.add_argument("--size", choices=("small", "bench"), default="bench",
                        help="small is what the guard test measures")  # fmt: skip
    parser.add_argument("--expect", action="store_true", help="renew what the guard test expects")
    asked = parser.parse_args()
    from bench import page
    from bench.machine import described
    from bench.section import SIZES, Section

    out = OUT if asked.size == "bench" else OUT / asked.size
    out.mkdir(parents=True, exist_ok=True)
    done = asked.publish or asked.expect  # with what was measured before, unless parts are named
    for name in asked.only or (() if done else PARTS):
        about = described()
        start = time.perf_counter()
        section = importlib.import_module(f"bench.{name}").run(SIZES[asked.size])
        section.about = about | {"seconds": f"{time.perf_counter() - start:.0f}"}
        (out / f"{name}.json").write_text(json.dumps(section.json(), indent=1) + "\n")
        print(f"{name}: measured in {section.about['seconds']} s", flush=True)
    found = {name: out / f"{name}.json" for name in PARTS}
    sections = {
        name: Section.parse(json.loads(path.read_text()))
        for name, path in found.items()
        if path.is_file()
    }
    if asked.expect:
        page.expect(sections)
    else:
        print(f"Written: {page.write(sections, out)}")
    if asked.publish:
        page.publish(out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
