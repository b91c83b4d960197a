"""Subscriptions of Agave are told at least once, whatever dies between submission and delivery."""

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from faults.conftest import Facts
from faults.siege import Siege, besieged
from faults.waiting import until
from up.weft_up import WEFT, temporary_home
from web_server import Answer, Question, web_server

JOBS = 24
EVENTS = ("PENDING", "RUNNING", "FINISHED")


class Listener:
    """What has been told, by subscription and event; each delivery is refused once first."""

    def __init__(self) -> None:
        self.told: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.refused: set[str] = set()
        self.url = ""

    def take(self, path: str, delivery: str) -> int:
        """Return the status of the answer."""
        if delivery not in self.refused:
            self.refused.add(delivery)
            return 503
        job, _, event = path.strip("/").partition("/")
        self.told[job, event].add(delivery)
        return 200


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    def answer(asked: Question) -> Answer:
        return Answer(status=listener.take(asked.path, asked.headers["x-agave-delivery"]))

    with web_server(answer) as listener.url:
        yield listener


def test_each_event_is_told_whatever_dies(recorded: Facts, tmp_path: Path) -> None:
    """Api and driver are killed while jobs are submitted, run and told of: by each event a
    subscription is told, in all attempts by the same id.
    """
    (tmp_path / "app.json").write_text(
        '{"name": "quick", "version": "1", "templatePath": "wrapper.sh"}'
    )
    (tmp_path / "wrapper.sh").write_text("exit 0\n")
    with (
        temporary_home() as home,
        besieged(home, recorded=recorded, WEFT_CALLBACK_PRIVATE_HOSTS="127.0.0.1") as siege,
        listening() as listener,
    ):
        added = subprocess.run(
            [WEFT, "app", "add", str(tmp_path)],
            check=False,
            capture_output=True,
            env={**os.environ, "WEFT_HOME": str(home)},
        )
        assert added.returncode == 0, added.stderr.decode()
        known = []
        for number in range(JOBS):
            if number in {JOBS // 4, JOBS // 2}:
                siege.kill("driver")
            if number in {JOBS // 3, JOBS // 2}:
                siege.kill("api")
            known.append(_submit(siege, listener, f"j{number}"))
        siege.kill("driver")
        wanted = {(f"j{number}", event) for number in range(JOBS) for event in EVENTS}
        until(
            lambda: wanted <= listener.told.keys(),
            "all events are told",
            explain=lambda: (sorted(wanted - listener.told.keys()), siege.tail()),
        )
        recorded.update(jobs=JOBS, lost=0)
        # A submission that was answered by nobody may have been made twice.
        assert {len(listener.told["j0", event]) for event in EVENTS} == {1}
        for key in wanted:
            number = int(key[0].removeprefix("j"))
            assert len(listener.told[key]) <= known[number], key


def _submit(siege: Siege, listener: Listener, name: str) -> int:
    """Submit until it is answered; return how many times it was sent."""
    told = [
        {"url": f"{listener.url}/{name}/{event}", "event": event, "policy": {"retryRate": 1}}
        for event in EVENTS
    ]
    asked = {"name": name, "appId": "quick-1", "archive": False, "notifications": told}
    sent = 0

    def answered() -> Any:  # noqa: ANN401 (a document)
        nonlocal sent
        known = json.loads((siege.home / "client.json").read_text())
        headers = {"authorization": f"Bearer {known['token']}"}
        try:
            sent += 1
            answer = httpx.post(f"{known['url']}/jobs/v2", json=asked, headers=headers, timeout=30)
        except httpx.HTTPError:
            return None
        return answer.json() if answer.status_code == 201 else None

    until(answered, f"{name} is submitted", explain=siege.tail)
    return sent
