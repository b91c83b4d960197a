"""Functions, arguments and results as bytes.

Only what this client's own jobs returned is unpickled: results of batches that it made itself,
which take functions from their owner only.
"""

import os
import pickle
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import cloudpickle

from weft.client.api import ResultRow
from weft.core.errors import CallDied

PROTOCOL: Final = 5
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


class RemoteTraceback(Exception):
    """Where an exception was raised in the process of the call: the cause of that exception."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n"""\n{self.text}"""'


class Function(NamedTuple):
    """A pickled function and the name of what is in it."""

    pickle: bytes
    digest: bytes


def pickle_function(function: Callable[..., Any]) -> Function:
    """Pickle a function with what it needs of its module, if that is not to be imported."""
    data = cloudpickle.dumps(function, protocol=PROTOCOL)
    return Function(data, sha256(data).digest())


def pickle_arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
    """Pickle the arguments of one call."""
    return _dumps((tuple(args), dict(kwargs)))


def pickle_each(calls: Sequence[Sequence[Any]]) -> bytes:
    """Pickle the arguments of several calls."""
    return _dumps(list(calls))


def _dumps(value: object) -> bytes:
    """Pickle by the fast way, and what that cannot (lambdas, classes of a notebook) by the
    other.
    """
    try:
        return pickle.dumps(value, protocol=PROTOCOL)
    except Exception:  # noqa: BLE001 (any class can refuse to be pickled, in any way)
        data: bytes = cloudpickle.dumps(value, protocol=PROTOCOL)
        return data


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
    return _died(row)


def _died(row: ResultRow) -> CallDied:
    facts = {"signal": row.signal, "exit code": row.exit_code}
    told = ", ".join(f"{name} {value}" for name, value in facts.items() if value is not None)
    reason = row.reason or row.state
    return CallDied(
        f"job j{row.job_id} ended without a result: {reason}{f' ({told})' if told else ''}",
        detail=f"{row.message[:1].upper()}{row.message[1:]}." if row.message else "",
    )


def _loads(data: bytes | None) -> Any:  # noqa: ANN401 (what was pickled)
    return pickle.loads(data or b"")  # noqa: S301 (of the caller's own batch; see above)
