"""What an agent is told of files, stores and secrets, and what it tells of files."""

from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from weft.core.bounds import (
    Count,
    Digest,
    LongNumber,
    Name,
    Number,
    PathText,
    Percent,
    ShortNumber,
    Text,
)
from weft.wire.sealed import SecretRow


@dataclass(frozen=True)
class StoredSecret:
    """A secret as it is stored, for an attempt that this worker has."""

    row: SecretRow
    body: bytes | None
    """Encrypted (`wire/sealed.py`, by the link as it says); None: the user has no secret of this
    name.
    """
    unreadable: str = ""
    """Why the link could not open it."""


@dataclass(frozen=True)
class StoredFileStore:
    """A store of objects, for an attempt that this worker has."""

    url: str
    endpoint: str | None
    region: str | None
    access: str
    credentials: str
    row: SecretRow | None
    """Of the secret that opens it."""
    body: bytes | None
    """The secret, encrypted; None: there is none, or it was removed."""


class FileWanted(NamedTuple):
    """A file that an attempt is to get."""

    batch_id: LongNumber | None
    """None: of its own batch."""
    job_id: Number
    """0: of a parent, or of the batch itself."""
    parent: PathText | None
    """The name of a parent of the job."""
    path: PathText


class FoundFile(NamedTuple):
    """What is known of a file that is wanted; without a digest there is none."""

    batch_id: int | None
    state: int | None
    """Of the job that was to leave it."""
    n_bytes: int | None
    digest: bytes | None
    address: str | None
    """Where it is kept; None: weft keeps it itself."""


class KeptFile(msgspec.Struct, frozen=True, array_like=True):
    """A file that an attempt has left."""

    path: PathText
    n_bytes: Count
    digest: Digest
    address: PathText | None = None
    """Where it is kept; None: weft keeps it itself."""
    message: Text | None = None
    """Its text, if it is a message for a sink."""


@dataclass(frozen=True)
class ProgressReport:
    """How far an attempt says that it is."""

    batch_id: LongNumber
    job_id: Number
    attempt: ShortNumber
    percent: Percent
    text: Name
