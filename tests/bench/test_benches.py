"""Each bench at a tiny size: it ends, has its keys, and leaves nothing behind.

What it measures is not judged here: a figure of a second on a busy machine says nothing.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.hidden_pairs import SKIPPED
from up.weft_up import processes_of
from weft.api.app import route_rights
from weft.bench.main import BENCHES
from weft.run.doors import api_doors

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
CONDITIONS = {
    "cores",
    "cpu",
    "memory_gib",
    "kernel",
    "file_system",
    "python",
    "postgresql",
    "weft",
    "durable",
    "load_before",
    "sizes",
}
ALWAYS = {"bench", "unit", "weft", "reference", "ratio", "conditions"}
SERVER = {"file_system", "postgresql", "durable"}
"""Conditions of benches that have a server."""


def command_of(name: str) -> list[str]:
    """Return what `weft bench` runs, or `make bench NAME=`."""
    module = ["weft.cli", "bench"] if name in BENCHES else ["benches"]
    return [sys.executable, "-P", "-m", *module, name]


def printed(name: str, *options: str) -> dict[str, Any]:
    done = subprocess.run(
        [*command_of(name), "--json", *options],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env=ENVIRONMENT,
    )
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
        ("function-costs --jobs 600", "ratio us functions.0.us", {}),
        ("release --jobs 50", "release_per_s sweep_per_s first_ms", {"tests": 3}),
        ("failures --jobs 600", "ratio causes_s", {}),
        ("retry --jobs 600", "seconds", {"conditions.sizes": {"jobs": 600, "failed": 60}}),
        (
            "claim-many --jobs 100 --rounds 1",
            "ratio",
            {"conditions.sizes.users": 100, "conditions.sizes.batches_cancelled": 10},
        ),
        ("grown --jobs 12000 --rounds 1", "ratio", {"conditions.sizes.finished": 12_000}),
        ("submit --jobs 3000 --rounds 1", "ratio with_labels.ratio", {}),
        ("arrays --jobs 3000 --rounds 1", "ratio in_parts.ratio", {}),
        ("dag --jobs 150 --rounds 1", "all_ready_ms gather_ms", {}),
        ("writers --jobs 2000 --rounds 1", "ratio", {"conditions.sizes.processes": 4}),
        ("cancel --jobs 5000", "ack_ms settled_per_s", {"started_after": 0}),
        (
            "incidents --scale 0.005",
            "late_p99_ms answered_p99_ms driver_cores tester_cores",
            {"tests": 50},
        ),
        ("claimers --jobs 600 --rounds 1", "ratio by_claimers.64", {"deadlocks": 0}),
        ("groups --scale 0.01 --rounds 1", "ratio six_by_three", {}),
        ("latency --jobs 3", "times_as_long.p50 times_as_long.p99", {}),
        ("command-start --rounds 1", "ratio commands.run.cpu_ms.min each_first_ms.min", {}),
        ("commands --jobs 3", "p50_ms reference.p50_ms", {}),
        ("exec --jobs 3", "weft.p50_ms delayed.p99_ms", {}),
        ("progress --jobs 20 --rounds 1", "ratio", {"conditions.sizes.tellers": 100}),
        ("unique --scale 0.001 --rounds 1", "ratio", {"conditions.sizes.keys": 1000}),
        ("shares --jobs 3000 --rounds 1", "ratio", {}),
        ("commit --jobs 30000 --rounds 1", "commit_ms", {}),
        (
            "huge --jobs 4000 --rounds 3",
            "status_p99_ms cost_p99_ms page_p99_ms job_p99_ms bytes_per_job commit_ms",
            {},
        ),
        ("functions --jobs 60 --rounds 1", "weft_single reference_chunked cpu_us.client", {}),
        ("autoscale --jobs 400 --rounds 3", "p50_ms", {"machines_planned": 10}),
        ("fleet --scale 0.01", "dispatch_ms.p50", {"heartbeats.lost_workers": 0}),
        ("connect --scale 0.03", "pages_p99", {}),
        ("connect-processes --jobs 20 --rounds 1", "delayed_ratio", {}),
        ("staging --jobs 4 --rounds 1", "ratio", {}),
        ("limit --jobs 20 --rounds 1", "reference", {"started_after": 0}),
        ("simulations --scale 0.01 --rounds 1", "ratio asleep_s", {}),
        ("doors --scale 0.01 --rounds 1", "ratio agave_ratio page_ratio.agave", {}),
        (
            "processes --jobs 40 --rounds 2",
            "ratio submit_s rounds.weft.1 rounds.reference.1",
            {"cpu_us": {"api", "worker", "weft", "reference"}},
        ),
        (
            "statemachine --scale 0.004 --rounds 1",
            "first_tenth last_tenth submit_rate sizes.0.with_start_calls.ratio",
            {
                "sizes.0.size": 500,
                "sizes.1.size": 100,
                "sizes.2.size": 20,
                "sizes.2.cpu_us": {"weft", "reference"},
            },
        ),
        (
            "claim-pinned --jobs 2000",
            "last_by_first by_without parts.weft.9 parts.reference.9",
            {},
        ),
        ("pinned --minutes 0.01 --jobs 20", "ratio dead_rows.pinned", {"holder_is_named": True}),
        ("soak --minutes 0.1 --jobs 20", "weft conditions.sizes.jobs", {}),
        (
            "idle --scale 0.02",
            "rss_mb.postgres rss_mb.api rss_mb.driver rss_mb.worker rss_mb.up",
            {"": {"statements", "cpu_percent"}},
        ),
        ("fairness --scale 0.02", "jain first_start_ms.median first_start_ms.max", {}),
        (
            "tenants --scale 0.0005 --jobs 4000000 --rounds 1",
            "submit_ratio latency_ratio api_mb.before api_mb.all",
            {"conditions.sizes.users": 50},
        ),
        (
            "storm --scale 0.01 --rounds 1",
            "reads_ratio submissions_ratio storm.connections",
            {
                "ratios.reads": {"storm", "within_limit", "nobody"},
                "ratios.submissions": {"storm", "within_limit", "nobody"},
                "ratios.reads.storm.verdict": "undecided",
                "storm.answers": {"200", "201", "429"},
                "cpu_percent.weft": {"api", "postgres", "driver"},
            },
        ),
        (
            "jwt --jobs 5",
            "weft verify.RS256.first.p50_us verify.ES256.first.p99_us",
            {"verify": {"RS256", "ES256", "Ed25519"}, "request_us": {"own", "web", "more"}},
        ),
        (
            "revoke --rounds 1",
            "weft removed_key_s",
            {
                "refused_ms": {"token", "role", "user", "session", "stream"},
                "after_reply_ms": {"token", "role", "user", "session", "stream"},
                "conditions.sizes.apis": 2,
            },
        ),
        (
            "trail --scale 0.05 --rounds 1",
            "weft unsealed_ms.max",
            {
                "entries": 200,
                "writers_ms": {"sealed", "unsealed", "alone"},
                "cpu_percent": {"sealed", "unsealed"},
            },
        ),
    ],
)
def test_bench_gives_its_figures(
    tmp_path: Path, command: str, positive: str, exact: dict[str, object]
) -> None:
    result = measured(tmp_path, *command.split())
    exact = {"audit_findings": 0, **exact} if "audit_findings" in result else exact

    assert all(_at(result, path) > 0 for path in positive.split())
    for path, expected in exact.items():
        figure = _at(result, path)
        assert (set(figure) & expected if isinstance(expected, set) else figure) == expected, path


def _at(result: Any, path: str) -> Any:  # noqa: ANN401 (JSON)
    for key in path.split(".") if path else ():
        result = result[int(key) if isinstance(result, list) else key]
    return result


@pytest.mark.heavy
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("name", "step"), [("latency", "submission 1 of 1000"), ("idle", "settle")]
)
def test_interrupted_bench_leaves_nothing_behind(
    tmp_path: Path, name: str, step: str, number: signal.Signals
) -> None:
    process = subprocess.Popen(
        [*command_of(name), "--jobs", "1000", "--dir", tmp_path],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=ENVIRONMENT,
    )
    with process, process.stderr or open(os.devnull) as said:
        assert f"weft: {step}\n" in iter(said.readline, "")
        (home,) = tmp_path.iterdir()
        alive = processes_of(home)
        process.send_signal(number)
        code = process.wait(60)

    assert alive
    assert code == 130
    assert list(tmp_path.iterdir()) == []
    assert processes_of(home) == {}


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
def test_what_others_have_is_compared_with_what_does_not_exist(tmp_path: Path) -> None:
    result = measured(tmp_path, "visibility-pairs", "--jobs", "1", "--rounds", "1")
    about_batches = {one["route"] for one in result["routes"] if one["parameter"] == "b"}
    routes = {one for one in route_rights(api_doors()) if "{b}" in one} - SKIPPED.keys()

    assert about_batches > routes
    assert {one["status"] for one in result["routes"]} <= {200, 400, 403, 404, 409}
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
def test_part_of_a_bench_is_measured_alone(tmp_path: Path, part: str, figures: set[str]) -> None:
    options = ("--scale", "0.0005", "--rounds", "2", "--part", part)
    result = printed("pages", "--dir", str(tmp_path), *options)

    found = {name for name, figure in result["weft"].items() if figure is not None}
    assert found - {"log_jump_drawn_p99_ms"} == figures
    if part == "log":
        assert result["log_find_ms"]["steps"] == result["log_error_ms"]["steps"] == 1
