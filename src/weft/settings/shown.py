"""Values of settings as people may see them: nothing of a secret."""

import re
from urllib.parse import urlsplit, urlunsplit

from weft.settings.declare import Declared

HIDDEN = "•••"
_PASSWORD = re.compile(r"\b((?:ssl)?password=)[^&]*", re.IGNORECASE)


def shown_value(declared: Declared, value: object) -> str | None:
    """Return a value as text; of a secret DSN all but the password, of other secrets nothing."""
    if value is None:
        return None
    text = str(value)
    if declared.is_secret and "://" not in text:
        return HIDDEN
    if declared.is_secret:
        try:
            parts = urlsplit(text)
        except ValueError:  # no URL, but it may hold a password
            return HIDDEN
        login, at, host = parts.netloc.rpartition("@")
        user = login.partition(":")[0]
        hidden = f"{user}:{HIDDEN}" if ":" in login else user
        query = _PASSWORD.sub(rf"\1{HIDDEN}", parts.query)
        return urlunsplit(parts._replace(netloc=f"{hidden}{at}{host}", query=query))
    return text
