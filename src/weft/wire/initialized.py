"""A function whose process an initializer prepares: how `weft.Executor` sends it, and what a warm
process does with it.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

_PREPARED: set[str] = set()
"""Keys of the initializers that have run in this process."""


class InitializerFailed(BrokenExecutor):
    """The initializer of an executor raised."""


@dataclass(eq=False, kw_only=True)
class Initialized:
    """Calls the initializer before the first call in a process, then the function."""

    key: str
    """That of the executor."""
    initializer: Callable[..., object]
    initargs: Sequence[Any]
    function: Callable[..., Any]
    _is_prepared: bool = field(default=False, init=False)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (as the function has it)
        if not (self._is_prepared or self.key in _PREPARED):
            self._prepare()
        return self.function(*args, **kwargs)

    def __getstate__(self) -> Mapping[str, Any]:
        return {**self.__dict__, "_is_prepared": False}

    def _prepare(self) -> None:
        try:
            self.initializer(*self.initargs)
        except BaseException as error:
            raise InitializerFailed(f"the initializer raised {error!r}") from error
        self._is_prepared = True
        if not _has_own_variables(self.initializer):
            _PREPARED.add(self.key)


def _has_own_variables(function: Any) -> bool:  # noqa: ANN401 (any callable)
    """Say whether it came by value: then each function comes with global variables of its own."""
    while isinstance(function, partial):
        function = function.func
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    variables = getattr(function, "__globals__", None)
    return variables is not None and variables is not getattr(module, "__dict__", None)
