"""A weft that only its settings of default keep: nobody else gets jobs there unknowingly."""

from pathlib import Path

import pytest

from e2e.conftest import weft_up

pytestmark = pytest.mark.slow
UNSAID = {"WEFT_TRUSTED_USERS": "false"}


def test_the_second_user_is_let_in_knowingly_and_everybody_is_told(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with weft_up(home, **UNSAID) as weft:
        for words in (("user", "add", "bob"), ("tenant", "create", "acme", "--admin", "ann")):
            refused = weft.run(*words)
            assert (refused.returncode, refused.stdout) == (4, b"")
            said = refused.stderr.decode()
            for way_out in ('sandbox = "bubblewrap"', 'run_as = "user"', "--trusted"):
                assert way_out in said
        assert b"can read secrets.json" not in weft.run("doctor", env=UNSAID).stdout
        weft.told("user", "add", "eve", "--role", "viewer")
        weft.told("tenant", "create", "acme", "--admin", "ann", "--trusted")
        doctor = weft.run("doctor", env=UNSAID).stdout.decode()
        assert "jobs of 2 users run as" in doctor
        assert "jobs run as you, in none" not in doctor
        weft.told("down")
        again = weft.run("up", "--port", "0", "--detach", env=UNSAID, timeout_s=300)
        assert again.returncode == 0
        assert "weft: warning: jobs of 2 users run as" in again.stderr.decode()
        weft.told("down")
        again = weft.run("up", "--port", "0", "--detach", timeout_s=300)
        assert b"warning" not in again.stderr
