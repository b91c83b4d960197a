"""A directory that looks like a delegated cgroup, and a spawner that takes it for one.

Run as a program, it is that spawner: what the kernel does when a cgroup is made or removed is done
here by hand. Limits have no effect, and nobody is killed.
"""

import os
import sys
from pathlib import Path

FILES = {
    "cgroup.controllers": "cpuset cpu io memory pids\n",
    "cgroup.procs": "",
    "cgroup.kill": "",
    "cgroup.subtree_control": "",
    "memory.max": "",
    "memory.swap.max": "",
    "memory.oom.group": "",
    "memory.events": "oom 0\noom_kill 0\n",
    "cpu.max": "",
    "cpu.weight": "",
    "pids.max": "",
}
PROGRAM = (__file__,)
_mkdir, _rmdir = os.mkdir, os.rmdir


def lay_out(path: Path) -> Path:
    """Make a directory look like a cgroup."""
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


def mkdir(path: str | Path, mode: int = 0o777) -> None:
    """Make a cgroup, if that around it is one."""
    _mkdir(path, mode)
    if (Path(path).parent / "cgroup.procs").exists():
        lay_out(Path(path))


def rmdir(path: str | Path) -> None:
    """Remove a cgroup with its files, unless there are others below; note what has killed it."""
    found = [Path(path) / name for name in os.listdir(path)]  # noqa: PTH208 (patched here)
    if (Path(path) / "cgroup.procs").exists() and not any(one.is_dir() for one in found):
        kills = Path(path) / "cgroup.kill"
        with (Path(path).parent / "kills").open("a") as file:
            file.write(f"{Path(path).name} {kills.read_text()}\n")
        for one in found:
            one.unlink()
    _rmdir(path)


if __name__ == "__main__":
    from weft.worker.spawner.__main__ import main

    os.mkdir, os.rmdir = mkdir, rmdir  # type: ignore[assignment]
    sys.exit(main(sys.argv[1:]))
