"""Procrastinate on PostgreSQL: coroutines in one process."""

import sys
from pathlib import Path

import jobs
from procrastinate import App, PsycopgConnector

app = App(connector=PsycopgConnector(conninfo=jobs.SERVER))
PROGRAM = [Path(sys.executable).with_name("procrastinate"), "--app", "on_procrastinate.app"]


@app.task(name="run")
async def run(kind, number):
    """Do a job."""
    await jobs.run_async(kind, number)


def send(kind, numbers):
    """Send all jobs with one call."""
    rows = [{"kind": kind, "number": number} for number in numbers]
    run.batch_defer(*rows)


if __name__ == "__main__":
    if sys.argv[1] == "submit":
        app.open()
    jobs.main(
        send,
        prepare=[*PROGRAM, "schema", "--apply"],
        worker=[*PROGRAM, "worker", "-c", jobs.AT_ONCE],
    )
