"""`weft dag`: a picture of the dependencies within a batch."""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec

from weft.cli.input.documents import opened_to_write
from weft.cli.input.options import SHARED, Flag, Parameter, Shared
from weft.cli.input.targets import parse_target
from weft.cli.terminal.report import note
from weft.core.errors import BadId
from weft.core.pictures.dag import draw_svg, write_dot, write_mermaid
from weft.core.pictures.graph import Graph

WRITERS: Final[Mapping[str, Callable[[Graph], str]]] = {
    "mermaid": write_mermaid,
    "dot": write_dot,
    "svg": partial(draw_svg, alone=True),
}


async def dag(
    target: str,
    /,
    *,
    format_: Annotated[Literal["mermaid", "dot", "svg"], Parameter(name=["--format"])] = "mermaid",
    level: Literal["groups", "jobs"] | None = None,
    apart: Flag = False,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    shared: Shared = SHARED,
) -> int:
    """Draw the dependencies within a batch or a group: between the groups below it if there are
    some, else between its first 2,000 jobs; jobs that are alike, as an array, are one node.

        weft dag b12/stage1 --format svg -o stage1.svg

    Args:
        target: A batch `b12` or a group `b12/stage1`.
        format_: The language of Mermaid or of Graphviz, or a picture.
        level: Between groups or between jobs.
        apart: Draw each job, also twelve or more with the same parents and the same children.
        output: Where to write it instead of standard output.
    """
    found = parse_target(target)
    if found.job_id is not None:
        raise BadId(target, expected="a batch is written b12, a group b12/stage1")
    async with shared.client() as client:
        document = await client.get_graph(
            found.batch_id, group=found.group, level=level, apart=apart
        )
    if shared.as_json(document):
        return 0
    graph = msgspec.convert(document, Graph)
    text = WRITERS[format_](graph)
    if output is None:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    else:
        with opened_to_write(output) as file:
            file.write(text)
        note(f"nodes: {len(graph.nodes):,}, edges: {len(graph.edges):,}; written to {output}")
    if graph.cursor is not None:
        note("there are more nodes than one picture holds: draw a group of it")
    if graph.sampled:
        note("there are more dependencies than one picture reads: some may be missing")
    return 0
