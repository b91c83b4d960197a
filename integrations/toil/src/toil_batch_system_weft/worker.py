"""What is done in Toil's worker, within a job."""

import shutil
import sys

from toil.common import Toil
from toil.worker import parse_args


class ShowFailure:
    """Toil's worker keeps what a job writes in the job store; what one that failed wrote is put
    out, too, so that `weft logs` has it.
    """

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        options = parse_args(sys.argv)
        store = Toil.resumeJobStore(options.jobStoreLocator)
        if not store.job_exists(options.jobStoreID):  # it succeeded; `load_job` would wait for it
            return
        job = store.load_job(options.jobStoreID)
        if job.logJobStoreFileID is not None:
            with job.getLogFileHandle(store) as log:
                shutil.copyfileobj(log, sys.stderr.buffer)
            sys.stderr.flush()
