"""What goes on through a whole siege: a schedule, and a production line with a sink."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from weft.client.api import Api
from weft_siege.evidence import Evidence
from weft_siege.load import Batch
from weft_siege.network import SINK

MADE_S = 150.0
"""An api that is killed keeps what it had begun to submit for a minute."""
STEP_S = 0.5
MINUTE = timedelta(minutes=1)
_LINE = """
[source.scenes]
kind = "directory"
path = {path}
every = "1s"
settle = "0s"
job = "scene"
sink = "portal"

[job.scene]
command = {command}
env = {{ {variable} = {file} }}
resources = {{ cpu = {cpu}, memory = {memory} }}

[sink.portal]
kind = "http"
url = {url}
message = '{{"job": {{{{ job.id | tojson }}}}}}'
"""


class Line:
    """A production line: files become jobs, and each that ends well is told to a sink."""

    def __init__(self, directory: Path, port: int) -> None:
        self.file = directory / "line.toml"
        self._incoming = directory / "incoming"
        self._incoming.mkdir()
        self._names: list[str] = []
        self._evidence = Evidence(directory / "evidence-line")
        job = self._evidence.scattered().document
        (variable, file), *_ = job["env"].items()
        facts = {
            "path": str(self._incoming),
            "command": job["command"],
            "file": file,
            "url": f"http://127.0.0.1:{port}/{SINK}",
            **job["resources"],
        }
        quoted = {name: json.dumps(value) for name, value in facts.items()}
        self.file.write_text(_LINE.format(variable=variable, **quoted))

    def drop(self, count: int) -> None:
        """Let files appear."""
        for _ in range(count):
            self._names.append(f"scene-{len(self._names)}")
            hidden = self._incoming / ".new"
            hidden.write_text("{}")
            hidden.rename(self._incoming / f"{self._names[-1]}.json")

    async def batches(self, client: Api) -> Sequence[Batch]:
        """Return its batches, one a day, with the jobs that there are."""
        job = self._evidence.scattered()
        return [
            Batch("line", one["id"], [job] * one["n_jobs"], self._evidence.of_batch(one["id"]))
            async for one in client.list_batches("source = scenes")
        ]

    async def wrong(self, client: Api) -> Sequence[str]:
        """Return which files are no job, or more than one, when all had time to be one."""

        async def ask() -> Sequence[str]:
            jobs = Counter(dict.fromkeys(self._names, 0))
            for batch in await self.batches(client):
                jobs.update([job["name"] async for job in client.list_jobs(batch.batch_id)])
            return [f"{name} is {count} jobs" for name, count in jobs.items() if count != 1]

        return await _last_answer(ask)


class Schedule:
    """Makes a batch every minute, also of those that were missed."""

    def __init__(self, directory: Path) -> None:
        self._evidence = Evidence(directory / "evidence-schedule")
        self._schedule_id = 0
        self._first = datetime.now(UTC)

    async def begin(self, client: Api) -> None:
        """Add it."""
        jobs = [self._evidence.scattered().document]
        document = {"name": "scheduled", "jobs": jobs}
        added = await client.add_schedule("* * * * *", document, missed="all")
        self._schedule_id = added["schedule_id"]
        self._first = datetime.fromisoformat(added["next_at"])

    async def batches(self, client: Api) -> Sequence[Batch]:
        """Return what it has made."""
        job = self._evidence.scattered()
        return [
            Batch("scheduled", one["id"], [job], self._evidence.of_batch(one["id"]))
            async for one in client.list_batches(f"schedule = s{self._schedule_id}")
        ]

    async def wrong(self, client: Api) -> Sequence[str]:
        """Return which times have no batch, or more than one, when all had time; and pause it."""
        now = datetime.now(UTC)

        async def ask() -> Sequence[str]:
            made = [
                datetime.fromisoformat(one["attributes"]["schedule_due_at"])
                async for one in client.list_batches(f"schedule = s{self._schedule_id}")
            ]
            return list(wrong_times(made, self._first, now))

        wrong = await _last_answer(ask)
        await client.change_schedule(self._schedule_id, paused=True)
        return wrong


async def _last_answer(ask: Callable[[], Awaitable[Sequence[str]]]) -> Sequence[str]:
    """Ask what is wrong until nothing is, or it had time enough."""
    deadline = time.monotonic() + MADE_S
    while True:
        wrong = await ask()
        if not wrong or time.monotonic() > deadline:
            return wrong
        await asyncio.sleep(STEP_S)


def wrong_times(made: Sequence[datetime], first: datetime, last: datetime) -> Iterator[str]:
    """Yield the minutes that have not exactly one batch, from the first to the last that must."""
    counts = Counter(made)
    while first <= last:
        counts.setdefault(first, 0)
        first += MINUTE
    yield from (f"{due} has {count} batches" for due, count in counts.items() if count != 1)
