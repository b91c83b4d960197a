"""What an attempt is told while it runs."""

import msgspec

from weft.core.attempt_key import AttemptKey


class Command(msgspec.Struct, frozen=True):
    """One command: from the database to the agent, and from there to its runner."""

    number: int
    key: AttemptKey
    signal: int | None = None
    """A signal for its first process."""
    extra_ms: int = 0
    """Without a signal or message: by how much longer than its time limit it may run, in all."""
    message: str | None = None
    """A text that it gets as a file."""
