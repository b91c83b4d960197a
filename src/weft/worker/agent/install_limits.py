"""Run a program that installs packages within limits, for installer.sh: `install_limits.py FOLDER
BYTES FILES MEMORY PROGRAM…`.

What a package unpacks to is known to whoever made it alone, so memory is bounded by the kernel,
and what is in the folder is counted while the program runs. Nothing but the standard library is
imported, as this runs with `-I -S`.
"""

import os
import resource
import subprocess
import sys
import time

PAUSE_S = 0.1
"""Between two looks, at least; else as long as a look takes."""


def main(folder: str, n_bytes: int, n_files: int, memory: int, program: list[str]) -> int:
    """Return the exit code of the program. If it exceeds what the folder may have, kill it and say
    so.
    """
    for which, wanted in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, n_bytes),
        (resource.RLIMIT_DATA, memory),
    ):
        hard = resource.getrlimit(which)[1]
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(which, (most, most))
    process = subprocess.Popen(program, close_fds=False)  # it holds the lock, too
    while True:
        begun = time.monotonic()
        beyond = exceeded(folder, n_bytes, n_files)
        if beyond:
            process.kill()
            process.wait()
            print(beyond, flush=True)  # noqa: T201 (its output is what is said)
            return 1
        try:
            code = process.wait(max(PAUSE_S, time.monotonic() - begun))
        except subprocess.TimeoutExpired:
            continue
        beyond = exceeded(folder, n_bytes, n_files)
        if beyond:
            print(beyond, flush=True)  # noqa: T201 (same)
            return 1
        return code if code >= 0 else 128 - code


def exceeded(folder: str, n_bytes: int, n_files: int) -> str:
    """Return which limit what is below a folder exceeds, or nothing."""
    seen, used, folders = set[tuple[int, int]](), 0, [folder]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    status = entry.stat(follow_symlinks=False)
                    seen.add((status.st_dev, status.st_ino))
                    used += status.st_blocks * 512 // max(1, status.st_nlink)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    if used > n_bytes:
                        return (
                            f"they take more than {n_bytes} bytes of disk "
                            "(requirements_cache_bytes)"
                        )
                    if len(seen) > n_files:
                        return f"they are more than {n_files} files (requirements_files_max)"
        except OSError:  # it goes meanwhile
            continue
    return ""


if __name__ == "__main__":
    _n_bytes, _n_files, _memory = map(int, sys.argv[2:5])
    sys.exit(main(sys.argv[1], _n_bytes, _n_files, _memory, sys.argv[5:]))
