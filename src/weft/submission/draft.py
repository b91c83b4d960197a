"""A submission on its way to rows: each step reads the draft and notes what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.core.problems import Problems
from weft.ports.store import Caller, NewBatch
from weft.submission.services import SubmissionServices
from weft.submission.translation.context import DocumentContext
from weft.wire.documents.batches import JobDocument


@dataclass
class Draft:
    """What one document asks for."""

    services: SubmissionServices
    caller: Caller
    target: NewBatch | int
    jobs: Sequence[JobDocument]
    context: DocumentContext
    problems: Problems

    @property
    def rare(self) -> Sequence[JobDocument]:
        """The jobs that may have what few jobs have: none if all are ordinary."""
        return self.context.rare(self.jobs)

    def learn(self, **known: object) -> None:
        """Note in the context what a step has found."""
        self.context = replace(self.context, **known)  # type: ignore[arg-type]  # its fields
