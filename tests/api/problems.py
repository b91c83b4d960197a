"""Errors as the api tells them: as problem documents, and as pages below `/ui`."""

import re
from typing import Any

import httpx

_CODE = re.compile(r'<p class="note">([A-Z_.]+), trace [0-9a-f]{32}</p>')


def problem_of(answer: httpx.Response) -> dict[str, Any]:
    """Return the problem that an answer tells, as a document without its trace id."""
    if answer.headers["content-type"].startswith("text/html"):
        code = _CODE.search(answer.text)
        assert code is not None, answer.text
        return {"code": code[1], "title": _CODE.sub("", answer.text)}
    document: dict[str, Any] = answer.json()
    document.pop("trace_id", None)
    return document


def code_of(answer: httpx.Response) -> str | None:
    """Return the code of the problem that an answer tells, or None if it tells of none."""
    return None if answer.status_code < 400 else problem_of(answer)["code"]
