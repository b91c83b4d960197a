"""Read what an attempt uses while it runs."""

from collections.abc import Sequence

from weft.api.calls.call import call
from weft.api.calls.path_ids import AttemptNumber, BatchId, JobId
from weft.api.services import Services
from weft.api.use_cases.output import Outputs, elsewhere
from weft.core.access.rights import Right
from weft.ports.store import Caller
from weft.submission.services import Answer
from weft.wire.answers.usage import AttemptUsage
from weft.wire.usage_format import UsageSample


@call(
    "GET /v1/batches/{b}/jobs/{j}/attempts/{a}/usage", Right.READ, AttemptUsage,
    client="attempt_usage", public=False,
)  # fmt: skip
async def get_attempt_usage(
    services: Services, caller: Caller, batch_id: BatchId, job_id: JobId, attempt: AttemptNumber
) -> Answer:
    """Return samples of the CPU time and memory of an attempt, also while it runs, oldest first:
    `at_ms, cpu_ms, memory_bytes`. They get rarer as it gets older: at most 1,000 are kept, with
    its output. Raise `AttemptNotFound`, `OutputElsewhere`.
    """
    samples = await read_samples(services, caller, batch_id, job_id, attempt)
    shown = [sample._asdict() for sample in samples]
    return {"batch_id": batch_id, "job_id": job_id, "attempt": attempt, "samples": shown}


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
