"""`weft submit`: a batch from a file."""

import sys
from pathlib import Path
from typing import Annotated, Any

from weft.cli.input.batch_options import NO_KEYED_OPTIONS, KeyedBatchOptions, batch_fields
from weft.cli.input.documents import Format, able_to, format_of, parse_document, refuse_queues
from weft.cli.input.file_parameters import filled_file
from weft.cli.input.job_file import directory_of, expand, run_in
from weft.cli.input.options import SHARED, Flag, Parameter, Shared
from weft.cli.input.shape_options import NO_SHAPE, ShapeOptions, shape_fields
from weft.cli.terminal.progress_line import ProgressLine
from weft.cli.terminal.screen import note, print_json
from weft.client.http.blocking import run
from weft.client.progress_bar import Counts, is_bar_drawable
from weft.core.errors import FieldError, FilesNotReady, Invalid, InvalidDocument, WrongType
from weft.core.ids import format_batch_id
from weft.core.problems import Problems
from weft.core.text.amounts import counted

LARGE_BYTES = 1_000_000
"""A larger file takes a noticeable time to read."""


def submit(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    form: Annotated[Format | None, Parameter(name="--format")] = None,
    name: str | None = None,
    wait: Flag = False,
    dry_run: Flag = False,
    check: Flag = False,
    values: Annotated[tuple[str, ...], Parameter(name="--set", negative="")] = (),
    options: ShapeOptions = NO_SHAPE,
    of_batch: KeyedBatchOptions = NO_KEYED_OPTIONS,
    shared: Shared = SHARED,
) -> int:
    """Submit the jobs of a file as a batch, and print its id.

        weft submit pipeline.yaml --wait

    Args:
        file: A batch document in YAML, TOML or JSON; `-`: standard input.
        form: Format of the file, if its extension does not show it.
        name: Name of the batch, instead of the name in the file.
        wait: Wait until the batch is complete; exit code 1 if it did not succeed.
        dry_run: Only check the file and say what would be submitted; --json prints the document.
        check: Look for inputs and stores first; submit nothing if one is missing.
        values: Value of a parameter of the file, NAME=VALUE; may be repeated.
        options: What jobs need and when they may run, of jobs that do not say it themselves.
        of_batch: Who pays, and attributes, instead of what the file says.
    """
    body, chosen = _read(file, form)
    shown = "standard input" if file == "-" else file
    given = _parse(body, chosen, shown)
    refuse_queues(given, shown)
    try:
        directory = directory_of(file)
        document = expand(given, shape_fields(options), directory=directory, settings=values)
        run_in(directory, document, home=shared.home)
        if name is not None:
            document["name"] = name
        if of_batch != NO_KEYED_OPTIONS:
            own = document.get("attributes")
            document.update(batch_fields(of_batch, own if isinstance(own, dict) else None))
        if check:
            _check_types(document)
            run(_check_files(document, shared))
        if dry_run:
            return _show(document, as_json=shared.json)
        return run(_submit(document, shared, wait=wait))
    except Invalid as error:
        from weft.cli.input.job_values import with_values  # noqa: PLC0415 (of mistakes)
        from weft.cli.input.mistake_lines import point_to_lines  # noqa: PLC0415

        invalid = error
        if isinstance(error, InvalidDocument):
            invalid = with_values(error, filled_file(given, values))
        if not shared.json:  # a program finds a field by its pointer
            point_to_lines(invalid, file=shown, body=body, document=given)
        if invalid is error:
            raise
        raise invalid from error


def _read(file: str, form: Format | None) -> tuple[bytes, Format]:
    if file == "-":
        return sys.stdin.buffer.read(), form or "yaml"
    with able_to(f"read {file!r}"):
        return Path(file).read_bytes(), form or format_of(file)


def _parse(body: bytes, form: Format, name: str) -> dict[str, Any]:
    """Return the document; show how far a large file is read."""
    if len(body) <= LARGE_BYTES or not is_bar_drawable():
        return parse_document(body, form, name=name)
    n_lines = body.count(b"\n") + 1
    with ProgressLine(f"reading lines of {Path(name).name}") as line:
        line.draw(Counts(0, n_lines))
        return parse_document(
            body,
            form,
            name=name,
            on_read=lambda share: line.draw(Counts(int(share * n_lines), n_lines)),
        )


