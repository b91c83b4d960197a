"""rename, set: what is changed of batches, groups and jobs from the command line."""

import json
from pathlib import Path

import pytest

from e2e.conftest import Weft
from e2e.test_batches import as_json, submit

pytestmark = pytest.mark.heavy


def test_names_and_attributes_of_what_is_there(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    done = weft.run("rename", batch, "second try")
    weft.run("rename", f"{batch}/count", "counted")
    weft.run("rename", f"{batch}.j1", "first")
    weft.run("set", batch, "cohort=scz1", "owner=ada")
    batch_now = as_json(weft, "set", batch, "owner=")
    job_now = as_json(weft, "set", f"{batch}.j1", "k=v=w")

    assert (done.returncode, done.stdout) == (0, b"")
    assert f"{batch}: named second try" in done.stderr.decode()
    assert (batch_now["name"], batch_now["attributes"]) == ("second try", {"cohort": "scz1"})
    assert (job_now["name"], job_now["attributes"]) == ("first", {"k": "v=w"})
    assert as_json(weft, "status", f"{batch}/counted")["n_jobs"] == 2
    assert weft.run("status", f"{batch}/count").returncode == 2
    assert batch in [f"b{one['id']}" for one in as_json(weft, "ls", "--name", "second try")]
    assert "edited" in weft.run("status", f"{batch}.j1", "--json").stdout.decode()


def test_what_is_no_attribute_and_a_name_that_is_taken(weft: Weft, tmp_path: Path) -> None:
    batch = submit(weft, tmp_path)
    wrong = weft.run("set", batch, "cohort", "--json")
    taken = weft.run("rename", f"{batch}/count", "merge", "--json")

    assert (wrong.returncode, json.loads(wrong.stderr)["code"]) == (2, "CLI.NOT_AN_ATTRIBUTE")
    assert (taken.returncode, json.loads(taken.stderr)["code"]) == (4, "API.GROUP_EXISTS")
