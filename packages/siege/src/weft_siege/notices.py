"""Jobs that come through the door for clients of Agave, and who is told of each of their events:
an address, which refuses some, and a mailbox, which does so, too.
"""

import asyncio
import http.client
import itertools
import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

from weft.client.api import Api
from weft_siege.evidence import BEGIN, END, VARIABLE, Evidence
from weft_siege.load import Batch
from weft_siege.network import Receiver
from weft_siege.patience import PATIENCE_S

KIND = "noticed"
APP = "told-1.0"
CPU_M = 1000
"""What comes through this door has whole cores."""
EACH, ONCE = "each", "once"
"""The first part of the path to which all events go, and of that for the end alone."""
DOMAIN = "siege.example"
CODES = (0, 0, 3)
TOLD_S = 60.0
_ANSWER_S = 10.0
_PAGE = 50
_WHICH = "/${JOB_ID}/${EVENT}"
_POLICY = {"retryStrategy": "IMMEDIATE", "retryRate": 1, "retryLimit": 1000}
_DESCRIBED = {
    "name": "told",
    "version": "1.0",
    "templatePath": "wrapper.sh",
    "deploymentPath": ".",
    "executionSystem": "local",
    "inputs": [],
    "defaultMemoryPerNode": "64MB",
    "parameters": [{"id": "code", "value": {"type": "number", "default": 0}}],
}


class Notices:
    """Submits such jobs, and knows at the end what must have been told of them."""

    def __init__(
        self, directory: Path, ports: Sequence[int], token: str, receiver: Receiver
    ) -> None:
        self.folder = directory / "told"
        self.folder.mkdir()
        (self.folder / "app.json").write_text(json.dumps(_DESCRIBED))
        self._evidence = Evidence(directory / "evidence-notices")
        name = f'export {VARIABLE}="{self._evidence.path}-${{WEFT_JOB%%.*}}"\n'
        (self.folder / "wrapper.sh").write_text(f"{name}{BEGIN}sleep 0.2{END}; exit $code\n")
        self._ports = itertools.cycle(ports)
        self._token = token
        self._receiver = receiver
        self._accepted: dict[str, int] = {}
        """With which code each name ends."""

    async def submit(self, client: Api, evidence: Evidence) -> None:  # noqa: ARG002 (as others)
        """Submit some jobs, each by itself."""
        for number, code in enumerate(CODES):
            await self._submit(f"{evidence.path.name}-{number}", code)

    async def _submit(self, name: str, code: int) -> None:
        """Submit a job until it is there: this door knows no key, so there may be two."""
        url, end = f"http://127.0.0.1:{self._receiver.port}", _end_of(code)
        told = {
            "*": (f"{url}/{EACH}{_WHICH}", True),
            end: (f"{url}/{ONCE}{_WHICH}", False),
            end.lower(): (f"{name}@{DOMAIN}", False),
        }
        document = {"name": name, "appId": APP, "parameters": {"code": code}, "archive": False}
        document["notifications"] = [
            {"url": to, "event": event, "persistent": lasts, "policy": _POLICY}
            for event, (to, lasts) in told.items()
        ]
        deadline = time.monotonic() + PATIENCE_S
        while True:
            status, answer = await self._ask("POST", "/jobs/v2", document)
            if status == HTTPStatus.CREATED or await self._get(f"/jobs/v2/search/name/{name}"):
                self._accepted[name] = code
                return
            if status in {400, 401, 403, 404, 409} or time.monotonic() > deadline:
                raise RuntimeError(f"{name} is not accepted: {status} {answer}")

    async def batches(self, _: Api) -> Sequence[Batch]:
        """Return the batch of each job."""
        batches = []
        for job in await self._jobs():
            number = int((await self._remote_id(job["id"])).removeprefix("b").partition(".")[0])
            evidence = self._evidence.of_batch(number)
            code = self._accepted.get(job["name"], 0)
            planned = evidence.failing() if code else evidence.quick()
            batches.append(Batch(KIND, number, [planned], evidence, cpu_m=CPU_M))
        return batches

    async def _remote_id(self, job_id: str) -> str:
        """Return what names its batch, which it has since it began to run."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            if remote_id := (await self._get(f"/jobs/v2/{job_id}"))["remoteJobId"]:
                return str(remote_id)
            await asyncio.sleep(1)
        raise RuntimeError(f"{job_id} has not begun")

    async def wrong(self) -> list[str]:
        """Return what was not told, when all had time to be."""
        jobs = await self._jobs()
        stories = {
            job["id"]: [one["status"] for one in await self._history(job["id"])] for job in jobs
        }
        names = {job["id"]: job["name"] for job in jobs}
        ends = {name: _end_of(code) for name, code in self._accepted.items()}
        deadline = time.monotonic() + TOLD_S
        while True:
            told, mailed = self._receiver.told, self._receiver.mailbox.taken
            wrong = list(wrong_notices(stories, names, ends, told, mailed))
            if not wrong or time.monotonic() > deadline:
                return wrong
            await asyncio.sleep(1)

    async def _jobs(self) -> list[Any]:
        found: list[Any] = []
        while page := await self._get(f"/jobs/v2?limit={_PAGE}&offset={len(found)}"):
            found += page
        return found

    async def _history(self, job_id: str) -> list[Any]:
        found: list[Any] = await self._get(f"/jobs/v2/{job_id}/history?limit=1000")
        return found

    async def _get(self, path: str) -> Any:  # noqa: ANN401 (JSON)
        """Ask until there is an answer."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            status, answer = await self._ask("GET", path)
            if status == HTTPStatus.OK:
                return answer["result"]
            if time.monotonic() > deadline:
                raise RuntimeError(f"{path} is not answered: {status} {answer}")
            await asyncio.sleep(random.uniform(0.2, 0.5))  # noqa: S311 (a pause)

    async def _ask(self, method: str, path: str, document: object = None) -> tuple[int, Any]:
        """Ask one api; 0 if it is away."""
        with suppress(OSError, http.client.HTTPException, ValueError):
            return await asyncio.to_thread(self._answer, next(self._ports), method, path, document)
        return 0, None

    def _answer(self, port: int, method: str, path: str, document: object) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=_ANSWER_S)) as asked:
            body = None if document is None else json.dumps(document)
            asked.request(method, path, body=body, headers=headers)
            answer = asked.getresponse()
            return answer.status, json.loads(answer.read())


