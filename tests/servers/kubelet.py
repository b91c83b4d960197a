"""A stand-in for the kubelet of one node: pods that are bound to it run as processes of this host.

An image is a word: one that begins with `missing/` cannot be pulled. Usage: DIR PORT OWN_PORT.
"""

import base64
import json
import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeAlias

NODE = "n0"
Doc: TypeAlias = Any  # a document of Kubernetes
LOOK_S = 0.1
MESSAGE_MAX = 4096
"""As of a real one, which keeps the end of a longer message."""
BEAT_S = 5.0


def now() -> str:
    """Return the time as Kubernetes writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Api:
    """The API server."""

    def __init__(self, root: Path, port: int) -> None:
        self._base = f"https://127.0.0.1:{port}"
        self._token = (root / "etc" / "token").read_text().strip()
        self._tls = ssl.create_default_context(cafile=str(root / "etc/certs/apiserver.crt"))

    def ask(self, method: str, path: str, body: object = None) -> Doc:
        """Ask; None: there is no such thing, or it is there already."""
        kind = "strategic-merge-patch+json" if method == "PATCH" else "json"
        request = urllib.request.Request(  # noqa: S310 (ours)
            self._base + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Authorization": f"Bearer {self._token}",
                "Content-Type": f"application/{kind}",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=10, context=self._tls) as answer:  # noqa: S310 (ours)
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code in {404, 409}:
                return None
            raise


class Running:
    """The one container of a pod."""

    def __init__(self, pod: Doc, log: Path, secrets: dict[str, str]) -> None:
        one = pod["spec"]["containers"][0]
        argv = [word.replace("$$", "$") for word in one.get("command") or ["/bin/true"]]
        own = {e["name"]: e.get("value", "").replace("$$", "$") for e in one.get("env") or ()}
        own |= secrets
        # A file of the host: a variable that names the one of the container names that.
        self._message = log.with_name(f"{log.name}.end")
        self._message.write_bytes(b"")
        path = one.get("terminationMessagePath")
        own |= dict.fromkeys(
            (key for key, text in own.items() if text == path), str(self._message)
        )
        self.started = now()
        self.deadline = pod["spec"].get("activeDeadlineSeconds", 1e9) + time.monotonic()
        self.kill_at: float | None = None
        self.is_late = False
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={"PATH": os.environ["PATH"], **own},
                cwd=one.get("workingDir", "/tmp"),
                start_new_session=True,
            )

    def message(self) -> str:
        """Return what the container has left."""
        return self._message.read_bytes()[-MESSAGE_MAX:].decode(errors="replace")

    def end(self, grace_s: float) -> None:
        """Ask it to end; after the grace, kill it."""
        if self.kill_at is None:
            self.kill_at = time.monotonic() + grace_s
            self.signal(signal.SIGTERM)
        elif time.monotonic() > self.kill_at:
            self.signal(signal.SIGKILL)

    def signal(self, number: int) -> None:
        """Send a signal to all its processes."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


