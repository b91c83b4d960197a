"""`App` and `Parameter` for the signatures of commands: those of cyclopts, whose import takes as
long as a command, or ones that do nothing, if the command line is bound already.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from cyclopts import App, Parameter

    __all__ = ["App", "Parameter", "do_without"]

KindT = TypeVar("KindT")


def __getattr__(name: str) -> object:
    if name not in {"App", "Parameter"}:
        raise AttributeError(name)
    import cyclopts  # noqa: PLC0415 (most command lines need none)

    return getattr(cyclopts, name)


def do_without() -> None:
    """From now on, import commands without cyclopts: nobody will ask what they take."""
    globals().update(App=_App, Parameter=_Parameter)


class _Parameter:
    def __init__(self, **_: object) -> None:
        pass

    def __call__(self, kind: KindT) -> KindT:
        return kind


class _App:
    def __init__(self, **_: object) -> None:
        pass

    def command(self, function: Callable[..., Any] | None = None, **_: object) -> object:
        return function or _Parameter()

    default = command
