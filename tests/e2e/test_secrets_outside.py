"""Secrets and functions on a worker outside, by a proxy that ends TLS and keeps all it sees."""

import base64
import hashlib
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from certificates import certificate
from e2e.conftest import Weft
from e2e.test_workers_outside import Outside, submit
from weft import Executor

CANARY = "canary-4b1e90d7"


@pytest.fixture
def outside(weft: Weft, tmp_path: Path) -> Iterator[Outside]:
    """Give one that reaches the api through the proxy, which is `outside.middle`."""
    authority = certificate()
    (tmp_path / "ca.pem").write_bytes(authority.cert_pem())
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate("127.0.0.1", issuer=authority).write(tmp_path))
    one = Outside(weft, tmp_path, WEFT_CA_FILE=str(tmp_path / "ca.pem"))
    with one.behind(tls):
        yield one


@pytest.mark.heavy
@pytest.mark.slow
def test_a_proxy_that_ends_tls_sees_no_secret(
    weft: Weft, outside: Outside, tmp_path: Path
) -> None:
    weft.told("secret", "set", "db", stdin=CANARY.encode())
    script = 'printf %s "$DB" | sha256sum; sha256sum < "$WEFT_SECRETS_DIR/db.txt"'
    uses = [{"name": "db", "env": "DB"}, {"name": "db", "file": "db.txt"}]
    with outside.running():
        batch = submit(weft, tmp_path, [{"script": script, "secrets": uses}])
        assert weft.run("wait", batch).returncode == 0
        with Executor(home=weft.home, resources={"site": "out"}) as executor:
            # What it brings is in the first job; the others share it, by its chunk.
            assert list(executor.map(lambda n: n * n, range(5))) == [0, 1, 4, 9, 16]
    said = weft.run("logs", f"{batch}.j1").stdout.decode()
    assert said.count(hashlib.sha256(CANARY.encode()).hexdigest()) == 2
    seen = bytes(outside.middle.recorded)
    assert b"seal_secrets" in seen
    assert b"check_functions" in seen
    for form in _forms(CANARY):
        assert form not in seen
        for folder in (outside.home, weft.home):
            for file in folder.rglob("*"):
                if file.is_file() and file.name != "secret-keys.json":
                    assert form not in file.read_bytes(), file


def _forms(text: str) -> list[bytes]:
    """Return what would show it, also within base64."""
    coded = [base64.b64encode(bytes(at) + text.encode())[4:-4] for at in range(3)]
    return [text.encode(), text.encode().hex().encode(), *coded]
