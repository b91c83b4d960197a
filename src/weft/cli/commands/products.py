"""`weft products`: what jobs that have ended well say that they have made."""

import json

from weft.cli.input.options import SHARED, App, Limit, Shared
from weft.cli.terminal.screen import at, cell
from weft.client.api import Api, Document
from weft.core.ids import format_job_ref
from weft.core.text.amounts import counted

app = App(
    name="products",
    help="List what jobs have made, newest first, also when the jobs are gone.\n\n"
    "    weft products --q 'type = FSC and tile = 32TLR'",
)

PAGE_ROWS = 1000


@app.default
def products(*, q: str | None = None, limit: Limit = 20, shared: Shared = SHARED) -> int:
    """List products, newest first.

        weft products --q 'type = FSC and tile = 32TLR'

    Args:
        q: Only products that match: `type = FSC` is about what the job wrote, `job.tile = 32TLR`
            about an attribute of the job, `batch_id`, `user` and `kept_at` about where it is from.
        limit: Show at most this number of products; 0: all.
    """
    page_rows = min(limit or PAGE_ROWS, PAGE_ROWS)
    found = shared.ask_all(lambda client: client.list_products(q, page_rows=page_rows), limit)
    return shared.table(
        found,
        {
            "Number": "id",
            "Product": lambda row: cell(json.dumps(row["product"], ensure_ascii=False), width=80),
            "Job": lambda row: format_job_ref(row["batch_id"], row["job_id"]),
            "Kept": at("kept_at"),
            "Check": _check_of,
        },
        empty="there are no such products; a job names its own in the file $WEFT_PRODUCTS",
        spare=("Kept",),
    )


def _check_of(product: Document) -> str:
    """Say what stopped its delivery."""
    if (check := product["check"]) is None:
        return ""
    said = f"{check['state']}: message {check['delivery_id']} of {check['sink']}"
    return cell(f"{said}: {check['error']}" if check["error"] else said, width=80)


@app.command
def rm(numbers: tuple[int, ...], /, *, shared: Shared = SHARED) -> None:
    """Forget products. The files that they name are not touched.

        weft products rm 12 13

    Args:
        numbers: Their numbers, as `weft products` shows them.
    """

    async def remove(client: Api) -> None:
        for number in numbers:
            await client.remove_product(number)

    shared.ask(remove)
    shared.tell(
        [{"id": number} for number in numbers], f"forgot {counted(len(numbers), 'product')}"
    )
