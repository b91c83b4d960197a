"""`weft jobs` and `weft ls` with queries."""

from pathlib import Path

import pytest

from e2e.conftest import Weft, as_json
from e2e.test_batches import submit

pytestmark = pytest.mark.heavy

JOBS = """
name: cohorts
jobs:
  - {name: good, command: ["true"], attributes: {cohort: scz1}, group: /a}
  - {name: bad, command: [sh, -c, "exit 3"], attributes: {cohort: scz1}}
  - {name: "two words", command: ["true"], group: /a/b}
  - {name: many, count: 2500}
"""


@pytest.fixture
def batch(weft: Weft, tmp_path: Path) -> str:
    """Give a batch whose jobs have ended."""
    name = submit(weft, tmp_path, JOBS)
    weft.run("wait", name)
    return name


def test_jobs_are_chosen_by_a_query(weft: Weft, batch: str) -> None:
    def found(*arguments: str) -> list[int]:
        return [job["job_id"] for job in as_json(weft, "jobs", *arguments)]

    assert found(batch, "cohort = scz1") == [1, 2]
    assert found(batch, 'state = failed or name = "two words"') == [2, 3]
    assert found(batch, "--group", "/a") == [1, 3]
    assert found(f"{batch}/a", "not name = good") == [3]
    assert found(batch, "-n", "2") == [1, 2]
    assert found(batch) == [*range(1, 51)]
    assert found(batch, "--all") == [*range(1, 2504)]
    assert found(batch, "name = many", "--all") == [*range(4, 2504)]
    assert found(batch, "nobody") == []


def test_tables_of_jobs(weft: Weft, batch: str) -> None:
    table = weft.run("jobs", batch, "job_id <= 3").stdout.decode()
    everything = weft.run("jobs", batch, "--all").stdout.decode().splitlines()
    first = weft.run("jobs", batch, "-n", "1")

    assert "two words" in table
    assert len(everything) == 2503 + 1
    assert everything[0].split("\t")[:3] == ["Job", "Name", "State"]
    assert not any(line != line.rstrip(" ") for line in everything)
    assert sum(line.startswith("Job") for line in everything) == 1
    assert "these are the first 1" in first.stderr.decode()


def test_plan_is_shown(weft: Weft, batch: str) -> None:
    plan = weft.run("jobs", batch, "name = good", "--explain").stdout.decode()

    assert "SELECT" in plan
    assert " on job_label" in plan  # by which index: statistics decide
    assert "plan" in as_json(weft, "jobs", batch, "--explain")
    assert "sql" in as_json(weft, "ls", "name = x", "--explain")


def test_wrong_query_is_marked(weft: Weft, batch: str) -> None:
    done = weft.run("jobs", batch, "name = x and state = runing")

    assert done.returncode == 2
    lines = done.stderr.decode().splitlines()
    assert lines[-2:] == ["  name = x and state = runing", "                       ^^^^^^"]
    assert "line 1, column 22" in lines[1]
    assert weft.run("jobs", "b999999").returncode == 2
    assert weft.run("jobs", f"{batch}.j999999").returncode == 2
    both = weft.run("jobs", f"{batch}/a", "--group", "/b", "--json")
    assert "CLI.TWO_GROUPS" in both.stderr.decode()


def test_a_key_that_nothing_has_is_told(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path, "jobs: [{command: ['false'], attributes: {cohort: a}}]")
    weft.run("wait", batch)
    wrong = weft.run("jobs", batch, "stat = failed")
    known = weft.run("jobs", batch, "cohort = b")
    batches = weft.run("ls", "ownr = ada", "--json")
    found = [as_json(weft, "jobs", batch, text) for text in ("reason = exit", "status = failed")]
    word = as_json(weft, "ls", batch)

    assert "no job has an attribute 'stat'; did you mean state?" in wrong.stderr.decode()
    assert "attribute" not in known.stderr.decode()
    assert "no batch has an attribute 'ownr'" in batches.stderr.decode()
    assert [[job["job_id"] for job in jobs] for jobs in found] == [[1], [1]]
    assert [one["id"] for one in word] == [int(batch[1:])]
