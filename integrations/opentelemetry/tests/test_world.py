"""A real weft, whose roles and jobs send to a collector that decodes what comes."""

import getpass
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".tools/opentelemetry/bin/python"
GUIDE = ROOT / "docs/guides/opentelemetry.md"
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
WITHIN_S = 60
pytestmark = [pytest.mark.world(name="opentelemetry"), pytest.mark.timeout(600)]
Came = dict[str, Any]


@dataclass(frozen=True)
class Site:
    """A weft with the package, and its collector."""

    folder: Path
    port: str
    collector: ExitStack

    @property
    def environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "WEFT_HOME": str(self.folder / "home"),
            "PYTHONPATH": "",
            "PATH": f"{PYTHON.parent}:{os.environ['PATH']}",
            "WEFT_TRANSPORTS_FILE": str(self.folder / "transports.toml"),
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.port}",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
            "OTEL_BLRP_SCHEDULE_DELAY": "100",
        }

    def weft(self, *words: str) -> str:
        done = subprocess.run(
            [PYTHON, "-m", "weft.cli", *words],
            check=False,
            capture_output=True,
            text=True,
            env=self.environment,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def until(self, fact: Callable[[Sequence[Came]], object]) -> Sequence[Came]:
        """Wait for a fact of what has come; return all of it."""
        end = time.monotonic() + WITHIN_S
        while True:
            came = [json.loads(line) for line in (self.folder / "came").read_text().splitlines()]
            if fact(came):
                return came
            assert time.monotonic() < end, came
            time.sleep(0.1)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    subprocess.run([ROOT / "tools/environment.sh", "opentelemetry"], check=True, cwd=ROOT)
    folder = tmp_path_factory.mktemp("site")
    (folder / "came").touch()
    with ExitStack() as collector:
        _collect(collector, folder)
        found = Site(folder, (folder / "port").read_text(), collector)
        _, _, _, transports, *_ = GUIDE.read_text().split("```")
        (folder / "transports.toml").write_text(
            transports.removeprefix("toml")
            .replace("4318", found.port)
            .replace('user = "ada"', f'user = "{getpass.getuser()}"')
        )
        found.weft("up", "--port", "0", "--detach")
        try:
            yield found
        finally:
            found.weft("down")


def _collect(stack: ExitStack, folder: Path, *port: str) -> None:
    """Start a collector, which ends with the stack."""
    words = [PYTHON, Path(__file__).with_name("collector.py"), folder / "port", folder / "came"]
    (folder / "port").unlink(missing_ok=True)
    process = stack.enter_context(subprocess.Popen([*words, *port]))
    stack.callback(process.kill)
    end = time.monotonic() + WITHIN_S
    while not (folder / "port").exists():
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)


def spans_of(came: Sequence[Came], trace_id: str) -> dict[str, Came]:
    return {one["span"]: one for one in came if "span" in one and one["trace_id"] == trace_id}


def submit(site: Site, *jobs: dict[str, Any]) -> None:
    """Submit jobs as a program does that is in a trace."""
    known = json.loads((site.folder / "home" / "client.json").read_text())
    headers = {
        "authorization": f"Bearer {known['token']}",
        "traceparent": f"00-{TRACE}-{CALLER}-01",
    }
    answer = httpx.post(
        f"{known['url']}/v1/batches", json={"jobs": jobs}, headers=headers, timeout=30
    )
    assert answer.status_code == 201, answer.text


def test_one_trace_across_all_roles_and_the_code_of_a_user(site: Site) -> None:
    """The program at its head called the api from a span of its own."""
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{site.port}"}
    command = [str(PYTHON), str(Path(__file__).with_name("span.py"))]
    submit(site, {"command": command, "env": variables})
    names = ("POST /v1/batches", "job", "attempt", "my analysis")
    spans = spans_of(site.until(lambda came: len(spans_of(came, TRACE)) == 4), TRACE)
    chain = [spans[name] for name in names]

    assert [span["parent"] for span in chain] == [CALLER, *(span["id"] for span in chain[:3])]
    services = [span["service"] for span in chain]
    assert services == ["weft-api", "weft-driver", "weft-worker", "unknown_service:python"]
    assert chain[1]["ns"] >= chain[2]["ns"] >= chain[3]["ns"] > 0
    assert {span["error"] for span in chain} == {""}


def test_span_of_what_failed_says_why(site: Site) -> None:
    site.weft("run", "--detach", "--", "sh", "-c", "exit 3")
    came = site.until(lambda came: [x for x in came if x.get("span") == "job" and x["error"]])
    (job,) = [one for one in came if one.get("span") == "job" and one["error"]]
    trace_id = job["trace_id"]
    came = site.until(lambda came: "attempt" in spans_of(came, trace_id))

    assert job["error"] == "failed"
    assert spans_of(came, trace_id)["attempt"]["error"] == "exit"


def test_roles_send_their_logs(site: Site) -> None:
    came = site.until(
        lambda came: (
            {x["service"] for x in came if x.get("log") == "role.started"}
            >= {"weft-api", "weft-driver", "weft-worker"}
        )
    )

    logs = [one for one in came if one.get("log") == "request.answered"]
    assert {len(one["trace_id"]) for one in logs} == {32}


def test_spans_of_jobs_come_when_the_collector_is_back(site: Site) -> None:
    site.collector.close()
    site.weft("run", "--", "true")
    log = site.folder / "home" / "log" / "driver.log"
    site.until(lambda _: "transport.away" in log.read_text())
    n_before = len(site.until(lambda _: True))
    _collect(site.collector, site.folder, site.port)
    came = site.until(lambda came: [x for x in came[n_before:] if x.get("span") == "job"])

    assert [one["error"] for one in came[n_before:] if one.get("span") == "job"] == [""]


def test_guide_shows_the_program_that_ran() -> None:
    program = Path(__file__).with_name("span.py").read_text().partition('"""\n\n')[2]

    assert f"```python\n{program}```" in GUIDE.read_text()


def test_metrics_come_at_the_end(site: Site) -> None:
    """The last test: it ends the roles, which send what is left."""
    site.weft("down")
    came = site.until(lambda came: [one for one in came if "metric" in one])
    sums = {(one["service"], one["metric"]): one["value"] for one in came if "metric" in one}

    assert sums["weft-api", "weft_http_requests"] >= 2
    assert sums["weft-worker", "weft_attempt_seconds_count"] >= 2
    assert sums["weft-driver", "weft_topic_announced"] >= 2
