"""The summary at the end of `weft each`."""

import shlex
import sys
from dataclasses import dataclass
from typing import Final

import msgspec

from weft.cli.terminal.plain import one_line, plain, wrapped
from weft.cli.terminal.raw_output import LIMIT
from weft.cli.terminal.report import note, print_error
from weft.client.http.problems import to_error
from weft.core.ids import format_batch_id, format_job_ref
from weft.core.text.amounts import duration
from weft.core.text.escapes import escaped_in_json
from weft_each.parts.feed import SHOWN_CHARS
from weft_each.parts.ledger import Ledger

_COUNTED: Final = (
    "n_submitted",
    "n_succeeded",
    "n_failed",
    "n_skipped",
    "n_reprinted",
    "n_cancelled",
    "halted_by",
    "n_missing",
    "n_cut",
    "failures",
)
"""What a ledger has of the document on standard error."""


@dataclass(frozen=True, kw_only=True)
class EndedRun:
    """One run that is over."""

    name: str
    batch_id: int | None
    """None if no line became a job."""
    seconds: float
    interrupted: bool


def print_summary(ledger: Ledger, run: EndedRun) -> None:
    """Print on standard error how many lines succeeded, which failed, and how to resume."""
    note(_counts(ledger, run))
    for failure in ledger.failures:
        where = format_job_ref(run.batch_id or 0, failure.job_id) + "  " if failure.job_id else ""
        text = f"{where}{one_line(failure.line, width=SHOWN_CHARS)}  {plain(failure.why)}"
        print(wrapped(text, sys.stderr, first="  ", rest=" " * 4), file=sys.stderr)
    if ledger.missing is not None:
        print_error(to_error(0, ledger.missing))
    if ledger.n_cut:
        more = "" if ledger.allows_cut else "; `--allow-cut` accepts that"
        note(f"what was cut lacks its middle: {LIMIT}{more}")
    rest = ledger.n_failed - len(ledger.failures)
    if rest > 0:
        print(f"  … and {rest:,} more: `weft status --limit 0 b{run.batch_id}`", file=sys.stderr)
    if ledger.halted_by is not None:
        note(f"stopped early: {ledger.halted_by}")
    if run.batch_id is not None and (ledger.n_failed or run.interrupted or ledger.n_cancelled):
        word = "the rest" if run.interrupted or ledger.halted_by else "what failed"
        name = shlex.quote(run.name)
        note(f"`weft each --resume {name} -- …` with its input runs {word} again and prints all")


def print_summary_as_json(ledger: Ledger, run: EndedRun) -> None:
    """Print the same as one object, on standard error: standard output has one line per job."""
    document = {
        "name": run.name,
        "batch_id": run.batch_id,
        "interrupted": run.interrupted,
        "seconds": round(run.seconds, 3),
        **{name: getattr(ledger, name) for name in _COUNTED},
    }
    print(escaped_in_json(msgspec.json.encode(document).decode()), file=sys.stderr)


def _counts(ledger: Ledger, run: EndedRun) -> str:
    again = f", {ledger.n_reprinted:,} printed again" if ledger.n_reprinted else ""
    if run.batch_id is None and not ledger.n_failed:
        if run.interrupted:
            return "interrupted before a line became a job"
        if ledger.n_skipped:
            return f"nothing to do: all {ledger.n_skipped:,} lines succeeded before{again}"
        return "no input, nothing to do"
    parts = [f"{ledger.n_succeeded:,} succeeded"]
    if ledger.n_failed:
        parts.append(f"{ledger.n_failed:,} failed")
    if ledger.n_missing:
        parts.append(f"{ledger.n_missing:,} without their output")
    if ledger.n_cut:
        parts.append(f"{ledger.n_cut:,} with output that was cut")
    if ledger.n_cancelled:
        parts.append(f"{ledger.n_cancelled:,} cancelled")
    if unknown := ledger.n_submitted - ledger.n_printed:
        parts.append(f"{unknown:,} not printed, as they were cancelled or had not ended")
    if ledger.n_skipped:
        parts.append(f"{ledger.n_skipped:,} had succeeded before{again}")
    batch = f" ({format_batch_id(run.batch_id)})" if run.batch_id is not None else ""
    return f"{', '.join(parts)} in {duration(run.seconds * 1000)}{batch}"
