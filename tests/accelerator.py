"""A simulated accelerator: CUDA's rules of memory and synchronisation, computed by the CPU.

Its tensors are on the device "sim" and hold their numbers where nothing outside this file reaches
them. An operation on tensors of both devices is refused where CUDA refuses it: tensors without
dimensions may stay on the host, and so may the whole numbers that index. Every operator runs the
CPU's own kernel, so that a result can be compared to the last bit; and every one is counted.
"""

import math
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.fx.experimental import proxy_tensor
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

_setup_privateuseone_for_python_backend("sim")
torch._C._set_only_lift_cpu_tensors(True)  # torch.tensor(..., device=...): made here, then copied
DEVICE = torch.device("sim", 0)

# The host waits until the device is done: it asks for numbers, or for a shape they decide.
READS = {
    "_local_scalar_dense", "equal", "nonzero", "masked_select", "_unique2", "unique_dim",
    "unique_consecutive", "unique_dim_consecutive", "bincount", "histc", "repeat_interleave",
    "_linalg_check_errors",
}  # fmt: skip
COPIES = {"_to_copy", "copy_", "_copy_from"}
INDEXED = {"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"}
ALL_ON_ONE = {"cat", "stack"}  # no exception for tensors without dimensions
NO_KERNEL = {"empty", "empty_strided", "empty_like", "new_empty", "new_empty_strided",
             "_unsafe_view", "_local_scalar_dense"}  # fmt: skip


class Counts:
    """What was done on the device, by the names of ATen's operators."""

    def __init__(self) -> None:
        self.kernels: Counter[str] = Counter()  # operators that compute or copy; views do not
        self.reads: Counter[str] = Counter()  # the host waited for the device
        self.uploads: Counter[str] = Counter()  # the host sent the device a tensor
        self.peak = 0  # bytes held at a time


class Memory:
    """Storages that tensors of the device hold, several perhaps the same one."""

    def __init__(self) -> None:
        self.room = math.inf
        self.used = 0
        self._holders: Counter[int] = Counter()

    def hold(self, holder: "OnDevice") -> None:
        """As long as the holder lives."""
        storage = holder.held.untyped_storage()
        place, size = storage._cdata, storage.nbytes()
        if not self._holders[place]:
            if self.used + size > self.room:
                raise torch.OutOfMemoryError(f"{DEVICE} has no room for {size} bytes more")
            self.used += size
            _counts.peak = max(_counts.peak, self.used)
        self._holders[place] += 1
        weakref.finalize(holder, self._let_go, place, size)

    def _let_go(self, place: int, size: int) -> None:
        self._holders[place] -= 1
        if not self._holders[place]:
            self.used -= size


_counts, _memory = Counts(), Memory()


@contextmanager
def counted(room: float = math.inf) -> Iterator[Counts]:
    """Count from zero, apart from what is counted around it; with so many bytes of memory."""
    global _counts
    before, _counts = _counts, Counts()
    _memory.room = room
    try:
        yield _counts
    finally:
        _counts, _memory.room = before, math.inf


@contextmanager
def accelerated(room: float = math.inf) -> Iterator[Counts]:
    """A machine whose GPU is the simulated one, with so many bytes of memory."""
    with pytest.MonkeyPatch.context() as patch, counted(room) as counts:
        patch.setattr("sharc.engine.device.gpu", lambda: DEVICE)
        yield counts


class OnDevice(Tensor):
    """A tensor of the accelerator."""

    held: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, held: Tensor) -> "OnDevice":
        """A wrapper around numbers that the device holds; whoever calls this gives them away."""
        with torch.inference_mode(False):  # else a view of a tensor from outside could not be one
            made = Tensor._make_wrapper_subclass(
                cls,
                held.shape,
                strides=held.stride(),
                storage_offset=held.storage_offset(),
                dtype=held.dtype,
                device=DEVICE,
            )
        made.held = held
        _memory.hold(made)
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Every operator that is given such a tensor."""
        return _operate(func, *args, **(kwargs or {}))

    def tolist(self) -> Any:
        """By way of the host, as on CUDA; torch's own refuses subclasses, and so does `numpy`."""
        return self.cpu().tolist()

    def numpy(self, *, force: bool = False) -> Any:
        """By way of the host if that is asked for."""
        if not force:
            raise TypeError(f"can't convert {DEVICE} device type tensor to numpy: use Tensor.cpu()")
        return self.cpu().numpy()

    @property
    def data(self) -> Tensor:
        """As torch has it; `Module.to` puts converted weights here."""
        return Tensor.data.__get__(self)  # type: ignore[attr-defined]

    @data.setter
    def data(self, other: "OnDevice") -> None:
        Tensor.data.__set__(self, other)  # type: ignore[attr-defined]
        self.held = other.held

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        """Numbers are not shown: that would be a read."""
        return f"OnDevice({tuple(self.shape)}, {self.dtype})"


