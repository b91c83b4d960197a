"""Processes killed at every step of a scene's way through a production line: section 5 of the
reference, the same history each time, and once.
"""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from faults.books import query
from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.test_sources import END_LEASES
from faults.waiting import until
from up.weft_up import prove_audit, run_weft, temporary_home
from web_server import Answer, Question, web_server
from weft.worker.spawner.tree import read_process
from worker.spawner_process import until_gone

HRSI = Path(__file__).parents[2] / "examples" / "lifecycles" / "hrsi.toml"
LINE = """
[source.l1c]
kind = "http"
url = "SITE/search"
every = "1s"
lifecycle = "hrsi"
job = "scene"
sink = "wekeo"

[configure.scene]
series = { key = "item.tile", order = "item.n", until = "processed" }

[job.scene]
command = ["sh", "-c", 'read -r code < "GATES/$WEFT_ITEM_ID.$WEFT_ATTEMPT_NO"; exit "$code"']
retry = { policy = "constant", wait_s = 2 }

[sink.wekeo]
kind = "http"
url = "SITE/products"
message = '{"scene": "{{ job.name }}"}'
"""
BEGUN = ["initialized", "configured", "ready", "queued"]
RUN = ["started", "pre_processing", "processing"]
DONE = ["post_processing", "processed", "start_publication", "published", "done"]
HISTORIES = {
    "first": [*BEGUN, *RUN, *DONE],
    "second": [*BEGUN, *RUN, "external_error", *RUN, *DONE],
}
HISTORY = """
    SELECT l.statuses[c.status] FROM weft.source_item i
    JOIN weft.job_status_change c ON c.batch_id = i.batch_id AND c.job_id = i.job_id
    JOIN weft.job j ON j.batch_id = i.batch_id AND j.job_id = i.job_id
    JOIN weft.lifecycle l ON l.lifecycle_id = j.lifecycle_id WHERE i.key = '{}' ORDER BY c.n
"""
WAITS = "SELECT reason FROM weft.source_item WHERE key = 'second' AND state = 'waiting'"
N_JOBS = "SELECT count(*) FROM weft.job"


@dataclass
class Site:
    """A catalogue and an endpoint, which answer when they are let."""

    url: str = ""
    listed: list[str] = field(default_factory=list)
    posted: list[tuple[str, str]] = field(default_factory=list)
    """The name of each delivery, and its scene."""
    held: Counter[str] = field(default_factory=Counter)
    """Requests that wait, by what they want."""
    open: dict[str, threading.Event] = field(default_factory=dict)
    """What is not held."""

    def hold(self, what: str) -> None:
        """Let requests of this kind wait from now on."""
        self.open[what].clear()

    def pass_by(self, what: str) -> None:
        """Wait, if they are held."""
        if not self.open[what].is_set():
            self.held[what] += 1
            self.open[what].wait()


@contextmanager
def serving() -> Iterator[Site]:
    """Serve one on a free port."""
    site = Site(open={"search": threading.Event(), "second": threading.Event()})
    for one in site.open.values():
        one.set()

    def answer(asked: Question) -> Answer:
        if asked.method == "GET":
            site.pass_by("search")
            items = [{"key": key, "tile": "32TLR", "n": n} for n, key in enumerate(site.listed)]
            return Answer(json.dumps({"items": items}).encode())
        scene = json.loads(asked.body)["scene"]
        site.posted.append((asked.headers["Weft-Delivery"], scene))
        if scene == "second":
            site.pass_by("second")
        return Answer(b"{}")

    with web_server(answer) as site.url:
        try:
            yield site
        finally:
            for one in site.open.values():
                one.set()


