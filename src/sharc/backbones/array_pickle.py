"""Pickles that hold numpy arrays and nothing else, read without running anything they name."""

import io
import pickle
from typing import Any

from sharc.errors import UserError

# numpy 2 renamed its private package: older pickles have the old name, newer ones the new.
_ALLOWED = {
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
}
_DAMAGED = (pickle.UnpicklingError, EOFError, ValueError, TypeError, LookupError, AttributeError)


class _OnlyArrays(pickle.Unpickler):
    """Resolves the three globals an array needs; a pickle can call only what it resolves."""

    def find_class(self, module: str, name: str) -> Any:
        """The global, or a refusal before anything of it is imported."""
        if (module, name) not in _ALLOWED:
            raise UserError(
                f"names {module}.{name}, which a file of plain arrays has no use for; "
                "nothing of it was run"
            )
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_arrays(content: bytes, origin: str) -> Any:
    """The nested dictionary of arrays pickled in `content`; `origin` names it in messages."""
    try:
        return _OnlyArrays(io.BytesIO(content)).load()
    except UserError as error:
        raise UserError(f"{origin} is refused: it {error}.") from None
    except _DAMAGED as error:
        raise UserError(f"{origin} is damaged: {type(error).__name__}: {error}") from None
