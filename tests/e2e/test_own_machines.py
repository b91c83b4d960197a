"""Jobs on machines of their own, made by the provider `process` on this host."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from e2e.conftest import Weft, until, weft_up
from e2e.pool_site import process_pool, queue_of
from e2e.test_growing_pools import WITHIN_S, break_workers, workers_of

pytestmark = [pytest.mark.slow, pytest.mark.heavy]


class Site:
    """A server with pools whose machines come, never come in time, or never come at all."""

    def __init__(self, weft: Weft) -> None:
        self.weft = weft

    def told(self, *arguments: str) -> str:
        return self.weft.told(*arguments, timeout_s=WITHIN_S).decode()

    def document(self, *arguments: str) -> Any:  # noqa: ANN401 (what the command prints)
        return json.loads(self.told(*arguments, "--json"))

    def submitted(self, queue: str, *command: str) -> str:
        job = {"command": command or ("true",), "queue": queue, "machine": "small"}
        return f"{self.weft.submit(job)}.j1"

    def state(self, job: str) -> str:
        return str(self.document("status", job)["state"])

    def has_machines(self, pool: str) -> bool:
        return bool(self.document("pool", "show", pool)["machine_list"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Give a server that looks at its pools every second."""
    path: Path = tmp_path_factory.mktemp("own")
    with weft_up(path / "home", WEFT_AUTOSCALE_S="1") as weft:
        kinds = {"own": 900, "late": 900, "never": 0.5}
        pools = [process_pool(name, max_workers=1, stale_s=kinds[name]) for name in kinds]
        queues = [queue_of(name, priority) for priority, name in enumerate(kinds, 1)]
        for kind, texts in (("pool", pools), ("queue", queues)):
            file = path / f"{kind}s.toml"
            file.write_text("".join(texts))
            weft.told(kind, "apply", str(file), "--yes")
        break_workers(weft, "late", "never")
        yield Site(weft)
    assert workers_of(weft.home) == []


def test_a_job_runs_on_a_machine_of_its_own_which_is_gone_afterwards(site: Site) -> None:
    job = site.submitted("own", "sh", "-c", "echo alone")
    until(lambda: site.state(job) == "success")
    until(lambda: not site.has_machines("own"))
    shown = site.document("status", job)
    states = [one["to"] for one in shown["history"]]
    log = [one["kind"] for one in site.document("pool", "log", "own")]

    assert site.told("logs", job) == "alone\n"
    assert [one["worker"].startswith("own-") for one in shown["attempts"]] == [True]
    assert states[:4] == ["ready", "creating", "ready", "running"]
    assert shown["machine"] == "small"
    assert sorted(log) == ["apply", "create", "delete", "gone"]


def test_a_cancel_while_the_machine_is_made_removes_it(site: Site) -> None:
    job = site.submitted("late")
    until(lambda: site.state(job) == "creating")
    site.told("cancel", job)

    assert site.state(job) == "cancelled"
    until(lambda: not site.has_machines("late"))


def test_a_job_whose_machines_never_come_is_an_error(site: Site) -> None:
    job = site.submitted("never")
    until(lambda: site.state(job) == "error")

    assert "3 machines of its own did not come" in site.told("status", job)
    until(lambda: not site.has_machines("never"))
