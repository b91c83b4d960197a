"""What is mailed of messages that nobody wants: a bounded number of letters an hour, each with all
that have come since the last one.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

LINES_MAX: Final = 20
SOURCE_CHARS_MAX: Final = 200
_HOUR_S: Final = 3600.0


@dataclass
class DeadMail:
    """What was not mailed yet."""

    per_hour: int
    _waiting: "Counter[tuple[str, str, str]]" = field(default_factory=Counter)
    """Transport, reason and source."""
    _next_s: float = 0.0

    def note(self, transport: str, reason: str, source: str) -> None:
        """Note a message; anybody may have written where it was meant to go."""
        text = "".join(one if one.isprintable() else "?" for one in source[:SOURCE_CHARS_MAX])
        if len(self._waiting) >= LINES_MAX and (transport, reason, text) not in self._waiting:
            text = "…"  # among others
        self._waiting[transport, reason, text] += 1

    def take(self, now_s: float) -> tuple[str, str] | None:
        """Return subject and text of the letter that is due; None: there is none, or too soon."""
        if not self._waiting or now_s < self._next_s:
            return None
        self._next_s = now_s + _HOUR_S / self.per_hour
        waiting, self._waiting = self._waiting, Counter()
        total = waiting.total()
        lines = [
            f"{count} {reason} at {transport}: {source or '?'}"
            for (transport, reason, source), count in waiting.items()
        ]
        subject = f"weft: {total} dead message{'s' * (total != 1)}"
        return subject, "\n".join([*lines, "", "Look: weft transport letters ls", ""])
