"""Notes of jobs in memory, for `FakeStore`."""

from functools import cached_property

from weft.core.notes import Note
from weft.core.states import AttemptKey


class FakeNotes:
    """What attempts say about their jobs, in the order in which it was told."""

    @cached_property
    def notes(self) -> list[tuple[int, Note]]:
        return []

    async def record_note(self, incarnation_id: int, key: AttemptKey, note: Note) -> bool:
        del incarnation_id
        if note.title == "mistaken":
            raise ValueError(note.title)
        self.notes.append((key.job_id, note))
        return True
