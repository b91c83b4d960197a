"""A Kafka of the tests, on this host (`tests/servers/kafka.sh`)."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from servers.on_this_host import running, start
from transports.kills import kill_group

START_S = 300
PORT = 28740


class KafkaBroker:
    """A broker that runs."""

    address = f"kafka://127.0.0.1:{PORT}"
    password_address = f"kafka://127.0.0.1:{PORT + 2}"
    """Of the same broker, for the user and password `weft`."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def kill(self) -> None:
        """Kill the broker and nothing else; `start` brings it back with its data."""
        pid = int((self.directory / "run" / "kafka.pid").read_text().split()[0])
        kill_group(pid)

    def start(self) -> None:
        """Start what does not run."""
        start("Kafka", self.directory, PORT, within_s=START_S)


@contextmanager
def kafka_broker() -> Iterator[KafkaBroker]:
    """Run a broker; skip the test where there cannot be one."""
    if not (shutil.which("java") and shutil.which("mvn")) and os.geteuid() != 0:
        pytest.skip("Java and Maven are not installed, and only root can install them")
    with running("Kafka", PORT, within_s=START_S) as directory:
        yield KafkaBroker(directory)