def _end_of(code: int) -> str:
    return "FAILED" if code else "FINISHED"


def wrong_notices(
    stories: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    ends: Mapping[str, str],
    told: Mapping[str, Mapping[str, int]],
    mailed: Mapping[str, Mapping[str, int]],
) -> Iterator[str]:
    """Yield events of jobs that were not told, or not under one name each.

    `stories`: the events of each job, `names`: theirs, `ends`: with which event each name ends;
    `told`, `mailed`: how often each delivery was accepted, by address.
    """
    jobs_of = Counter(names.values())
    yield from (f"{name} is no job" for name in ends.keys() - jobs_of.keys())
    for job, events in stories.items():
        end = ends.get(names[job], events[-1])
        wanted = {f"{EACH}/{job}/{event}": times for event, times in Counter(events).items()}
        for path, times in {**wanted, f"{EACH}/{job}/{end}": 1, f"{ONCE}/{job}/{end}": 1}.items():
            yield from _wrong(path, told.get(path, {}), times)
    for name, times in jobs_of.items():
        yield from _wrong(mailbox := f"{name}@{DOMAIN}", mailed.get(mailbox, {}), times)
    known = {f"{job}/{event}" for job, events in stories.items() for event in events}
    for path in told:
        kind, _, event = path.partition("/")
        if kind in {EACH, ONCE} and event not in known:
            yield f"{path} was told, and has not been"


def _wrong(where: str, accepted: Mapping[str, int], times: int) -> Iterator[str]:
    if len(accepted) != times or not all(accepted.values()):
        yield f"{where} was told as {dict(accepted)}, and happened {times} times"
