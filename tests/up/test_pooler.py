"""Roles whose calls go through a pooler that lends them connections for a transaction each."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from e2e.registry import free_port
from e2e.tmux import program
from up.external_server import INSTALLED, PASSWORD, SUPERUSER, ExternalServer, external_server
from up.weft_up import prove_audit, run_weft, up
from weft.core.database_name import with_host
from weft.run.login import password_of
from weft.store.embedded.account import server_account

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(not INSTALLED, reason="no PostgreSQL")]

N_JOBS = 200
OF_LOGIN = "SELECT setting FROM pg_settings WHERE name ~ '^(jit|idle_in_transaction.*)$'"
SETTINGS = """
[databases]
* = host={data}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
admin_users = postgres
pool_mode = {mode}
default_pool_size = 2
ignore_startup_parameters = extra_float_digits
"""


@contextmanager
def pooler_of(server: ExternalServer, logins: Mapping[str, str], mode: str) -> Iterator[str]:
    """Start PgBouncer with two connections a login; yield its host and port."""
    folder, port = server.data.parent, free_port()
    settings = SETTINGS.format(data=server.data, port=port, folder=folder, mode=mode)
    users = {SUPERUSER: PASSWORD, **logins}
    (folder / "users").write_text("".join(f'"{u}" "{word}"\n' for u, word in users.items()))
    (folder / "pooler.ini").write_text(settings)
    process = subprocess.Popen(
        [program("pgbouncer"), folder / "pooler.ini"],
        stderr=subprocess.PIPE,
        text=True,
        **server_account(server.data).popen_options(),
    )
    assert process.stderr is not None
    try:
        while "process up" not in (line := process.stderr.readline()):
            assert line, "it has ended"
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def ask(pooler: str, database: str, question: str, user: str, password: str) -> str:
    """Ask in words of psql: PgBouncer itself takes no others."""
    host, _, port = pooler.rpartition(":")
    words = "-h", host, "-p", port, "-U", user, "-AtF,", "-c", question
    environ = {**os.environ, "PGPASSWORD": password}
    return subprocess.check_output(["psql", *words, database], env=environ, text=True)


def test_jobs_run_while_calls_share_two_connections(home: Path) -> None:
    with external_server(INSTALLED[-1]) as server:
        with up(home, "--database", server.dsn()) as weft:
            weft.until_ready()
        secrets = json.loads((home / "secrets.json").read_text())
        logins = {name: password_of(dsn) for name, dsn in secrets.items() if name != "admin"}
        with pooler_of(server, logins, "transaction") as pooler:
            with up(home, "--database", server.dsn(), WEFT_POOLER=pooler) as weft:
                weft.until_ready()
                words = "each", "--jobs", "16", "echo", "{}", ":::", *map(str, range(N_JOBS))
                done = run_weft(*words, WEFT_HOME=str(home))
                settings = ask(pooler, "postgres", OF_LOGIN, "weft_api", logins["weft_api"])
                totals = ask(pooler, "pgbouncer", "SHOW STATS_TOTALS", SUPERUSER, PASSWORD)
            modes = {}
            for mode in ("transaction", "session", "statement"):
                with pooler_of(server, logins, mode) as pooler_in_mode:
                    told = run_weft("doctor", WEFT_HOME=str(home), WEFT_POOLER=pooler_in_mode)
                modes[mode] = told.stdout.split(" pooler ")[0].split()[-1]
            away = run_weft("doctor", WEFT_HOME=str(home), WEFT_POOLER="127.0.0.1:9")
            behind = with_host(server.dsn(), pooler)
            doctor = run_weft("doctor", WEFT_HOME=str(home), WEFT_DATABASE=behind)
        prove_audit(home)

    assert done.returncode == 0, done.stderr
    assert sorted(map(int, done.stdout.split())) == list(range(N_JOBS))
    assert sum(int(line.split(",")[1]) for line in totals.splitlines()) > 50
    assert modes == {"transaction": "ok", "session": "WRONG", "statement": "WRONG"}
    assert "WRONG    pooler" in away.stdout
    assert settings == "5000\noff\n"
    assert "behind a connection pooler" in doctor.stdout
