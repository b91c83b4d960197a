"""`weft dag` and `weft timeline` without a server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cases import cases
from weft.cli.app import run_command
from weft.cli.commands.timeline import WIDTH, sparkline
from weft.cli.input.options import Shared
from weft.core.pictures.timeline import AttemptDates, build_timeline
from weft.core.states import JobState

NODE = {"kind": "job", "group_id": None, "last_job_id": None, "n_jobs": 1}
GRAPH = {
    "batch_id": 1,
    "group_id": 0,
    "path": "/",
    "level": "jobs",
    "n_jobs": 2,
    "sampled": True,
    "cursor": "x",
    "edges": [{"parent": "j1", "child": "j2", "n_edges": 1}],
    "nodes": [
        {**NODE, "id": "j1", "job_id": 1, "name": "a", "state": "failed", "states": {"failed": 1}},
        {**NODE, "id": "j2", "job_id": 2, "name": None, "state": "ready", "states": {"ready": 1}},
    ],
}
BEGIN = datetime(2026, 11, 22, tzinfo=UTC)


def timeline() -> Any:  # noqa: ANN401 (a document)
    row = AttemptDates(
        job_id=1,
        state=JobState.SUCCESS,
        ready_at=BEGIN,
        cancelled_at=None,
        attempt=1,
        worker="w\x1b[31m" * 9,
        end_state=JobState.SUCCESS,
        claimed_at=BEGIN.replace(minute=1),
        started_at=BEGIN.replace(minute=2),
        ended_at=BEGIN.replace(minute=9),
        released_at=None,
        now_at=BEGIN.replace(hour=1),
    )
    return msgspec.to_builtins(build_timeline(1, 2, BEGIN, [row]))


class _Client:
    async def get_graph(self, batch_id: int, **wanted: Any) -> Any:  # noqa: ANN401
        assert (batch_id, wanted["level"]) == (1, None)
        return GRAPH

    async def get_timeline(self, batch_id: int) -> Any:  # noqa: ANN401
        assert batch_id == 1
        return timeline()


@pytest.fixture(autouse=True)
def _client(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def client(_self: Shared) -> AsyncIterator[_Client]:
        yield _Client()

    monkeypatch.setattr(Shared, "client", client)


def test_dag_is_written_in_each_format(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "b1.svg"
    for words, start in (
        ([], "flowchart LR\n"),
        (["--format", "dot"], 'digraph "b1" {\n'),
        (["--format", "svg"], "<svg"),
        (["--json"], '{"batch_id":1,'),
    ):
        assert run_command(["dag", "b1", *words]) == 0
        printed = capsys.readouterr()
        assert printed.out.startswith(start)
        assert ("some may be missing" in printed.err) == ("--json" not in words)
    assert run_command(["dag", "b1/a", "--format", "svg", "-o", str(file)]) == 0
    assert file.read_text().startswith("<svg")
    assert "nodes: 2, edges: 1;" in capsys.readouterr().err
    assert run_command(["dag", "b1.j1"]) == 2
    assert run_command(["dag", "b1", "-o", str(tmp_path)]) == 2


def test_time_axis_fits_80_columns_and_a_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run_command(["timeline", "b1"]) == 0
    printed = capsys.readouterr().out
    lines = printed.splitlines()

    assert max(map(len, lines)) <= 80
    assert "estimated from 1 of 2 jobs" in printed
    assert "; on the right the time of all" in printed
    assert "\x1b" not in printed
    (running,) = [line for line in lines if line.startswith("running ") and "█" in line]
    assert running.split()[-1] == "14:00"
    file = tmp_path / "b1.html"
    assert run_command(["timeline", "b1", "--html", str(file)]) == 0
    assert file.read_text().startswith("<!doctype html>")
    assert "src=" not in file.read_text()


@cases("n", [1, 2, WIDTH, 120, 1000])
def test_sparkline_shows_every_part(n: int) -> None:
    assert sparkline([1.0] * n, 1.0) == "█" * WIDTH
    assert sparkline([0.0] * n, 1.0).isspace()
    peaks = sparkline([0.0] * (n - 1) + [5.0], 5.0)
    assert peaks[-1] != " "
