"""Errors about jobs that wait for an answer."""

from weft.core.errors.kinds import Conflict, NotFound


class NotWaiting(Conflict, code="API.NOT_WAITING", sqlstate="WF238"):
    """A job that waits for no answer, or no longer, cannot be answered."""


class AnswerLinkNotFound(NotFound, code="API.ANSWER_LINK_NOT_FOUND"):
    """No such link answers a job: it was used, or revoked, or has expired."""

    advice = "Ask whoever sent it for another one: `weft answer JOB --link` makes it."
