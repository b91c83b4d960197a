"""`weft minutes`: what happened in the last hour."""

from typing import Annotated

from weft.cli.input.options import SHARED, Parameter, Shared, bounded
from weft.cli.terminal.screen import moment, print_table

HEADER = ("Minute", "Waiting", "Running", "Succeeded", "Failed", "Cancelled")
_COUNTS = ("n_waiting", "n_running", "n_succeeded", "n_failed", "n_cancelled")
KEPT = 60


def minutes(
    *,
    last: Annotated[int, Parameter(name=["--last", "-n"], validator=bounded(1, KEPT))] = KEPT,
    shared: Shared = SHARED,
) -> None:
    """Show how many jobs waited and ran at the end of each of the last minutes, and how many ended
    in it.

        weft minutes --last 10

    It counts the jobs of your own batches; for operators and administrators
    those of all.

    Args:
        last: How many minutes; 60 are kept.
    """
    found = shared.ask(lambda client: client.list_minutes())[-last:]
    if shared.as_json(found):
        return
    rows = [(moment(one["at"])[:-3], *(f"{one[name]:,}" for name in _COUNTS)) for one in found]
    print_table(HEADER, rows, right=HEADER[1:])
