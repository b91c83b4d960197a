"""Each bench at a tiny size: it ends, has its keys, and leaves nothing behind.

What it measures is not judged here: a figure of a second on a busy machine says nothing.
"""

import functools
import json
import operator
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from up.weft_up import processes_of
from weft.api.app import route_rights
from weft.bench.main import BENCHES
from weft.run.doors import api_doors

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-P", "-m", "weft.cli", "bench"]
PROOFS = [sys.executable, "-P", "-m", "benches"]
"""What `make bench NAME=` runs."""
CONDITIONS = {
    "cores", "cpu", "memory_gib", "kernel", "file_system", "python", "postgresql", "weft",
    "durable", "load_before", "sizes",
}  # fmt: skip
ALWAYS = {"bench", "unit", "weft", "reference", "ratio", "conditions"}


SERVER = {"file_system", "postgresql", "durable"}
"""Conditions of benches that have a server."""


def printed(name: str, *options: str) -> dict[str, Any]:
    program = PROGRAM if name in BENCHES else PROOFS
    done = subprocess.run(
        [*program, name, "--json", *options],
        check=False, capture_output=True, text=True, timeout=100,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    assert result["bench"] == name
    assert result.keys() >= ALWAYS
    return result


def measured(directory: Path, name: str, *options: str) -> dict[str, Any]:
    result = printed(name, "--dir", str(directory), *options)
    assert list(directory.iterdir()) == [], "the home is still there"
    assert result["conditions"].keys() - {"chromium"} == CONDITIONS
    durable = result["conditions"]["durable"]
    assert (durable["fsync"], durable["synchronous_commit"]) == ("on", "on")
    assert durable["full_page_writes"] == "on"
    return result


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("command", "positive", "exact"),
    [
        ("gates --scale 0.004 --rounds 1", "ratio submit_rate", {}),
        ("release --jobs 50", "release_per_s sweep_per_s first_ms", {"tests": 3}),
        ("failures --jobs 600", "ratio causes_s", {}),
        ("retry --jobs 600", "seconds", {"conditions.sizes": {"jobs": 600, "failed": 60}}),
        ("claim-many --jobs 100 --rounds 1", "ratio",
         {"conditions.sizes.users": 100, "conditions.sizes.batches_cancelled": 10}),
        ("grown --jobs 12000 --rounds 1", "ratio", {"conditions.sizes.finished": 12_000}),
        ("submit --jobs 3000 --rounds 1", "ratio with_labels.ratio", {}),
        ("arrays --jobs 3000 --rounds 1", "ratio in_parts.ratio", {}),
        ("dag --jobs 150 --rounds 1", "all_ready_ms gather_ms", {}),
        ("writers --jobs 2000 --rounds 1", "ratio", {"conditions.sizes.processes": 4}),
        ("cancel --jobs 5000", "ack_ms settled_per_s", {"started_after": 0}),
        ("incidents --scale 0.005", "late_p99_ms answered_p99_ms driver_cores tester_cores",
         {"tests": 50}),
        ("claimers --jobs 600 --rounds 1", "ratio by_claimers.64", {"deadlocks": 0}),
        ("groups --scale 0.01 --rounds 1", "ratio six_by_three", {}),
        ("latency --jobs 3", "p50_ms reference.p50_ms", {}),
        ("commands --jobs 3", "p50_ms reference.p50_ms", {}),
        ("commit --jobs 30000 --rounds 1", "commit_ms", {}),
        ("huge --jobs 4000 --rounds 3",
         "status_p99_ms cost_p99_ms page_p99_ms job_p99_ms bytes_per_job commit_ms", {}),
        ("functions --jobs 60 --rounds 1", "weft_single reference_chunked cpu_us.client", {}),
        ("autoscale --jobs 400 --rounds 3", "p50_ms", {"machines_planned": 10}),
        ("fleet --scale 0.01", "dispatch_ms.p50", {"heartbeats.lost_workers": 0}),
        ("connect --scale 0.03", "pages_p99", {}),
        ("connect-processes --jobs 20 --rounds 1", "delayed_ratio", {}),
        ("staging --jobs 4 --rounds 1", "ratio", {}),
        ("limit --jobs 20 --rounds 1", "reference", {"started_after": 0}),
        ("simulations --scale 0.01 --rounds 1", "ratio asleep_s", {}),
        ("doors --scale 0.01 --rounds 1", "ratio page_ratio", {}),
    ],
)  # fmt: skip
def test_bench_gives_its_figures(
    tmp_path: Path, command: str, positive: str, exact: dict[str, object]
) -> None:
    result = measured(tmp_path, *command.split())
    exact = {"audit_findings": 0, **exact} if "audit_findings" in result else exact

    assert all(_at(result, path) > 0 for path in positive.split())
    assert {path: _at(result, path) for path in exact} == exact


