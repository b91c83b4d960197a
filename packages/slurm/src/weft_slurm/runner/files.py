"""The directory of a gateway as the engine wants it, in sets; and behind a login node."""

import asyncio
import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from weft.core.errors import Unavailable
from weft.plugins.runners.remote.outputs import live_bytes, pieces_of, rest_of
from weft.plugins.runners.remote.ssh import Login
from weft.ports.executor import ExecutorLimits
from weft.ports.log_store import Stored
from weft.wire.log_format import Piece
from weft_slurm.runner.folder import (
    ARRAYS,
    LEFT,
    MARKS,
    STREAMS,
    Array,
    Marks,
    marks_of,
)
from weft_slurm.runner.scripts import array_script

_KNOWN: Final = """umask 077; mkdir -p {root}/arrays && cd {root} || exit 1
find . -mindepth 1 -maxdepth 1 -type d -name 'weft-*' -printf '%f\\n'
echo; grep -rHs '' arrays --exclude='.*' --exclude='*.sh'; exit 0"""
_TAKE: Final = """cd {root} || exit 1
while read -r name; do
  if [ ! -d "$name" ]; then echo "$name"
  elif mkdir "$name/run" 2>/dev/null; then : >"$name/run/ended"; echo "$name"
  elif [ -e "$name/run/ended" ] && [ ! -e "$name/run/started" ]; then echo "$name"
  fi
done"""
"""An answer may be lost, so what was taken before is taken."""
_MARKS: Final = """cd {root} || exit 1
date +%s.%N
xargs -r sh -c 'find "$@" -maxdepth 1 -type f "(" {left} -o -size -3 "(" {marks} ")" ")" \
-printf "%T@ %p\\n" 2>/dev/null
find "$@" -maxdepth 1 -type f -size -3 "(" {marks} ")" -exec grep -aHs -m 9 -D skip "" "{}" + \
2>/dev/null; exit 0' sh"""
"""Jobs write there, too: what is no mark is not listed, and what is long is not read."""
_AGE: Final = re.compile(r"(\d+\.\d+) (weft-[^/]+)/run/(\w+)")
_TEXT: Final = re.compile(r"(weft-[^/]+)/run/(\w+):(.*)")
_STOPPED: Final = "cd {root} || exit 1; while read -r name; do : >$name/run/stopped; done; exit 0"
_SIZES: Final = """cd {root} || exit 1
xargs -r sh -c 'find "$@" -maxdepth 1 -type f "(" -name out -o -name err ")" \
-printf "%s %p\\n" 2>/dev/null; exit 0' sh"""
_READS_AT_ONCE: Final = 16
_FORGET: Final = "cd {root} || exit 0; xargs -r rm -rf --"


class SlurmFiles(Protocol):
    """What the engine writes and reads; each method may raise `Unavailable`."""

    async def known(self) -> Sequence[Array]:
        """Make the directory, and return what is in it."""

    async def put(self, files: Mapping[str, Mapping[str, str]]) -> None:
        """Write the files of attempts."""

    async def add_array(self, array: str, names: Sequence[str]) -> str:
        """Write the list and the script of an array, before it is submitted; return the script."""

    async def number_array(self, array: str, number: int) -> None:
        """Note the number that Slurm gave."""

    async def remove_array(self, array: str) -> None:
        """Forget an array: a task of it that begins later finds nothing to do."""

    async def take(self, names: Sequence[str]) -> set[str]:
        """Take attempts so that no node can begin them; return those that none had."""

    async def mark_stopped(self, names: Sequence[str]) -> None:
        """Note that attempts, which nodes have begun, are asked to end."""

    async def marks(self, names: Sequence[str]) -> Mapping[str, Marks]:
        """Return what the files of each attempt tell."""

    async def grown(
        self, stored: Mapping[str, Stored], limits: ExecutorLimits
    ) -> Mapping[str, Sequence[Piece]]:
        """Return what the files of attempts that run have more than is stored."""

    async def output(self, name: str, stored: Stored, limits: ExecutorLimits) -> list[Piece]:
        """Return the rest of each stream: its beginning and its end, if it is too long."""

    async def left(self, name: str, file: str, *, bytes_max: int) -> bytes:
        """Return a file that a job left, or a byte more than it may have."""

    async def forget(self, names: Sequence[str]) -> None:
        """Remove what is kept of attempts."""


