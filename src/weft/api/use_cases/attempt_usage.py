"""Read what an attempt uses while it runs."""

from collections.abc import Sequence

from weft.api.services import Services
from weft.api.use_cases.output import Outputs, elsewhere
from weft.ports.store import Caller
from weft.wire.usage_format import UsageSample


async def read_samples(
    services: Services, caller: Caller, batch_id: int, job_id: int, attempt: int
) -> Sequence[UsageSample]:
    """Return the samples of an attempt, oldest first. They are kept beside its output, so the
    same errors are raised: `JobNotFound`, `AttemptNotFound`, `OutputElsewhere`.
    """
    log = await Outputs(services, caller, batch_id).find(job_id, attempt)
    assert log is not None, "an attempt that is named is found, or an error"
    if (missing := elsewhere(services.logs, log)) is not None:
        raise missing
    return await services.logs.samples(log)
