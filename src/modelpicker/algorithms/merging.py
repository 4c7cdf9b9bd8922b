"""How Numba compiles the functions that a kernel calls.

By default Numba gives every function an entry for Python and one for C. It optimises the function, and then merges
it into its callers, where it is optimised again. Functions that only a kernel calls need none of that. For a kernel
of forty functions it would be most of the time that compiling takes.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part, which is optimised with the kernel that it is merged into."""

    def _optimize_final_module(self) -> None:
        pass


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's own compiler, with another place for its results."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = PartLibrary(self.state.targetctx.codegen(), "part of a kernel")
        self.state.library.enable_object_caching()


def part_options() -> dict[str, Any]:
    """Options of `njit` for what is only called by kernels."""
    return {"no_cpython_wrapper": True, "pipeline_class": PartCompiler}
