"""A registry of the tests with an image made by hand, and a plain user whose worker pulls it."""

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp

from e2e.plain_user import UID, PlainUser
from e2e.tmux import program

IMAGE = Path(__file__).parents[1] / "servers" / "image.sh"
PROGRAMS = {
    "docker-registry": "docker-registry",
    "skopeo": "skopeo",
    "umoci": "umoci",
    "bwrap": "bubblewrap",
    "busybox": "busybox-static",
    "htpasswd": "apache2-utils",
}
START_S = 20


class Registry:
    """Docker's registry, on this host; `name` is how jobs name it."""

    def __init__(self, directory: Path, port: int) -> None:
        self.directory = directory
        self.name = f"127.0.0.1:{port}"
        self.layout = directory / "layout"

    def push(self, image: str, word: str = "first", *, login: str = "") -> str:
        """Make an image and push it; return its name with its digest."""
        tag = image.replace("/", "-").replace(":", "-")
        subprocess.run([IMAGE, self.layout, tag, word], check=True, timeout=60)
        digest = self.directory / "digest"
        more = ["--dest-creds", login] if login else []
        subprocess.run(
            [
                "skopeo",
                "copy",
                "-q",
                "--dest-tls-verify=false",
                "--digestfile",
                digest,
                *more,
                f"oci:{self.layout}:{tag}",
                f"docker://{self.name}/{image}",
            ],
            check=True,
            timeout=60,
            capture_output=True,
        )
        repository = image.rpartition(":")[0]
        return f"docker://{self.name}/{repository}@{digest.read_text().strip()}"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def registry(*, login: str = "") -> Iterator[Registry]:
    """Run a registry; skip the test where a program is missing. `login`: whom it lets in."""
    for name, package in PROGRAMS.items():
        if login or name != "htpasswd":
            program(name, package)
    directory = Path(mkdtemp(prefix="weft-registry-"))
    found = Registry(directory, free_port())
    auth = ""
    if login:
        user, _, password = login.partition(":")
        line = subprocess.check_output(["htpasswd", "-nbB", user, password], text=True)
        (directory / "logins").write_text(line)
        auth = f"auth: {{htpasswd: {{realm: weft, path: {directory}/logins}}}}\n"
    config = directory / "config.yml"
    config.write_text(
        "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n"
        f"storage: {{filesystem: {{rootdirectory: {directory}/data}}}}\n"
        f"http: {{addr: {found.name}}}\n{auth}"
    )
    process = subprocess.Popen(
        ["docker-registry", "serve", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + START_S
        while not _answers(found.name):
            assert process.poll() is None
            assert time.monotonic() < deadline
            signal.sigtimedwait([], 0.05)
        yield found
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(directory, ignore_errors=True)


def _answers(name: str) -> bool:
    host, _, port = name.partition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), 1):
        return True
    return False


def trust(user: PlainUser, name: str) -> None:
    """Let the user's skopeo speak to a registry without TLS."""
    folder = user.home / ".config" / "containers"
    folder.mkdir(parents=True)
    (folder / "registries.conf").write_text(
        f'[[registry]]\nlocation = "{name}"\ninsecure = true\n'
    )
    if os.geteuid() == 0:
        for one in (folder.parent, folder, folder / "registries.conf"):
            os.chown(one, UID, UID)
