"""Every consumer has a bound of what is in its hand, and all bounds stand in one file."""

import ast
from collections.abc import Iterator

from tidy.exceptions import UNBOUNDED_QUEUES
from tidy.source_files import nodes_of, product_files, relative
from weft.core import consumer_limits

PASSED_ON = {"limit", "limit.size", "self._site.limit"}
"""Bounds that a caller has given: of a worker's slots, of the setting `topics_runs`."""


def _calls(*names: str) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield path, name of what is called, and the call."""
    for path in product_files().values():
        if any(name in path.read_text() for name in names):
            for node in nodes_of(path, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in names:
                    yield relative(path), name, node


def test_what_a_consumer_gets_is_bounded() -> None:
    """By a constant of `weft.core.consumer_limits`, or by what the caller was given."""
    found = [
        (path, ast.unparse(bound.value))
        for path, _, call in _calls("consume", "consuming")
        for bound in call.keywords
        if bound.arg == "limit"
    ]

    assert len(found) >= 6, "consumers are not found any more"
    assert [one for one in found if one[1] not in PASSED_ON | vars(consumer_limits).keys()] == []


def test_a_broker_is_told_the_bound_before_it_sends() -> None:
    """Without a prefetch count a RabbitMQ sends all that it has."""
    asks = {(path, name) for path, name, _ in _calls("basic_consume", "basic_qos")}
    consuming = {path for path, name in asks if name == "basic_consume"}

    assert consuming
    assert consuming <= {path for path, name in asks if name == "basic_qos"}


def test_queues_in_memory_are_bounded() -> None:
    """By their size, or by what is named beside their file."""
    found = {
        path
        for path, _, call in _calls("Queue", "SimpleQueue")
        if not call.args and not call.keywords
    }

    assert found == UNBOUNDED_QUEUES.keys()
