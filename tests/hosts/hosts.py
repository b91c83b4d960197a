"""Hosts as namespaces on one cable: they share nothing but their network and what tests see."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(__file__).with_name("host.sh")
PROGRAM = (sys.executable, "-m", "weft.cli")
HOME = "/srv/weft"


@dataclass(frozen=True)
class Host:
    """One host; `pid` is that of its first process, as this machine sees it."""

    name: str
    address: str
    process: "subprocess.Popen[bytes]"
    pid: int

    def command(self, *command: str) -> list[str]:
        return [
            "nsenter",
            "--all",
            "--target",
            str(self.pid),
            "env",
            "-i",
            "HOME=/srv",
            f"PATH={os.environ['PATH']}",
            "LANG=C.UTF-8",
            f"WEFT_HOME={HOME}",
            "WEFT_CA_FILE=/srv/ca.pem",
            *command,
        ]

    def run(
        self, *command: str, stdin: bytes = b"", timeout_s: float = 60
    ) -> "subprocess.CompletedProcess[bytes]":
        return subprocess.run(
            self.command(*command),
            check=False,
            capture_output=True,
            input=stdin,
            timeout=timeout_s,
        )

    def weft(
        self, *arguments: str, stdin: bytes = b"", timeout_s: float = 60
    ) -> "subprocess.CompletedProcess[bytes]":
        return self.run(*PROGRAM, *arguments, stdin=stdin, timeout_s=timeout_s)

    def write(self, path: str, text: bytes) -> None:
        """Write a file that only its owner may read."""
        made = self.run("sh", "-c", 'umask 077; mkdir -p "${0%/*}"; cat >"$0"', path, stdin=text)
        assert made.returncode == 0, made.stderr.decode()

    def read(self, path: str) -> str:
        return self.run("cat", path).stdout.decode()

    def kill(self, pid: str) -> None:
        """Send SIGKILL to a process, by its number within the host."""
        assert self.run("kill", "-9", pid.strip()).returncode == 0

    def break_down(self) -> None:
        """End all its processes at once; nobody has its disk any more."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def hosts(names: Sequence[str], evidence: Path) -> Iterator[list[Host]]:
    """Run hosts on one cable, which ends with them: it is in a network of its own."""
    made: list[Host] = []
    with subprocess.Popen(
        [
            "unshare",
            "--net",
            "sh",
            "-c",
            "ip link add w0 type bridge && ip link set w0 up && echo up && exec sleep infinity",
        ],
        stdout=subprocess.PIPE,
    ) as wire:
        try:
            _expect(wire, b"up\n")
            made.extend(
                _host(wire.pid, name, f"10.77.0.{number}", evidence)
                for number, name in enumerate(names, 1)
            )
            yield made
        finally:
            for one in (*(host.process for host in made), wire):
                with one:
                    one.kill()


def _host(wire: int, name: str, address: str, evidence: Path) -> Host:
    process = subprocess.Popen([SCRIPT, name, evidence], stdout=subprocess.PIPE)
    _expect(process, b"up\n")
    pid = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
    here = ["nsenter", "--net", "--target"]
    for command in (
        [
            *here,
            str(wire),
            "ip",
            "link",
            "add",
            name,
            "type",
            "veth",
            "peer",
            "eth0",
            "netns",
            str(pid),
        ],
        [*here, str(wire), "ip", "link", "set", name, "master", "w0", "up"],
        [*here, str(pid), "ip", "address", "add", f"{address}/24", "dev", "eth0"],
        [*here, str(pid), "ip", "link", "set", "eth0", "up"],
    ):
        subprocess.run(command, check=True)
    return Host(name, address, process, pid)


def _expect(process: "subprocess.Popen[bytes]", line: bytes) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == line
