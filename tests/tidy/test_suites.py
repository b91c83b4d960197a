"""A suite of `weft.testing` calls every method of its port."""

import ast
import inspect
import sys
from collections.abc import Iterator

import pytest

from weft.ports.callback_sender import CallbackSender
from weft.ports.file_store import FileStore
from weft.ports.log_store import LogKeeper, LogStore, LogWriter
from weft.ports.provider import Provider
from weft.ports.runner import Runner
from weft.ports.sink import Sink
from weft.ports.topics import EventSink
from weft.ports.transport import Transport
from weft.testing.callback_sender_suite import CallbackSenderSuite
from weft.testing.event_sink_suite import EventSinkSuite
from weft.testing.file_store_suite import FileStoreSuite
from weft.testing.log_store_suite import LogStoreSuite
from weft.testing.provider_suite import ProviderSuite
from weft.testing.runner_suite import RunnerSuite
from weft.testing.sink_suite import SinkSuite
from weft.testing.transport_suite import TransportSuite

SUITES = {
    CallbackSender: CallbackSenderSuite,
    EventSink: EventSinkSuite,
    FileStore: FileStoreSuite,
    LogKeeper: LogStoreSuite,
    LogStore: LogStoreSuite,
    LogWriter: LogStoreSuite,
    Provider: ProviderSuite,
    Runner: RunnerSuite,
    Sink: SinkSuite,
    Transport: TransportSuite,
}


def _names_in(suite: type) -> Iterator[str]:
    """Yield the attributes that the classes of a suite use."""
    for module in {part.__module__ for part in suite.__mro__[:-1]}:
        for top in ast.parse(inspect.getsource(sys.modules[module])).body:
            if isinstance(top, ast.ClassDef):
                yield from (node.attr for node in ast.walk(top) if isinstance(node, ast.Attribute))


@pytest.mark.parametrize(("port", "suite"), SUITES.items())
def test_every_method_of_the_port_is_called(port: type, suite: type) -> None:
    methods = [name for name, _ in inspect.getmembers(port, inspect.isfunction) if name[0] != "_"]
    called = set(_names_in(suite))

    assert methods
    assert [name for name in methods if name not in called] == []
