"""The executor `function`: the job is a call in a warm Python process of the worker's host.

Pickled functions and arguments pass through here as bytes: they are unpickled only by the
processes of their own batch.
"""

import os
import sys
import time
from collections import OrderedDict
from collections.abc import Callable

import msgspec

from weft.core.errors import WeftError
from weft.plugins.executors.job_environment import process_of, small_environment, variables_of
from weft.ports.executor import ToStart
from weft.wire.function import CallBody, Definition
from weft.wire.spawner import StartProcess, WarmCall
from weft.wire.spec import ANSWERS_VARIABLE, INDEX_VARIABLE, VALUE_VARIABLE, FunctionSpec, JobSpec

_ENCODE = msgspec.msgpack.Encoder().encode
_PROGRAM = ("-P", "-X", "faulthandler", "-m", "weft.worker.warm")
"""With faulthandler, the log of a crashed job shows where it crashed."""
_SERVE = (
    f"import sys; sys.path += {sys.path!r}; from weft.worker.warm.serve import serve; "
    "sys.exit(serve(result_bytes_max=int(sys.argv[1])))"
)
_APART = (*_PROGRAM[:-2], "-c", _SERVE)
"""Of a Python with packages of its own, which finds those of the worker last."""
_ENVIRONMENTS_KEPT = 256
_INTERPRETERS_KNOWN_S = 1.0
"""One that is removed or installed is noticed after this time."""
_OF_CALLS = (INDEX_VARIABLE, VALUE_VARIABLE, ANSWERS_VARIABLE)
_Key = tuple[int, frozenset[tuple[str, str]]]


class FunctionExecutor:
    """Turn a spec into one call."""

    runner = "spawner"

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._environment = small_environment()
        self._merged: OrderedDict[_Key, tuple[dict[str, str], dict[str, str]]] = OrderedDict()
        """Environments of jobs with their own variables, beside the ones they were made from."""
        self._interpreters: dict[str | None, str] = {}
        """The interpreter for each one that was asked for, since `_looked_at`."""
        self._looked_at = 0.0

    def environment_of(self, spec: JobSpec) -> dict[str, str]:
        """Return the environment of the process. It includes the job's own variables, because many
        are read when an interpreter starts, but not those that differ from job to job.
        """
        base = self._environment if spec.inherit_env is None else spec.inherit_env
        own = {name: value for name, value in (spec.env or {}).items() if name not in _OF_CALLS}
        if not own:
            return base
        key = (id(base), frozenset(own.items()))
        known = self._merged.get(key)
        if known is None or known[0] is not base:
            known = self._merged[key] = (base, {**base, **own})
            if len(self._merged) > _ENVIRONMENTS_KEPT:
                self._merged.popitem(last=False)
        return known[1]

    def definition_of(self, spec: JobSpec) -> bytes | None:
        function = spec.function
        if function is None or function.pickle is None:
            return None
        return _ENCODE(Definition(function.pickle, function.python, function.path))

    def start_of(self, attempt: ToStart) -> StartProcess:
        function = attempt.spec.function
        if function is None:
            raise WeftError("the job has no function")
        if function.call is None and attempt.definition is None:
            raise WeftError("the job that should carry the function has none")
        body = CallBody(
            function.call,
            function.args,
            function.kwargs,
            function.arguments,
            function.each,
            function.arguments_file,
        )
        program = _PROGRAM if attempt.spec.requirements is None else _APART
        argv = (self._interpreter_of(function), *program, str(attempt.limits.result_bytes_max))
        call = WarmCall(_ENCODE(body), attempt.definition)
        start = process_of(
            attempt, argv, _variables_of(attempt), warm=call, stdin=None, umask=None
        )
        if start.cwd is None and (directory := function.directory) and _may_enter(directory):
            return msgspec.structs.replace(start, cwd=directory)
        return start

    def _interpreter_of(self, function: FunctionSpec) -> str:
        """Return the caller's interpreter if this host has it: it has the packages."""
        now = self._monotonic_s()
        if now > self._looked_at + _INTERPRETERS_KNOWN_S:
            self._interpreters = {None: sys.executable}
            self._looked_at = now
        wanted = function.interpreter
        found = self._interpreters.get(wanted)
        if found is None:
            found = wanted if wanted and os.access(wanted, os.X_OK) else sys.executable
            self._interpreters[wanted] = found
        return found


def _may_enter(directory: str) -> bool:
    return os.path.isdir(directory) and os.access(directory, os.X_OK)  # noqa: PTH112 (text)


def _variables_of(attempt: ToStart) -> dict[str, str]:
    variables = variables_of(attempt.key, attempt.spec, attempt.limits)
    own = attempt.spec.env or {}
    return {**variables, **{name: own[name] for name in _OF_CALLS if name in own}}
