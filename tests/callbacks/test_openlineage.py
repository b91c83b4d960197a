"""The sink of `examples/openlineage` makes run events of OpenLineage."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from weft.cli.input.line_texts import with_texts
from weft.core.lines.line import Sink
from weft.run.isolated.answering.message import Misfit, make_message
from weft_lines.rules.setup import parse_setup

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "openlineage"
FACTS = {
    "id": "b1.j7",
    "batch_id": 1,
    "job_id": 7,
    "name": "S2A_32TLR",
    "attempt": 1,
    "exit_code": 0,
    "attributes": {"source": "l1c"},
    "started_at": "2027-04-13T10:00:00.5+00:00",
    "ended_at": "2027-04-13T10:01:00+00:00",
    "event": "complete",
    "event_at": "2027-04-13T10:01:00+00:00",
    "run_id": "0f0e0d0c-0b0a-0908-0706-050403020100",
    "inputs": [{"from": "store://l1c/S2A/1.zip", "to": "in.zip"}, {"from": "weft://j1/a.txt"}],
    "products": [{"url": "s3://snow/1.tif", "type": "FSC"}, {"type": "RLIE"}],
}


@pytest.fixture(scope="module")
def sink() -> Sink:
    text = (EXAMPLE / "openlineage.toml").read_text()
    found = parse_setup(with_texts(text, EXAMPLE)).sinks["lineage"]
    assert found.events
    return found


def event(sink: Sink, **facts: object) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        make_message(sink.message, {**FACTS, **facts}, json.dumps(sink.schema))
    )
    return made


def events(sink: Sink) -> list[dict[str, Any]]:
    bare: dict[str, Any] = {"attributes": {}, "name": None, "inputs": [], "products": []}
    return [
        event(sink),
        event(sink, event="start"),
        event(sink, **bare),
        event(sink, event="fail", exit_code=3, products=[]),
        event(sink, event="abort"),
    ]


def test_events_name_run_job_and_datasets(sink: Sink) -> None:
    done, start, bare, bad, _ = events(sink)
    assert done["inputs"] == [
        {"namespace": "store://l1c", "name": "S2A/1.zip"},
        {"namespace": "weft://j1", "name": "a.txt"},
    ]
    assert done["outputs"] == [
        {"namespace": "s3://snow", "name": "1.tif"},
        {"namespace": "weft", "name": "b1.j7 product 2"},
    ]
    assert (done["eventType"], start["eventType"]) == ("COMPLETE", "START")
    assert done["run"]["runId"] == start["run"]["runId"]
    assert (done["job"]["name"], bare["job"]["name"]) == ("l1c", "b1.j7")
    assert bad["run"]["facets"]["errorMessage"]["message"] == "exit code 3"


def test_what_is_no_event_is_not_sent(sink: Sink) -> None:
    with pytest.raises(Misfit, match="runId"):
        event(sink, run_id="7")


@pytest.mark.heavy
def test_the_classes_of_openlineage_take_the_events(sink: Sink, tmp_path: Path) -> None:
    """Its client's classes are made from its JSON schemas, and check what they are given."""
    subprocess.run([ROOT / "tools" / "environment.sh", "crate"], check=True, cwd=ROOT)
    checker = Path(__file__).parent / "openlineage_events.py"
    python = ROOT / ".tools/crate/bin/python"

    def read(found: list[dict[str, Any]]) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [python, checker],
            input=json.dumps(found),
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    found = events(sink)
    done = read(found)
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(done.stdout) == [one["eventType"] for one in found]
    wrong = {**found[0], "run": {**found[0]["run"], "runId": "7"}}
    assert read([wrong]).returncode != 0
