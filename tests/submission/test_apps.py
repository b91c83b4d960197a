"""Jobs of applications: how their values are looked at."""

import threading
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from weft.core.apps import description, values
from weft.core.problems import Problems
from weft.submission.apps import with_app_fields
from weft.wire.documents.batches import JobDocument

APP = b"""{"name": "count", "version": "1", "executionSystem": "local", "templatePath": "run.sh",
    "parameters": [{"id": "a", "value": {"validator": "[a-z]+"}}]}"""


async def test_values_are_compared_apart_from_other_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pattern takes milliseconds, and many jobs may bring many values."""
    seen: list[str] = []
    matches = values._matches

    def watched(pattern: str, text: str) -> bool:
        seen.append(threading.current_thread().name)
        return matches(pattern, text)

    monkeypatch.setattr(values, "_matches", watched)
    app = description.parse_description("app.json", APP)

    async def find_apps(_caller: Any, _names: Any) -> Any:  # noqa: ANN401
        row = {"revision_id": 1, "digest": b"", "description": msgspec.to_builtins(app)}
        return [{"name": "count-1", **row}]

    services: Any = SimpleNamespace(store=SimpleNamespace(find_apps=find_apps))
    caller: Any = None
    jobs = [JobDocument(app="count-1", parameters={"a": "x"})]
    filled, _ = await with_app_fields(services, caller, jobs, jobs, Problems())

    assert (filled[0].env or {})["a"] == "x"
    assert seen
    assert threading.main_thread().name not in seen
