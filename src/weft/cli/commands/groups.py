"""`weft groups`: the groups of a batch."""

from weft.cli.input.options import SHARED, Shared
from weft.cli.input.targets import parse_batch
from weft.cli.terminal.names import group_name, state_words
from weft.cli.terminal.screen import Document, TableRows, print_pages
from weft.core.text.amounts import money

HEADER = ("Group", "Kind", "State", "Jobs", "Ended", "Failed", "Cost")
WIDTHS = (24, 4, 9, 8, 8, 8, 8)
NUMBERS = HEADER[3:]


async def groups(target: str, /, *, shared: Shared = SHARED) -> int:
    """List the groups of a batch: those of the tree, and sets.

        weft groups b12

    Args:
        target: A batch `b12`.
    """
    batch_id = parse_batch(target)
    rows = TableRows(HEADER, right=NUMBERS, least=WIDTHS)
    async with shared.client() as client:
        return await print_pages(
            client.list_groups(batch_id), rows, _row, as_json=shared.json,
            nothing="the batch has no groups",
            keep=lambda group: group["group_id"],  # 0 is the batch itself
        )  # fmt: skip


def _row(group: Document) -> tuple[object, ...]:
    return (
        group_name(group),
        group["kind"],
        state_words(group),
        group["n_jobs"],
        group["n_completed"],
        group["n_failed"] + group["n_errored"],
        money(group["cost"]),
    )
