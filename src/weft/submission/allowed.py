"""What jobs choose of images and engines: their tenant may allow only some of it.

Workers and gateways have lists of their own, which hold for all tenants; and a worker asks for the
tenant's again before a job leaves, because they may have changed.
"""

from weft.core.access.allowed import why_not_allowed
from weft.core.errors import InvalidValue
from weft.submission.draft import Draft
from weft.wire.documents.engines import choices_of


async def check_allowed(draft: Draft) -> None:
    """Note which jobs choose what their tenant does not allow."""
    choices = [
        (f"/jobs/{index}/{where}", kind, value)
        for index, job in enumerate(draft.rare)
        for where, kind, value in choices_of(job.container, job.engine)
    ]
    if not choices:
        return
    allowed = await draft.services.store.tenant_allowed(draft.caller)
    for at, kind, value in choices:
        if (why := why_not_allowed(allowed, kind, value)) is not None:
            draft.problems.add(InvalidValue, at, why)