def _at(result: Any, path: str) -> Any:  # noqa: ANN401 (JSON)
    return functools.reduce(operator.getitem, path.split("."), result)


@pytest.mark.heavy
def test_processes_are_compared_with_xargs(tmp_path: Path) -> None:
    result = measured(tmp_path, "processes", "--jobs", "40", "--rounds", "2")

    assert result["ratio"] > 0
    assert result["submit_s"] > 0
    assert result["cpu_us"].keys() > {"api", "worker", "weft", "reference"}
    assert len(result["rounds"]["weft"]) == len(result["rounds"]["reference"]) == 2


@pytest.mark.heavy
def test_state_machine_is_compared_with_a_bare_queue(tmp_path: Path) -> None:
    result = measured(tmp_path, "statemachine", "--scale", "0.004", "--rounds", "1")

    assert [one["size"] for one in result["sizes"]] == [500, 100, 20]
    assert result["ratio"] == min(one["ratio"] for one in result["sizes"])
    assert all(one["with_start_calls"]["ratio"] > 0 for one in result["sizes"])
    assert all(one["cpu_us"].keys() > {"weft", "reference"} for one in result["sizes"])
    assert result["first_tenth"] > 0
    assert result["last_tenth"] > 0
    assert result["submit_rate"] > 0
    assert result["audit_findings"] == 0


@pytest.mark.heavy
def test_open_transaction_is_compared_with_none(tmp_path: Path) -> None:
    result = measured(tmp_path, "claim-pinned", "--jobs", "2000")

    assert result["ratio"] == min(result["last_by_first"], result["by_without"])
    assert len(result["parts"]["weft"]) == len(result["parts"]["reference"]) == 10
    assert result["audit_findings"] == 0


@pytest.mark.heavy
def test_idle_counts_statements_time_and_memory(tmp_path: Path) -> None:
    result = measured(tmp_path, "idle", "--scale", "0.02")

    assert result["statements"] >= 0
    assert result["cpu_percent"] >= 0
    assert set(result["rss_mb"]) == {"postgres", "api", "driver", "worker", "up"}
    assert all(megabytes > 0 for megabytes in result["rss_mb"].values())


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.heavy)]
)
@pytest.mark.heavy
def test_interrupted_bench_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "idle", "--dir", tmp_path],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    with process, process.stderr or open(os.devnull) as said:
        assert "weft: settle\n" in iter(said.readline, "")
        (home,) = tmp_path.iterdir()
        alive = processes_of(home)
        process.send_signal(number)
        code = process.wait(60)

    assert alive
    assert code == 130
    assert list(tmp_path.iterdir()) == []
    assert processes_of(home) == {}


def test_unknown_bench_is_refused_with_those_that_there_are() -> None:
    done = subprocess.run(
        [*PROGRAM, "speed"], check=False, capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 2
    assert "statemachine" in done.stderr


def test_simulation_is_compared_with_real_time_and_with_a_static_cluster(tmp_path: Path) -> None:
    trace = tmp_path / "t.swf"
    trace.write_text("1 0 -1 60 4 -1 -1 -1 -1 -1 1 3 1 -1 0 -1 -1 -1\n" * 3)
    made_up = printed("simulate", "--jobs", "50", "--rounds", "1")
    recorded = printed("simulate", "--trace", str(trace))

    for result, jobs in ((made_up, 50), (recorded, 3)):
        assert result["conditions"].keys() == CONDITIONS - SERVER
        assert result["conditions"]["sizes"]["jobs"] == jobs
        assert result["ratio"] > 0
        assert result["wait_mean_s"].keys() == {"weft", "fifo", "easy"}
    assert len(recorded["rounds"]["weft"]) == 3


@pytest.mark.heavy
def test_shares_of_users_are_compared(tmp_path: Path) -> None:
    result = measured(tmp_path, "fairness", "--scale", "0.02")

    assert 0 < result["jain"] <= 1
    assert len(result["core_s_by_user"]) == 5
    assert result["first_start_ms"]["max"] >= result["first_start_ms"]["median"]


@pytest.mark.heavy
def test_what_others_have_is_compared_with_what_does_not_exist(tmp_path: Path) -> None:
    result = measured(tmp_path, "sight-pairs", "--jobs", "1", "--rounds", "1")
    about_batches = {one["route"] for one in result["routes"] if one["parameter"] == "b"}
    routes = {one for one in route_rights(api_doors()) if "{b}" in one}

    assert about_batches > routes
    assert {one["status"] for one in result["routes"]} <= {200, 201, 400, 403, 404}
    assert result["farthest"].startswith(result["routes"][0]["route"])
    assert result["undecided"] == len(result["routes"]) == len(result["not_within"])
    assert {one["pairs"] for one in result["routes"]} == {1}


@pytest.mark.heavy
def test_hails_client_is_compared_with_itself(tmp_path: Path) -> None:
    subprocess.run([ROOT / "tools" / "environment.sh", "hail"], check=True, cwd=ROOT)
    result = measured(tmp_path, "hail", "--jobs", "60", "--rounds", "1")

    assert result["list"]["times_stub"] > 0
    assert result["cpu_us"].keys() == {"weft", "v1", "ratio"}
    assert result["completed_per_s"] > 0


@pytest.mark.heavy
def test_pages_are_read_and_drawn(tmp_path: Path) -> None:
    result = measured(tmp_path, "pages", "--scale", "0.0005", "--rounds", "2", "--part", "site")

    pages = result["first_byte_p99_ms_by_page"].keys()
    assert {"/ui", "/ui/batches/{b}", "/ui/batches/{b}/jobs/{j}", "/ui/costs/{p}"} <= pages
    assert result["first_byte_p99_ms"] > 0
    assert 0 < result["kilobytes_max"] < 100
    if result["conditions"]["chromium"]:
        assert result["drawn_p99_ms_by_page"].keys() == pages
        assert result["seen_p50_ms"] > 0


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("part", "figures"),
    [
        ("jobs", {"jobs_rate_ratio"}),
        ("log", {"log_jump_p99_ms", "log_memory_mb"}),
        ("commands", {"help_ms", "ls_ms"}),
    ],
)
def test_part_of_a_bench_is_measured_alone(
    tmp_path: Path, part: str, figures: set[str]
) -> None:  # fmt: skip
    options = ("--scale", "0.0005", "--rounds", "2", "--part", part)
    result = printed("pages", "--dir", str(tmp_path), *options)

    found = {name for name, figure in result["weft"].items() if figure is not None}
    assert found - {"log_jump_drawn_p99_ms"} == figures
    if part == "log":
        assert result["log_find_ms"]["steps"] == result["log_error_ms"]["steps"] == 1


