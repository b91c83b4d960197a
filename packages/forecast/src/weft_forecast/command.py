"""`weft when`: about when a job or a batch starts and ends, and what it costs."""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.plain import moment, wrapped
from weft.cli.terminal.screen import Document, plain
from weft.core.text.amounts import duration


async def when(target: str, /, *, shared: Shared = SHARED) -> int:
    """Say about when a job or a batch starts and ends and what it costs, from like jobs.

        weft when b12

    About nine in ten hold if jobs go on as like ones did; where that is not known, it says why.

    Args:
        target: A batch `b12` or a job `b12.j7`.
    """
    which = parse_target(target, groups=False)
    async with shared.client() as client:
        answer = await which.ask(client.forecast_batch, client.forecast_job, client.forecast_batch)
    if not shared.as_json(answer):
        for line in _lines(answer, datetime.now(UTC)):
            print(wrapped(plain(f"{target} {line}"), sys.stdout))
    return 0


def _lines(answer: Document, now: datetime) -> Iterator[str]:
    if answer["unknown"]:
        yield f"has no forecast: {answer['unknown']}"
        return
    for word in ("starts", "ends"):
        if span := answer[word]:
            left = [datetime.fromisoformat(time) - now for time in span]
            least, most = (duration(max(time.total_seconds(), 0) * 1000) for time in left)
            earliest, latest = map(moment, span)
            yield f"{word} about between {earliest} and {latest}, in {least} to {most}"
    least, most = (f"{cost:.4g}" for cost in answer["costs"])
    yield f"costs about between {least} and {most}"
    yield f"is foretold from {answer['n_like']:,} jobs like it, if jobs go on alike"
    for cause in answer["causes"]:
        if cause["command"]:
            yield f"{cause['text']}: {cause['command']}"
