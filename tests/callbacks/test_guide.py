"""What docs/guides/callbacks.md shows works as it is shown."""

import http.client
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weft.core.deliveries.callback_signature import sign

GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "callbacks.md").read_text()
SECRET = "weftcb_of-a-test"
BODY = b'{"id": 12, "state": "success"}'
SERVE = 'HTTPServer(("0.0.0.0", 8000), Receiver).serve_forever()'


def example() -> str:
    """Return the example receiver, for three requests on a free port of this host."""
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    known = code.replace('open("/etc/hooks/weft-secret").read().strip()', repr(SECRET))
    here = known.replace(
        SERVE,
        'server = HTTPServer(("127.0.0.1", 0), Receiver)\n'
        "print(server.server_port, flush=True)\n"
        "for _ in range(3): server.handle_request()\n",
    )
    assert code != known != here
    return str(here)


def post(port: int, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("POST", "/", BODY, headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.slow
def test_example_receiver_takes_what_is_genuine_and_takes_it_once() -> None:
    now = int(time.time())
    good = {
        "Weft-Delivery": "d",
        "Weft-Signature": sign(SECRET, sent_at=now, delivery="d", body=BODY),
    }
    with subprocess.Popen(
        [sys.executable, "-c", example()],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        statuses = [post(port, good), post(port, good), post(port, {**good, "Weft-Delivery": "e"})]
        said, _ = process.communicate(timeout=30)

    assert statuses == [200, 200, 401]
    assert said == "12 success\n"


def test_recipe_for_the_shell_computes_the_signature(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    (recipe,) = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    (tmp_path / "body").write_bytes(BODY)
    done = subprocess.run(
        ["sh", "-c", recipe],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"t": "17", "delivery": "d", "secret": SECRET, "PATH": "/usr/bin:/bin"},
    )

    assert (
        sign(SECRET, sent_at=17, delivery="d", body=BODY) == f"t=17,v1={done.stdout.split()[-1]}"
    )
