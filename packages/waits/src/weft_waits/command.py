"""`weft answer`: let a job that waits succeed or fail."""

import sys
from functools import partial
from typing import Annotated, Any

from weft.cli.input.options import SHARED, Flag, Parameter, Shared, WrongOption, read_option
from weft.cli.terminal.plain import moment
from weft.cli.terminal.report import note as say
from weft.core.bounded import Unreadable, read_json
from weft.core.ids import parse_job_ref
from weft.core.text.durations import parse_seconds


def answer(
    target: str,
    /,
    *,
    refuse: Annotated[bool, Parameter(negative="")] = False,
    set_: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    note: str = "",
    link: Flag = False,
    valid: str | None = None,
    shared: Shared = SHARED,
) -> int:
    """Answer a job that waits for a person or an event: it succeeds.

        weft answer b12.j7 --set dose=2.5 --note "seen"
        weft answer b12.j7 --link --valid 8h

    Args:
        target: `b12.j7`.
        refuse: The job fails.
        set_: KEY=VALUE of its form; a VALUE that is JSON is that, another one a text. Repeat it.
        note: Why, for the history of the job.
        link: Only print a link for somebody else: its page answers this job, once.
        valid: How long the link counts, as 8h or 7d. Without it: a day.
    """
    batch_id, job_id = parse_job_ref(target)
    if link or valid is not None:
        if not link or refuse or set_ or note:
            raise WrongOption(
                "`--valid` goes with `--link`, and what answers the job without it",
                detail="`--link` answers nothing: whoever opens the link does.",
                hint=f"Write `weft answer {target} --link --valid 8h`.",
            )
        lasting = partial(parse_seconds, days=365)
        terms = {} if valid is None else {"valid_s": read_option("--valid", valid, lasting)}
        made = shared.ask(lambda client: client.create_answer_link(batch_id, job_id, **terms))
        if not shared.as_json(made):
            sys.stdout.write(f"{made['url']}\n")
            say(
                f"it answers {target} once, until {moment(made['expires_at'])}, for whoever has it"
            )
        return 0
    values = dict(read_option("--set", pair, _pair) for pair in set_)
    answered = shared.ask(
        lambda client: client.answer_job(
            batch_id, job_id, approve=not refuse, values=values, note=note
        )
    )
    return shared.tell(answered, f"{target}: {'refused' if refuse else 'answered'}")


def _pair(text: str) -> tuple[str, Any]:
    key, separator, value = text.partition("=")
    if not separator:
        raise ValueError(f"{text[:80]!r} is not KEY=VALUE")
    try:
        return key, read_json(value)
    except Unreadable:
        return key, value
