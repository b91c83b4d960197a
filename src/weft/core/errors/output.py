"""Errors about the output of jobs."""

from weft.core.errors.kinds import Conflict, Unavailable, WeftError


class OutputElsewhere(Conflict, code="API.OUTPUT_ELSEWHERE"):
    """The worker that ran the job keeps its output in a directory that the api cannot read."""


class LogBucketAway(Unavailable, code="API.LOG_BUCKET_AWAY"):
    """The bucket to which output of jobs is shipped does not answer, or not as it should."""


class OutputGone(WeftError, code="API.OUTPUT_GONE", status=410, exit_code=4):
    """The output was removed, or never kept: the server keeps a limited amount."""
