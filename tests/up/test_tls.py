"""`weft up` that speaks TLS."""

import re
from pathlib import Path

import pytest

from certificates import certificate
from up.weft_up import run_weft, up

pytestmark = pytest.mark.heavy


def test_up_speaks_tls_and_takes_a_new_certificate_while_it_runs(
    home: Path, tmp_path: Path
) -> None:
    cert_file, key_file = certificate("weft.example").write(tmp_path)
    settings = {"WEFT_TLS_CERT_FILE": str(cert_file), "WEFT_TLS_KEY_FILE": str(key_file)}
    with up(home, **settings) as weft:
        assert weft.until_ready().startswith("https://127.0.0.1:")
        assert "ends at" in weft.until_seen("tls.not_valid")["error"]  # in a day
        first = run_weft("run", "--home", str(home), "--", "echo", "hello")
        certificate("weft.example").write(tmp_path)
        second = run_weft("whoami", "--home", str(home))
        weft.until("tls.reloaded")
        examined = run_weft("doctor", "--home", str(home), **settings)

    assert (first.stdout, second.returncode) == ("hello\n", 0)
    assert re.search(r"warning +certificate +the api's certificate ends at", examined.stdout)
    assert " answers in " in examined.stdout
    assert "agrees with the server's" in examined.stdout


def test_a_key_that_others_may_read_is_refused_before_anything_starts(
    home: Path, tmp_path: Path
) -> None:
    cert_file, key_file = certificate("weft.example").write(tmp_path)
    key_file.chmod(0o644)

    refused = run_weft(
        "up",
        "--home",
        str(home),
        WEFT_TLS_CERT_FILE=str(cert_file),
        WEFT_TLS_KEY_FILE=str(key_file),
    )
    assert refused.returncode == 2
    assert f"tls_key_file {key_file} cannot be used" in refused.stderr
    assert f"chmod 600 {key_file}" in refused.stderr
    assert not (home / "pg").exists()
