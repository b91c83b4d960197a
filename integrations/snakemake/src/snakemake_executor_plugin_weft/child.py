"""What a job calls: Snakemake itself, in a fork of a process that has imported it.

`python -m snakemake` takes a second until it looks at its Snakefile. A warm process of weft serves
the jobs of one batch, so it imports Snakemake once; each job is a process of its own all the same.
"""

import gc
import os
import signal
import sys
from collections.abc import Sequence

import snakemake.cli

snakemake.cli.get_argument_parser()  # loads all plug-ins
gc.collect()
gc.freeze()  # else the first collection of each fork would copy all of it


def run(arguments: Sequence[str], cwd: str) -> None:
    """Do what `python -m snakemake` does in a directory; end as it ends."""
    if (pid := os.fork()) == 0:
        os._exit(_run(arguments, cwd))
    _, status = os.waitpid(pid, 0)
    if (code := os.waitstatus_to_exitcode(status)) > 0:
        os._exit(code)
    if code < 0:  # by the signal that ended the fork
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)


def _run(arguments: Sequence[str], cwd: str) -> int:
    try:
        os.chdir(cwd)
        os.environ["PWD"] = cwd
        # A profile is for the main process: with it the job would look for an executor, too.
        os.environ.pop("SNAKEMAKE_PROFILE", None)
        sys.path.insert(0, cwd)
        sys.argv = ["snakemake", *arguments]
        snakemake.cli.main(list(arguments))
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return end.code or 0
    except BaseException:  # noqa: BLE001 (nothing may leave a fork)
        sys.excepthook(*sys.exc_info())
        return 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    return 0
