"""Settings that all tests share."""

import os

from hypothesis import settings

# Elsewhere each run tries new examples; in CI the same commit must give the same answer.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
