"""Functions, arguments and results as bytes.

Only what this client's own jobs returned is unpickled: results of batches that it made itself,
which take functions from their owner only.
"""

import io
import os
import pickle
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple

import cloudpickle
from cloudpickle import cloudpickle as dynamic

from weft.client.api import ResultRow
from weft.client.http.problems import to_error
from weft.core.errors import CallDied
from weft.core.ids import format_job_ref
from weft.core.text.texts import is_utf8

PROTOCOL: Final = 5
NAME_CHARS_MAX: Final = 100
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


class RemoteTraceback(Exception):
    """Where an exception was raised in the process of the call: the cause of that exception."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class Function(NamedTuple):
    """A pickled function, the digest of what is in it, and its name for a person."""

    pickle: bytes
    digest: bytes
    name: str


def pickle_function(
    function: Callable[..., Any], *, within: Callable[..., Callable[..., Any]] | None = None
) -> Function:
    """Pickle a function with what it needs of its module, if that is not to be imported.

    `within`: wraps it first.
    """
    whole = function if within is None else within(function=function)
    data = cloudpickle.dumps(whole, protocol=PROTOCOL)
    return Function(data, sha256(data).digest(), _name_of(function))


def _name_of(function: Any) -> str:  # noqa: ANN401 (any callable)
    while isinstance(function, partial):
        function = function.func
    named = function if hasattr(function, "__qualname__") else type(function)
    name: str = named.__qualname__.replace("<locals>.", "")
    return name[:NAME_CHARS_MAX]


def pickle_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
    """Pickle the arguments of one call."""
    return _dumps((tuple(args), dict(kwargs)))


def pickle_each(calls: Sequence[Sequence[Any]]) -> bytes:
    """Pickle the arguments of several calls."""
    return _dumps(list(calls))


def _dumps(value: object) -> bytes:
    """Pickle by the fast way; use cloudpickle for what that cannot do (lambdas) or only names:
    what the program itself or a notebook defines, which the worker does not have.
    """
    if not cloudpickle.list_registry_pickle_by_value():
        try:
            data = pickle.dumps(value, protocol=PROTOCOL)
        except Exception:  # noqa: BLE001 (any class can refuse to be pickled, in any way)
            return _dumps_by_value(value)  # if that fails as well, both reasons are told
        if b"__main__" not in data:
            return data
    return _dumps_by_value(value)


def _dumps_by_value(value: object) -> bytes:
    data: bytes = cloudpickle.dumps(value, protocol=PROTOCOL)
    return data


def own_interpreter() -> str | None:
    """Return the Python program that runs this one; None if it would not find weft by itself."""
    root = str(Path(__file__).resolve().parents[3])
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    is_given = any(os.path.realpath(entry) == root for entry in given if entry)
    return None if is_given or not sys.executable else os.path.abspath(sys.executable)  # noqa: PTH100


def own_directory() -> str | None:
    """Return the directory of this program; None: it was removed, or its name is no UTF-8."""
    try:
        directory = os.getcwd()  # noqa: PTH109 (text)
    except OSError:
        return None
    return directory if is_utf8(directory) else None


def own_path() -> tuple[str, ...]:
    """Return where this program finds modules of its own: not those of Python, which a worker
    has, or has in other versions.
    """
    paths = sysconfig.get_paths()
    known = tuple({paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})
    found = dict.fromkeys(os.path.abspath(entry) for entry in sys.path)  # noqa: PTH100 ("" is the directory)
    return tuple(
        entry
        for entry in found
        if os.path.exists(entry)  # noqa: PTH110 (an entry may be a zip file)
        and not entry.startswith(known)
        and not os.path.basename(entry).startswith("python3")  # noqa: PTH119
    )


def value_of(row: ResultRow) -> Any:  # noqa: ANN401 (what the function returned)
    """Return what a call returned; raise what it raised, or why it did neither."""
    error = error_of(row)
    if error is not None:
        raise error
    return _loads(row.value)


def values_of(row: ResultRow) -> tuple[list[Any], BaseException | None]:
    """Return what the calls of a chunk returned, and what the one after them raised."""
    values = _loads(row.value) if row.value else []
    return values, error_of(row)


def error_of(row: ResultRow) -> BaseException | None:
    """Return what a call raised, with its traceback as the cause, or why it did not end well."""
    if row.traceback is not None:
        cause = RemoteTraceback(row.traceback)
        try:
            error = _loads(row.error) if row.error else None
        except Exception as problem:  # noqa: BLE001 (any class can refuse, in any way)
            cause.add_note(f"its exception cannot be read here: {problem!r}")
            error = None
        if not isinstance(error, BaseException):
            last = row.traceback.rstrip().rpartition("\n")[2]
            error = CallDied(f"the call raised what cannot be read here: {last}")
        error.__cause__ = cause
        return error
    if row.state == "success" and row.value is not None:
        return None
    if row.problem is not None:
        return to_error(0, row.problem)
    return _died(row)


def _died(row: ResultRow) -> CallDied:
    facts = {"signal": row.signal, "exit code": row.exit_code}
    told = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
    job, reason = format_job_ref(row.batch_id, row.job_id), row.reason or row.state
    return CallDied(
        f"job {job} ended without a result: {reason}{f' ({told})' if told else ''}",
        detail=f"{row.message[:1].upper()}{row.message[1:]}." if row.message else "",
        hint=f"`weft logs {job}` shows its output.",
    )


class _Unpickler(pickle.Unpickler):
    """Loads classes that travelled by value as the ones that this program has, unchanged.

    cloudpickle finds the class that was sent, but then gives it the methods and attributes of its
    copy.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self._own: frozenset[type] | None = None

    def find_class(self, module_name: str, global_name: str, /) -> Any:  # noqa: ANN401 (as pickle has it)
        found = super().find_class(module_name, global_name)
        if (found is _CLASS or found is _ENUM) and self._own is None:
            self._own = frozenset(dynamic._DYNAMIC_CLASS_TRACKER_BY_CLASS)  # noqa: SLF001
        return self._complete if found is _COMPLETE else found

    def _complete(self, cls: type, state: Any) -> type:  # noqa: ANN401 (as cloudpickle has it)
        if self._own is not None and cls in self._own:
            return cls
        completed: type = _COMPLETE(cls, state)
        return completed


_CLASS, _ENUM = dynamic._make_skeleton_class, dynamic._make_skeleton_enum  # noqa: SLF001
_COMPLETE = dynamic._class_setstate  # noqa: SLF001


def _loads(data: bytes | None) -> Any:  # noqa: ANN401 (what was pickled)
    return _Unpickler(data or b"").load()
