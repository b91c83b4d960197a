"""Where an output is kept, as all but the log store see it."""

from typing import Final, NewType

LogLocation = NewType("LogLocation", bytes)
"""Where a log store has put an output: exactly `LOG_LOCATION_BYTES`, which only it can read."""
LOG_LOCATION_BYTES: Final = 12
