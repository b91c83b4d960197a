"""What jobs write down themselves, past weft: who ran, as which attempt, in which order.

Each line is appended by one write, so that the order of the lines is the order of the events,
whatever any clock says. A kill of the machine is the only fault that could lose one.
"""

import json
import os
import random
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.wire.processes import all_pids, parts_of
from weft_siege.processes import command_of

VARIABLE = "FAULT_EVIDENCE"
"""In the environment of each job, so that its processes can be told from all others."""
STORED = "stored:"
"""Before the digest of what a job has left."""
STORING = "stored"
"""The kind of batches whose jobs leave files in the bucket."""
SAID = "said:"
"""Before what a job has printed by chance."""
SAID_BYTES = 1000
"""No more than a pipe takes at once."""
CPU_M = 250
MEMORY_MIB = 16
RESOURCES = {"cpu": f"{CPU_M}m", "memory": f"{MEMORY_MIB}Mi"}
CROWDED = "crowded"
"""What a job writes that finds no place."""

_WRITE = (
    "read -r up _ </proc/uptime; "
    f'echo "$WEFT_JOB $WEFT_ATTEMPT_NO $$ {{word}} $up" >> "${VARIABLE}"'
)
"""Without a program of its own. No clock that somebody can turn says when."""
BEGIN, END = (_WRITE.format(word="begin") + "; ", "; " + _WRITE.format(word="end"))
_ALONE = (
    f'exec 9>>"${VARIABLE}.$WEFT_JOB"; '
    f'flock -n 9 || echo "$WEFT_JOB $WEFT_ATTEMPT_NO $$ twice" >> "${VARIABLE}"; '
)
"""The lock is free when every process of the attempt before has ended."""
_SAY = 'echo "out $WEFT_JOB$SIEGE_MARK"; echo "err $WEFT_JOB" >&2'


@dataclass(frozen=True)
class Line:
    """One line of a job."""

    job_id: int
    attempt: int
    pid: int
    """In the jobs' own PID namespace."""
    word: str
    up_s: float | None = None
    """How long the machine ran when a job began or ended, by its own look."""


@dataclass(frozen=True)
class Planned:
    """A job of a test: what is submitted, and what it must leave behind."""

    kind: str
    document: Mapping[str, Any]
    state: str = "success"
    """How it must end."""
    queue: str = ""
    """Which one must take it, if that matters."""
    reason: str | None = None
    """Why it must end so, if that is not what it says itself."""

    @property
    def words(self) -> Sequence[str]:
        """Return which lines one whole run appends."""
        alone = {"asked": (), "endless": (), "hungry": ("begin",)}
        return alone.get(self.kind, ("begin", "end"))

    def streams(self, batch_id: int, job_id: int) -> tuple[bytes, bytes]:
        """Return what must be found in its logs."""
        if self.kind in {"asked", "brief"}:
            return b"", b""
        name = f"b{batch_id}.j{job_id}\n".encode()
        return b"out " + name, b"err " + name


