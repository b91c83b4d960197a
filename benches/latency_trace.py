"""Where each millisecond of a single job goes: `python -m benches.latency_trace [JOBS]`, as root.

Single jobs go to a `weft up` that has come to rest, as in `weft bench latency`. Meanwhile `perf`
records the system calls of api, agent, spawner and PostgreSQL. The end of a step is the first call
of its kind after the step before, so that the steps add up to the latency of the job. Recording
takes some microseconds a call, which count in weft's figures and not in the reference.
"""

import asyncio
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from benches.process_trees import pids_of_tree
from weft.bench.figures import percentile
from weft.bench.latency import COMMAND, LOOK_S, LOOKS_MAX
from weft.bench.throwaway import client_of, running_weft, throwaway_home
from weft.client.api import Api

JOBS: Final = 60
WARM_UP: Final = 20
REST_S: Final = 0.25
SETTLE_S: Final = 1.0
"""`perf` has begun by then."""
_MS: Final = 1e6
_EVENTS: Final = "raw_syscalls:sys_enter,raw_syscalls:sys_exit,sched:sched_process_exec"
_LINE: Final = re.compile(r"\s*(\d+)\s+(\d+)\.(\d+):\s+(\S+):\s*(?:NR (-?\d+) ?(.*))?")
_KINDS: Final = {
    **dict.fromkeys((0, 45, 47), "read"),
    **dict.fromkeys((1, 20, 44, 46), "send"),
    **dict.fromkeys((74, 75), "sync"),
    **dict.fromkeys((56, 57, 58, 435), "spawn"),
}
"""Of x86-64: read, recvfrom, recvmsg; write, writev, sendto, sendmsg; and so on."""
_ROLES: Final = {
    "weft.run.api": "api",
    "weft.run.worker": "agent",
    "weft.worker.spawner": "spawner",
    "postgres: weft_api": "server of the api",
    "postgres: weft_worker": "server of the agent",
}


class Call(NamedTuple):
    """The begin or the end of a system call, or the start of a program."""

    at_ns: int
    role: str
    what: str


STEPS: Final = (
    ("client: request", "api", "read ends"),
    ("api: decode, check, translate", "api", "send begins"),
    ("to the server", "server of the api", "read ends"),
    ("submit, claim", "server of the api", "sync begins"),
    ("submit: flush to disk", "server of the api", "sync ends"),
    ("submit: notice", "server of the agent", "send begins"),
    ("to the agent", "agent", "read ends"),
    ("agent: decide to ask", "agent", "send begins"),
    ("to the server", "server of the agent", "read ends"),
    ("list_given, reply", "agent", "read ends"),
    ("agent: spec, command", "agent", "send begins"),
    ("to the spawner", "spawner", "read ends"),
    ("spawner: prepare", "spawner", "spawn begins"),
    ("spawn, until exec", "", "exec"),
)
OWN_START: Final = "the job's own start"


class Job(NamedTuple):
    """What was measured of a job, by the clock of `perf`."""

    begun_ns: int
    clock_ns: int
    reference_ms: float


async def main(count: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as directory, throwaway_home(None) as home:
        recorded = Path(directory) / "perf.data"
        async with running_weft(home) as pid, client_of(home) as client:
            for _ in range(WARM_UP):
                await _run_one(client)
            pids = pids_of_tree(pid)
            roles = dict(_roles_of(pids))
            with _recording(recorded, pids):
                jobs = [await _run_one(client) for _ in range(count)]
        _print(jobs, list(_calls_of(recorded, roles)))


async def _run_one(client: Api) -> Job:
    await asyncio.sleep(REST_S)
    offset_ns = time.time_ns() - time.monotonic_ns()
    begun_ns = time.monotonic_ns()
    batch = await client.create_batch({"jobs": [{"command": COMMAND}]})
    for _ in range(LOOKS_MAX):
        await asyncio.sleep(LOOK_S)
        outputs = [output async for output in client.outputs(int(batch["id"]), 1, 1)]
        if outputs:
            return Job(begun_ns, int(outputs[0]["stdout"]) - offset_ns, _reference_ms())
    raise SystemExit("a job did not end")


def _reference_ms() -> float:
    begun_ns = time.time_ns()
    done = subprocess.run(COMMAND, check=True, capture_output=True)
    return (int(done.stdout) - begun_ns) / _MS


def _roles_of(pids: Sequence[int]) -> Iterator[tuple[int, str]]:
    for pid in pids:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
        for text, role in _ROLES.items():
            if text in command:
                yield pid, role


@contextmanager
def _recording(to: Path, pids: Sequence[int]) -> Iterator[None]:
    perf = subprocess.Popen(
        [
            "perf",
            "record",
            "-q",
            "-k",
            "CLOCK_MONOTONIC",
            "-e",
            _EVENTS,
            "-o",
            str(to),
            "-p",
            ",".join(map(str, pids)),
        ]
    )
    time.sleep(SETTLE_S)
    try:
        yield
    finally:
        perf.send_signal(signal.SIGINT)
        perf.wait()


def _calls_of(recorded: Path, roles: Mapping[int, str]) -> Iterator[Call]:
    fields = ["-F", "pid,time,event,trace", "--ns"]
    script = subprocess.check_output(["perf", "script", "-i", str(recorded), *fields], text=True)
    for line in script.splitlines():
        if (found := _LINE.match(line)) is None:
            continue
        pid, seconds, ns, event, number, rest = found.groups()
        at_ns, role = int(seconds) * 10**9 + int(ns), roles.get(int(pid), "")
        if event.endswith("exec"):
            yield Call(at_ns, "", "exec")
        elif (kind := _KINDS.get(int(number or -1))) and role:
            if event.endswith("enter"):
                yield Call(at_ns, role, f"{kind} begins")
            elif kind != "read" or int(rest.removeprefix("= ")) > 0:
                yield Call(at_ns, role, f"{kind} ends")


def _steps_of(job: Job, calls: Sequence[Call]) -> list[float] | None:
    """Return the milliseconds of each step; None: another job's commit flushed this one, too."""
    ours = iter(call for call in calls if job.begun_ns <= call.at_ns <= job.clock_ns)
    ends = [job.begun_ns]
    for _, role, what in STEPS:
        end = next((call.at_ns for call in ours if call[1:] == (role, what)), None)
        if end is None:
            return None
        ends.append(end)
    ends.append(job.clock_ns)
    return [(end - begin) / _MS for begin, end in pairwise(ends)]


def _print(jobs: Sequence[Job], calls: Sequence[Call]) -> None:
    traced = [steps for job in jobs if (steps := _steps_of(job, calls)) is not None]
    sums = [sum(steps) for steps in traced]
    reference = [job.reference_ms for job in jobs]
    print(f"{len(traced)} of {len(jobs)} jobs; ms in the median and 90th percentile")
    columns = [list(values) for values in zip(*traced, strict=True)]
    names = [*(name for name, *_ in STEPS), OWN_START, "all", "subprocess.run"]
    for name, values in zip(names, [*columns, sums, reference], strict=True):
        print(f"{name:32}{percentile(values, 50):8.2f}{percentile(values, 90):8.2f}")
    p50, p99 = (percentile(sums, one) / percentile(reference, one) for one in (50, 99))
    print(f"ratio to subprocess.run: p50 {p50:.1f}, p99 {p99:.1f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else JOBS))