def _check_types(document: dict[str, Any]) -> str | None:
    """Return the name of the batch. Raise `InvalidDocument`."""
    import msgspec  # noqa: PLC0415

    from weft.wire.documents.batches import BatchDocument  # noqa: PLC0415
    from weft.wire.mistakes import check_types, mistake_of  # noqa: PLC0415

    try:
        checked = msgspec.json.decode(msgspec.json.encode(document), type=BatchDocument)
    except msgspec.ValidationError as error:
        problems = Problems()
        check_types(document, BatchDocument, "", problems)
        problems.raise_any()
        raise WrongType.of([FieldError(*mistake_of(str(error)))]) from error
    return checked.name


async def _check_files(document: dict[str, Any], shared: Shared) -> None:
    """Look for the files of the jobs. Raise `FilesNotReady`."""
    from weft.client.submission.wanted_files import look_for_files  # noqa: PLC0415 (5 ms)

    async with shared.client() as client:
        found = await look_for_files(client, document)
    problems = Problems()
    for one in found["problems"]:
        problems.add(FilesNotReady, one["pointer"], f"{one['file']}: {one['problem']}")
    problems.raise_any()
    if not shared.json:
        more = found["not_looked_at"]
        rest = f"; not looked at, as only workers see them: {more:,}" if more else ""
        note(f"files and stores that are as they must be: {found['looked_at']:,}{rest}")


def _show(document: dict[str, Any], *, as_json: bool) -> int:
    """Check what can be checked without the server, and show what would be submitted."""
    from weft.cli.input.job_values import check_values  # noqa: PLC0415
    from weft.client.submission.document import plan_submission  # noqa: PLC0415

    own_name = _check_types(document)
    check_values(document)
    plan = plan_submission({"jobs": [], **document})
    if as_json:
        print_json(document)
        return 0
    name = "a batch without a name" if own_name is None else f"the batch {own_name!r}"
    jobs = f"{plan.n_jobs:,} job{'s' * (plan.n_jobs != 1)}"
    groups = (
        f" in {len(plan.groups):,} group{'s' * (len(plan.groups) != 1)}" if plan.groups else ""
    )
    note(f"would submit {name} with {jobs}{groups}")
    return 0


def _count_jobs(document: dict[str, Any]) -> int | None:
    """Return the number of jobs, those of arrays counted one by one; None: it is malformed."""
    from weft.client.submission.spool import size_of  # noqa: PLC0415

    jobs = document.get("jobs") or ()
    try:
        return sum(size_of(job) or 1 for job in jobs)
    except (AttributeError, TypeError):
        return None


async def _submit(document: dict[str, Any], shared: Shared, *, wait: bool) -> int:
    async with shared.client() as client:
        with ProgressLine("submitting") as line:
            total, n_sent = _count_jobs(document), 0

            def show(n_jobs: int) -> None:
                nonlocal n_sent
                n_sent += n_jobs
                line.draw(Counts(n_sent, total))

            try:
                answer = await client.submit(document, on_sent=show)
            except (AttributeError, TypeError, InvalidDocument):
                _check_types(document)  # of many jobs they are planned here, unchecked
                raise
        batch_id = int(answer["id"])
        if shared.json and not wait:
            print_json(answer)
        elif not shared.json:
            print(format_batch_id(batch_id), flush=True)
            if answer.get("skipped"):
                note(f"it has the key {document['unique']['key']!r}: nothing was submitted")
            elif not wait and sys.stderr.isatty():
                jobs = counted(answer["n_jobs"], "job")
                note(f"{jobs}; `weft wait b{batch_id}` waits for the end")
        if not wait:
            return 0
        from weft.cli.terminal.waiting import wait_for_batch  # noqa: PLC0415 (few wait)

        return await wait_for_batch(client, batch_id, as_json=shared.json)
