"""`weft run`: one job, as if it ran in this shell."""

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Annotated, Any

from weft.cli.input.batch_options import NO_KEYED_OPTIONS, KeyedBatchOptions, batch_fields
from weft.cli.input.job_document import (
    NO_OPTIONS,
    JobOptions,
    NoCommand,
    job_document,
    request_fields,
    show_command,
)
from weft.cli.input.options import SHARED, Flag, Parameter, Shared
from weft.cli.input.stdin_text import read_stdin
from weft.cli.terminal.exit_code import FAILED, exit_code_of
from weft.cli.terminal.interrupts import INTERRUPTED, Interrupts
from weft.cli.terminal.raw_output import (
    LIMIT,
    STDERR,
    STDOUT,
    OutputFailed,
    say_left_out,
    write_all,
)
from weft.cli.terminal.report import note, print_error
from weft.cli.terminal.screen import print_json
from weft.cli.terminal.shell_words import shell_hint
from weft.cli.terminal.waits import waits_told
from weft.client.api import WAIT_PATIENCE_S, Api
from weft.client.http.address import Locator
from weft.client.http.blocking import asyncio
from weft.client.http.blocking import run as run_alone
from weft.client.submission.ahead import sent_ahead
from weft.core.ends.end_words import explain_end
from weft.core.errors import OutputElsewhere, Unavailable
from weft.core.ids import format_job_ref

STOPPING = "the job is being cancelled; Ctrl-C again leaves at once"


def run(
    *command: str,
    no_stdin: Annotated[bool, Parameter(name=["--no-stdin", "-n"], negative="")] = False,
    name: str | None = None,
    detach: Flag = False,
    allow_cut: Flag = False,
    up: Flag = False,
    options: JobOptions = NO_OPTIONS,
    of_batch: KeyedBatchOptions = NO_KEYED_OPTIONS,
    shared: Shared = SHARED,
) -> int:
    """Run one command as a job, in this directory and environment, with its output and exit code.

    Ctrl-C cancels the job and waits until its processes are dead; a second Ctrl-C
    leaves at once.

        weft run -- sh -c 'echo hi; exit 3'

    Args:
        command: Program and arguments, after `--`.
        name: Name of the batch and its job (default: the command).
        detach: Print the job, such as b12.j1, and leave it to the server.
        allow_cut: Output beyond 64 MiB of a stream, whose middle is not kept, is fine; by default
            the exit code is 1 then.
        no_stdin: Do not read standard input; the job reads from /dev/null.
        up: Start weft here first, if it does not run; `weft down` stops it. By default only where
            no server is named and none was ever started.
        options: Resources and environment of the job.
        of_batch: Who pays, and attributes.
    """
    if not command:
        raise NoCommand(
            "nothing to run", hint="Write the command after two hyphens: `weft run -- date`."
        )
    if up or Locator(home=shared.home).is_unset():
        from weft.cli.commands.up import start_if_down  # noqa: PLC0415 (of the server's side)

        start_if_down(shared, is_asked=up)
    stdin = None if no_stdin else read_stdin()
    job = job_document(command, options, stdin=stdin)
    if name is not None:
        job["name"] = name
    document = {
        "name": name if name is not None else show_command(command),
        "jobs": [job],
        **batch_fields(of_batch),
        **request_fields(options, shared.home),
    }
    if detach:
        return run_alone(_detach(document, shared))
    return asyncio.run(_run(document, shared, allow_cut=allow_cut))


async def _detach(document: Mapping[str, Any], shared: Shared) -> int:
    async with shared.client() as client:
        batch_id, has_key = await _create(client, document)
    answer = {"batch_id": batch_id, "job_id": 1} | ({"skipped": True} if has_key else {})
    if has_key:
        note(_taken(batch_id, document))
    return shared.tell(answer, format_job_ref(batch_id, 1), print)


