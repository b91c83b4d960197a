"""A RabbitMQ of the tests, on this host (`tests/servers/rabbitmq.sh`)."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

import pytest

from transports.kills import kill_group

SCRIPT = Path(__file__).resolve().parents[1] / "servers" / "rabbitmq.sh"
START_S = 300
PORT = 28720


class RabbitBroker:
    """A broker that runs."""

    address = f"amqp://127.0.0.1:{PORT}"

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def kill(self) -> None:
        """Kill the broker and nothing else; `start` brings it back with its data."""
        pid = int((self.directory / "run" / "rabbitmq.pid").read_text().split()[0])
        kill_group(pid)

    def ctl(self, *words: str) -> None:
        """Run `rabbitmqctl`."""
        command = '. "$0/env"; "$(dpkg -L rabbitmq-server | grep /bin/rabbitmqctl$)" --quiet "$@"'
        subprocess.run(
            ["sh", "-c", command, str(self.directory), *words],
            check=True,
            capture_output=True,
            timeout=START_S,
        )

    def start(self) -> None:
        """Start what does not run."""
        subprocess.run(
            [SCRIPT, "start", str(self.directory), str(PORT)],
            check=True,
            capture_output=True,
            timeout=START_S,
        )


@contextmanager
def rabbit_broker() -> Iterator[RabbitBroker]:
    """Run a broker; skip the test where there cannot be one."""
    if shutil.which("rabbitmq-server") is None and os.geteuid() != 0:
        pytest.skip("RabbitMQ is not installed, and only root can install it")
    directory = Path(mkdtemp(prefix="weft-rabbitmq-"))
    broker = RabbitBroker(directory)
    try:
        try:
            broker.start()
        except subprocess.CalledProcessError as error:
            if shutil.which("rabbitmq-server") is not None:
                raise
            pytest.skip(f"RabbitMQ cannot be installed here: {error.stderr.decode()[-500:]}")
        yield broker
    finally:
        subprocess.run([SCRIPT, "stop", str(directory)], check=False, timeout=60)
        shutil.rmtree(directory, ignore_errors=True)