class Kubelet:
    """The pods of the node."""

    def __init__(self, root: Path, port: int, own_port: int) -> None:
        self._api = Api(root, port)
        self._own_port = own_port
        self.logs = root / "log" / "pods"
        self.logs.mkdir(parents=True, exist_ok=True)
        self._runs: dict[str, Running] = {}
        self._ended: set[str] = set()
        self._beat_at = 0.0
        self._stop = Event()

    def work(self) -> None:
        """Do what is to be done, for ever."""
        while True:
            try:
                self._beat()
                path = f"/api/v1/pods?fieldSelector=spec.nodeName%3D{NODE}"
                pods = self._api.ask("GET", path)["items"]
                for pod in pods:
                    self._look(pod)
                there = {pod["metadata"]["uid"] for pod in pods}
                for uid in self._runs.keys() - there:
                    self._runs.pop(uid).signal(signal.SIGKILL)
            except (OSError, ValueError) as error:
                sys.stderr.write(f"again: {error}\n")
            self._stop.wait(LOOK_S)

    def _beat(self) -> None:
        if time.monotonic() < self._beat_at:
            return
        meta = {"name": NODE, "labels": {"kubernetes.io/hostname": NODE}}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": meta}
        self._api.ask("POST", "/api/v1/nodes", node)
        room = {"cpu": "64", "memory": "256Gi", "pods": "1000"}
        ready = {
            "type": "Ready",
            "status": "True",
            "reason": "KubeletReady",
            "lastHeartbeatTime": now(),
            "lastTransitionTime": now(),
        }
        status = {
            "capacity": room,
            "allocatable": room,
            "conditions": [ready],
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": self._own_port}},
        }
        self._api.ask("PATCH", f"/api/v1/nodes/{NODE}/status", {"status": status})
        self._beat_at = time.monotonic() + BEAT_S

    def _look(self, pod: Doc) -> None:
        meta, uid = pod["metadata"], pod["metadata"]["uid"]
        is_deleted, run = "deletionTimestamp" in meta, self._runs.get(uid)
        if run is None:
            if pod["status"].get("phase") in {"Succeeded", "Failed"} or uid in self._ended:
                if is_deleted:
                    self._remove(pod)
            elif is_deleted:
                gone = {"exitCode": 137, "reason": "ContainerStatusUnknown"}
                self._tell(pod, "Failed", {"terminated": gone})
            elif not pod["status"].get("containerStatuses"):
                self._begin(pod)
            return
        code = run.process.poll()
        if code is not None:
            del self._runs[uid]
            exit_code = code if code >= 0 else 128 - code
            done = {
                "exitCode": exit_code,
                "startedAt": run.started,
                "finishedAt": now(),
                "reason": "Completed" if code == 0 else "Error",
                "message": run.message(),
            }
            reason = "DeadlineExceeded" if run.is_late else None
            self._tell(pod, "Failed" if code else "Succeeded", {"terminated": done}, reason)
            self._ended.add(uid)
        elif is_deleted:
            run.end(meta.get("deletionGracePeriodSeconds") or 0)
        elif time.monotonic() > run.deadline:
            run.is_late = True
            run.end(1)

    def _begin(self, pod: Doc) -> None:
        image = pod["spec"]["containers"][0]["image"]
        if image.startswith("missing/"):
            self._tell(pod, "Pending", {"waiting": {"reason": "ErrImagePull", "message": image}})
            return
        try:
            secrets = self._secrets_of(pod)
            if secrets is None:
                waits = {"reason": "CreateContainerConfigError", "message": "secret not found"}
                self._tell(pod, "Pending", {"waiting": waits})
                return
            run = Running(pod, self.logs / pod["metadata"]["name"], secrets)
        except OSError as error:
            done = {
                "exitCode": 128,
                "reason": "StartError",
                "message": str(error),
                "startedAt": "1970-01-01T00:00:00Z",
                "finishedAt": now(),
            }
            self._tell(pod, "Failed", {"terminated": done})
            return
        self._runs[pod["metadata"]["uid"]] = run
        self._tell(pod, "Running", {"running": {"startedAt": run.started}})

    def _secrets_of(self, pod: Doc) -> dict[str, str] | None:
        """Return variables with secrets; None: they are not there. A mount is a directory of the
        host, and a variable that names it names that.
        """
        meta, one = pod["metadata"], pod["spec"]["containers"][0]

        def read(name: str) -> Doc:
            found = self._api.ask("GET", f"/api/v1/namespaces/{meta['namespace']}/secrets/{name}")
            data = {} if found is None else found["data"]
            return {key: base64.b64decode(value) for key, value in data.items()}

        env = {}
        for item in one.get("env") or ():
            if ref := item.get("valueFrom", {}).get("secretKeyRef"):
                data = read(ref["name"])
                if ref["key"] not in data:
                    return None
                env[item["name"]] = data[ref["key"]].decode()
        volumes = {v["name"]: v for v in pod["spec"].get("volumes") or ()}
        for mount in one.get("volumeMounts") or ():
            place = self.logs.with_name("mounts") / meta["uid"] / mount["name"]
            place.mkdir(parents=True, exist_ok=True)
            if source := volumes[mount["name"]].get("secret"):
                data = read(source["secretName"])
                for file in source["items"]:
                    if file["key"] not in data:
                        return None
                    (place / file["path"]).write_bytes(data[file["key"]])
                    (place / file["path"]).chmod(0o400)
            path = mount["mountPath"]
            env |= {
                e["name"]: f"{place}{e['value'].removeprefix(path)}"
                for e in one.get("env") or ()
                if e.get("value") == path or e.get("value", "").startswith(f"{path}/")
            }
        return env

    def _tell(self, pod: Doc, phase: str, state: Doc, reason: str | None = None) -> None:
        one = pod["spec"]["containers"][0]
        container = {
            "name": one["name"],
            "image": one["image"],
            "imageID": "",
            "ready": False,
            "restartCount": 0,
            "state": state,
        }
        status = {"phase": phase, "containerStatuses": [container], "reason": reason}
        if "running" in state:
            status["startTime"] = state["running"]["startedAt"]
        self._api.ask("PATCH", self._path(pod) + "/status", {"status": status})

    def _remove(self, pod: Doc) -> None:
        if pod["metadata"].get("deletionGracePeriodSeconds"):
            self._api.ask("DELETE", self._path(pod), {"gracePeriodSeconds": 0})

    @staticmethod
    def _path(pod: Doc) -> str:
        meta = pod["metadata"]
        return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"


class Door(BaseHTTPRequestHandler):
    """What the API server asks a kubelet."""

    logs: Path

    def do_GET(self) -> None:
        """Answer with a log."""
        words = self.path.partition("?")[0].strip("/").split("/")
        path = self.logs / words[2] if words[0] == "containerLogs" else None
        if path is None or not path.is_file():
            self.send_error(404)
            return
        text = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Be the node."""
    root, port, own_port = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    kubelet = Kubelet(root, port, own_port)
    Door.logs = kubelet.logs
    server = ThreadingHTTPServer(("127.0.0.1", own_port), Door)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(str(root / "etc" / "kubelet.pem"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, daemon=True).start()
    kubelet.work()


main()
