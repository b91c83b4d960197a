"""Hosts for tests: each a real sshd with processes and a disk (/srv) of its own."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

SCRIPT = Path(__file__).resolve().parents[1] / "servers" / "sshd.sh"
FIRST_PORT = 16991
DIRECTORY = "/srv/weft"


class SshdHost:
    """A host."""

    def __init__(self, number: int) -> None:
        self.name, self.port = f"node{number}", FIRST_PORT + number
        self.directory = Path(mkdtemp(prefix="weft-host-"))

    def start(self) -> None:
        """Begin it, with an empty disk."""
        self._run("start", str(self.directory), str(self.port))

    def die(self) -> None:
        """End it, with all that runs there."""
        self._run("stop", str(self.directory))

    def shell(self, script: str, *words: str) -> str:
        """Run a script there, as root."""
        pid = (self.directory / "run" / "sshd.pid").read_text().split()[0]
        first = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
        own = ["nsenter", "--target", first, "--mount", "--pid", "sh", "-c", script, "sh", *words]
        return subprocess.run(own, check=True, capture_output=True, timeout=60).stdout.decode()

    def entry(self) -> str:
        """Return what the file of hosts says of it."""
        key = " ".join((self.directory / "etc" / "host.pub").read_text().split()[:2])
        return (
            f'[[host]]\nname = "{self.name}"\naddress = "root@127.0.0.1:{self.port}"\n'
            f'key = "{key}"\nregion = "rack{self.port % 2}"\n'
        )

    @property
    def identity(self) -> Path:
        """The key that logs in."""
        return self.directory / "etc" / "user"

    def _run(self, *words: str) -> None:
        subprocess.run(
            [SCRIPT, *words],
            check=True,
            capture_output=True,
            timeout=60,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SSHD_HOST": "1"},
        )


@contextmanager
def sshd_hosts(count: int) -> Iterator[Sequence[SshdHost]]:
    """Run hosts of which all know the first one's client."""
    hosts = [SshdHost(number) for number in range(count)]
    try:
        for host in hosts:
            if host is not hosts[0]:
                (host.directory / "etc").mkdir()
                for file in ("user", "user.pub"):
                    shutil.copy(hosts[0].directory / "etc" / file, host.directory / "etc" / file)
            host.start()
        yield hosts
    finally:
        for host in hosts:
            host.die()
            shutil.rmtree(host.directory)


def hosts_file(path: Path, hosts: Sequence[SshdHost]) -> Path:
    """Write the file of hosts."""
    path.write_text("\n".join(one.entry() for one in hosts))
    return path
