"""The Kubernetes manifests match their schemas and each other."""

from typing import Any

import kubernetes_validate
import pytest
import yaml

from benchmarks.app_server import ROOT

MANIFESTS: list[dict[str, Any]] = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8")))
BY_KIND = {manifest["kind"]: manifest for manifest in MANIFESTS}
POD = BY_KIND["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
# Most clusters do not run the newest version, so the two versions before it, which still get security fixes, are checked too.
NEWEST = int(kubernetes_validate.latest_version().split(".")[1])
VERSIONS = [f"1.{minor}.0" for minor in (NEWEST - 2, NEWEST - 1, NEWEST)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("manifest", MANIFESTS, ids=lambda manifest: manifest["kind"])
def test_a_manifest_matches_its_schema(manifest: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_an_unknown_field_would_be_noticed() -> None:
    wrong = BY_KIND["Service"] | {"spec": BY_KIND["Service"]["spec"] | {"selectors": {}}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_all_manifests_refer_to_the_same_replicas() -> None:
    labels = BY_KIND["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert BY_KIND["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert BY_KIND["Service"]["spec"]["selector"] == labels
    assert BY_KIND["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert BY_KIND["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == BY_KIND["Deployment"]["metadata"]["name"]
    (rule,) = BY_KIND["Ingress"]["spec"]["rules"]
    assert rule["http"]["paths"][0]["backend"]["service"]["name"] == BY_KIND["Service"]["metadata"]["name"]
    (hosts,) = [item["value"] for item in CONTAINER["env"] if item["name"] == "STREAMLIT_SERVER_ALLOWED_HOSTS"]
    assert rule["host"] == hosts


def test_every_probe_asks_for_the_health_of_a_replica() -> None:
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert CONTAINER[probe]["httpGet"] == {"path": "/_stcore/health", "port": "http"}


def test_a_replica_is_limited_and_not_root() -> None:
    assert {"cpu", "memory"} <= CONTAINER["resources"]["limits"].keys()
    assert {"cpu", "memory"} <= CONTAINER["resources"]["requests"].keys()
    assert POD["securityContext"]["runAsNonRoot"]
    assert CONTAINER["securityContext"]["readOnlyRootFilesystem"]
    assert CONTAINER["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    containerfile = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    assert f"\nUSER {POD['securityContext']['runAsUser']}\n" in containerfile


def test_a_visitor_is_kept_on_a_replica_by_a_cookie() -> None:
    ingress, service = (BY_KIND[kind]["metadata"]["annotations"] for kind in ("Ingress", "Service"))
    assert ingress["nginx.ingress.kubernetes.io/affinity"] == "cookie"
    assert service["traefik.ingress.kubernetes.io/service.sticky.cookie"] == "true"


def test_at_least_one_replica_always_runs_and_their_number_grows_with_the_load() -> None:
    scaler = BY_KIND["HorizontalPodAutoscaler"]["spec"]
    assert 1 <= BY_KIND["PodDisruptionBudget"]["spec"]["minAvailable"] < scaler["minReplicas"] < scaler["maxReplicas"]
    assert BY_KIND["Deployment"]["spec"]["replicas"] == scaler["minReplicas"]
    assert scaler["metrics"][0]["resource"]["name"] == "cpu"
