"""Real workflows: converted, submitted, run to the end, and their order proved."""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft
from faults.books import query
from tidy.source_files import ROOT

pytestmark = pytest.mark.heavy
DATA = Path(os.environ.get("WEFT_TEST_DATA") or ROOT.parent / "shared" / "data")
DAX = """<adag name="small">
  <job id="A" name="first" runtime="20"/><job id="B" name="second" runtime="10"/>
  <child ref="B"><parent ref="A"/></child>
</adag>"""


def recorded(name: str) -> Path:
    """Return the file of a workflow that others recorded; skip if it is not there."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"{path} is not there; WEFT_TEST_DATA names its directory")
    return path


def submitted(weft: Weft, file: Path, tmp_path: Path, *, scale: str) -> str:
    """Convert and submit a workflow; return its batch."""
    document = tmp_path / "workflow.json"
    done = weft.run("convert", "dax", str(file), "--scale", scale, "-o", str(document))
    assert done.returncode == 0, done.stderr
    batch = weft.run("submit", str(document))
    assert batch.returncode == 0, batch.stderr
    return batch.stdout.decode().strip()


def order_of(weft: Weft, batch: str, *, timeout_s: float = 60) -> dict[str, Any]:
    done = weft.run("check-order", batch, "--json", timeout_s=timeout_s)
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (1 if found["early"] else 0)
    return found


def ran_in_order(weft: Weft, file: Path, tmp_path: Path, *, scale: str, timeout_s: float) -> Any:  # noqa: ANN401 (a document)
    batch = submitted(weft, file, tmp_path, scale=scale)
    waited = weft.run("wait", batch, timeout_s=timeout_s)
    assert waited.returncode == 0, waited.stderr
    return order_of(weft, batch, timeout_s=timeout_s)


def test_montage_of_25_jobs_runs_in_order(weft: Weft, tmp_path: Path) -> None:
    found = ran_in_order(
        weft, recorded("Montage_25.xml.gz"), tmp_path, scale="0.005", timeout_s=60
    )

    assert found == {"n_jobs": 25, "n_started": 25, "n_parents": 45, "early": []}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("name", "n_jobs", "n_parents", "scale"),
    [
        ("Montage_1000.xml.gz", 1000, 2485, "0.002"),
        ("Epigenomics_997.xml.gz", 997, 1234, "0.00001"),
    ],
)
def test_workflow_of_a_thousand_jobs_runs_in_order(
    weft: Weft, tmp_path: Path, name: str, n_jobs: int, n_parents: int, scale: str
) -> None:
    found = ran_in_order(weft, recorded(name), tmp_path, scale=scale, timeout_s=500)

    assert found == {"n_jobs": n_jobs, "n_started": n_jobs, "n_parents": n_parents, "early": []}


def test_converted_document_says_what_the_workflow_says(weft: Weft) -> None:
    plain = weft.run("convert", "dax", "-", "--scale", "0.1", stdin=DAX.encode())
    packed = weft.run("convert", "dax", "-", "--scale", "0.1", stdin=gzip.compress(DAX.encode()))

    assert plain.stdout == packed.stdout
    assert json.loads(plain.stdout) == {
        "name": "small",
        "jobs": [
            {
                "name": "A",
                "command": ["sleep", "2"],
                "attributes": {"transformation": "first", "runtime_s": "20"},
            },
            {
                "name": "B",
                "command": ["sleep", "1"],
                "parents": ["A"],
                "attributes": {"transformation": "second", "runtime_s": "10"},
            },
        ],
    }


def test_scale_0_makes_jobs_that_do_nothing(weft: Weft) -> None:
    done = weft.run("convert", "dax", "-", "--scale", "0", stdin=DAX.encode())

    assert not any("command" in job for job in json.loads(done.stdout)["jobs"])


def test_what_cannot_be_converted_is_refused(weft: Weft) -> None:
    for arguments, stdin, code in [
        (["-", "--scale", "-1"], b"", "CLI.IMPOSSIBLE_SCALE"),
        (["-", "--scale", "nan"], b"", "CLI.IMPOSSIBLE_SCALE"),
        (["-"], b"", "CLI.UNREADABLE_WORKFLOW"),
        (["-"], b"not xml", "CLI.UNREADABLE_WORKFLOW"),
        (["-"], gzip.compress(DAX.encode())[:-20], "CLI.UNREADABLE_WORKFLOW"),
        (["-"], b"\x1f\x8b" + b"broken" * 9, "CLI.UNREADABLE_WORKFLOW"),
        (["/nowhere/workflow.xml"], b"", "CLI.UNREADABLE_DOCUMENT"),
        (["-", "-o", "/nowhere/workflow.json"], DAX.encode(), "CLI.UNREADABLE_DOCUMENT"),
    ]:
        done = weft.run("convert", "dax", *arguments, "--json", stdin=stdin)

        assert (done.returncode, done.stdout) == (2, b"")
        assert json.loads(done.stderr)["code"] == code


def test_start_before_the_end_of_a_parent_is_found(weft: Weft, tmp_path: Path) -> None:
    """Such attempts do not come about, so the books are forged for a moment."""
    file = tmp_path / "small.xml"
    file.write_text(DAX)
    batch = submitted(weft, file, tmp_path, scale="0.001")
    assert weft.run("wait", batch).returncode == 0
    before = order_of(weft, batch)
    shift_start(weft, batch, seconds=-60)
    try:
        found = order_of(weft, batch)
        shown = weft.run("check-order", batch)
    finally:
        shift_start(weft, batch, seconds=60)

    assert before["early"] == []
    assert [(one["job_id"], one["parent_id"]) for one in found["early"]] == [(2, 1)]
    assert shown.returncode == 1
    assert f"{batch}.j2" in shown.stdout.decode()
    told = weft.run("check-order", batch)
    assert "2 of 2 jobs began, none before all of its parents whose" in told.stderr.decode()


def shift_start(weft: Weft, batch: str, *, seconds: int) -> None:
    """Move the start of the second job."""
    query(
        weft.home,
        "UPDATE weft.attempt SET started_at = started_at + $2 * interval '1 s' "
        "WHERE batch_id = $1 AND job_id = 2",
        int(batch.removeprefix("b")),
        seconds,
    )


@pytest.mark.parametrize("target", ["b1.j2", "b1/stage1", "x"])
def test_order_is_that_of_a_batch(weft: Weft, target: str) -> None:
    assert weft.run("check-order", target).returncode == 2
