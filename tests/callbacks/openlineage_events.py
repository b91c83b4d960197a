"""Reads run events by the classes of OpenLineage's client; prints their types.

It runs in the environment of `tools/environment.sh crate`. Standard input is a list of events.
"""

import json
import sys
from typing import Any

from openlineage.client import event_v2, facet_v2  # type: ignore[import-not-found]  # of the other


def read(one: dict[str, Any]) -> Any:  # noqa: ANN401 (an event of that client)
    """Make the event; the classes raise for what does not fit."""
    kinds = {
        "errorMessage": facet_v2.error_message_run.ErrorMessageRunFacet,
        "jobType": facet_v2.job_type_job.JobTypeJobFacet,
    }

    def facets(given: dict[str, Any]) -> dict[str, Any]:
        found = {}
        for name, facet in given.items():
            own = {key: value for key, value in facet.items() if not key.startswith("_")}
            found[name] = kinds[name](producer=facet["_producer"], **own)
            assert found[name]._schemaURL == facet["_schemaURL"], found[name]._schemaURL
        return found

    run = event_v2.Run(runId=one["run"]["runId"], facets=facets(one["run"]["facets"]))
    job = event_v2.Job(**{**one["job"], "facets": facets(one["job"]["facets"])})
    made = event_v2.RunEvent(
        eventTime=one["eventTime"],
        producer=one["producer"],
        run=run,
        job=job,
        eventType=event_v2.RunState(one["eventType"]),
        inputs=[event_v2.InputDataset(**each) for each in one["inputs"]],
        outputs=[event_v2.OutputDataset(**each) for each in one["outputs"]],
    )
    assert made.schemaURL == one["schemaURL"], made.schemaURL
    return made


def main() -> None:
    """Read all."""
    json.dump([read(one).eventType.value for one in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
