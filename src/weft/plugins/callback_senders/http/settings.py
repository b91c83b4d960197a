"""Settings of the callback sender `http`."""

from dataclasses import dataclass

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """How long a receiver may take."""

    callback_connect_timeout_s: float = setting(
        5.0, "seconds to connect to the receiver of a callback", within=(0.1, 60)
    )
    callback_timeout_s: float = setting(
        30.0, "seconds for one attempt of a callback", within=(0.1, 300)
    )
