"""How SHARC stores and recalls: its numbers and the switches of the protocol."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from sharc.options.base import Count, NoOptions, Switch, switches

Saliency = Literal["abs_gt", "relu_ge", "random"]
BudgetCount = Literal["kept", "nonzero"]
WriteScope = Literal["stored", "last_batches"]
RecallScope = Literal["all", "last_batches"]
Recall = Literal["task_start", "at_store"]
Stored = Literal["masked", "recalled"]
Forget = Literal["task", "write"]


class SharcOptions(NoOptions):
    """SHARC's own numbers."""

    forget_every: Count = 1  # tasks, R in Algorithm 1
    space: Literal["map", "pooled"] = "map"
    budget: Literal["samples", "total_bytes"] = "samples"


class StorageOptions(SharcOptions):
    """How SHARC stores and recalls: its numbers and the switches; the defaults are the paper's."""

    saliency: Annotated[Saliency, Switch("saliency")] = "abs_gt"
    budget_count: Annotated[BudgetCount, Switch("budget_count")] = "kept"
    write_scope: Annotated[WriteScope, Switch("write_scope")] = "stored"
    recall_scope: Annotated[RecallScope, Switch("recall_scope")] = "all"
    recall: Annotated[Recall, Switch("recall")] = "task_start"
    stored: Annotated[Stored, Switch("stored")] = "masked"
    forget: Annotated[Forget, Switch("forget")] = "task"

    @model_validator(mode="after")
    def _keeps_what_it_recalls(self) -> Self:
        keep_what_is_recalled(self.recall, self.stored)
        return self

    @property
    def buffer(self) -> str:
        """The class that stores this way: Algorithm 1's if every switch is set as in the paper."""
        differing = {
            name
            for name in switches(type(self))
            if getattr(self, name) != type(self).model_fields[name].default
        }
        if not differing or (differing, self.saliency) == ({"saliency"}, "random"):  # a control
            return "sharc.buffers.sharc:SharcBuffer"
        return "sharc.buffers.reference:ReferenceBuffer"


def keep_what_is_recalled(recall: str, stored: str) -> None:
    """Refuse the one pair of switches that contradict each other."""
    if recall == "at_store" and stored == "masked":
        raise ValueError(
            "recall at_store with stored masked would throw away what it recalls; set stored"
            " to recalled, or recall to task_start"
        )