class Evidence:
    """The file of one batch."""

    def __init__(self, path: Path, mark: str = "") -> None:
        self.path = path
        self._mark = {"SIEGE_MARK": f" {mark}"} if mark else {}
        path.touch()

    def asked(self) -> Planned:
        """Return a job that waits for a person, and runs nothing."""
        return Planned("asked", {"wait": {"for": "approval"}})

    def quick(self) -> Planned:
        """Return a job that says that it ran."""
        return self._planned("quick", "/bin/sh", "-c", BEGIN + _SAY + END)

    def brief(self) -> Planned:
        """Return the cheapest job that says that it ran: one program, which starts no other."""
        return self._planned("brief", "/bin/sh", "-c", BEGIN + ":" + END)

    def slow(self, seconds: float) -> Planned:
        """Return a job that says when it began and when it ended."""
        script = f"{_ALONE}{BEGIN}sleep {seconds:.3f}; {_SAY}{END}"
        return self._planned("slow", "/bin/sh", "-c", script)

    def placed(self, places: Path, count: int, seconds: float) -> Planned:
        """Return a job that takes one of some places, whose locks are free when all processes of
        the run that had it have ended, and says so if there is none.
        """
        take = f'exec 8>>"{places}.$n"; flock -n 8 && break; n=0'
        find = f"for n in {' '.join(map(str, range(1, count + 1)))}; do {take}; done; "
        tell = f'echo "$WEFT_JOB $WEFT_ATTEMPT_NO $$ {CROWDED}" >> "${VARIABLE}"'
        script = f"{_ALONE}{find}[ $n != 0 ] || {tell}; {BEGIN}sleep {seconds:.3f}; {_SAY}{END}"
        return self._planned("slow", "/bin/sh", "-c", script)

    def stored(self, number: int, to: str, size: int, *, fails: bool = False) -> Planned:
        """Return job `number`, which prints and leaves what chance gave it, says what it was, and
        has that kept in a store; one that fails leaves nothing there.
        """
        draw = f"said=$(head -c {SAID_BYTES} /dev/urandom | od -An -v -tx1 | tr -d ' \\n'); "
        keep = f"head -c {size} /dev/urandom > out; set -- $(sha256sum out); "
        words = [f"{SAID}$said", *([] if fails else [f"{STORED}$1"])]
        tell = "".join(
            f'echo "$WEFT_JOB $WEFT_ATTEMPT_NO $$ {word}" >> "${VARIABLE}"; ' for word in words
        )
        say = 'echo "$WEFT_JOB $WEFT_ATTEMPT_NO $said"'
        script = f"{_ALONE}{BEGIN}{draw}{keep}{tell}{say}{END}" + "; exit 3" * fails
        kind, state = ("failing", "failed") if fails else (STORING, "success")
        planned = self._planned(kind, "/bin/sh", "-c", script, state=state)
        outputs = [{"from": "out", "to": f"{to}/{self.path.name}/j{number}"}]
        return replace(planned, document={**planned.document, "outputs": outputs})

    def failing(self) -> Planned:
        """Return a job that fails."""
        return self._planned("failing", "/bin/sh", "-c", f"{BEGIN}:{END}; exit 3", state="failed")

    def endless(self) -> Planned:
        """Return a job that somebody must cancel."""
        script = f"{_ALONE}{BEGIN}exec sleep 1000"
        return self._planned("endless", "/bin/sh", "-c", script, state="cancelled")

    def hungry(self, group: Path) -> Planned:
        """Return a job that takes memory in a cgroup that has little until the kernel kills it."""
        join = f"ulimit -v 400000; echo 0 >{group}/cgroup.procs || exit 3"
        script = f"{_ALONE}{BEGIN}{join}; exec tail /dev/zero"
        planned = self._planned("hungry", "/bin/sh", "-c", script, state="error")
        return replace(planned, reason="oom")

    def gated(self, gate: Path) -> Planned:
        """Return a job that runs until a file appears. It would betray itself then, also without
        a spawner that reads its output.
        """
        script = f'{BEGIN}while [ ! -e "{gate}" ]; do sleep 0.02; done{END}; {_SAY}'
        return self._planned("gated", "/bin/sh", "-c", script)

    def blocked(self, gate: Path) -> Planned:
        """Return a job that waits, without a worker, until a file is there."""
        block = {"condition": "custom", "tester": "path", "parameters": {"path": str(gate)}}
        wait = f"echo {shlex.quote(json.dumps(block))} > $WEFT_BLOCK_FILE; exit 75"
        script = f'[ -e "{gate}" ] || {{ {wait}; }}; {_ALONE}{BEGIN}{_SAY}{END}'
        return self._planned("blocked", "/bin/sh", "-c", script)

    def scattered(self) -> Planned:
        """Return a quick job whose batch nobody knows before: it writes to `of_batch`."""
        name = f'{VARIABLE}="${VARIABLE}-${{WEFT_JOB%%.*}}"; '
        return self._planned("quick", "/bin/sh", "-c", name + BEGIN + _SAY + END)

    def of_batch(self, batch_id: int) -> "Evidence":
        """Return what scattered jobs of this batch have written."""
        return Evidence(Path(f"{self.path}-b{batch_id}"))

    def _planned(self, kind: str, *command: str, state: str = "success") -> Planned:
        env = {VARIABLE: str(self.path), **self._mark}
        document = {"command": command, "env": env, "resources": RESOURCES}
        return Planned(kind, document, state)

    def mix(self, count: int, seed: int) -> list[Planned]:
        """Return a mix as in life: most are short, some sleep for 50 to 200 ms and write more."""
        chance = random.Random(seed)  # noqa: S311 (to be repeated, not to be secret)
        jobs = []
        for _ in range(count):
            draw = chance.random()
            if draw < 0.25:  # noqa: PLR2004 (shares of all)
                jobs.append(self.brief())
            elif draw < 0.98:  # noqa: PLR2004
                jobs.append(self.quick())
            else:
                jobs.append(self.slow(chance.uniform(0.05, 0.2)))
        return jobs

    def lines(self) -> list[Line]:
        """Return what was written so far, in order."""
        whole = self.path.read_text().rpartition("\n")[0]
        return [_line_of(text) for text in whole.splitlines()]

    @property
    def count(self) -> int:
        """Return how many lines there are."""
        return self.path.read_bytes().count(b"\n")

    @property
    def begun(self) -> int:
        """Return how many runs have begun."""
        return sum(line.word == "begin" for line in self.lines())

    def doubled(self, word: str = "begin") -> int:
        """Return how often a job began, or wrote another word, beyond its first time."""
        runs = Counter(line.job_id for line in self.lines() if line.word == word)
        return sum(count - 1 for count in runs.values())

    def out_of_order(self) -> list[Line]:
        """Return lines of runs that lived on when the next one had begun, or wrote so."""
        newest: dict[int, tuple[int, int]] = {}
        late = []
        for line in self.lines():
            run = line.attempt, line.pid
            before = newest.setdefault(line.job_id, run)
            if line.word == "twice" or (run != before and line.attempt <= before[0]):
                late.append(line)
            newest[line.job_id] = max(run, before)
        return late

    def missing(self, jobs: Sequence[Planned], successes: Mapping[int, int]) -> list[str]:
        """Return in words what the attempts that succeeded did not write down exactly once.

        `successes`: the attempt that succeeded, by job.
        """
        counts = Counter((line.job_id, line.attempt, line.word) for line in self.lines())
        twice = [f"{key} {count} times" for key, count in counts.items() if count != 1]
        absent = [
            f"job {job_id} attempt {successes.get(job_id)} {word}"
            for job_id, job in enumerate(jobs, 1)
            for word in job.words
            if (job_id, successes.get(job_id), word) not in counts
        ]
        return twice + absent

    def processes(self, live: Mapping[int, bytes] | None = None) -> dict[int, str]:
        """Return the live processes of this batch's jobs, of those that are known if any are."""
        live = live_processes() if live is None else live
        return {
            pid: command_of(pid) for pid, path in live.items() if path == os.fsencode(self.path)
        }


def live_processes() -> Mapping[int, bytes]:
    """Return the processes of all jobs, each with the file in which it writes."""
    mark = f"{VARIABLE}=".encode()
    return {
        pid: part.removeprefix(mark)
        for pid in all_pids()
        for part in parts_of(pid, "environ")
        if part.startswith(mark)
    }


def _line_of(text: str) -> Line:
    job, attempt, pid, word, *up = text.split()
    return Line(int(job.partition(".j")[2]), int(attempt), int(pid), word, *map(float, up))
