"""Where the keys of secrets come from: the setting, else the home (ADR 54)."""

from weft.core.errors import SecretKeyMissing
from weft.run.home import Home
from weft.settings import Settings
from weft.wire.sealed import SecretKeys, new_key, parse_keys


def read_secret_keys(settings: Settings, home: Home) -> SecretKeys:
    """Return the keys of this installation, read now: they may be rotated while a role runs.
    Raise `SecretKeyMissing` if the home's file holds something else.
    """
    text = settings.secret_keys or ",".join(home.secret_keys())
    if not text:
        return SecretKeys()
    try:
        return SecretKeys(parse_keys(text))
    except ValueError as error:
        raise SecretKeyMissing(
            f"{home.secret_keys_file} cannot be used", detail=f"In `keys` {error}."
        ) from error


def add_secret_key(home: Home) -> None:
    """Put a new key before those of the home. Raise `SecretKeyMissing` if it has none, so that
    nobody takes a client's home for the server's.
    """
    known = home.secret_keys()
    if not known:
        raise SecretKeyMissing(
            f"{home.path} has no keys of secrets",
            detail=f"There is no {home.secret_keys_file}.",
            hint="Do this on the host of `weft up`, as its user.",
        )
    home.keep_secret_keys([new_key(), *known])


def ensure_secret_keys(settings: Settings, home: Home) -> None:
    """Make a key if the home has none. The setting's keys are kept there, too, before those of the
    home: roles read what is secret from the home, because anybody may be shown an environment.
    A key is never dropped, because it may be the only one that opens what is stored.
    """
    known = home.secret_keys()
    given = settings.secret_keys.replace(",", " ").split() if settings.secret_keys else []
    wanted = list(dict.fromkeys([*given, *known])) or [new_key()]
    if wanted != known:
        home.keep_secret_keys(wanted)
