"""How Numba compiles the functions that a kernel calls.

By default Numba gives every function entries for Python and C. It optimises the function, makes machine code of it,
and then merges it into its callers, where all that is done again. Functions that only a kernel calls need none of
that. For Race's forty functions it was about half of the time that compiling took.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler


class NoEnvironments:
    """Takes the place of what tells machine code where its Python objects are: a part is never run by itself."""

    def set_env(self, name: str, environment: object) -> None:
        """Kernels use no Python objects."""


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a part: it becomes machine code with the kernel that it is merged into, and never by itself."""

    codegen = NoEnvironments()

    def get_pointer_to_function(self, _: str) -> int:
        """There is none."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's own compiler, with another place for its results."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.library = PartLibrary(self.state.targetctx.codegen(), "part of a kernel")
        self.state.library.enable_object_caching()


def part_options() -> dict[str, Any]:
    """Options of `njit` for what is only called by kernels."""
    return {"no_cpython_wrapper": True, "pipeline_class": PartCompiler}
