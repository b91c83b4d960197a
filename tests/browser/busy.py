"""An installation in the middle of a day: something of everything that pages show."""

from collections.abc import Mapping, Sequence
from typing import Any

from httpx import AsyncClient

from api.live import LiveWorker, fold, leading
from builders import end_report
from weft.core.ends.conditions import Ask
from weft.core.states import AttemptKey, Reason
from weft.ports.store import Claimed

HOSTILE = "<b>bold</b> \u05d0\u05d1\u05d2 " + "unbroken" * 25
OUTPUT = b"".join(
    b"\x1b[32m%02d:%02d\x1b[0m sample %d aligned, %d reads\n" % (n // 60, n % 60, n, 731 * n)
    for n in range(240)
)
BLOCKED_EXIT = 75


class Day:
    """What was submitted, and how it went. The batches are `run`, `done`, `held` and `hostile`."""

    def __init__(self, http: AsyncClient, worker: LiveWorker, dsns: Mapping[str, str]) -> None:
        self._http = http
        self._worker = worker
        self._dsns = dsns
        self.batches: dict[str, int] = {}

    async def _ask(self, method: str, path: str, document: object) -> Any:  # noqa: ANN401 (JSON)
        answer = await self._http.request(method, path, json=document)
        assert answer.is_success, answer.text
        return answer.json()

    async def _submit(self, name: str, document: Mapping[str, Any]) -> Sequence[Claimed]:
        """Submit a batch; return what of it can start at once."""
        made = await self._ask("POST", "/v1/batches", document)
        self.batches[name] = int(made["id"])
        return sorted(await self._worker.claim(), key=lambda one: one.job_id)

    async def fill(self) -> None:
        """Do all of it."""
        await self._ask("POST", "/v1/billing-projects", {"name": "genomics", "cost_max": 40})
        await self._hold("hostile", HOSTILE)
        await self._run()
        await self._done()
        await self._hold("held", "weekly report")
        await fold(self._dsns["weft_driver"])
        async with leading(self._dsns["weft_driver"]) as (store, epoch):
            await store.sweep("fold_failures", epoch, limit_jobs=1000)

    async def _hold(self, name: str, text: str) -> None:
        """Submit a batch with this text wherever one may be, and hold it."""
        jobs = [{"name": text, "command": ["echo", text]}] * 3
        document = {"name": text, "attributes": {"a": text}, "jobs": jobs}
        made = await self._ask("POST", "/v1/batches", document)
        self.batches[name] = int(made["id"])
        await self._ask("POST", f"/v1/batches/{made['id']}/hold", {})

    async def _done(self) -> None:
        jobs = [{"name": f"table-{n}", "command": ["load", str(n)]} for n in range(12)]
        claimed = await self._submit("done", {"name": "nightly import", "jobs": jobs})
        await self._worker.start(claimed)
        await self._worker.end(claimed)

    async def _run(self) -> None:
        align = [
            {"name": f"align-{n}", "command": ["align", f"s{n}.cram"], "group": "/align"}
            for n in range(1, 31)
        ]
        call = [
            {"name": f"call-{n}", "command": ["call", str(n)], "group": "/call", "parents": [n]}
            for n in range(1, 21)
        ]
        document = {
            "name": "cohort 7",
            "billing_project": "genomics",
            "attributes": {"cohort": "7"},
            "groups": [{"path": "/align"}, {"path": "/call"}],
            "jobs": align + call,
        }
        claimed = await self._submit("run", document)
        good, bad, blocked, running = claimed[:12], claimed[12:17], claimed[17:20], claimed[20:24]
        await self._worker.start([*good, *bad, *blocked, *running])
        for one in good:
            self._worker.write(one, (1, OUTPUT))
        for one in bad:
            self._worker.write(one, (2, b"cannot open reference: no such file\n"))
        for one in blocked:
            key = AttemptKey(one.batch_id, one.job_id, one.attempt)
            await self._worker.ask(key, Ask("quota", "tcp", {"host": "disk.example", "port": "9"}))
        said = "cannot open reference: no such file"
        reports = [
            *(end_report(one, Reason.EXIT, exit_code=3, message=said) for one in bad),
            *(end_report(one, Reason.EXIT, exit_code=BLOCKED_EXIT) for one in blocked),
        ]
        await self._worker.end(good, output=(len(OUTPUT), 0))
        verdicts = await self._worker.store.complete_attempts(self._worker.incarnation_id, reports)
        assert set(verdicts) == {"ok"}
