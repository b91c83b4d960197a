"""`/ui/batches/{b}/jobs/{j}/answer`: the form of a job that waits for an answer; `/ui/answer`: the
same, for whoever has a link to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from weft.api.calls.call import call_of
from weft.api.http.browsers import FORM, FORM_FIELDS_MAX, read_form, refuse_wrong_token
from weft.api.http.pages import NO_MOMENT, get_page, may_act, post_form, show
from weft.api.http.parameters import batch_id_of, job_id_of
from weft.api.http.requests import AnyRequest
from weft.api.http.routing import OPEN, Redirect, Response
from weft.api.http.trail import record_login
from weft.api.use_cases import read
from weft.core.access.rights import Right
from weft.core.bounded import Unreadable, read_json
from weft.core.errors import FieldError, InvalidValue
from weft.core.problems import pointer_of
from weft.submission.services import Answer
from weft.wire.documents.waits import NOTE_MAX, AnswerDocument
from weft_waits.calls import ASKED, answer_job, read_link

PATH: Final = "/ui/batches/{b:str}/jobs/{j:str}/answer"
BY_LINK: Final = "/ui/answer"
FIELDS_MAX: Final = 50
"""A form with more properties has one field for all of them."""
_CALL: Final = call_of(answer_job)
_ALL: Final = "values"
_PLAIN: Final = frozenset({"string", "number", "integer", "boolean"})
_Texts = Mapping[str, str]


@dataclass(frozen=True)
class _Field:
    """What the form asks for: a property, or all values in JSON."""

    name: str
    kind: str
    """`json` if it is not a plain type."""
    schema: Mapping[str, Any]
    required: bool = False
    pointer: str = "/values"

    def value(self, text: str) -> object:
        """Return what somebody wrote, None for nothing; text that is no JSON as it is."""
        if self.kind == "boolean":
            return bool(text)
        if self.kind == "string" or not text:
            return text or None
        try:
            return read_json(text)
        except Unreadable:
            return text

    def word(self, name: str) -> str:
        """Return a text of the schema, empty if there is none."""
        word = self.schema.get(name)
        return word if isinstance(word, str) else ""

    @property
    def choices(self) -> Sequence[str]:
        """Return what `enum` allows, in JSON."""
        return [msgspec.json.encode(choice).decode() for choice in self.schema["enum"]]

    @property
    def default(self) -> str:
        """Return what stands in the field at first."""
        default = self.schema.get("default")
        if isinstance(default, str) and self.kind == "string":
            return default
        return "" if default in (None, False) else msgspec.json.encode(default).decode()


def _fields_of(form: Mapping[str, Any] | None) -> Sequence[_Field]:
    properties = {} if form is None else form.get("properties")
    if form is None:
        return []
    if not isinstance(properties, dict) or not 0 < len(properties) <= FIELDS_MAX:
        return [_Field(_ALL, "json", {"title": "Values, as JSON"})]
    required = form.get("required", ())
    return [
        _Field(
            f"v.{name}", _kind_of(schema), schema, name in required, f"/values{pointer_of(name)}"
        )
        for name, schema in (
            (name, own if isinstance(own, dict) else {}) for name, own in properties.items()
        )
    ]


def _kind_of(schema: Mapping[str, Any]) -> str:
    if isinstance(schema.get("enum"), list):
        return "enum"
    kind = schema.get("type")
    return kind if isinstance(kind, str) and kind in _PLAIN else "json"


@get_page(PATH, Right.READ)
async def show_answer(request: AnyRequest) -> Response[bytes]:
    """Show the form of a job that waits for an answer."""
    return await _page(request, await _job_of(request))


@post_form(PATH, _CALL.right, _CALL.permission)
async def press_answer(request: AnyRequest) -> Redirect | Response[bytes]:
    """Answer a job with what was written into its form; show what does not fit beside it."""
    texts = await read_form(request, FORM_FIELDS_MAX + FIELDS_MAX)
    if request.caller.csrf_token is not None:
        refuse_wrong_token(request.caller.csrf_token, texts.get("csrf_token", ""))
    job = await _job_of(request)
    wrong = await _answered(request, job, texts)
    if wrong is not None:
        return await _page(request, job, texts, wrong)
    return Redirect(request.scope["path"].removesuffix("/answer"), status_code=303)


@get_page(BY_LINK, OPEN, opt=NO_MOMENT, query=("code",))
async def show_link(request: AnyRequest) -> Response[bytes]:
    """Show the form of a job to whoever has a link that answers it. It changes nothing."""
    code = request.query.text("code") or ""
    return await _page(request, await _linked_job(request, code), code=code)


@post_form(BY_LINK, OPEN, status_code=200, opt={"reads": FORM})
async def press_link(request: AnyRequest) -> Response[bytes]:
    """Answer a job, whose links count no more. Raise `NotWaiting`, `AnswerLinkNotFound`."""
    texts = await read_form(request, FORM_FIELDS_MAX + FIELDS_MAX)
    code = texts.get("code", "")
    job = await _linked_job(request, code)
    caller = request.caller
    record_login(request.scope, caller, "answer_job")
    request.scope["state"]["caller"] = replace(caller, user_name=f"{caller.user_name}, by a link")
    wrong = await _answered(request, job, texts)
    if wrong is not None:
        return await _page(request, job, texts, wrong, code=code)
    return await _page(request, job, code=code, is_answered=True)


async def _linked_job(request: AnyRequest, code: str) -> Answer:
    """Return the job of a link; the request is then one of who has made the link."""
    caller, batch_id, job_id = await read_link(request.services, code)
    request.scope["state"]["caller"] = caller
    return await read.get_job(request.services, caller, batch_id, job_id)


async def _answered(
    request: AnyRequest, job: Answer, texts: _Texts
) -> Sequence[FieldError] | None:
    """Answer a job; return what does not fit, None: it is answered."""
    try:
        await answer_job(
            request.services, request.caller, job["batch_id"], job["job_id"], _document(job, texts)
        )
    except InvalidValue as error:
        return error.errors
    return None


async def _job_of(request: AnyRequest) -> Answer:
    batch_id, job_id = batch_id_of(request), job_id_of(request)
    return await read.get_job(request.services, request.caller, batch_id, job_id)


def _document(job: Answer, texts: _Texts) -> AnswerDocument:
    note, approve = texts.get("note", ""), texts.get("approve") == "yes"
    if "wait" in job and not approve and texts.get("approve") != "no":
        raise InvalidValue("no answer", errors=[FieldError("/approve", "say `yes` or `no`")])
    if len(note) > NOTE_MAX:
        why = f"it has more than {NOTE_MAX} characters"
        raise InvalidValue("the note is too long", errors=[FieldError("/note", why)])
    values: dict[str, Any] = {}
    for field in _fields_of(job.get("wait", {}).get("form")) if approve else ():
        value = field.value(texts.get(field.name, ""))
        if field.name == _ALL:
            values = value if isinstance(value, dict) else {}
            if value is not None and not isinstance(value, dict):
                raise InvalidValue("no object", errors=[FieldError("/values", "no JSON object")])
        elif value is not None:
            values[field.name.removeprefix("v.")] = value
    return AnswerDocument(approve=approve, values=values, note=note)


async def _page(
    request: AnyRequest,
    job: Answer,
    texts: _Texts | None = None,
    errors: Sequence[FieldError] = (),
    *,
    code: str = "",
    is_answered: bool = False,
) -> Response[bytes]:
    wait = job.get("wait", {})
    fields = _fields_of(wait.get("form"))
    problems: dict[str, list[str]] = {}
    for error in errors:
        at = [
            field.pointer
            for field in fields
            if f"{error.pointer}/".startswith(f"{field.pointer}/")
        ]
        problems.setdefault(at[0] if at else error.pointer, []).append(error.message)
    return show(
        request,
        "answer.html",
        here="/ui/batches",
        events="",
        status=400 if errors else 200,
        job=job,
        path=request.scope["path"],
        code=code,
        is_answered=is_answered,
        waits=job["state"] == "ready" and wait.get("for") in ASKED,
        may_change=await may_act(
            request,
            lambda caller: read.get_job(request.services, caller, job["batch_id"], job["job_id"]),
        ),
        form=wait.get("form") or {},
        fields=fields,
        texts=texts,
        problems=problems,
        at_fields=[*(field.pointer for field in fields), "/note"],
    )
