"""How large what somebody else says may be: annotations that msgspec checks where it decodes. What
this process makes itself is not checked.
"""

from typing import Annotated, Final

from msgspec import Meta

SMALLINT_MAX: Final = 2**15 - 1
INT_MAX: Final = 2**31 - 1
BIGINT_MAX: Final = 2**63 - 1
COUNT_MAX: Final = 2**53
"""Every reader has such a number exactly, and a thousand of them are still a bigint."""
ENTRIES_MAX: Final = 50_000
"""In one list of a call: more than a worker has attempts."""
LISTED_MAX: Final = 1000
"""Batches or jobs in one question that is not about attempts of the worker."""

Count = Annotated[int, Meta(ge=0, le=COUNT_MAX)]
"""Bytes, milliseconds, how many there are."""
Signed = Annotated[int, Meta(ge=-COUNT_MAX, le=COUNT_MAX)]
Integer = Annotated[int, Meta(ge=-INT_MAX - 1, le=INT_MAX)]
Number = Annotated[int, Meta(ge=0, le=INT_MAX)]
LongNumber = Annotated[int, Meta(ge=0, le=BIGINT_MAX)]
ShortNumber = Annotated[int, Meta(ge=0, le=SMALLINT_MAX)]
Seconds = Annotated[float, Meta(ge=0, le=1e9)]
Percent = Annotated[float, Meta(ge=0, le=100)]
Milliseconds = Annotated[float, Meta(ge=0, le=1e12)]

AttemptIds = tuple[LongNumber, Number, ShortNumber]
"""Batch, job and attempt."""
JobIds = tuple[LongNumber, Number]

Entries = Meta(max_length=ENTRIES_MAX)
Listed = Meta(max_length=LISTED_MAX)

Name = Annotated[str, Meta(max_length=256, pattern=r"\A[^\0]*\Z")]
PathText = Annotated[str, Meta(max_length=4096)]
Text = Annotated[str, Meta(max_length=1 << 16)]
"""A message; who stores it cuts it."""
ShortBytes = Annotated[bytes, Meta(max_length=4096)]
Digest = Annotated[bytes, Meta(min_length=32, max_length=32)]
"""SHA-256."""
