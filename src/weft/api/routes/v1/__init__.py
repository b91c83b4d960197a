"""The routes of `/v1`, and those without a version: health, metrics, the description."""
