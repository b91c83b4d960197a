"""Say what is wrong with rendered manifests: `kubectl kustomize DIR | check.py [RELEASE]`.

Each fits the schema of its kind (of Kubernetes 1.31 or RELEASE); what it names exists, in the
manifests or in weft: settings with their values, routes, ports, images, scripts, labels, keys.
It runs in the environment of `tools/environment.sh kubernetes`.
"""

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml

from weft.api.app import route_rights
from weft.settings import all_declared, variable_of

IMAGES = Path(__file__).resolve().parents[1] / "images"
SETTINGS = {variable_of(name): declared for name, declared in all_declared().items()}
Document = Mapping[str, Any]
"""A manifest, or a part of one."""


def main(release: str) -> int:
    documents = list(yaml.safe_load_all(sys.stdin))
    wrong = [
        f"{document['kind']} {document['metadata']['name']}: {text}"
        for document in documents
        for text in (*_by_schema(document, release), *_by_sense(document, documents))
    ]
    print("\n".join(wrong) or f"{len(documents)} manifests are right for Kubernetes {release}")
    return bool(wrong)


def _by_schema(document: Document, release: str) -> Iterator[str]:
    try:
        kubernetes_validate.validate(document, release, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{error.message} at {'.'.join(map(str, error.path))}"


def _by_sense(document: Document, all_: Sequence[Document]) -> Iterator[str]:
    kind, spec = document["kind"], document.get("spec", {})
    if kind == "ConfigMap":
        yield from _settings(document.get("data", {}))
    if kind in {"Service", "NetworkPolicy", "PodDisruptionBudget"}:
        yield from _selected(document, all_)
    if "template" in spec:
        yield from _pod(spec["template"]["spec"], all_)
        wanted = spec.get("selector", {}).get("matchLabels", {})
        if not wanted.items() <= spec["template"]["metadata"]["labels"].items():
            yield f"selects {wanted}, which its pods are not"


def _settings(values: Mapping[str, str | None]) -> Iterator[str]:
    for name, value in values.items():
        if name.startswith("WEFT_") and name not in SETTINGS:
            yield f"{name} is no setting"
        elif name in SETTINGS and value is not None:
            try:
                SETTINGS[name].convert(value)
            except ValueError as error:
                yield f"{name}: {error}"


def _selected(document: Document, all_: Sequence[Document]) -> Iterator[str]:
    spec = document["spec"]
    selector = spec.get("podSelector", spec.get("selector"))
    pods = [pod for pod in _pods(all_) if _fits(pod["metadata"]["labels"], selector)]
    if not pods:
        yield f"selects no pod: {selector}"
    ports = {port["name"] for pod in pods for port in _ports(pod)}
    incoming = [port["port"] for rule in spec.get("ingress", ()) for port in rule["ports"]]
    for port in [*incoming, *(port["targetPort"] for port in spec.get("ports", ()))]:
        if port not in ports:
            yield f"no pod has the port {port}"


def _fits(labels: Mapping[str, str], selector: Document) -> bool:
    is_plain = not selector.keys() & {"matchLabels", "matchExpressions"}
    wanted = selector if is_plain else selector.get("matchLabels", {})
    some = [
        labels.get(rule["key"]) in rule["values"] for rule in selector.get("matchExpressions", ())
    ]
    return wanted.items() <= labels.items() and all(some)


def _pods(all_: Sequence[Document]) -> list[Document]:
    return [one["spec"]["template"] for one in all_ if "template" in one.get("spec", {})]


def _ports(pod: Document) -> list[Document]:
    return [port for box in pod["spec"]["containers"] for port in box.get("ports", ())]


def _pod(pod: Document, all_: Sequence[Document]) -> Iterator[str]:
    safe = {"automountServiceAccountToken": False, "enableServiceLinks": False}
    if not safe.items() <= pod.items() or not pod["securityContext"]["runAsNonRoot"]:
        yield "has a token, links of services, or root"
    if pod.get("terminationGracePeriodSeconds", 30) <= SETTINGS["WEFT_GRACE_S"].default:
        yield "is killed before weft has stopped"
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        yield from (f"{container['name']}: {text}" for text in _container(container, all_))


def _container(container: Document, all_: Sequence[Document]) -> Iterator[str]:
    least = container["securityContext"]
    if not least["readOnlyRootFilesystem"] or least["capabilities"]["drop"] != ["ALL"]:
        yield "may more than it needs"
    image = re.search(r"weft-([\w-]+)", container["image"])
    built = (IMAGES / "Containerfile").read_text()
    if image is None or f" AS {image[1]}\n" not in built:
        yield f"{container['image']} is no target of the Containerfile"
    for script in re.findall(r"/share/([\w.]+)", str(container)):
        if not (IMAGES / script).exists() or not re.search(rf"^COPY .*\b{script} ", built, re.M):
            yield f"{script} is not in the image"
    yield from _settings({one["name"]: _literal(one) for one in container.get("env", ())})
    yield from _references(container, all_)
    yield from _probes(container)


def _literal(variable: Document) -> str | None:
    value = variable.get("value")
    return None if value is None or "$(" in value else str(value)


def _references(container: Document, all_: Sequence[Document]) -> Iterator[str]:
    held = {
        (one["kind"], re.sub(r"-[a-z0-9]{10}$", "", one["metadata"]["name"])): one for one in all_
    }
    secrets = {name for kind, name in held if kind == "Secret"}
    for variable in container.get("env", ()):
        for source, wanted in variable.get("valueFrom", {}).items():
            kind = {"configMapKeyRef": "ConfigMap", "secretKeyRef": "Secret"}.get(source)
            if kind is None or (kind == "Secret" and not secrets):
                continue  # an overlay brings them
            name = re.sub(r"-[a-z0-9]{10}$", "", wanted["name"])
            if wanted["key"] not in held.get((kind, name), {}).get("data", {}):
                yield f"{kind} {name} has no {wanted['key']}"


def _probes(container: Document) -> Iterator[str]:
    variables = {one["name"]: one.get("value") for one in container.get("env", ())}
    ports = {port["name"]: port["containerPort"] for port in container.get("ports", ())}
    for kind in ("readinessProbe", "livenessProbe", "startupProbe"):
        asked = container.get(kind, {}).get("httpGet")
        if asked and route_rights().get(f"GET {asked['path']}", "none") is not None:
            yield f"{asked['path']} is no route that anybody may ask"
        if asked and str(ports.get(asked["port"])) != variables.get("WEFT_PORT"):
            yield f"the api does not listen on {asked['port']}"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:] or ["1.31"]))
