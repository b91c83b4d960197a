"""Settings of the runner `ray`."""

from dataclasses import dataclass
from pathlib import Path

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class RaySettings:
    """How a gateway speaks to Ray."""

    ray_address: str = setting("http://127.0.0.1:8265", "the address of Ray's dashboard")
    ray_token: str = setting(
        "", "Ray's token, where it wants one (RAY_AUTH_MODE=token)", is_secret=True
    )
    ray_ca: Path | None = setting(
        None, "certificate authorities for the address (default: the system's)"
    )
    ray_resources: str = setting(
        "", "Ray's own resources that each job takes besides, as ssd=1,licence=0.5"
    )
    ray_look_s: float = setting(
        1.0, "seconds between looks at Ray, while attempts are there", within=(0.2, 600)
    )
    ray_node_s: float = setting(
        60.0,
        "seconds for which a node that Ray has lost may still run what it has: it ends itself "
        "when it has not reached the head for a minute (gcs_rpc_server_reconnect_timeout_s)",
        within=(0, 86_400),
    )
    ray_answer_s: float = setting(
        30.0, "seconds after which a request to Ray counts as unanswered", within=(1, 600)
    )
