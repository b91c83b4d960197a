"""`weft why`: why jobs wait, and the commands that change it."""

import sys

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.names import came_by
from weft.cli.terminal.plain import wrapped
from weft.cli.terminal.screen import Document, plain
from weft.core.ids import format_job_ref


async def why(target: str, /, *, shared: Shared = SHARED) -> int:
    """Say why jobs wait, with the commands that change it.

        weft why b12.j7

    What is first to change comes first. Of a job that runs it says where and
    since when, of one that has ended how. Of a batch or group, a few jobs stand
    for the others.

    Args:
        target: A batch `b12`, a job `b12.j7` or a group `b12/stage1`.
    """
    which = parse_target(target)
    async with shared.client() as client:
        if which.job_id is None:
            answer = await client.why_group(which.batch_id, which.group)
            name = answer["name"]
        else:
            answer = await client.why_job(which.batch_id, which.job_id)
            name = format_job_ref(which.batch_id, which.job_id)
    if not shared.as_json(answer):
        print_causes(answer, name)
        if came := _came_words(answer):
            print(wrapped(plain(f"{name} {came}"), sys.stdout))
    return 0


def _came_words(answer: Document) -> str:
    """Return through which door it came, and what it runs; empty: there is nothing to say."""
    said = []
    if came := came_by(answer):
        said.append(f"came by {came}")
    if app := answer.get("app"):
        said.append(f"runs application {app}")
    return ", ".join(said)


def print_causes(answer: Document, name: str) -> None:
    """Print each cause, and below it its command."""
    causes = answer["causes"] or [{"text": "will start in a moment", "command": None}]
    for cause in causes:
        job_id = cause.get("job_id")
        of = name if job_id is None else format_job_ref(answer["batch_id"], job_id)
        print(wrapped(plain(f"{of} {cause['text']}"), sys.stdout))
        if cause["command"]:
            # On a line of its own and never broken: it is there to be copied.
            print(f"  {plain(cause['command'])}")
