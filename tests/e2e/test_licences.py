"""`weft licence`, as an operator and a user meet it."""

import json

import pytest

from e2e.conftest import Weft

pytestmark = pytest.mark.heavy


def test_licences_are_set_used_and_removed(weft: Weft) -> None:
    def told(*arguments: str) -> str:
        done = weft.run(*arguments)
        assert done.returncode == 0, done.stderr
        return (done.stdout + done.stderr).decode()

    assert told("licence", "set", "spice", "1") == "weft: spice: 1\n"
    job = {"command": ["true"], "resources": {"cpu": 0.1, "spice": 1}, "count": 4}
    number = weft.submit(job)
    assert weft.run("wait", number).returncode == 0
    shown = told("status", f"{number}.j1")
    (listed,) = json.loads(told("licence", "ls", "--json"))
    many = json.dumps({"jobs": [{**job, "resources": {"spice": 2}}]}).encode()
    refused = weft.run("submit", "-", "--format", "json", stdin=many)
    document = json.loads(told("licence", "set", "spice", "5", "--json"))

    assert "1 spice" in shown
    assert (listed["licence"], listed["n"], listed["n_used"]) == ("spice", 1, 0)
    assert "0/5" in told("licence", "ls")
    assert refused.returncode == 2
    assert "asks for 2 spice; there is 1 in all" in refused.stderr.decode()
    assert document["n"] == 5
    assert told("licence", "rm", "spice") == "weft: licence spice is removed\n"
    assert weft.run("licence", "rm", "spice").returncode == 2
