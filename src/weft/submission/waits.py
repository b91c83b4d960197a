"""Forms of jobs that wait for an answer: they are evaluated apart, as all that tenants write."""

from collections.abc import Sequence
from typing import Any

import msgspec

from weft.core.bounded import read_json
from weft.core.deliveries.sinks import validator_of
from weft.core.errors import InvalidValue
from weft.core.problems import pointer_of
from weft.ports.evaluation import TooCostly
from weft.ports.store import Caller
from weft.submission.services import Draft, SubmissionServices
from weft.submission.translation.kinds import wrong_text

_PROBLEMS_MAX = 20
Misfits = Sequence[tuple[str, str]]
"""Pointers into the values, and what is wrong there."""


def misfits_each(_: None, asked: tuple[str, str | None]) -> list[tuple[str, str]]:
    """Return where values do not fit a form, both as JSON; without values, what is wrong with the
    form (`Evaluates.each`).
    """
    form, values = asked
    try:
        validator = validator_of(read_json(form))
    except ValueError as error:
        return [("", f"it is no JSON Schema: {error}"[:200])]
    errors = [] if values is None else validator.iter_errors(read_json(values))
    return [
        ("".join(pointer_of(str(part)) for part in error.instance_path), error.message[:200])
        for error, _ in zip(errors, range(_PROBLEMS_MAX), strict=False)
    ]


async def misfits(
    services: SubmissionServices, caller: Caller, asked: Sequence[tuple[object, object]]
) -> Sequence[Misfits]:
    """Return where values do not fit forms; None for values: whether the form can be used."""
    texts = [(_json(form), None if values is None else _json(values)) for form, values in asked]
    answers = await services.evaluation.each(caller.tenant_id, misfits_each, None, texts)
    return [[("", one.why)] if isinstance(one, TooCostly) else one for one in answers]


async def check_forms(draft: Draft) -> None:
    """Note which forms cannot be used."""
    forms: dict[int, Any] = {
        index: job.wait.form
        for index, job in enumerate(draft.rare)
        if job.wait is not None and job.wait.form is not None
        if not wrong_text(job.wait.form)
    }
    answers = await misfits(draft.services, draft.caller, [(one, None) for one in forms.values()])
    for index, wrong in zip(forms, answers, strict=True):
        for _, message in wrong:
            draft.problems.add(InvalidValue, f"/jobs/{index}/wait/form", message)


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
