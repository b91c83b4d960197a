"""RQ on Redis: a pool of workers, each of which forks for each job."""

import sys
from pathlib import Path

import jobs
from redis import Redis
from rq import Queue

queue = Queue(connection=Redis.from_url(jobs.SERVER))


def send(kind, numbers):
    """Send all jobs with one call, in bunches as its documentation has them."""
    queue.enqueue_many([Queue.prepare_data(jobs.run, (kind, number)) for number in numbers])


if __name__ == "__main__":
    jobs.main(
        send,
        worker=[
            Path(sys.executable).with_name("rq"),
            "worker-pool",
            "-n",
            jobs.AT_ONCE,
            "-u",
            jobs.SERVER,
            "-q",
            "-P",
            Path(__file__).parent,
        ],
    )
