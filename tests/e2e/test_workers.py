"""Workers and licences from the command line and from Python."""

import json
import socket
from datetime import datetime
from pathlib import Path

import pytest

from e2e.conftest import Weft
from weft import Client

pytestmark = pytest.mark.heavy


def told(weft: Weft, *arguments: str) -> str:
    done = weft.run("worker", *arguments)
    assert done.returncode == 0, done.stderr
    return (done.stdout + done.stderr).decode()


def test_a_cordoned_worker_runs_nothing_until_it_is_uncordoned(weft: Weft) -> None:
    name = socket.gethostname()
    assert told(weft, "cordon", name, "--reason", "new disk") == f"weft: {name}: cordoned\n"
    listed = told(weft, "ls")
    shown = told(weft, "show", name)
    top = weft.run("top").stdout.decode()
    number = weft.submit({"command": ["true"]})
    assert told(weft, "uncordon", name) == f"weft: {name}: active\n"
    ended = weft.run("wait", number)
    (attempt,) = json.loads(weft.run("status", f"{number}.j1", "--json").stdout)["attempts"]
    (uncordoned, *_) = json.loads(told(weft, "show", name, "--json"))["history"]
    workers = json.loads(told(weft, "ls", "--json"))

    assert "cordoned\tnew disk" in listed
    assert "State\tcordoned\nWhy\tnew disk\nBy\tuser " in shown
    assert "cordoned" in top
    assert ended.returncode == 0
    assert datetime.fromisoformat(attempt["started_at"]) > datetime.fromisoformat(uncordoned["at"])
    assert [(one["worker"], one["state"]) for one in workers] == [
        (name, "active"),
        (f"{name}-simulation", "active"),
    ]


def test_drain_says_how_the_worker_comes_back(weft: Weft, tmp_path: Path) -> None:
    name, go = socket.gethostname(), tmp_path / "go"
    command = ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.02; done"]
    batch = weft.submit({"command": command})
    with Client(home=weft.home) as client:
        for document in client.get_batch(int(batch[1:])).watch():
            if document["n_running"]:
                break
    drained = told(weft, "drain", name)
    taken_back = told(weft, "uncordon", name)
    go.touch()

    assert f"{name}: draining, 1 job running" in drained
    assert "`weft worker uncordon` takes that back" in drained
    assert "`weft worker` on its host starts it again" in drained
    assert "active" in taken_back
    assert weft.run("wait", batch).returncode == 0


def test_a_worker_that_is_not_there_is_told(weft: Weft) -> None:
    done = weft.run("worker", "cordon", "nobody")

    assert done.returncode == 2
    assert 'worker "nobody" does not exist' in done.stderr.decode()
    assert "No pool has a worker of this name." in done.stderr.decode()
    assert "weft worker ls --all" in done.stderr.decode()


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
