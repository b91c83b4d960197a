"""Ray: a head with its workers; the program that submits owns its tasks."""

import os
import sys
from pathlib import Path

import jobs
import ray

ENVIRONMENT = {name: os.environ[name] for name in ("PEER_DONE", "PYTHONPATH")}


def send(kind, numbers):
    """Run all jobs."""
    if not ray.is_initialized():
        ray.init(address=jobs.SERVER, log_to_driver=False, runtime_env={"env_vars": ENVIRONMENT})
    run = ray.remote(jobs.run)
    ray.get([run.remote(kind, number) for number in numbers])


if __name__ == "__main__":
    jobs.main(
        send,
        server=[
            Path(sys.executable).with_name("ray"),
            "start",
            "--head",
            "--block",
            "--node-ip-address",
            "127.0.0.1",
            "--port",
            jobs.SERVER.rpartition(":")[2],
            "--num-cpus",
            jobs.AT_ONCE,
            "--include-dashboard=false",
            "--object-store-memory",
            80_000_000,
            "--disable-usage-stats",
        ],
    )
