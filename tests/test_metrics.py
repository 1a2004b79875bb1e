"""ACC, BWT, forgetting and curves of matrices worked by hand."""

import numpy as np
import pytest

from sharc.metrics import acc, backward_transfer, forgetting, learning_curve

NAN = np.nan
WORKED = np.array([[90.0, NAN, NAN], [95.0, 80.0, NAN], [50.0, 60.0, 91.0]])
JOINT = np.array([[NAN, NAN, NAN], [NAN, NAN, NAN], [70.0, 80.0, 90.0]])


def test_acc_is_the_mean_of_the_last_row() -> None:
    assert acc(WORKED) == pytest.approx(67.0)  # (50 + 60 + 91) / 3


def test_bwt_compares_the_last_row_with_the_diagonal() -> None:
    assert backward_transfer(WORKED) == pytest.approx(-30.0)  # ((50 - 90) + (60 - 80)) / 2


def test_forgetting_compares_the_last_row_with_the_best_before() -> None:
    assert forgetting(WORKED) == pytest.approx(32.5)  # ((95 - 50) + (80 - 60)) / 2


def test_the_learning_curve_averages_what_was_seen() -> None:
    assert learning_curve(WORKED) == pytest.approx([90.0, 87.5, 67.0])


def test_joint_training_has_no_backward_transfer() -> None:
    assert backward_transfer(JOINT) is None
    assert forgetting(JOINT) is None
    assert learning_curve(JOINT) == [None, None, 80.0]
    assert acc(JOINT) == pytest.approx(80.0)


def test_joint_bwt_in_the_papers_way_is_measured_from_an_untrained_head() -> None:
    assert backward_transfer(JOINT, untrained=[48.0, 52.0, 50.0]) == pytest.approx(25.0)


def test_an_untrained_reference_does_not_touch_a_measured_diagonal() -> None:
    assert backward_transfer(WORKED, untrained=[0.0, 0.0, 0.0]) == pytest.approx(-30.0)


def test_a_single_task_has_neither_transfer_nor_forgetting() -> None:
    assert backward_transfer(np.array([[80.0]])) is None
    assert forgetting(np.array([[80.0]])) is None


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        acc(np.zeros((2, 3)))
