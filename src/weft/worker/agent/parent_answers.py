"""`$WEFT_ANSWERS`: the answers to parents of an attempt that waited for a person or an event."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from weft.core.graph.parents import refers_to_earlier
from weft.core.states import Reason
from weft.ports.function_signatures import Refused
from weft.ports.store import ParentAnswer, WorkerStore
from weft.wire.spec import ANSWERS_VARIABLE

ANSWERS_BYTES_MAX: Final = 100_000
"""Of one attempt: the kernel limits a variable to 128 KiB."""
_Key = tuple[int, int, int]


async def answers_of(store: WorkerStore, attempts: Sequence[_Key]) -> Mapping[_Key, str | Refused]:
    """Return the value of the variable for each of these (batch, job, attempt) that has answers,
    or why there is none.
    """
    rows = await store.list_answers(attempts)
    texts = {(row.batch_id, row.parent_id): row.answer for row in rows if row.answer is not None}
    by_attempt: dict[_Key, list[ParentAnswer]] = {}
    for row in rows:
        answer = row._replace(answer=texts[row.batch_id, row.parent_id])
        by_attempt.setdefault(row[:3], []).append(answer)
    return {key: _variable_of(answers) for key, answers in by_attempt.items()}


def _variable_of(answers: Sequence[ParentAnswer]) -> str | Refused:
    """Return a JSON object by name; by number where a name is missing, that of another parent,
    too, or like a number.
    """
    counts = Counter(row.name for row in answers)
    by_name = {
        row.name
        if row.name and counts[row.name] == 1 and not refers_to_earlier(row.name)
        else f"j{row.parent_id}": msgspec.Raw((row.answer or "").encode())
        for row in answers
    }
    text = msgspec.json.encode(by_name)
    if len(text) <= ANSWERS_BYTES_MAX:
        return text.decode()
    why = f"{len(text)} bytes, of which {ANSWERS_VARIABLE} takes {ANSWERS_BYTES_MAX}"
    return Refused(Reason.BAD_SPEC, f"the answers to its parents have {why}")