@dataclass(frozen=True)
class Attack:
    """A weft with this line, one part of which is killed again and again."""

    siege: Siege
    site: Site
    gates: Path
    part: str

    def strike(self) -> None:
        """Kill the part, and wait until it is replaced."""
        if self.part == "source":
            reading = until(self._readings, "a source is being read", explain=self.siege.tail)
            for pid in reading:
                os.killpg(pid, signal.SIGKILL)
            until_gone(*reading)
            return
        self.siege.strike(self.part)

    def _readings(self) -> list[int]:
        driver, found = self.siege.weft.pid("driver"), []
        for entry in Path("/proc").iterdir():
            with suppress(OSError, ValueError):
                pid = int(entry.name)
                words = (entry / "cmdline").read_bytes()
                process = read_process(pid)
                asked = b"weft.run.isolated.limited_process\0source" in words
                if asked and process and process.parent == driver:
                    found.append(pid)
        return found

    def ask(self, text: str) -> list[Any]:
        """Read the database; what a killed api held is free."""
        if self.part == "api":
            query(self.siege.home, END_LEASES)
        return [row[0] for row in query(self.siege.home, text)]

    def history(self, scene: str) -> list[str]:
        """Return the statuses that the job of a scene had."""
        return self.ask(HISTORY.format(scene))

    def until_had(self, scene: str, statuses: Sequence[str]) -> None:
        """Wait until it had these, and no other."""
        until(
            lambda: self.history(scene) == [*statuses],
            f"{scene} has come to {statuses[-1]}",
            explain=lambda: (self.history(scene), self.siege.tail()),
        )

    def end(self, scene: str, attempt: int, code: int) -> None:
        """Let an attempt end, as soon as it waits for that."""
        until(
            lambda: self._told(f"{scene}.{attempt}", code),
            f"{scene} runs",
            explain=self.siege.tail,
        )

    def _told(self, gate: str, code: int) -> bool:
        try:
            pipe = os.open(self.gates / gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads
            return False
        os.write(pipe, f"{code}\n".encode())
        os.close(pipe)
        return True


@contextmanager
def attacked(part: str, recorded: Facts, tmp_path: Path) -> Iterator[Attack]:
    """Start a weft with the line."""
    settings = {
        "WEFT_SOURCE_PRIVATE_HOSTS": "127.0.0.1",
        "WEFT_CALLBACK_RETRY_FIRST_S": "0.2",
        "WEFT_CALLBACK_PRIVATE_HOSTS": "127.0.0.1",
    }
    with (
        temporary_home() as home,
        serving() as site,
        besieged(home, recorded=recorded, **settings) as siege,
    ):
        gates = tmp_path / "gates"
        gates.mkdir()
        for gate in ("first.1", "second.1", "second.2"):
            os.mkfifo(gates / gate)
        setup = tmp_path / "line.toml"
        text = LINE.replace("SITE", site.url).replace("GATES", str(gates))
        setup.write_text(text + HRSI.read_text())
        applied = run_weft("line", "apply", str(setup), WEFT_HOME=str(home))
        assert applied.returncode == 0, applied.stderr
        yield Attack(siege, site, gates, part)


@pytest.mark.parametrize("part", ["driver", "api", "agent", "source"])
@pytest.mark.timeout(600)
def test_scene_has_its_history_once_whatever_is_killed(
    part: str, recorded: Facts, tmp_path: Path
) -> None:
    """Struck while it is found, while it waits for the one before it, in both attempts, between
    them, while it is announced, and when it is done.
    """
    with attacked(part, recorded, tmp_path) as attack:
        site, second = attack.site, HISTORIES["second"]
        site.listed.append("first")
        attack.until_had("first", [*BEGUN, *RUN])

        site.hold("search")
        site.listed.append("second")
        until(lambda: site.held["search"], "the catalogue is asked")
        attack.strike()
        site.open["search"].set()
        until(lambda: attack.ask(WAITS), "it waits for the one before", explain=attack.siege.tail)
        attack.strike()
        attack.end("first", 1, 0)

        attack.until_had("second", second[:7])
        attack.strike()
        attack.end("second", 1, 130)
        attack.until_had("second", second[:8])
        attack.strike()
        attack.until_had("second", second[:11])
        attack.strike()

        site.hold("second")
        attack.end("second", 2, 0)
        until(lambda: site.held["second"], "it is announced", explain=attack.siege.tail)
        attack.strike()
        site.open["second"].set()
        attack.until_had("second", second)
        attack.strike()
        for scene, statuses in HISTORIES.items():
            assert attack.history(scene) == statuses
        assert attack.ask(N_JOBS) == [2]
        # A driver that dies before it has recorded an answer sends the message again.
        assert Counter(scene for _, scene in {*site.posted}) == dict.fromkeys(HISTORIES, 1)
        sent = Counter(scene for _, scene in site.posted)
        if part == "driver":
            assert sent["second"] > 1
        else:
            assert sent == dict.fromkeys(HISTORIES, 1)
        prove_audit(attack.siege.home)
