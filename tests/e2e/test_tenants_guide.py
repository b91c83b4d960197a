"""docs/guides/tenants.md does what it says: its commands run as they stand there, in order, as a
plain user's, and print what stands there, but for figures, dates and codes.
"""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from joserfc import jwk, jwt

from e2e.guide_reader import GuideReader, blocks_of
from e2e.plain_user import NAME, PlainUser, plain_user
from e2e.tmux import program

pytestmark = [pytest.mark.slow, pytest.mark.heavy, pytest.mark.timeout(600)]
GUIDE = Path(__file__).parents[2] / "docs/guides/tenants.md"
BATCH = {
    "groups": [{"path": "/train"}],
    "jobs": [
        {"count": 6, "group": "/train"},
        {"name": "sum", "command": ["false"], "group": "/train"},
        {"count": 13, "group": "/train"},
    ],
}
LATER = (
    "at this rate",
    "paused at its limit",
    "cores that the quota allows",
    "  weft quota ls",
    "cancel_batch",
    "save_pools",
    "add_user",
)
"""What is printed once something has happened that takes hours, or that others do."""
SANDBOX = "WEFT_SANDBOX=bubblewrap weft up --detach"
SANDBOXED = "weft run --cwd / -- sh -c 'ls -A /tmp'"
"""Prints nothing, because the job has a directory of its own there."""
BEARER = "eyJhbGciOiJSUzI1NiIs…"
LINK = re.compile(r"(http://\S+)/login\?code=(\S+)")


@pytest.fixture
def reader() -> Iterator[GuideReader]:
    program("jq")
    with plain_user() as user, user.up():
        (user.home / "batch.json").write_text(json.dumps(BATCH))
        (user.home / "password.txt").write_text("swordfish")
        (user.home / "batch.json").chmod(0o644)
        (user.home / "password.txt").chmod(0o644)
        batch = user.weft("submit", str(user.home / "batch.json")).strip()
        user.run("weft", "wait", batch)
        elsewhere = str(user.home)
        yield GuideReader(user, {"ada": NAME, "b12": batch, "/mnt/elsewhere": elsewhere})


def write_issuers(reader: GuideReader, text: str) -> None:
    """Keep the file of the guide, whose issuer has its keys in a file here, and have a token of
    that issuer.
    """
    key = jwk.RSAKey.generate_key(2048)
    keys = {"keys": [key.as_dict(private=False)]}
    url = 'jwks_url = "https://login.acme.example/keys"'
    assert text.count(url) == 1
    home = reader.user.home
    for name, content in (
        ("issuers.toml", text.replace(url, 'jwks_file = "keys.json"')),
        ("keys.json", json.dumps(keys)),
    ):
        (home / name).write_text(content)
        (home / name).chmod(0o644)
    claims = {
        "iss": "https://login.acme.example",
        "aud": "weft",
        "exp": int(time.time()) + 600,
        "email": "carl@acme.example",
        "email_verified": True,
        "groups": ["weft-staff"],
    }
    reader.known[BEARER] = jwt.encode({"alg": "RS256"}, claims, key)


def log_in(said: str) -> None:
    """Open a login link and press its button, as in a browser."""
    link = LINK.search(said)
    assert link is not None, said
    with httpx.Client(base_url=link[1]) as browser:
        pressed = browser.post("/login", data={"code": link[2]}, headers={"origin": link[1]})
    assert pressed.status_code == 303, pressed.text


def makes_sandboxes(user: PlainUser) -> bool:
    return user.run("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true").returncode == 0


def test_commands_of_the_guide(reader: GuideReader) -> None:
    user, ran = reader.user, []
    has_sandboxes = makes_sandboxes(user)
    for kind, block in blocks_of(GUIDE.read_text()):
        if kind == "toml" and "jwks_url" in block:
            write_issuers(reader, block)
        if kind != "console":
            continue
        for command, said in reader.read(block, on_terminal=["weft open"]):
            ran.append(command)
            if command == "weft open":
                log_in(said)
            elif command.startswith("weft session ls"):
                (session,) = json.loads(user.weft("session", "ls", "--json"))
                reader.known["rm 7"] = f"rm {session['session_id']}"
                reader.known["session 7"] = f"session {session['session_id']}"
            elif command == SANDBOXED and has_sandboxes:
                assert said == ""
            elif command == SANDBOX and not has_sandboxes:
                assert "WORKER.NO_SANDBOX" in said
                user.weft("up", "--detach", "--port", "0")

    wrong = [one for one in reader.wrong if not any(part in one[1] for part in LATER)]
    wrong = [one for one in wrong if has_sandboxes or one[0] not in {SANDBOX, SANDBOXED}]
    assert not wrong, "\n".join(map(repr, wrong))
    assert len(ran) > 60
    assert reader.n_tables > 9
