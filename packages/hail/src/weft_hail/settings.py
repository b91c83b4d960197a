"""Settings of the door for Hail's client."""

from dataclasses import dataclass

from weft.settings import setting


@dataclass(frozen=True, kw_only=True)
class HailSettings:
    """What an image in a spec of Hail's client means."""

    hail_images: bool = setting(
        default=False,
        help_="run jobs of Hail's client in the images that they name, on workers with "
        "`containers`; else an image is a label",
    )
