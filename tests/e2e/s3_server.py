"""A server of S3 for tests (`tests/servers/s3.sh`)."""

import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

SCRIPT = Path(__file__).resolve().parents[1] / "servers" / "s3.sh"
PORT = 28780
START_S = 300


class Buckets:
    """A server of S3 that runs."""

    url = f"http://127.0.0.1:{PORT}"

    def __init__(self, directory: Path) -> None:
        self._log = directory / "log" / "s3.log"

    def answers(self, method: str, path: str) -> list[int]:
        """Return how it has answered to requests for an object."""
        said = re.sub(r"\x1b\[\d*m", "", self._log.read_text())
        return [int(one) for one in re.findall(rf'"{method} /{path}\?[^"]*" (\d+)', said)]

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Ask with some key: the server of the tests wants one, and checks none."""
        request = urllib.request.Request(  # noqa: S310 (ours)
            f"{self.url}/{path}",
            data=body,
            method=method,
            headers={"content-type": "application/octet-stream", "authorization": "AWS any:one"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
            found: bytes = answer.read()
            return found


@contextmanager
def s3_server(*names: str) -> Iterator[Buckets]:
    """Run it with these buckets."""
    directory = Path(mkdtemp(prefix="weft-s3-"))
    try:
        subprocess.run(
            [SCRIPT, "start", str(directory), str(PORT)],
            check=True,
            capture_output=True,
            timeout=START_S,
        )
        found = Buckets(directory)
        for name in names:
            found.ask("PUT", name)
        yield found
    finally:
        subprocess.run([SCRIPT, "stop", str(directory)], check=False, timeout=60)
        shutil.rmtree(directory, ignore_errors=True)
