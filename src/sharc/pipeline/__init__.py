"""The stages, from source to report, each declared in a module of its own.

A new stage is a module with one subclass of `Job`, its name below, a rule in the Snakefile and a
stage in dvc.yaml.
"""

from sharc.config import Params, load_params
from sharc.pipeline.claims import Claims
from sharc.pipeline.collect import Collect
from sharc.pipeline.download import Download
from sharc.pipeline.features import Features
from sharc.pipeline.figure1 import Figure1
from sharc.pipeline.figures import Figures
from sharc.pipeline.ladder import Ladder
from sharc.pipeline.report import Report
from sharc.pipeline.rungs import Rungs
from sharc.pipeline.specifications import Specifications
from sharc.pipeline.specified import Specified
from sharc.pipeline.split import Split
from sharc.pipeline.streamed import Streamed
from sharc.pipeline.tables import Tables
from sharc.pipeline.train import Train
from sharc.workflow.graph import Graph
from sharc.workflow.stage import Job

STAGES: tuple[type[Job], ...] = (
    *(Download, Split, Features, Streamed, Train, Figure1, Rungs, Ladder),
    *(Specified, Specifications),
    *(Collect, Tables, Figures, Claims, Report),
)


def build_graph(params: Params) -> Graph:
    """Every job of the chosen suite."""
    return Graph(params, STAGES)


def load_graph(suite: str | None = None) -> Graph:
    """The jobs of the suite that params.yaml chooses, or of another one."""
    return build_graph(load_params(suite=suite))