class StagedFiles:
    """The files are on the cluster's side: staged by sftp, and looked at by one command a set."""

    def __init__(self, login: Login, root: str) -> None:
        self._login = login
        self._root = root

    async def known(self) -> Sequence[Array]:
        """Ask for the directory."""
        told, _, lists = (await self._do(_KNOWN)).partition("\n\n")
        if told.startswith("\n"):  # no attempt is there
            told, lists = "", told[1:]
        present = frozenset(told.split())
        names: dict[str, list[str]] = {}
        numbers: dict[str, int] = {}
        for line in lists.splitlines():
            file, _, text = line.removeprefix(f"{ARRAYS}/").partition(":")
            if file.endswith(".job"):
                numbers[file.removesuffix(".job")] = int(text)
            else:
                names.setdefault(file, []).append(text)
        return [
            Array(one, own, present & frozenset(own), numbers.get(one))
            for one, own in names.items()
        ]

    async def put(self, files: Mapping[str, Mapping[str, str]]) -> None:
        await self._login.write(
            {
                f"{self._root}/{name}/{file}": (text, 0o700)
                for name, own in files.items()
                for file, text in own.items()
            }
        )

    async def add_array(self, array: str, names: Sequence[str]) -> str:
        path = f"{self._root}/{ARRAYS}/{array}"
        script = f"{path}.sh"
        await self._login.write(
            {
                path: ("".join(f"{name}\n" for name in names), 0o600),
                script: (array_script(self._root, path), 0o700),
            }
        )
        return script

    async def number_array(self, array: str, number: int) -> None:
        await self._login.write({f"{self._root}/{ARRAYS}/{array}.job": (str(number), 0o600)})

    async def remove_array(self, array: str) -> None:
        await self._do(_FORGET, [f"{ARRAYS}/{array}{end}" for end in ("", ".sh", ".job")])

    async def take(self, names: Sequence[str]) -> set[str]:
        """Make the directories `run`."""
        return set((await self._do(_TAKE, names)).split()) if names else set()

    async def mark_stopped(self, names: Sequence[str]) -> None:
        if names:
            await self._do(_STOPPED, names)

    async def marks(self, names: Sequence[str]) -> Mapping[str, Marks]:
        if not names:
            return {}
        told = await self._do(_MARKS, [f"{name}/run" for name in names])
        now, *lines = told.split("\n")
        ages: dict[str, dict[str, float]] = defaultdict(dict)
        texts: dict[str, dict[str, str]] = defaultdict(dict)
        for line in lines:
            if (text := _TEXT.fullmatch(line)) is not None:
                own, file = texts[text[1]], text[2]
                own[file] = f"{own[file]}\n{text[3]}" if file in own else text[3]
            elif (age := _AGE.fullmatch(line)) is not None:
                ages[age[2]][age[3]] = max(0.0, float(now) - float(age[1]))
        return {name: marks_of(ages.get(name, {}), texts.get(name, {})) for name in names}

    async def grown(
        self, stored: Mapping[str, Stored], limits: ExecutorLimits
    ) -> Mapping[str, Sequence[Piece]]:
        """Ask for all sizes, then for what is new."""
        found: dict[str, list[Piece]] = defaultdict(list)
        at_once = asyncio.Semaphore(_READS_AT_ONCE)

        async def read(line: str) -> None:
            size, _, path = line.partition(" ")
            name, _, file = path.rpartition("/")
            has = stored[name].of(STREAMS[file])
            more = min(int(size) - has.written, live_bytes(has, limits))
            if more > 0:
                async with at_once:
                    data = await self._login.read(f"{self._root}/{path}", has.written, more)
                found[name] += pieces_of(STREAMS[file], data)

        await asyncio.gather(*map(read, (await self._do(_SIZES, stored)).splitlines()))
        return found

    async def output(self, name: str, stored: Stored, limits: ExecutorLimits) -> list[Piece]:
        pieces = []
        for file, stream in STREAMS.items():
            path = f"{self._root}/{name}/{file}"
            rest = rest_of(await self._login.size(path), stored.of(stream), limits)
            pieces += pieces_of(
                stream,
                await self._login.read(path, rest.head[0], rest.head[1] - rest.head[0]),
                rest.cut,
                await self._login.read(path, rest.tail[0], rest.tail[1] - rest.tail[0]),
            )
        return pieces

    async def left(self, name: str, file: str, *, bytes_max: int) -> bytes:
        return await self._login.read(f"{self._root}/{name}/run/{file}", 0, bytes_max + 1)

    async def forget(self, names: Sequence[str]) -> None:
        if names:
            await self._do(_FORGET, names)

    async def _do(self, script: str, names: Iterable[str] = ()) -> str:
        """Run a script of ours with names on its standard input."""
        text = script.replace("{root}", shlex.quote(self._root))
        for word, files in (("{left}", LEFT), ("{marks}", MARKS)):
            text = text.replace(word, " -o ".join(f"-name {file}" for file in files))
        code, out, said = await self._login.run(
            ["sh", "-c", text], "".join(f"{name}\n" for name in names)
        )
        if code:
            raise Unavailable(
                "the login node cannot use slurm_directory",
                detail=said.strip(),
                hint="Name a directory that the account of the key can write there.",
            )
        return out
