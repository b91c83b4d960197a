"""The metadata service of a machine of Amazon EC2, as far as its role is concerned."""

import json
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from typing import ClassVar


class Metadata(BaseHTTPRequestHandler):
    """The metadata service of a machine with a role: its credentials are soon over."""

    asked: ClassVar[list[str]] = []

    def do_PUT(self) -> None:
        self._tell("the-session")

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.headers["x-aws-ec2-metadata-token"] != "the-session":
            self.send_error(401)
        elif self.path.endswith("/"):
            self._tell("builder")
        else:
            hours = 0 if len(self.asked) < 3 else 6
            keys = {"AccessKeyId": "AKIAROLE", "SecretAccessKey": "of-the-role", "Token": "tk/+"}
            ends = datetime.now(UTC) + timedelta(hours=hours)
            self._tell(json.dumps({**keys, "Expiration": f"{ends:%Y-%m-%dT%H:%M:%SZ}"}))

    def _tell(self, text: str) -> None:
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""
