"""`weft secret`: values for jobs, which the server keeps encrypted and shows to nobody."""

import getpass
import sys
from pathlib import Path
from typing import Final

from weft.cli.input.options import SHARED, App, NotUtf8, Shared
from weft.cli.terminal.screen import at, one_line, text
from weft.core.errors import Invalid
from weft.run.home import Home
from weft.run.secret_keys import add_secret_key
from weft.settings import load_settings

app = App(
    name="secret",
    help="Set, list and remove secrets for your jobs: passwords, tokens, keys.\n\n"
    "    weft secret set db-password",
)

_BYTES_MAX: Final = 1 << 20


class NoSecretValue(Invalid, code="CLI.NO_SECRET_VALUE"):
    """A secret without a value, or one that cannot be read."""


@app.command(name="set")
def set_secret(name: str, /, *, file: Path | None = None, shared: Shared = SHARED) -> None:
    """Keep a secret for your jobs, in place of one of the same name.

        weft secret set db-password

    The value is asked for on a terminal, and otherwise read from standard input,
    where one newline at its end does not count. It is never an argument: those
    can be seen by all users of a machine. Jobs that name the secret get it when
    they start: `weft run --secret db-password=PGPASSWORD -- CMD`.

    Args:
        name: Its name, such as db-password.
        file: Read the value from this file, as it is.
    """
    value = _value_of(name, file)
    found = shared.ask(lambda client: client.set_secret(name, value))
    shared.tell(found, f"secret {one_line(name, width=64)} is set; it is not shown again")


@app.command(name="ls")
def list_all(*, shared: Shared = SHARED) -> None:
    """List your secrets by name, without their values.

    weft secret ls
    """
    found = shared.ask(lambda client: client.list_secrets())
    shared.table(
        found,
        {
            "Name": text("name", 64),
            "Created": at("created_at"),
            "Changed": at("updated_at"),
        },
        spare=("Created",),
        empty="you have no secrets; `weft secret set NAME` sets one",
    )


@app.command(name="rm")
def remove(name: str, /, *, shared: Shared = SHARED) -> None:
    """Remove one of your secrets: jobs that need it and start later end with an error.

        weft secret rm db-password

    Args:
        name: Its name, as `weft secret ls` shows it.
    """
    shared.ask(lambda client: client.remove_secret(name))
    shared.tell({"name": name}, f"secret {one_line(name, width=64)} is removed")


@app.command
def rotate(*, new_key: bool = False, shared: Shared = SHARED) -> None:
    """Encrypt the secrets of all tenants with the first key, so that the others can be removed.

        weft secret rotate --new-key

    Only for administrators of the site (role admin). Workers on other hosts need a
    copy of the keys before: without the new one they start no job with secrets.

    Args:
        new_key: First put a new key before those in the home of this `weft up`.
    """
    if new_key:
        add_secret_key(Home(load_settings({"home": shared.home}).home))
    found = shared.ask(lambda client: client.rotate_secrets())
    shared.tell(
        found, f"encrypted anew: {found['n_rotated']}; all secrets have key {found['key']}"
    )


def _value_of(name: str, file: Path | None) -> str:
    """Return the value. Raise `NoSecretValue`, `NotUtf8`."""
    if file is None and sys.stdin is not None and sys.stdin.isatty():
        value = getpass.getpass(f"value of {one_line(name, width=64)}: ")
    else:
        try:
            value = _text_of(_read(file))
        except OSError as error:
            raise NoSecretValue(
                f"cannot read {file or 'standard input'}",
                detail=f"{error.strerror or error}.",
                hint="Name a file that you may read, or write the value to standard input.",
            ) from error
        if file is None:
            value = value.removesuffix("\n")
    if not value:
        raise NoSecretValue(
            "the value of the secret is empty",
            hint="Write it to standard input, name a file with --file, or type it on a terminal.",
        )
    return value


def _read(file: Path | None) -> bytes:
    if file is not None:
        with file.open("rb") as opened:
            return opened.read(_BYTES_MAX + 1)
    return b"" if sys.stdin is None else sys.stdin.buffer.read(_BYTES_MAX + 1)


def _text_of(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise NotUtf8(
            "the value of the secret is not valid UTF-8",
            detail="A secret is text.",
            hint="Encode it, for example by base64, and let the job decode it.",
        ) from None