async def _run(document: Mapping[str, Any], shared: Shared, *, allow_cut: bool) -> int:
    async with shared.client(patience_s=WAIT_PATIENCE_S) as client:
        creation = asyncio.create_task(_create(client, document))

        async def cancel() -> None:
            # Stopped before the answer arrived: the job may exist all the same.
            batch_id, has_key = await asyncio.shield(creation)
            if not has_key:
                await client.cancel_batch(batch_id, force=True)

        with Interrupts(cancel, STOPPING) as interrupts:
            batch_id, has_key = await creation
            if has_key:
                return shared.tell(
                    {"batch_id": batch_id, "skipped": True}, _taken(batch_id, document)
                )
            try:
                seen = await _follow(client, batch_id, keep=shared.json)
            except (BrokenPipeError, OutputFailed):
                await cancel()
                raise
            except Unavailable:
                note(f"{format_job_ref(batch_id, 1)} continues without us, if it can")
                raise
    end = seen.end
    if shared.json:
        cut = {"truncated": True} if seen.is_cut else {}
        print_json({"batch_id": batch_id, "job_id": 1, **end, **seen.texts(), **cut})
    elif end["reason"] != "exit" and end["state"] != "success":
        _say_why(end, document["jobs"][0]["command"], format_job_ref(batch_id, 1))
    elif "outputs_of" in end:
        note(f"{format_job_ref(batch_id, 1)} {explain_end(end)}")
    if seen.missing is not None:
        print_error(seen.missing, as_json=shared.json)
    if seen.is_cut and not allow_cut:
        note(f"this is exit code {FAILED}; `--allow-cut` accepts it: {LIMIT}")
    if interrupts.count:
        return INTERRUPTED
    return exit_code_of(end) or seen.exit_code(allow_cut=allow_cut)


async def _create(client: Api, document: Mapping[str, Any]) -> tuple[int, bool]:
    """Return the batch, and whether that was there: it has the key of this one."""
    send = client.submit if sent_ahead(document["jobs"]) else client.create_batch
    answer = await send(document)
    return int(answer["id"]), bool(answer.get("skipped"))


def _taken(batch_id: int, document: Mapping[str, Any]) -> str:
    return f"b{batch_id} has the key {document['unique']['key']!r}: nothing was submitted"


def _say_why(end: Mapping[str, Any], command: Sequence[str], job: str) -> None:
    """Print how a job ended that did not exit by itself."""
    program = command[0]
    what = end.get("message") or explain_end(end)
    if end["reason"] == "no_program" and program not in what:
        what = f"{program}: {what}"
    note(f"{what} ({job})")
    if end["reason"] == "no_program" and (hint := shell_hint(command, "weft run --")):
        note(hint)


@dataclass
class _Seen:
    """What was seen of a job."""

    end: Mapping[str, Any] = field(default_factory=dict)
    """How it ended."""
    kept: Mapping[str, list[bytes]] = field(default_factory=lambda: {"stdout": [], "stderr": []})
    missing: OutputElsewhere | None = None
    """Why nothing was there to read."""
    is_cut: bool = False
    """Whether something was missing in the middle."""

    def texts(self) -> Mapping[str, str]:
        """Return what was kept."""
        return {
            name: b"".join(data).decode("utf-8", "replace") for name, data in self.kept.items()
        }

    def exit_code(self, *, allow_cut: bool) -> int:
        """Return what the exit code is if the job succeeded."""
        if self.missing is not None:
            return self.missing.exit_code
        return FAILED if self.is_cut and not allow_cut else 0


async def _follow(client: Api, batch_id: int, *, keep: bool) -> _Seen:
    """Pass the output on or keep it until the job ends."""
    seen = _Seen()
    attempt: int | None = None
    try:
        telling = waits_told(client, lambda: client.get_job(batch_id, 1))
        async with telling, aclosing(client.follow_log(batch_id, 1)) as events:
            async for event in events:
                if attempt not in {None, event.attempt} and event.kind != "end":
                    note("the job was started again; its output starts over")
                attempt = event.attempt
                if event.kind == "end":
                    seen.end = event.facts
                elif event.kind == "cut":
                    seen.is_cut = True
                    say_left_out(event.facts["bytes"], event.facts["stream"], batch_id, 1)
                elif keep:
                    seen.kept[event.kind].append(event.data)
                else:
                    write_all(STDOUT if event.kind == "stdout" else STDERR, event.data)
    except OutputElsewhere as error:
        seen.missing = error
    return seen
