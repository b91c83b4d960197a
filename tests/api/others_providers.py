"""OpenID providers that others wrote, as processes. Each is lax where the other is not.

`oidc-provider-mock` does not look at verifiers and takes a code once; `mock-oauth2-server` refuses
a wrong verifier and takes a code twice. Neither has a device endpoint.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from api.openid import Provider, entry_of
from e2e.registry import free_port
from faults.waiting import until

ROOT: Final = Path(__file__).resolve().parents[2]
ADA: Final = "ada@example.org"
JAVA: Final = "mock-oauth2-server"
PYTHON: Final = "oidc-provider-mock"


@dataclass(frozen=True)
class OthersProvider:
    """A provider that runs."""

    issuer: str
    login: Mapping[str, str]
    """What somebody types into its page."""
    logout_path: str
    asks_at_logout: bool = False
    takes_codes_twice: bool = False

    def entry(self) -> str:
        """Return its entry in a file of issuers; its client has a secret, in CLIENT_SECRET."""
        one = Provider()
        one.url = self.issuer
        fields = {"jwks_url": f"{self.issuer}/jwks", "client_secret_env": "CLIENT_SECRET"}
        return entry_of(one, **fields) + "create_users = true\n"


@contextmanager
def others_provider(name: str) -> Iterator[OthersProvider]:
    """Run a provider; skip the test where it cannot be had."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    if name == PYTHON:
        one = OthersProvider(url, {"sub": ADA}, "/oauth2/end_session", asks_at_logout=True)
        command = [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)]
        environ = {"AUTHLIB_INSECURE_TRANSPORT": "1"}
    else:
        login = {"username": "ada", "claims": json.dumps({"email": ADA})}
        one = OthersProvider(f"{url}/weft", login, "/endsession", takes_codes_twice=True)
        main = "no.nav.security.mock.oauth2.StandaloneMockOAuth2ServerKt"
        command = ["java", "-cp", f"{_java_archives()}/*", main]
        environ = {
            "SERVER_HOSTNAME": "127.0.0.1",
            "SERVER_PORT": str(port),
            "JSON_CONFIG": json.dumps({"interactiveLogin": True}),
        }
    with _running(command, environ, port):
        yield one


def _java_archives() -> str:
    found = subprocess.run(
        [ROOT / "tools" / "openid_server.sh"], check=False, capture_output=True, text=True
    )
    if found.returncode:
        pytest.skip(found.stderr.strip()[-500:])
    return found.stdout.strip()


@contextmanager
def _running(command: Sequence[str], environ: Mapping[str, str], port: int) -> Iterator[None]:
    """Run a server until it is left; begin when it answers."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, env={**os.environ, **environ}, stdout=quiet, stderr=quiet
    ) as process:
        try:
            until(lambda: process.poll() is None and _answers(port), f"{command[0]} answers")
            yield
        finally:
            process.kill()


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
