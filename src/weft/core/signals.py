"""Signals that may be sent to a job, by name or number."""

import signal

from weft.core.errors import FieldError, InvalidValue


def parse_signal(given: str | int, job: str) -> signal.Signals:
    """Return the signal `USR1`, `SIGUSR1`, `10` or 10 for a job. Raise `InvalidValue`."""
    word = str(given).strip().upper().removeprefix("SIG")
    if word in {"9", "KILL"}:
        raise _refused("KILL cannot be handled by a job", f"`weft cancel {job}` ends it.")
    if word == "0":
        raise _refused("0 is no signal: it would reach nobody")
    try:
        return signal.Signals(int(word)) if word.isascii() and word.isdigit() else _named(word)
    except ValueError:
        raise _refused(f"there is no signal {str(given)[:20]!r}") from None


def word_of(number: signal.Signals) -> str:
    """Return `USR1`."""
    return number.name.removeprefix("SIG")


def _named(word: str) -> signal.Signals:
    found = signal.Signals.__members__.get(f"SIG{word}")
    if found is None:
        raise ValueError(word)
    return found


def _refused(why: str, advice: str = "Give a name such as USR1, or a number.") -> InvalidValue:
    return InvalidValue(
        f"this signal cannot be sent: {why}", hint=advice, errors=[FieldError("/signal", why)]
    )
