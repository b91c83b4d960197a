"""The options of `weft each`."""

from dataclasses import dataclass
from typing import Annotated

from weft.cli.input.options import Flag, Parameter, bounded


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class EachOptions:
    """How to read lines and print results."""

    file: Annotated[
        str | None, Parameter(name=["--file", "-f", "--arg-file", "-a"], allow_leading_hyphen=True)
    ] = None
    """Read the lines from this file (default, or `-`: standard input)."""

    null: Annotated[bool, Parameter(name=["--null", "-0"], negative="")] = False
    """Items end with a NUL character instead of a newline, as `find -print0` writes them."""

    delimiter: Annotated[str | None, Parameter(name=["--delimiter", "-d"])] = None
    r"""Items end with this character, such as , or '\t' or '\x1f'."""

    eof: Annotated[str | None, Parameter(name=["--eof", "-E"], allow_leading_hyphen=True)] = None
    """The input ends before this line; no effect with -0 or -d."""

    colsep: str | None = None
    """Cut each line at this regular expression into {1}, {2} and so on."""

    max_args: Annotated[
        int | None, Parameter(name=["--max-args", "-n", "-N"], validator=bounded(1))
    ] = None
    """Give each job up to this many lines, as arguments."""

    max_lines: Annotated[
        int | None, Parameter(name=["--max-lines", "-L"], validator=bounded(1))
    ] = None
    """The same; with --xargs the words of this many lines."""

    max_chars: Annotated[
        int | None, Parameter(name=["--max-chars", "-s"], validator=bounded(1))
    ] = None
    """Give each job as many lines as its command has room for in this many bytes."""

    exits: Annotated[bool, Parameter(name=["--exit", "-x"], negative="")] = False
    """Stop if the lines of -n or -L do not fit into -s, instead of giving the job fewer."""

    replace: Annotated[str | None, Parameter(name=["--replace", "-I"])] = None
    """This text stands for the line in the command, instead of {}."""

    jobs: Annotated[
        str | None, Parameter(name=["--jobs", "-j", "-P"], allow_leading_hyphen=True)
    ] = None
    """Jobs that run at the same time; 0: no limit; 50%, +1 or -1: of the cores of the workers."""

    delay: Annotated[float, Parameter(validator=bounded(0))] = 0.0
    """Seconds between the submissions of two jobs."""

    halt: str | None = None
    """Stop early: now,fail=1 stops running jobs, soon,fail=10% lets them end; or success, done."""

    xargs: Flag = False
    """Do as xargs does: words with quotes, as many as fit, one job at a time, its exit codes."""

    no_run_if_empty: Annotated[bool, Parameter(name=["--no-run-if-empty", "-r"], negative="")] = (
        False
    )
    """Run nothing without input; only --xargs would."""

    verbose: Annotated[bool, Parameter(name=["--verbose", "-t"], negative="")] = False
    """Print each command on standard error when it is submitted."""

    unordered: Flag = False
    """Print outputs as jobs end, not in input order."""

    tag: Flag = False
    """Put the line and a tab before each line of output."""

    joblog: str | None = None
    """Write a line about each job to this file, in the form of GNU parallel."""

    results: str | None = None
    """Also write the outputs to files below this directory: 1/LINE/stdout and stderr."""

    allow_cut: Flag = False
    """Output beyond 64 MiB of a stream, whose middle is not kept, is fine; by default the exit
    code is 1 then.
    """

    dry_run: Flag = False
    """Print the commands, and run nothing."""

    name: str | None = None
    """Name of this run, for --resume."""

    resume: str | None = None
    """Run only the lines that did not succeed in earlier runs of this name, and print the output
    of all.
    """

    only_new: Flag = False
    """With --resume, print and record only what runs now."""


NO_EACH_OPTIONS = EachOptions()
