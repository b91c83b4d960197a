"""Dramatiq on Redis: two processes with as many threads as are needed."""

import sys
from pathlib import Path

import dramatiq
import jobs
from dramatiq.brokers.redis import RedisBroker

dramatiq.set_broker(RedisBroker(url=jobs.SERVER))
run = dramatiq.actor(jobs.run, actor_name="run")


def send(kind, numbers):
    """Send a message for each job."""
    for number in numbers:
        run.send(kind, number)


if __name__ == "__main__":
    jobs.main(
        send,
        worker=[
            Path(sys.executable).with_name("dramatiq"),
            "on_dramatiq",
            "--processes",
            "2",
            "--threads",
            max(1, jobs.AT_ONCE // 2),
        ],
    )
