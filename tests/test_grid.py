"""The grid: how many cells a suite has, counted by hand."""

from sharc.config import load_params
from sharc.grid import Variant, cells


def test_the_paper_grid_has_the_cells_of_its_tables_and_figures():
    members = cells(load_params(suite="offline"))
    # per data set: SGD and JOINT, and 6 methods x (dense + 2 thetas) x 3 buffers
    tables = 3 * (2 + 6 * 3 * 3)
    memories = 2 * (6 + 1)  # ER and GEM, six other memories, each method in its panel's scenario
    thetas = 2 * (9 - 2)  # ER and GEM; 0.5 and 0.8 are in the tables already
    assert len(members) == tables + memories + thetas == 196


def test_no_cell_is_listed_twice():
    members = cells(load_params(suite="paper"))
    assert len(set(members)) == len(members)


def test_sgd_and_joint_have_neither_buffer_nor_memory():
    for cell in cells(load_params(suite="demo")):
        if cell.method in {"sgd", "joint"}:
            assert (cell.buffer, cell.variant) == (0, Variant())


def test_a_variant_is_named_after_its_memory_and_theta():
    assert Variant().name == "dense"
    assert Variant("bayes_pcn", 0.8).name == "bayes_pcn-t0.8"
    assert Variant("oracle", 1.0).name == "oracle-t1"
