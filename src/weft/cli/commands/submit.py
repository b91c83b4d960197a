"""`weft submit`: a batch from a file."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from weft.cli.input.documents import Format, UnreadableDocument, format_of, parse_document
from weft.cli.input.options import SHARED, Shared
from weft.cli.terminal.report import note
from weft.cli.terminal.screen import print_json
from weft.cli.terminal.waiting import wait_for_batch
from weft.core.ids import format_batch_id


def submit(
    file: Annotated[str, Parameter(allow_leading_hyphen=True)],
    *,
    form: Annotated[Format | None, Parameter(name="--format")] = None,
    name: str | None = None,
    wait: Annotated[bool, Parameter(negative="")] = False,
    shared: Shared = SHARED,
) -> int:
    """Submit the jobs of a file as a batch, and print its id.

        weft submit pipeline.yaml --wait

    Args:
        file: YAML, TOML or JSON, the document of `POST /v1/batches`; `-`: standard input.
        form: Format of the file, if its extension does not tell.
        name: Name of the batch, instead of the name in the file.
        wait: Wait until the batch is complete; exit code 1 if it did not succeed.
        shared: Options of every command.
    """
    document = _read(file, form)
    if name is not None:
        document["name"] = name
    return asyncio.run(_submit(document, shared, wait=wait))


def _read(file: str, form: Format | None) -> dict[str, Any]:
    if file == "-":
        body = sys.stdin.buffer.read()
        return parse_document(body, form or "yaml", name="standard input")
    chosen = form or format_of(file)
    try:
        body = Path(file).read_bytes()
    except OSError as error:
        raise UnreadableDocument(
            f"cannot read {file!r}",
            detail=f"{error.strerror}.",
            hint="Name a readable file, or - for standard input.",
        ) from error
    return parse_document(body, chosen, name=file)


async def _submit(document: dict[str, Any], shared: Shared, *, wait: bool) -> int:
    async with shared.client() as client:
        answer = await client.submit(document)
        batch_id = int(answer["id"])
        if shared.json and not wait:
            print_json(answer)
        elif not shared.json:
            print(format_batch_id(batch_id), flush=True)
            if not wait and sys.stderr.isatty():
                note(f"{answer['n_jobs']:,} jobs; `weft wait b{batch_id}` waits for them")
        return await wait_for_batch(client, batch_id, as_json=shared.json) if wait else 0
