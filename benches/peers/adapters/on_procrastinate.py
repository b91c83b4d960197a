"""Procrastinate on PostgreSQL: coroutines in one process."""

import sys
from pathlib import Path

import jobs
from procrastinate import App, PsycopgConnector, RetryStrategy

SIGNS = {
    "update_heartbeat_interval": jobs.DEAD_AFTER_S / 2,
    "stalled_worker_timeout": jobs.DEAD_AFTER_S,
}
app = App(
    connector=PsycopgConnector(conninfo=jobs.SERVER),
    worker_defaults=SIGNS if jobs.DEAD_AFTER_S else {},
)
PROGRAM = [Path(sys.executable).with_name("procrastinate"), "--app", "on_procrastinate.app"]


@app.task(name="run", retry=RetryStrategy(max_attempts=jobs.ATTEMPTS - 1, wait=1))
async def run(kind, number):
    """Do a job."""
    await jobs.run_async(kind, number)


if jobs.DEAD_AFTER_S:  # its guide's task, which runs again what a dead worker had

    @app.periodic(cron="* * * * * */5")
    @app.task(queueing_lock="retry_stalled", priority=1)
    async def retry_stalled(timestamp):  # noqa: ARG001 (as its guide has it)
        """Retry jobs of workers that are dead."""
        found = await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=jobs.DEAD_AFTER_S)
        for job in found:
            await app.job_manager.retry_job(job)


def send(kind, numbers):
    """Send all jobs with one call."""
    rows = [{"kind": kind, "number": number} for number in numbers]
    run.batch_defer(*rows)


if __name__ == "__main__":
    if jobs.SENDS:
        app.open()
    jobs.main(
        send,
        prepare=[*PROGRAM, "schema", "--apply"],
        worker=[*PROGRAM, "worker", "-c", jobs.AT_ONCE],
    )
