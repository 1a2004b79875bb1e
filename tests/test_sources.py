"""The closure of imports: what makes a unit stale, and what must not."""

from sharc.config import load_params
from sharc.sources import source_files
from sharc.workflow.families import build_graph


def names(*modules: str) -> set[str]:
    return {path.name for path in source_files(modules)}


def test_an_import_of_an_import_counts():
    assert {"train.py", "files.py", "errors.py"} <= names("sharc.stages.train")


def test_editing_the_parameters_model_makes_no_stage_stale():
    for unit in build_graph(load_params(suite="demo")).units.values():
        assert not any("/config/" in name for name in unit.sources), unit.id
        assert "src/sharc/registry.py" not in unit.sources


def test_a_method_depends_on_its_own_strategy_alone():
    graph = build_graph(load_params(suite="demo"))
    unit = graph.units["train:digits/efficientnet_lite0/er/dense"]
    assert "src/sharc/strategies/er.py" in unit.sources
    assert "src/sharc/strategies/mer.py" not in unit.sources
    assert not any("memories" in name for name in unit.sources)


def test_a_memory_is_a_source_of_the_runs_that_use_it():
    graph = build_graph(load_params(suite="demo"))
    unit = graph.units["train:digits/efficientnet_lite0/er/modern_hopfield"]
    assert "src/sharc/memories/modern_hopfield.py" in unit.sources
    assert "src/sharc/memories/bayes_pcn.py" not in unit.sources
