"""What bundles of Agave say of systems and inputs, and what becomes of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from e2e.conftest import Weft, until
from e2e.test_agave import ended, submitted

WRITER = "printf one > one.txt; printf two > two.txt; printf three > three.dat\n"
READER = 'echo "data=$data" "both=$both" "fixed=$fixed" $AGAVE_JOB_EXECUTION_SYSTEM\n'
QUEUES = """
[[queue]]
name = "brook"
priority = 1
pools = ["default"]
[[queue]]
name = "shore"
priority = 2
pools = ["default", "lake"]
[[queue]]
name = "depth"
priority = 3
pools = ["lake"]
"""


def add_app(weft: Weft, parent: Path, name: str, wrapper: str, more: Mapping[str, object]) -> None:
    folder = parent / name
    folder.mkdir()
    (folder / "wrapper.sh").write_text(wrapper)
    described = {"name": name, "version": "1.0", "templatePath": "wrapper.sh", **more}
    (folder / "app.json").write_text(json.dumps(described))
    weft.told("app", "add", str(folder))


def ask(http: httpx.Client, name: str, **more: object) -> httpx.Response:
    return http.post("/jobs/v2", json={"name": f"a {name}", "appId": f"{name}-1.0", **more})


def output(http: httpx.Client, job: Mapping[str, Any]) -> str:
    slug = str(job["name"]).replace(" ", "-")
    return http.get(f"/jobs/v2/{job['id']}/outputs/media/{slug}-{job['id']}.out").text


def test_execution_system_is_a_queue_or_a_pool(
    weft: Weft, http: httpx.Client, tmp_path: Path
) -> None:
    """The job runs there, and its document says so; what does not exist is refused."""
    (tmp_path / "queues.toml").write_text(QUEUES)
    (tmp_path / "none.toml").write_text("")
    assert weft.run("queue", "apply", str(tmp_path / "queues.toml"), "--yes").returncode == 0
    try:
        for name, system in (("flows", "brook"), ("dives", "lake"), ("lost", "nowhere")):
            wrapper = f"test {name} = flows || sleep 60\n"  # what is stopped must not have ended
            add_app(weft, tmp_path, name, wrapper, {"executionSystem": system})
        flows = submitted(http, {"name": "it", "appId": "flows-1.0"})
        assert (flows["systemId"], flows["batchQueue"]) == ("brook", "brook")
        assert ended(http, flows["id"])["status"] == "FINISHED"
        dives = submitted(http, {"name": "it", "appId": "dives-1.0"})
        assert (dives["systemId"], dives["batchQueue"]) == ("lake", "depth")
        asked = submitted(http, {"name": "it", "appId": "dives-1.0", "batchQueue": "shore"})
        assert asked["batchQueue"] == "shore"
        for job in (dives, asked):
            assert http.post(f"/jobs/v2/{job['id']}/stop").status_code == 200
        wrong = ask(http, "dives", batchQueue="brook")
        assert wrong.status_code == 400
        assert "has no queue 'brook'" in wrong.json()["message"]
        lost = ask(http, "lost")
        assert lost.status_code == 400
        assert lost.json()["message"].startswith("appId: its execution system 'nowhere' is no")
        own = {"jobs": [{"app": "lost-1.0"}]}
        assert http.post("/v1/batches", json=own).json()["errors"][0]["pointer"] == "/jobs/0/app"
        shown = http.get("/apps/v2/flows-1.0").json()["result"]
        assert shown["executionSystem"] == "brook"
        assert b"runs on brook" in weft.run("app", "show", "flows-1.0").stdout
    finally:
        weft.run("queue", "apply", str(tmp_path / "none.toml"), "--yes")


def test_inputs_are_those_that_the_bundle_describes(
    weft: Weft, http: httpx.Client, tmp_path: Path
) -> None:
    """Patterns, numbers of files, arguments, and what nobody sets."""
    add_app(weft, tmp_path, "writer", WRITER, {})
    first = ended(http, submitted(http, {"name": "w", "appId": "writer-1.0"})["id"])
    made = f"agave://weft/{first['archivePath']}"
    described = [
        {
            "id": "data",
            "value": {"required": True, "validator": r".*\.txt"},
            "details": {"argument": "--in=", "showArgument": True, "label": "Texts"},
            "semantics": {"maxCardinality": 1},
        },
        {
            "id": "both",
            "semantics": {"minCardinality": 2, "maxCardinality": 2},
            "details": {"argument": "-f ", "showArgument": True, "repeatArgument": True},
        },
        {"id": "fixed", "value": {"visible": False, "default": f"{made}/three.dat"}},
    ]
    add_app(weft, tmp_path, "reader", READER, {"inputs": described})
    pair = [f"{made}/one.txt", f"{made}/two.txt"]
    for field, value, why in (
        ("data", f"{made}/three.dat", "does not match"),
        ("data", pair, "at most 1"),
        ("data", None, "required"),
        ("both", pair[:1], "at least 2"),
        ("both", [*pair, f"{made}/three.dat"], "at most 2"),
        ("fixed", pair[0], "does not let it be set"),
    ):
        wrong = ask(http, "reader", inputs={"data": pair[0], field: value})
        assert wrong.status_code == 400, wrong.text
        said = wrong.json()["message"]
        assert (said.startswith(f"inputs.{field}: "), why in said) == (True, True), said
    answer = ask(http, "reader", inputs={"data": pair[0], "both": pair})
    job = ended(http, answer.json()["result"]["id"])
    assert (
        output(http, job) == "data=--in=one.txt both=-f one.txt -f two.txt fixed=three.dat local\n"
    )
    again = http.post(f"/jobs/v2/{job['id']}/resubmit")
    assert again.status_code == 201, again.text
    shown = http.get("/apps/v2/reader-1.0").json()["result"]["inputs"]
    assert [one["id"] for one in shown] == ["data", "both", "fixed"]
    assert (shown[0]["value"]["validator"], shown[0]["value"]["required"]) == (r".*\.txt", True)
    assert shown[1]["semantics"] == {"minCardinality": 2, "maxCardinality": 2}
    assert (shown[0]["details"]["argument"], shown[2]["value"]["visible"]) == ("--in=", False)
    table = weft.run("app", "show", "reader-1.0").stdout.decode()
    assert "Input" in table
    assert "Texts" in table
    own = {"from": "weft://b1.j1/x.dat", "env": "data"}
    for given, why in ((own, "does not match"), ({**own, "env": "fixed"}, "does not let")):
        wrong = http.post("/v1/batches", json={"jobs": [{"app": "reader-1.0", "inputs": [given]}]})
        assert any(why in one["message"] for one in wrong.json()["errors"]), wrong.text


def test_macros_of_archives_are_what_wrappers_are_told(
    weft: Weft, http: httpx.Client, tmp_path: Path
) -> None:
    add_app(weft, tmp_path, "namer", 'echo "$AGAVE_JOB_TENANT $AGAVE_JOB_OWNER"\n', {})
    path = "${JOB_TENANT}/${AGAVE_JOB_NAME}/${AGAVE_JOB_OWNER}/${JOB_NODE_COUNT}/${UUID}"
    job = ended(http, ask(http, "namer", archivePath=path).json()["result"]["id"])
    told = output(http, job).split()
    assert told == [job["tenantId"], job["owner"]]
    assert job["archivePath"] == f"{told[0]}/a-namer/{told[1]}/1/{job['id']}"


def test_blocked_job_is_reset(weft: Weft, http: httpx.Client, tmp_path: Path) -> None:
    """It runs again at once, and everything that shows jobs says whose it is and what it ran."""
    there = tmp_path / "there"
    add_app(weft, tmp_path, "waiter", f'if [ -e "{there}" ]; then exit 0; fi; exit 75\n', {})
    job = submitted(http, {"name": "waits", "appId": "waiter-1.0"})
    path = f"/jobs/v2/{job['id']}"
    until(lambda: http.get(f"{path}/status").json()["result"]["status"] == "BLOCKED")
    blocked = http.get(path).json()["result"]
    assert (blocked["blockedCount"], "run again" in blocked["lastStatusMessage"]) == (1, True)
    there.touch()
    reset = http.post(path, json={"action": "reset"})
    assert reset.status_code == 200, reset.text
    found = ended(http, job["id"])
    assert found["status"] == "FINISHED"
    history = [one["status"] for one in http.get(f"{path}/history").json()["result"]]
    at = history.index("BLOCKED")
    assert history[at : at + 3] == ["BLOCKED", "PENDING", "PROCESSING_INPUTS"]
    assert http.post(path, json={"action": "reset"}).status_code == 409
    batch = found["remoteJobId"].partition(".")[0]
    for target in (batch, found["remoteJobId"]):
        why = weft.run("why", target).stdout.decode()
        assert f"came by aloe {job['id']}, runs application waiter-1.0" in " ".join(why.split())
        told = json.loads(weft.run("why", target, "--json").stdout)
        assert (told["door"], told["foreign_id"], told["app"]) == ("aloe", job["id"], "waiter-1.0")
    until(lambda: 'weft_attempt_seconds_count{executor="app"' in http.get("/metrics").text)
    assert 'weft_jobs_submitted_total{door="aloe"' in http.get("/metrics").text
