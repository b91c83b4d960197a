"""Celery on RabbitMQ: durable queue and messages, acknowledged when they are done; prefork."""

import sys
from pathlib import Path

import jobs
from celery import Celery

app = Celery("on_celery", broker=jobs.SERVER)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    broker_connection_retry_on_startup=True,
)
run = app.task(jobs.run, name="run")


def send(kind, numbers):
    """Send a message for each job."""
    for number in numbers:
        run.delay(kind, number)


if __name__ == "__main__":
    jobs.main(
        send,
        worker=[
            Path(sys.executable).with_name("celery"),
            "-A",
            "on_celery",
            "worker",
            "-l",
            "warning",
            "-c",
            jobs.AT_ONCE,
            "--without-gossip",
            "--without-mingle",
        ],
    )
