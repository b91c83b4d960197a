"""Why there is no answer. Whoever asked says it in words of its own: `why` is what lies behind."""

import os
import ssl


class NetFailure(Exception):
    """There is no answer, or not all of it."""

    words = "{shown}: {reason}"

    def __init__(self, why: Exception | None = None) -> None:
        super().__init__(str(why or ""))
        self.why = why

    @property
    def reason(self) -> str:
        """Return the reason in a few words, without an address."""
        if isinstance(self.why, ssl.SSLError):
            return self.why.reason or "TLS failed"
        number = self.why.errno if isinstance(self.why, OSError) else None
        return os.strerror(number) if number else "no answer"

    def told(self, host: str, shown: str, setting: str) -> str:
        """Return it in the words of whoever named the address. `shown`: host and port."""
        return self.words.format(host=host, shown=shown, setting=setting, reason=self.reason)


class NameUnknown(NetFailure):
    """The name of the host cannot be resolved."""

    words = "the name {host} cannot be resolved"


class AddressRefused(NetFailure):
    """All addresses of the host are private; which they are is a fact about our network."""

    words = "{host} is private, and {setting} does not allow it"


class NotConnected(NetFailure):
    """No address of the host takes a connection."""


class Broken(NetFailure):
    """The connection broke, or nothing comes any more."""


class Late(Broken):
    """The whole has taken too long."""


class NotHttp(NetFailure):
    """What comes is not HTTP, too long for a head, or ends in the middle of a body."""

    words = "{shown}: the answer is not HTTP"


class TooLong(NetFailure):
    """The body has more bytes than were allowed."""


class WrongRequest(NetFailure):
    """A header has what none may have; the text, which may be secret, is not told."""


class RemoteDisconnected(ConnectionResetError):
    """The server closed the connection without an answer."""


def plain(error: Exception) -> Exception:
    """Return an error without the address that asyncio writes into it."""
    if isinstance(error, OSError) and not isinstance(error, ssl.SSLError):
        if error.errno is not None and error.errno > 0:
            return OSError(error.errno, os.strerror(error.errno))
        if isinstance(error, TimeoutError):
            return TimeoutError("timed out")
    return error
