"""What the translation of a document knows besides the document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from weft.core.apps.description import FoundApp
from weft.core.queues import Router
from weft.settings import Settings
from weft.wire.documents.batches import JobDocument


@dataclass(frozen=True, kw_only=True)
class DocumentContext:
    """What is the same for all jobs of a document."""

    settings: Settings
    trace_id: str
    ordinary: bool = False
    """What `are_ordinary` says of its jobs; False: not looked at."""
    inherit_env: dict[str, str] | None = None
    batch_id: int | None = None
    """None: the batch is being created."""
    has_lifecycle: bool = False
    """Of its batch, or that is not known."""
    first: int = 1
    """Position of the first job in its update."""
    whole: bool = False
    """The document holds all jobs of the update: parents may be named, groups are paths."""
    group_by_path: Mapping[str, int] = field(default_factory=dict)
    set_by_name: Mapping[str, int] = field(default_factory=dict)
    router: Router | None = None
    """None: the tenant has one queue."""
    licences: Mapping[str, int] = field(default_factory=dict)
    """How many there are of each licence."""
    apps: Mapping[str, FoundApp] = field(default_factory=dict)
    """Those that its jobs run, by name."""

    def rare(self, jobs: Sequence[JobDocument]) -> Sequence[JobDocument]:
        """Return the jobs that may have what few jobs have: none if all are ordinary."""
        return () if self.ordinary else jobs
