"""The lines that the server finds in the output of many jobs."""

from weft.cli.terminal.job_lines import JobLines
from weft.cli.terminal.many_logs import Wanted
from weft.cli.terminal.raw_output import STDERR, STDOUT
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import JsonItems
from weft.client.api import Api
from weft.core.ids import format_job_ref

_UNREAD = 1
"""The exit code if some output could not be searched."""


async def print_found(client: Api, wanted: Wanted, text: str) -> int:
    """Print the lines as they are found; return the exit code."""
    batch_id, items = wanted.batch_id, JsonItems()
    listing = client.find_lines(
        batch_id, text, group=wanted.group, q=wanted.q, states=wanted.states,
        stream=wanted.stream,
    )  # fmt: skip
    n_lines = n_unread = 0
    async for one in listing:
        if one["problem"] is not None:
            n_unread += 1
            note(f"{format_job_ref(batch_id, one['job_id'])} was not searched: {one['problem']}")
        elif wanted.as_json:
            items.print([{"batch_id": batch_id, **one}])
        else:
            lines = JobLines(format_job_ref(batch_id, one["job_id"]), one["job_id"])
            stream = STDERR if one["stream"] == "stderr" else STDOUT
            lines.write(stream, f"{one['line']}\n".encode())
            lines.end()
        n_lines += one["problem"] is None
    if wanted.as_json:
        items.end()
    elif not n_lines:
        note("no line has this text")
    return _UNREAD if n_unread else 0
