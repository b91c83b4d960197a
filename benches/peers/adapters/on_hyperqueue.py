"""HyperQueue by its Python package, whose server and worker are one process; no journal."""

import os
import time
from pathlib import Path

import jobs
from hyperqueue import Client, Job
from hyperqueue.cluster import LocalCluster, WorkerConfig
from hyperqueue.task.function import PythonEnv

place = Path(os.environ["PEER_DONE"]).with_name("hq")
ENVIRONMENT = {name: os.environ[name] for name in ("PEER_DONE", "PYTHONPATH")}


def server():
    """Run both until we are killed."""
    place.mkdir(exist_ok=True)
    cluster = LocalCluster(str(place), WorkerConfig(cores=jobs.AT_ONCE))
    while cluster:
        time.sleep(60)


def client():
    """Return a client, whose functions run by this Python."""
    return Client(place, python_env=PythonEnv())


def send(kind, numbers):
    """Send all jobs as tasks of one job of its own."""
    job = Job()
    for number in numbers:
        if kind == "noop":
            job.function(jobs.run, args=(kind, number), env=ENVIRONMENT, stdout=None, stderr=None)
        else:
            words = jobs.command(kind, number)
            job.program(words, env=ENVIRONMENT, stdout=None, stderr=None)
    client().submit(job)


if __name__ == "__main__":
    jobs.main(send, server=server)
