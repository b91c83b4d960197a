"""The documents about jobs of doors."""

from weft.core.apps.description import FoundApp
from weft.wire.documents.jobs import JobDocument


class ForeignJob(JobDocument):
    """A job that a door has translated; no client sends it. See `JobSpec` for its fields."""

    original: bytes | None = None
    """As it came, or one that differs from it by its number and command only: the same object."""
    identity: dict[str, str] | None = None
    own_paths: tuple[str, ...] | None = None
    app_inputs: dict[str, str] | None = None
    """Values of the application's inputs, by their ids; what they name is among `inputs`."""
    found_app: FoundApp | None = None
    """The application, and `queue` is the one in which it runs: the door has asked for both."""
