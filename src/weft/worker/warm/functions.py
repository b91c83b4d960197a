"""Find the function of a call: by its name, or in its owner's pickle."""

import importlib
import os
import pickle
import sys
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import msgspec

from weft.core.states import Reason
from weft.wire.function import CallBody, Definition, FunctionCall

AnyFunction = Callable[..., Any]  # whatever the user has written
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
_DEFINITION = msgspec.msgpack.Decoder(Definition)


class CannotCall(Exception):
    """The call is wrong, not the function."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Functions:
    """The functions that this process has loaded. If loading fails, the next call retries."""

    def __init__(self) -> None:
        self._definitions: dict[int, Definition] = {}
        self._loaded: dict[int | str, AnyFunction] = {}

    def add(self, call: FunctionCall) -> None:
        """Keep the definition that came with a call, if any."""
        if call.definition is not None:
            self._definitions[call.definition_id] = _DEFINITION.decode(call.definition)

    def find(self, definition_id: int, body: CallBody) -> AnyFunction:
        """Return the function. Raise `CannotCall`, or whatever its modules raise."""
        key = body.call or definition_id
        function = self._loaded.get(key)
        if function is None:
            function = self._loaded[key] = (
                _load_by_name(body.call) if body.call else self._load(definition_id)
            )
        return function

    def _load(self, definition_id: int) -> AnyFunction:
        definition = self._definitions.get(definition_id)
        if definition is None:
            raise CannotCall(Reason.BAD_SPEC, f"job j{definition_id} carries no function")
        if definition.python not in {None, PYTHON}:
            message = (
                f"the function was pickled by Python {definition.python}, "
                f"the worker has Python {PYTHON}"
            )
            raise CannotCall(Reason.BAD_SPEC, message)
        for directory in definition.path:
            if directory not in sys.path and os.path.exists(directory):
                sys.path.append(directory)
        return _callable(pickle.loads(definition.pickle))  # noqa: S301 (its owner's, in a process of its owner's batch)


def _load_by_name(name: str) -> AnyFunction:
    module, _, path = name.partition(":")
    return _callable(attrgetter(path)(importlib.import_module(module)))


def _callable(found: object) -> AnyFunction:
    if not callable(found):
        raise CannotCall(Reason.BAD_SPEC, f"a {type(found).__name__} cannot be called")
    return found
