"""A whole weft of root whose jobs run under accounts of their users."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from up.weft_up import run_weft, temporary_home, up

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(
        os.geteuid() != 0, reason="only root starts processes under other accounts"
    ),
]


@pytest.fixture
def directory() -> Iterator[Path]:
    """Return a place that all accounts reach, which pytest's own are not."""
    path = Path(f"/var/lib/weft-test-e2e-{os.getpid()}")
    yield path
    shutil.rmtree(path)


def test_a_job_is_its_user_and_reaches_nothing_of_weft(directory: Path) -> None:
    settings = {
        "WEFT_RUN_AS": "user",
        "WEFT_RUN_AS_ACCOUNTS": "root=20001:20001,acme/eve=20002:20002",
        "WEFT_RUN_AS_DIRECTORY": str(directory),
    }
    with temporary_home() as home, up(home, **settings) as running:
        running.until_ready()
        home.parent.chmod(0o711)
        keys = ("secrets.json", "client.json", "secret-keys.json", "callback.json")
        files = " ".join(str(home / one) for one in keys)
        sockets = (
            "import socket\n"
            f"for one in {[str(one) for one in home.rglob('*') if one.is_socket()]}:\n"
            "    try: socket.socket(socket.AF_UNIX).connect(one); print('connected', one)\n"
            "    except PermissionError: print('refused')"
        )
        made = 'echo "{\\"type\\": \\"FSC\\"}" >>"$WEFT_PRODUCTS"; ls "${WEFT_PRODUCTS%/*}"; '
        made += 'rm "$WEFT_PRODUCTS" || true'
        own = 'id -u; touch "$WEFT_CHECKPOINT_DIR/kept"'
        look = f'{own}; cat {files}; python3 -c "{sockets}"; exit 3'
        words = ("run", "--home", str(home), "--clean-env", "--cwd", "/")
        seen = run_weft(*words, "--", "sh", "-c", look)
        kept = run_weft(*words, "--", "sh", "-c", made)
        products = run_weft("products", "--home", str(home), "--json")
        nowhere = run_weft("run", "--home", str(home), "--cwd", str(home / "log"), "--", "true")

    assert seen.returncode == 3, seen.stderr
    assert set(seen.stdout.split()) == {"20001", "refused"}
    assert kept.returncode == 0, kept.stderr
    assert kept.stdout == ""  # it cannot list what others have
    assert [one["product"] for one in json.loads(products.stdout)] == [{"type": "FSC"}]
    assert nowhere.returncode != 0
