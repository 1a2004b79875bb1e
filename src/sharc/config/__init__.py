"""params.yaml: what is legal, read and checked before any graph is built."""

from sharc.config.load import load_params
from sharc.config.model import Params
from sharc.config.suites import Suite

__all__ = ["Params", "Suite", "load_params"]
