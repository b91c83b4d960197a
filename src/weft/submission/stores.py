"""The stores that jobs name: they are there, and may be written where outputs are to go."""

from weft.core.errors import InvalidValue
from weft.core.files.file_paths import WrongPath, in_store, split_store
from weft.submission.draft import Draft


async def check_stores(draft: Draft) -> None:
    """Note which jobs name stores that the tenant does not have, or that are to be read only."""
    uses = [
        *(
            (f"/jobs/{index}/inputs/{n}", one.from_, False)
            for index, job in enumerate(draft.rare)
            for n, one in enumerate(job.inputs or ())
            if in_store(one.from_)
        ),
        *(
            (f"/jobs/{index}/outputs/{n}", output.to or "", True)
            for index, job in enumerate(draft.rare)
            for n, output in enumerate(job.outputs or ())
            if in_store(output.to)
        ),
    ]
    if not uses:
        return
    stores = await draft.services.store.list_stores(draft.caller)
    access = {store["name"]: store["access"] for store in stores}
    for at, text, is_written in uses:
        try:
            name, _ = split_store(text)
        except WrongPath:
            continue  # told where its form is checked
        if name not in access:
            message = f"there is no store {name!r}; `weft store ls` lists them"
            draft.problems.add(InvalidValue, at, message)
        elif is_written and access[name] != "write":
            draft.problems.add(InvalidValue, at, f"nothing is written to store {name!r}")
