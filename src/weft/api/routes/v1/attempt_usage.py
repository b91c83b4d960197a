"""`/v1/batches/{b}/jobs/{j}/attempts/{a}/usage`: what an attempt uses while it runs."""

from typing import Final

from litestar import Response, get

from weft.api.http.parameters import Query
from weft.api.http.path_ids import attempt_of, batch_id_of, job_id_of
from weft.api.http.replies import reply
from weft.api.http.requests import AnyRequest, caller_of, services_of
from weft.api.use_cases.attempt_usage import read_samples
from weft.wire.answers.usage import AttemptUsage


@get("/v1/batches/{b:str}/jobs/{j:str}/attempts/{a:str}/usage", opt={"answer": AttemptUsage})
async def get_attempt_usage(request: AnyRequest) -> Response[bytes]:
    """Get samples of the CPU time and memory of an attempt, also while it runs. They get rarer as
    it gets older: at most 1,000 are kept, with its output.
    """
    Query(request, ())
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    attempt = attempt_of(request)
    samples = await read_samples(
        services_of(request), caller_of(request), batch_id, job_id, attempt
    )
    return reply(
        {
            "batch_id": batch_id,
            "job_id": job_id,
            "attempt": attempt,
            "samples": [one._asdict() for one in samples],
        }
    )


ROUTES: Final = (get_attempt_usage,)
