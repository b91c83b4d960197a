"""Slurm as an engine: sets of attempts become arrays, and files say what became of each."""

import asyncio
import secrets
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from signal import Signals
from typing import Final, NamedTuple

from msgspec import structs

from weft.core.ends.conditions import FILE_BYTES_MAX, Blocked
from weft.core.errors import Invalid, Unavailable, WeftError
from weft.core.signals import word_of
from weft.core.states import Command, Phase
from weft.plugins.runners.remote import Left, Status
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored
from weft.ports.runner import Assignment
from weft.wire.log_format import Piece
from weft.wire.spec import ENGINE_OPTIONS, JobSpec
from weft_slurm.runner import scripts
from weft_slurm.runner.commands import (
    FULL,
    SlurmArray,
    SlurmCommands,
    SlurmFull,
    SlurmRefused,
    Task,
)
from weft_slurm.runner.files import SlurmFiles
from weft_slurm.runner.folder import Array, Marks
from weft_slurm.runner.statuses import (
    WAITS,
    ended,
    is_undecided,
    over,
    running,
    waits,
)
from weft_slurm.settings import SlurmSettings

_RUNS: Final = frozenset(
    {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT"}
)
_SETTLE_S: Final = 5.0
"""How long a file may need to be seen after Slurm has said that a task is over."""
_KILL_LOOK_S: Final = 0.2
_WEIGHED_MAX: Final = 500
"""Of how many ended attempts the accounting is asked in one look."""
_ACCOUNTS_S: Final = 3.0
_NO_ACCOUNTS_S: Final = 600.0
"""For how long it is not asked for memory when it is not there, or slow."""


_Tasks = Mapping[tuple[int, int], Task]


class _Shape(NamedTuple):
    """What the tasks of one array have in common."""

    cpus: int
    memory_mib: int
    gpu: int
    minutes: int | None
    choices: tuple[tuple[str, str], ...]
    """What their jobs choose of Slurm, by name."""
    nodes: int
    """On which each of them runs."""


class SlurmEngine:
    """Slurm, as the port of remote runners wants it."""

    meets = frozenset({ENGINE_OPTIONS})
    followed_max = 1000

    def __init__(
        self,
        commands: SlurmCommands,
        files: SlurmFiles,
        settings: SlurmSettings,
        limits: ExecutorLimits,
        *,
        tag: str,
    ) -> None:
        self._commands = commands
        self._files = files
        self._settings = settings
        self._limits = limits
        self._prefix = f"weft-{tag}-"
        self._given: dict[str, tuple[int, int]] = {}
        """Array and index of each attempt that Slurm has taken."""
        self._arrays: dict[int, tuple[str, set[str]]] = {}
        """By Slurm's number: our name of each array, and its attempts that are not forgotten."""
        self._kept: dict[str, Status] = {}
        """The statuses of what has ended: they do not change any more."""
        self._left: dict[str, frozenset[str]] = {}
        """Which files those left for weft that left any."""
        self._unbegun: set[str] = set()
        """Those of this gateway that no node was seen to begin: while they wait, their files are
        not read. What is requeued in Slurm waits again.
        """
        self._missing: dict[str, float] = {}
        """Since when Slurm does not know an attempt that has not ended, by our clock."""
        self._avoided: list[str] = []
        self._array_max = settings.slurm_array_max
        """The most tasks of an array, as far as Slurm has taken it."""
        self._room = self._array_max
        """How many tasks it is asked to take at once, after it took no more."""
        self._accounts_at = 0.0
        """When the accounting may be asked for memory again."""
        self._is_read = False
        self._doing = asyncio.Lock()
        """Held by submissions and looks: an answer that was lost is cleared up between them."""
        self._has_some = asyncio.Event()

    async def submit(
        self, assignments: Mapping[str, Assignment]
    ) -> Mapping[str, WeftError | Blocked]:
        """Submit arrays of the attempts that are alike."""
        refused: dict[str, WeftError | Blocked] = {}
        shapes: dict[_Shape, dict[str, Mapping[str, str]]] = defaultdict(dict)
        async with self._doing:
            await self._read()
            for name, assignment in assignments.items():
                if name in self._given:
                    continue
                try:
                    shapes[_shape_of(assignment)][name] = self._files_of(assignment)
                except WeftError as error:
                    refused[name] = error
            for shape, files in shapes.items():
                refused |= await self._submit_shape(shape, files)
        return refused

    def avoid(self, nodes: Collection[str]) -> None:
        self._avoided = sorted(nodes)

    async def settle(self, names: Sequence[str]) -> None:
        """Do nothing: each call clears up what became of the one before it."""

    async def statuses(self, names: Sequence[str]) -> Mapping[str, Status]:
        """Ask Slurm once for all that is there, and read the files of what has moved."""
        async with self._doing:
            await self._read()
            unknown = [name for name in names if name in self._given and name not in self._kept]
            tasks = {}
            if unknown:
                told = await self._commands.tasks(self._prefix)
                tasks = {(task.array, task.index): task for task in told}
            begun = [
                one
                for one in unknown
                if one not in self._unbegun or not _is_waiting(tasks.get(self._given[one]))
            ]
            marks = await self._files.marks(begun)
            found = self._statuses(unknown, tasks, marks)
            await self._weigh([name for name in unknown if name in self._kept], marks, tasks)
            lost = [name for name in unknown if name not in found]
            found |= await self._judge(lost, tasks, marks)
            return found | {name: self._kept[name] for name in names if name in self._kept}

    async def _weigh(
        self, names: Sequence[str], marks: Mapping[str, Marks], tasks: _Tasks
    ) -> None:
        """Add to what has just ended the memory that it used, if the accounting knows that by now:
        no end waits for it.
        """
        over = {
            task: name
            for name in names[:_WEIGHED_MAX]
            if (task := marks[name].task) is not None
            and task in tasks
            and tasks[task].state != "RUNNING"
        }
        if not over or time.monotonic() < self._accounts_at:
            return
        try:
            async with asyncio.timeout(_ACCOUNTS_S):
                peaks = await self._commands.memory_peaks([tasks[task] for task in over])
        except (WeftError, TimeoutError):
            self._accounts_at = time.monotonic() + _NO_ACCOUNTS_S
            return
        for task, peak in peaks.items():
            if (name := over.get(task)) is not None:
                status = self._kept[name]
                self._kept[name] = structs.replace(status, memory_peak_bytes=peak)

    async def stop(self, names: Sequence[str], *, grace_ms: int) -> None:
        """Take what no node has begun; signal the rest."""
        async with self._doing:
            await self._read()
            mine = [name for name in names if name in self._given and name not in self._kept]
            taken = await self._files.take(mine)
            begun = [name for name in mine if name not in taken]
            marks = await self._files.marks(begun)
            waiting = [self._task_name(name, None) for name in mine if name in taken]
            running = [self._task_name(name, marks[name].task) for name in begun]
            await self._files.mark_stopped(begun)
            await self._commands.cancel(waiting)
            if running and grace_ms:
                await self._commands.cancel(running, "--signal=TERM", "--batch")
        if running:
            await asyncio.sleep(grace_ms / 1000)
            await self._kill(begun)

    async def tell(self, assignment: Assignment, command: Command) -> str:
        """Send a signal to the node's script, which passes it on; move its clock, and Slurm's."""
        name = assignment.key.name
        async with self._doing:
            await self._read()
            if name not in self._given or name in self._kept:
                return "it does not run any more"
            marks = (await self._files.marks([name]))[name]
            task = self._task_name(name, marks.task)
            if command.signal is not None:
                return await self._signal(task, command.signal)
            limit_s = assignment.spec.timeout_s or 0.0
            longer = scripts.minutes_of(limit_s, command.extra_ms)
            if longer > scripts.minutes_of(limit_s):
                try:
                    await self._commands.extend(task, longer)
                except SlurmRefused as error:
                    return error.message
            await self._files.put({name: {scripts.LONGER: str(-(-command.extra_ms // 1000))}})
            return ""

    async def _signal(self, task: str, number: int) -> str:
        if number not in scripts.PASSED_ON:
            return f"jobs in Slurm can get {', '.join(map(word_of, scripts.PASSED_ON))}"
        await self._commands.cancel([task], f"--signal={word_of(Signals(number))}", "--batch")
        return ""

    async def grown(self, stored: Mapping[str, Stored]) -> Mapping[str, Sequence[Piece]]:
        """Read what files have more."""
        return await self._files.grown(stored, self._limits)

    async def output(self, name: str, stored: Stored) -> Sequence[Piece]:
        """Read the rest of an output, its middle left out if it is too long."""
        return await self._files.output(name, stored, self._limits)

    async def left(self, name: str) -> Left:
        """Read what the marks have shown."""
        files = self._left.get(name, frozenset())
        sizes = {scripts.PRODUCTS: self._limits.product_bytes_max, scripts.ASK: FILE_BYTES_MAX}
        found = {file: await self._files.left(name, file, bytes_max=sizes[file]) for file in files}
        return Left(found.get(scripts.PRODUCTS, b""), found.get(scripts.ASK, b""))

    async def forget(self, names: Sequence[str]) -> None:
        """Remove folders, and arrays of which nothing is left."""
        await self._files.forget(names)
        for name in names:
            self._unbegun.discard(name)
            self._kept.pop(name, None)
            self._left.pop(name, None)
            number, _ = self._given.pop(name, (0, 0))
            array, left = self._arrays.get(number, ("", {name}))
            left.discard(name)
            if not left and self._arrays.pop(number, None) is not None:
                await self._files.remove_array(array)

    async def changed(self) -> None:
        """Wait until it is time for the next look; for ever while nothing is there."""
        self._has_some.clear()
        if not self._given.keys() - self._kept.keys():
            await self._has_some.wait()
        await asyncio.sleep(self._settings.slurm_look_s)

    async def _kill(self, names: Sequence[str]) -> None:
        """Let each node's script kill its attempt: all processes at once, so that no shell goes on
        where its child has died, and a mark of the end is left. Slurm kills one after another, the
        script too; it is asked where no mark comes.
        """
        until = time.monotonic() + _SETTLE_S
        words: tuple[str, ...] = ("--signal=USR1", "--batch")
        while True:
            marks = await self._files.marks(names)
            left = [
                self._task_name(n, marks[n].task) for n in names if marks[n].ended_s_ago is None
            ]
            if not left:
                return
            if time.monotonic() > until:
                await self._commands.cancel(left, "--signal=KILL", "--full")
                return
            if words:
                await self._commands.cancel(left, *words)
                words = ()
            await asyncio.sleep(_KILL_LOOK_S)

    async def _read(self) -> None:
        """Read at first what an earlier agent submitted, and ask for what it was not told."""
        if not self._is_read:
            for one in await self._files.known():
                await self._settle(one)
            self._is_read = True

    async def _settle(self, one: Array) -> None:
        """Take over an array. Without an answer to its submission Slurm is asked by its name; one
        that it does not know is dropped, and should it arrive later, it finds nothing to do.
        """
        number = one.number
        if number is None:
            number = await self._commands.array_named(self._prefix + one.id)
            if number is None:
                await self._files.remove_array(one.id)
                return
            await self._files.number_array(one.id, number)
        self._note(one.id, number, one.names, one.present)

    def _note(
        self, array: str, number: int, names: Sequence[str], present: Collection[str]
    ) -> None:
        own = {name: index for index, name in enumerate(names) if name in present}
        self._given |= {name: (number, index) for name, index in own.items()}
        self._arrays[number] = (array, {*own})
        self._has_some.set()

    async def _submit_shape(
        self, shape: _Shape, files: Mapping[str, Mapping[str, str]]
    ) -> Mapping[str, WeftError | Blocked]:
        """Submit arrays until none is left; return what Slurm refuses. A refusal of many says
        nothing of one: all are refused only by what it says of a single one. Only what it is
        asked to take is written: there may be many that wait until it has room.
        """
        rest, size = [*files], self._array_max
        while rest:
            some = rest[: min(size, self._room)]
            await self._files.put({name: files[name] for name in some})
            try:
                await self._submit_array(shape, some)
            except SlurmRefused as error:
                await self._files.forget(some)
                if isinstance(error, SlurmFull):
                    self._room = max(1, len(some) // 2)
                    raise Unavailable(error.message, detail=error.detail, hint=FULL) from error
                if len(some) == 1:
                    return dict.fromkeys(rest, error)
                size = 1
                if isinstance(error, SlurmArray):
                    size = self._array_max = len(some) // 2
            else:
                rest = rest[len(some) :]
                size = min(2 * size, self._array_max)
                self._room = min(2 * self._room, self._array_max)
        return {}

    async def _submit_array(self, shape: _Shape, names: Sequence[str]) -> None:
        array = secrets.token_hex(8)
        self._is_read = False  # until the answer is noted: if it is lost, the next call asks
        script = await self._files.add_array(array, names)
        try:
            number = await self._sbatch(script, array, len(names), _options_of(shape))
        except SlurmRefused:
            await self._files.remove_array(array)
            self._is_read = True
            raise
        await self._files.number_array(array, number)
        self._note(array, number, names, names)
        self._unbegun.update(names)
        self._is_read = True

    def _statuses(
        self, names: Sequence[str], tasks: _Tasks, all_marks: Mapping[str, Marks]
    ) -> dict[str, Status]:
        found = {}
        for name in names:
            task = tasks.get(self._given[name])
            begun = name in all_marks and all_marks[name].began_s_ago is not None
            if begun:
                self._unbegun.discard(name)
            elif task is not None and _is_waiting(task):
                found[name] = Status(Phase.QUEUED_REMOTE, message=waits(task, self._avoided))
                continue
            marks = all_marks[name]
            own = tasks.get(marks.task) if marks.task else task
            if is_undecided(marks, own):
                found[name] = running(marks, own)
            elif marks.ended_s_ago is not None:
                found[name] = self._kept[name] = ended(marks, marks.ended_s_ago, own)
                if marks.left:
                    self._left[name] = marks.left
            elif own is not None and own.state in _RUNS:
                found[name] = running(marks, own)
        for name in found:
            self._missing.pop(name, None)
        return found

    async def _judge(
        self, names: Sequence[str], tasks: _Tasks, all_marks: Mapping[str, Marks]
    ) -> dict[str, Status]:
        """Say what became of attempts that are over for Slurm and left no mark of their end."""
        now = time.monotonic()
        for name in names:
            self._missing.setdefault(name, now)
        late = [name for name in names if now - self._missing[name] > _SETTLE_S]
        unknown = [name for name in late if self._given[name] not in tasks]
        accounted = await self._commands.accounted(
            sorted({self._given[name][0] for name in unknown})
        )
        known = {**{(one.array, one.index): one for one in accounted}, **tasks}
        found = {}
        for name in names:
            marks = all_marks[name]
            task = known.get(marks.task or self._given[name])
            gone = now - self._missing[name] > self._settings.slurm_missing_s
            if name in late and marks.ended_s_ago is None and (task is not None or gone):
                found[name] = self._kept[name] = over(marks, task, now - self._missing[name])
            else:  # not decided yet: as it was
                found[name] = running(marks, task)
        return found

    def _files_of(self, assignment: Assignment) -> dict[str, str]:
        spec = assignment.spec
        self._check_choices(spec)
        script = {} if spec.script is None else {"script": spec.script}
        return {
            "job": scripts.job_script(assignment.key, spec, self._limits),
            "limit": scripts.limit_script(spec, self._limits),
            **script,
        }

    def _check_choices(self, spec: JobSpec) -> None:
        choices = {} if spec.engine is None else spec.engine.given
        allowed = self._settings.slurm_choices
        patterns = [one.strip() for one in allowed.split(",")]
        for name, value in choices.items():
            if not any(fnmatchcase(f"{name}={value}", pattern) for pattern in patterns):
                raise Invalid(
                    f"the gateway does not allow {name} {value}: it allows {allowed or 'nothing'}",
                    hint="See the setting `slurm_choices` of the gateway.",
                )

    async def _sbatch(self, script: str, array: str, count: int, options: list[str]) -> int:
        name = self._prefix + array
        if more := self._commands.excluding(self._avoided):
            with suppress(SlurmRefused):  # perhaps there is no other node for it
                return await self._commands.submit(
                    script, name=name, count=count, options=[*options, *more]
                )
        return await self._commands.submit(script, name=name, count=count, options=options)

    def _task_name(self, name: str, task: tuple[int, int] | None) -> str:
        array, index = task or self._given[name]
        return f"{array}_{index}"


def _is_waiting(task: Task | None) -> bool:
    return task is not None and task.state in WAITS


def _shape_of(one: Assignment) -> _Shape:
    limit_s = one.spec.timeout_s
    return _Shape(
        cpus=max(1, -(-one.cpu_m // 1000)),
        memory_mib=max(1, one.memory_mib),
        gpu=one.gpu,
        minutes=None if limit_s is None else scripts.minutes_of(limit_s),
        choices=() if one.spec.engine is None else tuple(one.spec.engine.given.items()),
        nodes=1 if one.spec.engine is None else one.spec.engine.nodes,
    )


def _options_of(shape: _Shape) -> list[str]:
    cpus, memory_mib = (-(-total // shape.nodes) for total in (shape.cpus, shape.memory_mib))
    options = [f"--cpus-per-task={cpus}", f"--mem={memory_mib}M", f"--ntasks={shape.nodes}"]
    if shape.nodes > 1:
        options += [f"--nodes={shape.nodes}", "--ntasks-per-node=1"]
    if shape.gpu:
        options.append(f"--gpus={shape.gpu}")
    if shape.minutes is not None:
        options.append(f"--time={shape.minutes}")
    return [*options, *(f"--{name}={value}" for name, value in shape.choices)]
