"""What Hail's documents may hold. The guide says what becomes of each key."""

from typing import Final

from weft_hail.checks import (
    FLAG,
    TEXT,
    any_of,
    by_type,
    dict_of,
    integer,
    keyed,
    list_of,
    nullable,
    number,
    one_of,
    pattern,
)

MEMORY_CLASSES: Final = ("lowmem", "standard", "highmem")
CPU: Final = r"[+]?((?:[0-9]*[.])?[0-9]+)([m])?"
BYTES: Final = r"[+]?((?:[0-9]*[.])?[0-9]+)([KMGTP][i]?)?B?"
TIMEOUT_MAX: Final = 31_536_000
_TIMEOUT: Final = number("x > 0", lambda x: x > 0, most=TIMEOUT_MAX)
_GROUPS: Final = number("x >= 0", lambda x: x >= 0, whole=True, most=100_000_000)
_LIMIT: Final = nullable(number("x > 0", lambda x: x > 0, whole=True))
_COUNT: Final = number("x >= 0", lambda x: x >= 0, whole=True)
_FILE: Final = keyed({"from": TEXT, "to": TEXT})
_BUCKET: Final = keyed({"bucket": TEXT, "mount_path": TEXT, "read_only": FLAG})
_ATTRIBUTES: Final = nullable(dict_of(TEXT))

BATCH: Final = keyed(
    {"billing_project": TEXT, "n_jobs": _COUNT, "token": TEXT},
    {
        "n_job_groups": _GROUPS,
        "attributes": _ATTRIBUTES,
        "callback": nullable(TEXT),
        "cancel_after_n_failures": _LIMIT,
    },
)
UPDATE: Final = keyed({"token": TEXT, "n_jobs": _COUNT}, {"n_job_groups": _GROUPS})
GROUP: Final = keyed(
    {"job_group_id": integer},
    {
        "in_update_parent_id": integer,
        "absolute_parent_id": integer,
        "attributes": _ATTRIBUTES,
        "callback": nullable(TEXT),
        "cancel_after_n_failures": _LIMIT,
    },
)
RESOURCES: Final = keyed(
    {},
    {
        "cpu": pattern(CPU),
        "memory": any_of(pattern(BYTES), one_of(*MEMORY_CLASSES)),
        "storage": pattern(BYTES),
        "machine_type": TEXT,
        "preemptible": FLAG,
    },
)
_PROCESS: Final = by_type(
    {
        "docker": ({"command": list_of(TEXT), "image": TEXT}, {"mount_docker_socket": FLAG}),
        "jvm": (
            {
                "jar_spec": keyed({"type": one_of("git_revision", "jar_url"), "value": TEXT}),
                "command": list_of(TEXT),
            },
            {"profile": FLAG},
        ),
    }
)
JOB: Final = keyed(
    {"job_id": integer, "process": _PROCESS},
    {
        "parent_ids": list_of(integer),
        "in_update_parent_ids": list_of(integer),
        "absolute_parent_ids": list_of(integer),
        "in_update_job_group_id": integer,
        "absolute_job_group_id": integer,
        "always_run": FLAG,
        "n_max_attempts": number("x > 0", lambda x: x > 0, whole=True),
        "env": list_of(keyed({"name": TEXT, "value": TEXT})),
        "attributes": dict_of(TEXT),
        "resources": RESOURCES,
        "timeout": _TIMEOUT,
        "port": integer,
        "regions": list_of(TEXT, is_filled=True),
        "user_code": TEXT,
        "always_copy_output": FLAG,
        "input_files": list_of(_FILE),
        "output_files": list_of(_FILE),
        "cloudfuse": list_of(_BUCKET),
        "requester_pays_project": TEXT,
        "mount_tokens": FLAG,
        "network": one_of("public", "private"),
        "secrets": list_of(keyed({"namespace": TEXT, "name": TEXT, "mount_path": TEXT})),
        "service_account": keyed({"namespace": TEXT, "name": TEXT}),
        "unconfined": FLAG,
    },
)
"""After the old forms were replaced by the present ones."""
