"""The manifests of `deploy/kubernetes` are valid Kubernetes, and agree with the code, the image and each other.

No cluster is needed: a package has the schemas of Kubernetes' releases. Each check is also given manifests with one
mistake in them, and has to find it.
"""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from fastapi.routing import APIRoute
from typer.testing import CliRunner

from app import __version__, cli
from app.api import health
from app.errors.machine import SettingNotValid
from app.settings import Settings

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "deploy" / "kubernetes"
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.yaml"))}
DOCUMENT = (ROOT / "docs" / "kubernetes.md").read_text(encoding="utf-8")
RELEASES = ("1.31", "1.37")
"""Of Kubernetes: one that clouds still run, and the newest that has schemas."""
SECRET_FROM = re.compile(r"kubectl --namespace rackplan create secret generic (\S+) --from-literal=(\S+?)=")
Manifests = list[dict[str, Any]]
Check = Callable[[dict[str, str]], Iterator[str]]


def manifests(texts: dict[str, str]) -> Manifests:
    """Every resource but the kustomization."""
    names = [name for name in texts if name != "kustomization.yaml"]
    return [resource for name in names for resource in yaml.safe_load_all(texts[name])]


def containers(texts: dict[str, str]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The containers of deployments, each with the specification of its pod."""
    for resource in manifests(texts):
        pod = resource.get("spec", {}).get("template", {}).get("spec", {})
        for container in [*pod.get("initContainers", []), *pod.get("containers", [])]:
            yield pod, container


def schemas(texts: dict[str, str]) -> Iterator[str]:
    """Each resource is valid in each release, without a field that Kubernetes does not know."""
    for resource in manifests(texts):
        for release in RELEASES:
            try:
                kubernetes_validate.validate(resource, release, strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as failure:
                yield f"{resource['kind']} {resource['metadata']['name']}: {failure.message}"


def listed(texts: dict[str, str]) -> Iterator[str]:
    """The kustomization lists every file."""
    files = set(yaml.safe_load(texts["kustomization.yaml"])["resources"])
    yield from (f"{name} is not listed" for name in texts.keys() - files - {"kustomization.yaml"})
    yield from (f"{name} is no file" for name in files - texts.keys())


def settings(texts: dict[str, str]) -> Iterator[str]:
    """Every RACKPLAN_ variable is a setting with a value that is allowed; the database's URL is of the secret."""
    maps = {each["metadata"]["name"]: each["data"] for each in manifests(texts) if each["kind"] == "ConfigMap"}
    known = [{"name": name, "key": key} for name, key in SECRET_FROM.findall(DOCUMENT)]
    for _, container in containers(texts):
        variables = {
            key: value
            for source in container["envFrom"]
            for key, value in maps.get(source["configMapRef"]["name"], {"RACKPLAN_": ""}).items()
        }
        try:
            Settings.model_validate({key[9:].lower(): value for key, value in variables.items()})
        except SettingNotValid as refused:
            yield f"{container['name']}: {refused}"
        secrets = {each["name"]: each["valueFrom"].get("secretKeyRef") for each in container["env"]}
        if secrets["RACKPLAN_DATABASE_URL"] not in known:
            yield f"{container['name']}: {secrets}"


def commands(texts: dict[str, str]) -> Iterator[str]:
    """Every command exists and takes its options."""
    written = [container["command"] for _, container in containers(texts)]
    written += [line.split() for line in re.findall(r"-- (rackplan .*)$", DOCUMENT, re.MULTILINE)]
    for argv in written:
        # A wrong name is refused before --help is answered, and --help keeps a right one from being run.
        outcome = CliRunner().invoke(cli.app, [*argv[1:], "--help"])
        yield from [f"{argv}: {outcome.output}"] if argv[0] != "rackplan" or outcome.exit_code else []


def ports(texts: dict[str, str]) -> Iterator[str]:
    """The API listens where its service, its probes and its policy look for it, and has the paths of its probes."""
    maps = {each["metadata"]["name"]: each["data"] for each in manifests(texts) if each["kind"] == "ConfigMap"}
    named = {port["name"]: port["containerPort"] for _, each in containers(texts) for port in each.get("ports", [])}
    asked: list[object] = [
        rule["port"]
        for each in manifests(texts)
        if each["kind"] == "NetworkPolicy"
        for way in each["spec"].get("ingress", [])
        for rule in way["ports"]
    ]
    asked += [
        named.get(port["targetPort"])
        for each in manifests(texts)
        if each["kind"] == "Service"
        for port in each["spec"]["ports"]
    ]
    probes = [
        probe["httpGet"] for _, each in containers(texts) for name, probe in each.items() if name.endswith("Probe")
    ]
    asked += [named.get(probe["port"]) for probe in probes]
    yield from (f"{port} is asked" for port in asked if str(port) != maps["rackplan"]["RACKPLAN_PORT"])
    yield from (f"there is no {path}" for path in {probe["path"] for probe in probes} - PATHS)
    yield from [] if len(probes) == 3 else [f"{len(probes)} probes"]


def labels(texts: dict[str, str]) -> Iterator[str]:
    """Selectors select the pods of one deployment, or of all."""
    pods = [each["spec"]["template"]["metadata"]["labels"] for each in manifests(texts) if each["kind"] == "Deployment"]
    for resource in manifests(texts):
        specification = resource.get("spec", {})
        selector = specification.get("selector") or specification.get("podSelector")
        if selector is not None:
            wanted = selector.get("matchLabels", selector).items()
            selected = [pod for pod in pods if wanted <= pod.items()]
            if len(selected) != (len(pods) if len(wanted) == 1 else 1):
                yield f"{resource['kind']} {resource['metadata']['name']} selects {selected}"


def confined(texts: dict[str, str]) -> Iterator[str]:
    """Nothing runs as root or can become it, writes outside of volumes, has a token, or has no limit of memory."""
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    account = re.search(r"^USER (\d+):(\d+)$", dockerfile, re.MULTILINE)
    assert account is not None
    accounts = [each for each in manifests(texts) if each["kind"] == "ServiceAccount"]
    for pod, container in containers(texts):
        which, context = container["name"], container["securityContext"]
        if [str(pod["securityContext"].get(key)) for key in ("runAsUser", "runAsGroup")] != [*account.groups()]:
            yield f"{which} does not run as the account of the image"
        if not pod["securityContext"].get("runAsNonRoot") or "seccompProfile" not in pod["securityContext"]:
            yield f"{which} may run as root"
        if context != {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }:
            yield f"{which} has more rights than it needs"
        if pod.get("automountServiceAccountToken") is not False or pod["serviceAccountName"] not in {
            each["metadata"]["name"] for each in accounts
        }:
            yield f"{which} has a token"
        if "memory" not in container["resources"].get("limits", {}) or "cpu" not in container["resources"].get(
            "requests", {}
        ):
            yield f"{which} has no limits"
        volumes = {volume["name"] for volume in pod["volumes"]}
        mounted = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
        if not mounted.keys() <= volumes or {"/tmp", "/var/cache/rackplan"} != {*mounted.values()}:  # noqa: S108
            yield f"{which} writes to {mounted}"
    yield from (f"{each['metadata']['name']} has a token" for each in accounts if each["automountServiceAccountToken"])


def images(texts: dict[str, str]) -> Iterator[str]:
    """Images are of this version, as the document builds them; there is no secret in the files."""
    for _, container in containers(texts):
        name, _, tag = container["image"].partition(":")
        if tag != __version__ or f"--tag {name} ." not in DOCUMENT or f"name: {name}, newName" not in DOCUMENT:
            yield f"{container['image']} is not an image of this version"
    yield from (f"{each['metadata']['name']} is written down" for each in manifests(texts) if each["kind"] == "Secret")


PATHS = {route.path for route in health.router.routes if isinstance(route, APIRoute)}
MISTAKES: list[tuple[Check, str, str]] = [
    (schemas, "terminationGracePeriodSeconds", "terminationGraceSeconds"),
    (schemas, "maxUnavailable: 1", "maxUnavailable: [1]"),
    (schemas, "apiVersion: policy/v1", "apiVersion: policy/v1beta1"),
    (listed, "  - network.yaml\n", ""),
    (listed, "  - api.yaml", "  - apis.yaml"),
    (settings, "RACKPLAN_HOST", "RACKPLAN_HOSTS"),
    (settings, "RACKPLAN_LOG_FORMAT: json", "RACKPLAN_LOG_FORMAT: yaml"),
    (settings, "configMapRef: {name: rackplan}", "configMapRef: {name: settings}"),
    (settings, "key: database-url", "key: url"),
    (commands, "[rackplan, serve, --no-worker]", "[rackplan, serve, --without-worker]"),
    (commands, "[rackplan, worker]", "[rackplan, workers]"),
    (ports, "containerPort: 8080", "containerPort: 8000"),
    (ports, "targetPort: http", "targetPort: https"),
    (ports, "ports: [{protocol: TCP, port: 8080}]", "ports: [{protocol: TCP, port: 80}]"),
    (ports, "path: /readyz", "path: /ready"),
    (
        labels,
        "selector: {app.kubernetes.io/name: rackplan, app.kubernetes.io/component: api}",
        "selector: {app.kubernetes.io/component: apis}",
    ),
    (
        labels,
        "podSelector: {matchLabels: {app.kubernetes.io/name: rackplan}}",
        "podSelector: {matchLabels: {app.kubernetes.io/name: rackplans}}",
    ),
    (confined, "runAsUser: 10001", "runAsUser: 1000"),
    (confined, "runAsNonRoot: true", "runAsNonRoot: false"),
    (confined, "drop: [ALL]", "drop: [CHOWN]"),
    (confined, "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"),
    (confined, "      automountServiceAccountToken: false\n", ""),
    (confined, "limits: {memory: 6Gi}", "limits: {cpu: 2}"),
    (confined, "- {name: cache, mountPath: /var/cache/rackplan}", "- {name: cache, mountPath: /var/cache}"),
    (images, "image: rackplan:", "image: rackplan-api:"),
    (images, f"rackplan-worker:{__version__}", "rackplan-worker:latest"),
    (images, "kind: ConfigMap", "kind: Secret"),
]


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _, _ in MISTAKES))
def test_the_manifests_agree_with_the_code(check: Check) -> None:
    assert list(check(TEXTS)) == []


@pytest.mark.long
@pytest.mark.parametrize(("check", "right", "wrong"), MISTAKES)
def test_a_mistake_is_found(check: Check, right: str, wrong: str) -> None:
    """A check that finds nothing in broken manifests would find nothing anywhere."""
    assert any(right in text for text in TEXTS.values())
    assert list(check({name: text.replace(right, wrong) for name, text in TEXTS.items()}))
