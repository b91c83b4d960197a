"""The job of a scene: a map of its snow by NDSI, and a message that announces it.

The scene is a file of two bands, green and short-wave infrared, with NaN where clouds are. Where
the mode is `nominal`, the map of the scene before it fills what clouds hide. Exit codes are those
of the lifecycle: 0, 130 for what may be better next time, 203 for a scene that is no product.
"""

import json
import os
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

NDSI_MIN: Final = 0.4
"""From here on a pixel is snow (Hall, Riggs, Salomonson 1995)."""
GREEN_MIN: Final = 0.1
"""Water has a high index, too, and is dark."""
EXTERNAL, CORRUPT = 130, 203
Map = NDArray[np.float32]


def snow_map(green: Map, infrared: Map) -> Map:
    """Return 1 for snow, 0 for none, NaN where nothing is known."""
    with np.errstate(invalid="ignore", divide="ignore"):
        index = (green - infrared) / (green + infrared)
    snow = np.where((index >= NDSI_MIN) & (green >= GREEN_MIN), 1, 0).astype(np.float32)
    snow[~np.isfinite(index)] = np.nan
    return snow


def filled(snow: Map, before: Map | None) -> tuple[Map, float]:
    """Return the map with gaps filled by an earlier one, and which share of it was filled."""
    gaps = np.isnan(snow)
    if before is None:
        return snow, 0.0
    return np.where(gaps, before, snow), float((gaps & ~np.isnan(before)).mean())


def main() -> int:
    """Make the product of `$WEFT_ITEM` in the job's directory."""
    item: dict[str, Any] = json.loads(os.environ["WEFT_ITEM"])
    if item.get("needs_mirror") and os.environ["WEFT_ATTEMPT_NO"] == "1":
        print("the mirror of auxiliary data does not answer", file=sys.stderr)
        return EXTERNAL
    known, out = Path(os.environ["L2A_IN"]), Path(os.environ["L2A_OUT"])
    try:
        with np.load(item["path"]) as bands:
            green, infrared = bands["green"], bands["infrared"]
    except (OSError, ValueError, KeyError) as error:
        print(f"the scene is corrupt: {error}", file=sys.stderr)
        if known.is_file():  # the next scene goes on from what was known before this one
            out.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(known, out)
        return CORRUPT
    before = None
    if os.environ["MODE"] == "nominal" and known.is_file():
        before = np.load(known)
    snow, share = filled(snow_map(green, infrared), before)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part")
    with part.open("wb") as file:
        np.save(file, snow)
    part.rename(out)  # who reads it sees all of it
    product = {
        "title": f"FSC_{item['tile']}_{item['measured'][:10]}",
        "tile": item["tile"],
        "measured": item["measured"],
        "made": datetime.now(UTC).isoformat(),
        "mode": os.environ["MODE"],
        "snow_percent": round(100 * float(np.nanmean(snow)), 1),
        "filled_percent": round(100 * share, 1),
        "unknown_percent": round(100 * float(np.isnan(snow).mean()), 1),
    }
    Path("products").mkdir()
    Path("products", f"{product['title']}.json").write_text(json.dumps(product))
    print(json.dumps(product))
    return 0


if __name__ == "__main__":
    sys.exit(main())