@pytest.mark.heavy
def test_many_tenants_are_compared_with_one(tmp_path: Path) -> None:
    result = measured(
        tmp_path, "tenants", "--scale", "0.0005", "--jobs", "4000000", "--rounds", "1"
    )

    assert result["ratio"] == min(result["submit_ratio"], result["latency_ratio"])
    assert result["ratio"] > 0
    assert result["conditions"]["sizes"]["users"] == 50
    assert 0 < result["api_mb"]["before"] <= result["api_mb"]["all"]


@pytest.mark.heavy
def test_storm_is_refused_while_others_work(tmp_path: Path) -> None:
    result = measured(tmp_path, "storm", "--scale", "0.01", "--rounds", "1")

    assert result["ratio"] == max(result["reads_ratio"], result["submissions_ratio"])
    assert result["ratio"] > 0
    for name in ("reads", "submissions"):
        found = result["ratios"][name]
        assert found.keys() == {"storm", "within_limit", "nobody"}
        assert found["storm"]["ratio"] == result[f"{name}_ratio"]
        assert found["storm"]["verdict"] == "undecided", "one round shows nothing"
    assert result["storm"]["answers"].keys() == {"200", "201", "429"}
    assert result["storm"]["connections"] > 0
    assert result["weft"].keys() == result["within_limit"].keys() == result["reference"].keys()
    assert result["cpu_percent"]["weft"].keys() == {"api", "postgres", "driver"}


@pytest.mark.heavy
def test_web_tokens_are_compared_with_tokens_of_weft(tmp_path: Path) -> None:
    result = measured(tmp_path, "jwt", "--jobs", "5")

    assert result["verify"].keys() == {"RS256", "ES256", "Ed25519"}
    assert result["weft"] == max(one["again"]["p50_us"] for one in result["verify"].values())
    assert all(one["first"].keys() == {"p50_us", "p99_us"} for one in result["verify"].values())
    assert result["request_us"].keys() == {"own", "web", "more"}


@pytest.mark.heavy
def test_what_is_revoked_is_refused_by_each_api(tmp_path: Path) -> None:
    result = measured(tmp_path, "revoke", "--rounds", "1")

    assert result["refused_ms"].keys() == {"token", "role", "user", "session", "stream"}
    assert result["weft"] == max(one["max"] for one in result["refused_ms"].values())
    assert result["after_reply_ms"].keys() == result["refused_ms"].keys()
    assert result["removed_key_s"] > 0
    assert result["conditions"]["sizes"]["apis"] == 2


@pytest.mark.heavy
def test_trail_is_sealed_while_others_write(tmp_path: Path) -> None:
    result = measured(tmp_path, "trail", "--scale", "0.05", "--rounds", "1")

    assert result["entries"] == 200
    assert result["weft"] == result["unsealed_ms"]["max"] > 0
    assert result["writers_ms"].keys() == {"sealed", "unsealed", "alone"}
    assert result["cpu_percent"].keys() == {"sealed", "unsealed"}
    assert result["audit_findings"] == 0