def _operate(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse, count, compute."""
    if (made := func.decompose(*args, **kwargs)) is not NotImplemented:
        return made  # it is made of others
    name = func._schema.name.partition("::")[2]
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    target = kwargs.get("device")
    on_device = any(isinstance(tensor, OnDevice) for tensor in given)
    if name in {"copy_", "_copy_from"}:
        on_device = isinstance(args[name != "copy_"], OnDevice)
    elif target is not None:
        on_device = torch.device(target).type == DEVICE.type
    _refuse(func, name, args, kwargs)
    _count(func, name, args, given, on_device)
    return _compute(func, args, kwargs, on_device)


def _refuse(func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> None:
    if torch.Tag.nondeterministic_seeded in func.tags:
        raise RuntimeError(f"{name}: the device would draw other numbers than the host")
    if name in COPIES:
        return
    for place, argument in enumerate(func._schema.arguments):
        value = args[place] if place < len(args) else kwargs.get(argument.name)
        if name in INDEXED and argument.name == "indices":
            continue
        written = argument.alias_info is not None and argument.alias_info.is_write
        for tensor in tree_leaves(value):
            if not isinstance(tensor, Tensor) or isinstance(tensor, OnDevice):
                continue
            if tensor.ndim or written or name in ALL_ON_ONE:
                raise RuntimeError(
                    f"{name}: expected all tensors to be on the same device, but found at least"
                    f" two devices, {DEVICE} and cpu"
                )


def _count(func: Any, name: str, args: Any, given: list[Tensor], on_device: bool) -> None:
    if name in COPIES:
        _counts.reads["copy"] += not on_device
        _counts.uploads["copy"] += on_device and not all(isinstance(t, OnDevice) for t in given)
    elif name in INDEXED:
        indices = [index for index in args[1] if index is not None]
        mask = any(index.dtype in {torch.bool, torch.uint8} for index in indices)
        filled = len(args) > 2 and args[2].numel() == 1 and not isinstance(args[2], OnDevice)
        _counts.reads["index by mask"] += mask and not filled
        _counts.uploads["index"] += any(not isinstance(index, OnDevice) for index in indices)
    elif name in READS:
        _counts.reads[name] += 1
    if not func.is_view and name not in NO_KERNEL:
        _counts.kernels[name] += 1


def _compute(func: Any, args: Any, kwargs: dict[str, Any], on_device: bool) -> Any:
    wrappers: dict[int, OnDevice] = {}

    def held(tensor: OnDevice) -> Tensor:
        wrappers[id(tensor.held)] = tensor
        return tensor.held

    def wrapped(tensor: Tensor) -> Tensor:
        known = wrappers.get(id(tensor))
        return OnDevice(tensor) if known is None else known

    inner = tree_map_only(OnDevice, held, (args, kwargs))
    if "device" in kwargs:
        inner[1]["device"] = torch.device("cpu")
    with torch.inference_mode(False), torch.no_grad():
        found = func(*inner[0], **inner[1])
    for wrapper in wrappers.values():
        claimed, real = ((t.shape, t.stride()) for t in (wrapper, wrapper.held))
        assert claimed == real, f"{func} reshapes what it is given, which cannot be simulated"
    return tree_map_only(Tensor, wrapped, found) if on_device else found


# Operators that are given no tensor of the device, as torch.zeros. Where torch's own way to make a
# tensor is to resize an empty one, which a wrapper cannot do, the operator is overridden.
_all, _aten = torch.library.Library("_", "IMPL"), torch.library.Library("aten", "IMPL")
_all.fallback(_operate, "PrivateUse1")
for _name in ("eye", "eye.m", "arange", "arange.start", "arange.start_step"):
    _packet, _, _overload = _name.partition(".")
    _maker = getattr(getattr(torch.ops.aten, _packet), _overload or "default")
    _aten.impl(_name, partial(_operate, _maker), "PrivateUse1")
proxy_tensor.HANDLED_TYPES += (OnDevice,)  # recorded as plain tensors are
