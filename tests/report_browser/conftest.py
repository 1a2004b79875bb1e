"""Makes the faked results of the folder above importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
