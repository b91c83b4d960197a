"""Applications on a plain `weft up`: a folder is added, jobs run it with parameters; and code
that travels with jobs.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft
from weft import Client
from weft.client.http.client_routes import AppFolderUnreadable
from weft.core.errors import AppIncomplete, AppNotFound, Invalid, InvalidApp, NotFound, TooManyApps

WRAPPER = """\
set -e
echo "says ${say} ${times} loud=${loud} ${flagged} [${many}]"
./helper
ls
"""


def bundle(folder: Path, *, wrapper: str = WRAPPER, version: str = "1.0") -> Path:
    """Write a folder as Agave has them."""
    folder.mkdir(exist_ok=True)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "words").write_text("some\n")
    (folder / "wrapper.sh").write_text(wrapper)
    (folder / "helper").write_text("#!/bin/sh\necho helped\n")
    (folder / "helper").chmod(0o755)
    parameters: list[dict[str, Any]] = [
        {"id": "say", "value": {"type": "string", "required": True, "validator": "[a-z$(); .]+"}},
        {"id": "times", "value": {"type": "number", "default": 2}},
        {"id": "loud", "value": {"type": "bool"}},
        {"id": "flagged", "value": {"type": "flag"}, "details": {"argument": "--flagged"}},
        {"id": "many", "value": {"type": "string"}, "semantics": {"maxCardinality": -1}},
    ]
    described = {
        "name": "sayer",
        "version": version,
        "label": "Says",
        "templatePath": "wrapper.sh",
        "deploymentPath": ".",
        "defaultProcessorsPerNode": 1,
        "defaultMaxRunTime": "00:05:00",
        "parameters": parameters,
        "inputs": [],
        "ontology": ["x"],
    }
    (folder / "app.json").write_text(json.dumps(described))
    return folder


def run(client: Client, **parameters: object) -> Any:  # noqa: ANN401 (a job)
    builder = client.create_batch()
    job = builder.create_job(app="sayer-1.0", parameters=parameters)
    builder.submit().wait()
    return job


def test_application_runs_with_its_parameters(weft: Weft, tmp_path: Path) -> None:
    """As variables: what looks like code is a text. Jobs keep the content that they have."""
    folder = bundle(tmp_path / "sayer")
    assert b"revision 1" in weft.run("app", "add", str(folder)).stderr
    assert b"already" in weft.run("app", "add", str(folder)).stderr
    listed = json.loads(weft.run("app", "ls", "--json").stdout)
    ours = [one for one in listed if one["name"].startswith("sayer")]  # others may have theirs
    assert [(one["name"], one["revision"]) for one in ours] == [("sayer-1.0", 1)]
    assert b"times" in weft.run("app", "show", "sayer-1.0").stdout
    with Client(home=weft.home) as client:
        job = run(client, say="$(id); rm .", loud=True, flagged=True, many=["a", "b"])
        first, shown = job.log(), job.status()
        (folder / "wrapper.sh").write_text("echo other $say\n")
        assert client.add_app(folder)["revision"] == 2
        again = run(client, say="x").log()
        client.remove_app("sayer-1.0")
        with pytest.raises(NotFound):
            client.get_app("sayer-1.0")
        with pytest.raises(Invalid):
            run(client, say="x")
    assert first.splitlines()[:2] == ["says $(id); rm . 2 loud=1 --flagged [a b]", "helped"]
    assert {"data", "wrapper.sh", "app.json"} <= set(first.splitlines()[2:])
    assert (shown["app"], shown["state"]) == ("sayer-1.0", "success")
    assert shown["spec"]["timeout_s"] == 300
    assert again == "other x\n"


def test_code_travels_with_its_jobs(weft: Weft, tmp_path: Path) -> None:
    """What git tracks if it is a checkout; once for all, also into scripts and functions."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "made.py").write_text("def of(n=4): return 10 + n\nprint(of())\n")
    (tmp_path / "big").write_text("not tracked")
    for words in ("init -q", "add pkg"):
        subprocess.run(["git", "-C", tmp_path, *words.split()], check=True)
    script = "#!/usr/bin/env python3\nimport os, pkg.made; print(os.listdir())"
    jobs = [
        {"command": ["python3", "pkg/made.py"], "count": 2},
        {"script": script},
        {"function": {"call": "pkg.made:of"}},
    ]
    file = tmp_path / "jobs.json"
    file.write_text(json.dumps({"defaults": {"code": "."}, "jobs": jobs}))
    batch = weft.told("submit", str(file), "--wait").decode().split()[0]
    said = [weft.told("logs", f"{batch}.j{n}").decode() for n in (1, 2, 3)]
    assert said == ["14\n", "14\n", "14\n['pkg']\n"]
    code = str(tmp_path)
    assert weft.told("run", "--code", code, "--", "python3", "pkg/made.py") == b"14\n"
    line = ("each", "--code", code, "--", "ls", "-R")
    assert b"made.py" in weft.run(*line, stdin=b"pkg\n").stdout
    with Client(home=weft.home) as client:
        builder = client.create_batch()
        made = [builder.create_job(["ls"], code=code) for _ in range(2)]
        builder.submit().wait()
        assert [job.log() for job in made] == ["pkg\n"] * 2
    assert len(list((weft.home / "scratch").glob("*/code/*"))) == 1
    for wrong, why in ((f"{code}/none", b"No such file"), (str(file), b"Not a directory")):
        refused = weft.run("run", "--code", wrong, "--", "ls")
        assert (refused.returncode, why in refused.stderr) == (2, True)
    file.write_text(json.dumps({"jobs": [{"code": "none"}]}))
    assert b"none' cannot travel" in weft.run("submit", str(file)).stderr


def test_folders_and_names_that_are_none_are_refused(weft: Weft, tmp_path: Path) -> None:
    with Client(home=weft.home) as client:
        with pytest.raises(AppFolderUnreadable):
            client.add_app(tmp_path)
        with pytest.raises(AppNotFound):
            client.get_app("gone-1.0")
        folder = bundle(tmp_path / "wrong", version="..")
        (folder / "wrapper.sh").unlink()
        with pytest.raises(InvalidApp):
            client.add_app(folder)


def test_wrong_parameters_are_refused(weft: Weft, tmp_path: Path) -> None:
    cases: list[tuple[Any, ...]] = [
        ({}, "required"),
        ({"say": "UPPER"}, "match"),
        ({"say": 3}, "text"),
        ({"say": ["a", "b"]}, "at most 1"),
        ({"say": "a", "times": "many"}, "number"),
        ({"say": "a", "loud": "perhaps"}, "true or false"),
        ({"say": "a", "other": 1}, "no such parameter"),
        ({"say": "a\0"}, "NUL"),
    ]
    for parameters, what in cases:
        with Client(home=weft.home) as client:
            client.add_app(bundle(tmp_path / "sayer"))
            with pytest.raises(Invalid) as raised:
                run(client, **parameters)
        assert what in str([one.message for one in raised.value.errors])


def test_of_many_who_add_at_once_each_makes_a_revision(weft: Weft, tmp_path: Path) -> None:
    folders = [bundle(tmp_path / f"{n}", wrapper=f"{n}", version="2") for n in range(16)]
    with Client(home=weft.home) as client, ThreadPoolExecutor(16) as pool:
        saved = list(pool.map(client.add_app, folders))
    assert sorted(one["revision"] for one in saved) == [*range(1, 17)]


def test_refusals_of_the_store_have_their_classes() -> None:
    assert (AppIncomplete.sqlstate, TooManyApps.sqlstate) == ("WF261", "WF162")
