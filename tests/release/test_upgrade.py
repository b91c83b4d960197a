"""docs/operations/upgrade.md with two built releases under load: no job is started again."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from shutil import copy
from threading import Event

import pytest

from contexts import scratch
from migrations.next_release import ADDS, TAKES, make_next_release
from release import test_side_by_side
from release.previous_release import ROOT, Release, install
from release.test_side_by_side import JOBS, Api, ask_owner, until
from up.weft_up import kill, processes_of

home = test_side_by_side.home
pytestmark = [pytest.mark.heavy, pytest.mark.timeout(300)]

LONG = 'touch "$0-begun-$1"; until [ -e "$0.open" ]; do sleep 0.2; done; echo "$1" >> "$0"'
N_LONG = 4
AGAIN = """
SELECT a.* FROM weft.attempt a JOIN weft.attempt later USING (batch_id, job_id)
WHERE later.attempt > a.attempt AND a.started_at IS NOT NULL
"""
WORKER = {"WEFT_DETACH_JOBS": "true", "WEFT_WORKER_CPU_M": "8000"}


@pytest.fixture(scope="module")
def releases() -> Iterator[tuple[Release, Release]]:
    """Give this release and the one after it, which also replaces every function."""
    with scratch("weft-upgrade-") as base:
        later = make_next_release(base / "sources" / "src").folder
        for file in (later / "weft").rglob("sql/functions/**/*.sql"):
            text = file.read_text().rstrip().removesuffix(";")
            file.write_text(f"{text};\n-- as in the next release\n")
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            copy(ROOT / name, later.parent)
        yield install(ROOT, base / "old"), install(later.parent, base / "new")


@pytest.fixture(scope="module")
def previous(releases: tuple[Release, Release]) -> Release:
    """Give the release that prepares the database of the home."""
    return releases[0]


class Site:
    """A home, and the programs of both releases that run on it."""

    def __init__(self, home: Path) -> None:
        self.home, self.evidence, self.running = home, home / "evidence", dict[str, ExitStack]()

    def weft(self, release: Release, *words: str) -> str:
        """Run a command of a release; return what it says."""
        words = ("-m", "weft.cli", *words, "--home", str(self.home))
        done = release.run(*words, home=self.home)
        return done.stdout + done.stderr

    def start(self, release: Release, name: str, event: str = "role.started") -> str:
        """Start a role, such as `driver-2`, and wait until it says so. Of the workers, all but
        the second follow each other on one host.
        """
        worker = "drained" if name == "worker-2" else "detached"
        environment = {"WEFT_ROLE_NAME": name, "WEFT_WORKER_NAME": worker, **WORKER}
        self.running[name] = ExitStack()
        self.running[name].enter_context(release.role(name[:-2], self.home, **environment))
        return self.until_said(name, event)

    def stop(self, *names: str) -> None:
        """Stop roles in an orderly way."""
        for name in names:
            self.running.pop(name).close()
            self.until_said(name, "role.stopped")

    def until_said(self, name: str, event: str) -> str:
        """Wait until a role has logged an event; return the line."""

        def said() -> str | None:
            lines = "".join(log.read_text() for log in self.home.glob("*.log")).splitlines()
            return next((x for x in lines if f'"{name}"' in x and f'"event":"{event}"' in x), None)

        return until(said, f"{name} has not said {event}")

    def submit_long(self, api: Api) -> int:
        """Submit jobs that run until the end of the test; return their batch."""
        words = ["/bin/sh", "-c", LONG, str(self.evidence)]
        jobs = [{"command": [*words, f"long{n}"]} for n in range(N_LONG)]
        batch = int(api.ask("/batches", {"name": "long", "jobs": jobs})["id"])
        until(lambda: len([*self.home.glob("*-begun-*")]) == N_LONG or None, "not all have begun")
        return batch

    def close(self) -> None:
        """Let all jobs and programs end, with what detached workers leave."""
        Path(f"{self.evidence}.open").touch()
        for stack in self.running.values():
            stack.close()
        kill(processes_of(self.home))


class Load:
    """Batch after batch, for the newest api."""

    def __init__(self, api: Api) -> None:
        self.api, self.n_complete, self._over = api, 0, Event()
        self._pool = ThreadPoolExecutor(1)
        self._done = self._pool.submit(self._submit)

    def _submit(self) -> None:
        while not self._over.is_set():
            api = self.api
            api.until_complete(api.submit(f"load{self.n_complete}"))
            self.n_complete += 1

    def goes_on(self) -> None:
        """Wait until a batch that is submitted from now on is complete."""
        n = self.n_complete + 2
        until(lambda: self._done.done() or self.n_complete >= n or None, "no batch ends")
        assert not self._done.done(), self._done.result()

    def close(self) -> None:
        """End with the batch that runs; raise what went wrong."""
        self._over.set()
        self._pool.shutdown()
        self._done.result()


def test_roles_are_replaced_one_by_one(
    releases: tuple[Release, Release], home: Path, empty_database: dict[str, str]
) -> None:
    (old, new), site = releases, Site(home)
    with closing(site):
        for name in ("api-1", "driver-1", "worker-1"):
            site.start(old, name)
        api = Api(home, "api-1")
        batch = site.submit_long(api)
        with closing(Load(api)) as load:
            site.start(old, "worker-2")
            for name in ("api-2", "driver-2", "driver-3"):
                waiting = site.start(new, name, "role.waiting")
                assert "It has schema 1, this program needs 2." in waiting
            site.stop("driver-3")
            assert site.weft(new, "db", "migrate").splitlines() == [ADDS, "functions and views"]
            assert "up to date" in site.weft(new, "db", "migrate")
            site.until_said("driver-2", "role.started")
            load.goes_on()
            load.api = api = Api(home, "api-2")
            load.goes_on()
            site.stop("api-1", "driver-1", "worker-1")
            site.start(new, "worker-3")
            api.ask("/workers/drained/drain", {})
            site.until_said("worker-2", "worker.drained")
            load.goes_on()
            site.stop("driver-2", "worker-3")
            site.start(old, "driver-4")
            site.start(old, "worker-4")
            load.goes_on()
            assert "are of older programs" in site.weft(new, "db", "contract")
            site.stop("driver-4", "worker-4")
            site.start(new, "driver-5")
            site.start(new, "worker-5")
            assert site.weft(new, "db", "contract").splitlines() == [TAKES]
            assert "nothing to take away" in site.weft(new, "db", "contract")
            load.goes_on()
        Path(f"{site.evidence}.open").touch()
        until(lambda: api.ask(f"/batches/{batch}")["complete"] or None, "long jobs run on")
        lines, n_jobs = Counter(site.evidence.read_text().split()), JOBS * load.n_complete + N_LONG

        assert "STORE.PROGRAM_TOO_OLD" in site.weft(old, "driver")
        assert '"rows":[{' not in site.weft(new, "audit", "--json")
        assert (len(lines), set(lines.values())) == (n_jobs, {1})
        assert ask_owner(empty_database, lambda admin: admin._connection.fetch(AGAIN)) == []
