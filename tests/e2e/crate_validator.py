"""Asks the public validator whether a directory is a Workflow Run RO-Crate; prints its report.

It runs in the environment of `tools/environment.sh crate` without a network: profiles come with
the validator, the context of RO-Crate 1.1 with `rocrate`, and goes into the validator's cache. Its
arguments are a directory for the cache, the crate, and the weight of what is told.
"""

import json
import sys
from pathlib import Path

import rocrate  # type: ignore[import-not-found]  # of the other environment, as all below
from requests.adapters import HTTPAdapter
from requests_cache import CachedSession  # type: ignore[import-not-found]
from rocrate.rocrate import ROCrate  # type: ignore[import-not-found]
from rocrate_validator import services  # type: ignore[import-not-found]
from rocrate_validator.models import ValidationSettings  # type: ignore[import-not-found]
from urllib3 import HTTPResponse

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


class Shipped(HTTPAdapter):
    """Answers with the context that came with the library."""

    def send(self, request, *_args, **_kwargs):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN002, ANN003, ANN201
        """Answer."""
        body = (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").open("rb")
        headers = {"Content-Type": "application/ld+json"}
        raw = HTTPResponse(body, headers=headers, status=200, preload_content=False)
        return self.build_response(request, raw)


def main() -> None:
    """Check one crate."""
    cache, crate = str(Path(sys.argv[1], "cache")), sys.argv[2]
    with CachedSession(cache, backend="sqlite", expire_after=-1) as session:
        session.mount("https://w3id.org/", Shipped())
        assert json.loads(session.get(CONTEXT).text)["@id"] == CONTEXT
    settings = ValidationSettings(
        rocrate_uri=crate,
        profile_identifier="workflow-run-crate",
        requirement_severity=sys.argv[3],
        cache_path=cache,
        offline=True,
    )
    result = services.validate(settings)
    read = ROCrate(crate)
    found = [
        f"{one.severity.name} {one.check.identifier} {one.violatingEntity}: {one.message}"
        for one in result.get_issues()
    ]
    told = {"issues": found, "checks": len(result.executed_checks), "main": read.mainEntity.id}
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main()
