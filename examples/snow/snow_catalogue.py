"""A small catalogue of generated scenes, and the endpoint that products are announced to.

`GET /search?publishedAfter=` answers with scenes, `POST /products` takes an announcement. It
refuses those of one title with 422, and is busy once, with 503.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import numpy as np
from numpy.typing import NDArray

SIZE: Final = 200
"""Pixels of a side."""
PRODUCT_BYTES_MAX: Final = 1 << 16
REFUSED: Final = "FSC_31TGL_2027-04-05"


@dataclass(frozen=True)
class Scene:
    """What is measured, and how much of it is snow and clouds."""

    tile: str
    day: str
    snow: float
    clouds: float = 0.0
    needs_mirror: bool = False
    """Its job does not find what it needs at first."""
    broken: bool = False


SCENES: Final = (
    Scene("32TLR", "2027-04-01", 0.60, 0.05),
    Scene("32TLR", "2027-04-04", 0.55, 0.30, needs_mirror=True),
    Scene("32TLR", "2027-04-07", 0.50, broken=True),
    Scene("32TLR", "2027-04-09", 0.45, 0.25),
    Scene("32TLR", "2027-05-05", 0.20, 0.10),  # after a gap: not filled by the one before
    Scene("31TGL", "2027-04-02", 0.30, 0.10),
    Scene("31TGL", "2027-04-05", 0.25, 0.10),  # its product is refused
    Scene("31TGL", "2027-04-08", 0.20, 0.97),  # too cloudy to be worth a job
    Scene("31TGL", "2027-04-11", 0.10, 0.40),
)


def bands(scene: Scene, seed: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return green and infrared: snow above a line of height, and clouds here and there."""
    random = np.random.default_rng(seed)
    height = np.linspace(0, 1, SIZE)[:, None] + random.normal(0, 0.05, (SIZE, SIZE))
    is_snow = height > np.quantile(height, 1 - scene.snow)
    noise = random.normal(0, 0.02, (SIZE, SIZE))
    green = np.where(is_snow, 0.8, 0.12) + noise
    infrared = np.where(is_snow, 0.1, 0.25) + noise
    patches = np.kron(random.random((20, 20)), np.ones((SIZE // 20, SIZE // 20)))
    is_cloud = patches < np.quantile(patches, scene.clouds)
    for band in (green, infrared):
        band[is_cloud] = np.nan
    return green.astype(np.float32), infrared.astype(np.float32)


def write_scenes(directory: Path) -> list[dict[str, Any]]:
    """Generate the scenes; return them as the catalogue lists them."""
    directory.mkdir(exist_ok=True)
    now = datetime.now(UTC)
    items = []
    for n, scene in enumerate(SCENES):
        name = f"S2A_{scene.tile}_{scene.day}"
        path = directory / f"{name}.npz"
        if scene.broken:
            path.write_bytes(b"half a scene")
        else:
            green, infrared = bands(scene, n)
            np.savez_compressed(path, green=green, infrared=infrared)
        items.append(
            {
                "key": name,
                "tile": scene.tile,
                "measured": f"{scene.day}T10:13:47Z",
                "published": (now - timedelta(minutes=len(SCENES) - n)).isoformat(),
                "cloud": round(100 * scene.clouds),
                "needs_mirror": scene.needs_mirror,
                "path": str(path),
            }
        )
    return items


@dataclass
class Site:
    """A server of both, and what it got."""

    url: str
    products: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    busy: int = 0
    """How often it was."""


@contextmanager
def serving(items: Sequence[Mapping[str, Any]]) -> Iterator[Site]:
    """Serve on a free port of this host."""
    lock = threading.Lock()
    titles: set[str] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # the name that the library asks for
            since = parse_qs(urlsplit(self.path).query).get("publishedAfter", [""])[0]
            after = datetime.fromisoformat(since) if since else datetime.min.replace(tzinfo=UTC)
            if after.tzinfo is None:
                after = after.replace(tzinfo=UTC)
            new = [one for one in items if datetime.fromisoformat(one["published"]) >= after]
            self._answer(200, {"items": new})

        def do_POST(self) -> None:  # the same
            length = int(self.headers.get("Content-Length", "0"))
            if length > PRODUCT_BYTES_MAX:
                self._answer(413, {})
                return
            product = json.loads(self.rfile.read(length))["product"]
            with lock:
                if not site.busy:
                    site.busy += 1
                    self._answer(503, {})
                elif product["title"] == REFUSED:
                    site.refused.append(product)
                    self._answer(422, {})
                else:
                    if product["title"] not in titles:  # it may be sent twice
                        titles.add(product["title"])
                        site.products.append(product)
                    self._answer(201, {})

        def _answer(self, status: int, document: Mapping[str, Any]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = Site(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
