"""Documents of jobs, in the names of Aloe and those of Agave 2.2."""

from collections.abc import Mapping
from typing import Any, Final

from weft.core.access.secret_variables import MASK, matches, without_password
from weft_aloe.story import Entry, Story, story_of
from weft_aloe.words import QUEUE, STORE, app_uuid, instant, seconds_of, slug

_UNUSED: Final[Mapping[str, Any]] = {
    "remoteStatusChecks": 0,
    "failedStatusChecks": 0,
    "lastStatusCheck": None,
}


def job_document(
    facts: Mapping[str, Any], base: str, masks: tuple[str, ...], story: Story | None = None
) -> dict[str, Any]:
    """Return the whole document of a job. `masks`: names of parameters that nobody is shown."""
    story = story or story_of(facts)
    kept, job_id = facts["document"], facts["foreign_id"]
    work = f"{facts['owner']}/job-{job_id}-{slug(kept['name'])}"
    is_here = facts["state"] is not None
    remote_id = f"b{facts['batch_id']}.j1" if story.n_attempts and is_here else None
    return {
        "id": job_id,
        "name": facts.get("name") or kept["name"],  # somebody may have changed it
        "owner": facts["owner"],
        "tenantId": facts["tenant"],
        "tenantQueue": f"weft.{facts['tenant']}.{QUEUE}",
        "status": story.status,
        "lastStatusMessage": story.message,
        "accepted": instant(story.entries[0].at),
        "created": instant(story.entries[0].at),
        "ended": instant(story.ended),
        "lastUpdated": instant(story.updated),
        "systemId": kept["systemId"],
        "executionSystem": kept["systemId"],
        "appId": kept["appId"],
        "appUuid": app_uuid(kept["appId"]),
        "archive": kept["archive"],
        "archivePath": kept["archivePath"],
        "archiveSystem": kept["archiveSystem"] or STORE,
        "workPath": work,
        "outputPath": work,
        "visible": not facts["hidden"],
        "nodeCount": kept["nodeCount"],
        "processorsPerNode": kept["processorsPerNode"],
        "memoryPerNode": kept["memoryPerNode"],
        "maxHours": round((seconds_of(kept["maxRunTime"]) or 0) / 3600, 6),
        "maxRunTime": kept["maxRunTime"],
        "inputs": kept["inputs"],
        "parameters": shown(kept["parameters"], masks),
        "remoteJobId": remote_id,
        "schedulerJobId": remote_id,
        "localId": remote_id,
        "remoteQueue": kept["batchQueue"],
        "batchQueue": kept["batchQueue"],
        "remoteSubmitted": instant(story.submitted),
        "submitTime": instant(story.submitted),
        "remoteStarted": instant(story.started),
        "started": instant(story.started),
        "startTime": instant(story.started),
        "remoteEnded": instant(story.remote_ended),
        "endTime": instant(story.ended),
        "remoteOutcome": _outcome(story, kept),
        "submitRetries": max(0, story.n_attempts - 1),
        "retries": max(0, story.n_attempts - 1),
        **_UNUSED,
        "blockedCount": story.n_blocked,
        "message": story.error,
        "notifications": _without_passwords(kept["asked"].get("notifications") or []),
        "_links": links(facts, base),
    }


def summary_document(facts: Mapping[str, Any], base: str) -> dict[str, Any]:
    """Return what lists show of a job: some of its document, for a part of what that costs."""
    story, kept, href = story_of(facts), facts["document"], job_href(facts, base)
    started, ended = instant(story.started), instant(story.ended)
    return {
        "id": facts["foreign_id"],
        "name": facts.get("name") or kept["name"],  # somebody may have changed it
        "owner": facts["owner"],
        "systemId": kept["systemId"],
        "executionSystem": kept["systemId"],
        "appId": kept["appId"],
        "created": instant(story.entries[0].at),
        "status": story.status,
        "started": started,
        "ended": ended,
        "startTime": started,
        "endTime": ended,
        "_links": {"self": {"href": href}, "archiveData": {"href": f"{href}/outputs/listings"}},
    }


def status_document(facts: Mapping[str, Any], base: str) -> dict[str, Any]:
    """Return the status of a job."""
    own = {"self": {"href": job_href(facts, base)}}
    return {"id": facts["foreign_id"], "status": story_of(facts).status, "_links": own}


def history_entry(entry: Entry) -> dict[str, Any]:
    """Return an entry of a history."""
    return {
        "status": entry.status,
        "created": instant(entry.at),
        "createdBy": entry.by,
        "description": entry.text,
    }


def job_href(facts: Mapping[str, Any], base: str) -> str:
    """Return the address of a job."""
    return f"{base}/jobs/v2/{facts['foreign_id']}"


def links(facts: Mapping[str, Any], base: str) -> dict[str, Any]:
    """Return where a job and what belongs to it are found."""
    job, kept = job_href(facts, base), facts["document"]
    found = {
        "self": job,
        "app": f"{base}/apps/v2/{kept['appId']}",
        "executionSystem": f"{base}/systems/v2/{kept['systemId']}",
        "archiveSystem": f"{base}/systems/v2/{kept['archiveSystem'] or STORE}",
        "archiveData": f"{job}/outputs/listings",
        "owner": f"{base}/profiles/v2/{facts['owner']}",
        "permissions": f"{job}/pems",
        "history": f"{job}/history",
    }
    return {name: {"href": href} for name, href in found.items()}


def shown(parameters: Mapping[str, Any], masks: tuple[str, ...]) -> dict[str, Any]:
    """Return parameters as they may be shown."""
    return {
        name: MASK if value and matches(name, masks) else _without_passwords(value)
        for name, value in parameters.items()
    }


def _without_passwords(value: Any) -> Any:  # noqa: ANN401 (JSON)
    if isinstance(value, str):
        return without_password(value)
    if isinstance(value, dict):
        return {name: _without_passwords(one) for name, one in value.items()}
    return [_without_passwords(one) for one in value] if isinstance(value, list) else value


def _outcome(story: Story, kept: Mapping[str, Any]) -> str | None:
    if story.status == "FINISHED":
        return "FINISHED"
    if story.status != "FAILED":
        return None
    return "FAILED" if kept["archiveOnAppError"] else "FAILED_SKIP_ARCHIVE"
