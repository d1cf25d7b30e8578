#!/usr/bin/env python3
"""installed.py ROOT HELM: the chart beside what a cluster has already. Helm asks an apiserver that
has nothing but discovery, deployments and one definition, and answers that everything is allowed:
what is refused is refused before anything is written."""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT, HELM = map(pathlib.Path, sys.argv[1:3])
CHART = ROOT / "helm" / "pstrain"
CRD = "pstrainingjobs.pstrain.dev"
GROUPS = {
    "apps/v1": [("deployments", "Deployment", True)],
    "apiextensions.k8s.io/v1": [("customresourcedefinitions", "CustomResourceDefinition", False)],
    "rbac.authorization.k8s.io/v1": [
        ("roles", "Role", True), ("rolebindings", "RoleBinding", True),
        ("clusterroles", "ClusterRole", False),
        ("clusterrolebindings", "ClusterRoleBinding", False)],
}
CORE = [("services", "Service", True), ("configmaps", "ConfigMap", True),
        ("serviceaccounts", "ServiceAccount", True), ("secrets", "Secret", True)]


def resources(version, rows):
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
            "resources": [{"name": name, "singularName": "", "kind": kind, "namespaced": namespaced,
                           "verbs": ["get", "list", "create"]} for name, kind, namespaced in rows]}


def groups():
    listed = []
    for version in GROUPS:
        name, number = version.split("/")
        entry = {"groupVersion": version, "version": number}
        listed.append({"name": name, "versions": [entry], "preferredVersion": entry})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}


class Apiserver(http.server.BaseHTTPRequestHandler):
    """Of one test at a time: `deployments` and `definition` are what the cluster has."""

    deployments: list = []
    definition = None
    forbidden = False
    writes: list = []

    def answer(self, path):
        static = {"/version": {"major": "1", "minor": "35", "gitVersion": "v1.35.0"},
                  "/apis": groups(),
                  "/api": {"kind": "APIVersions", "versions": ["v1"]},
                  "/api/v1": resources("v1", CORE)}
        if path in static:
            return 200, static[path]
        if path.removeprefix("/apis/") in GROUPS:
            version = path.removeprefix("/apis/")
            return 200, resources(version, GROUPS[version])
        if path == "/apis/apps/v1/deployments":
            if self.forbidden:
                return 403, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403,
                             "reason": "Forbidden", "message": "deployments.apps is forbidden"}
            return 200, {"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": {},
                         "items": self.deployments}
        if path.endswith("/" + CRD) and self.definition is not None:
            return 200, self.definition
        return 404, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404,
                     "reason": "NotFound", "message": "not found: " + path}

    def do_GET(self):  # noqa: N802 (the library's name)
        code, body = self.answer(self.path.split("?")[0])
        self.send(code, body)

    def do_POST(self):  # noqa: N802
        self.writes.append(self.path)
        self.send(500, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500})

    do_PATCH = do_PUT = do_DELETE = do_POST  # noqa: N815

    def send(self, code, body):
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def operator(release, namespace, watched=""):
    arguments = ["--leader-elect"] + ([f"--namespace={watched}"] if watched else [])
    labels = {"app.kubernetes.io/instance": release, "app.kubernetes.io/part-of": "pstrain",
              "app.kubernetes.io/component": "operator"}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": release, "namespace": namespace, "labels": labels},
            "spec": {"template": {"spec": {"containers": [{"name": "operator",
                                                           "args": arguments}]}}}}


def definition(**annotations):
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": CRD, "annotations": annotations}}


def of_release(release, namespace):
    return definition(**{"meta.helm.sh/release-name": release,
                         "meta.helm.sh/release-namespace": namespace})


class Installed(unittest.TestCase):
    def helm(self, *values, deployments=(), crd=None, forbidden=False):
        """(exit code, stderr) of release pstrain in namespace pstrain-system."""
        Apiserver.deployments, Apiserver.definition = list(deployments), crd
        Apiserver.forbidden = forbidden
        Apiserver.writes.clear()
        arguments = [HELM, "template", "pstrain", CHART, "--namespace", "pstrain-system",
                     "--dry-run=server", "--kubeconfig", CONFIG]
        for value in values:
            arguments += ["--set", value]
        done = subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=60,
                              env=dict(os.environ, HOME=WORK))
        self.assertEqual(Apiserver.writes, [])
        return done.returncode, done.stderr

    def refused(self, words, *values, **cluster):
        code, error = self.helm(*values, **cluster)
        self.assertNotEqual(code, 0, words)
        for word in words:
            self.assertIn(word, error)

    def taken(self, *values, **cluster):
        code, error = self.helm(*values, **cluster)
        self.assertEqual(code, 0, error)

    def test_an_empty_cluster_takes_it(self):
        self.taken()

    def test_its_own_objects_are_no_obstacle(self):
        self.taken(deployments=[operator("pstrain", "pstrain-system")],
                   crd=of_release("pstrain", "pstrain-system"))

    def test_two_releases_may_not_manage_the_same_jobs(self):
        for ours, theirs in (("", ""), ("ml", ""), ("", "ml"), ("ml", "ml")):
            with self.subTest((ours, theirs)):
                said = f"namespace {theirs}" if theirs else "all namespaces"
                self.refused((f"release other in namespace there manages the jobs of {said} already",
                              "give each release a watchNamespace of its own"),
                             f"watchNamespace={ours}",
                             deployments=[operator("other", "there", theirs)])
        self.refused(("release pstrain in namespace there",),
                     deployments=[operator("pstrain", "there")])

    def test_releases_of_two_namespaces_may(self):
        self.taken("watchNamespace=ml", deployments=[operator("other", "there", "ads")])

    def test_other_deployments_are_none_of_its_business(self):
        stranger = operator("other", "there")
        stranger["metadata"]["labels"]["app.kubernetes.io/part-of"] = "grafana"
        unlabelled = operator("other", "there")
        del unlabelled["metadata"]["labels"]
        self.taken(deployments=[stranger, unlabelled])

    def test_the_check_can_be_left_out(self):
        self.taken("refuseOtherReleases=false", deployments=[operator("other", "there")])
        self.refused(("deployments.apps is forbidden", "refuseOtherReleases"), forbidden=True)
        self.taken("refuseOtherReleases=false", forbidden=True)

    def test_the_definition_of_another_release_is_not_taken_over(self):
        self.refused((f"the definition {CRD} belongs to release old in namespace there",
                      "crds.enabled=false",
                      "meta.helm.sh/release-name=pstrain meta.helm.sh/release-namespace=pstrain-system"),
                     crd=of_release("old", "there"))
        self.refused(("was not made by Helm",), crd=definition())
        self.taken("crds.enabled=false", crd=of_release("old", "there"))


with tempfile.TemporaryDirectory() as WORK:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Apiserver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    CONFIG = pathlib.Path(WORK) / "config"
    CONFIG.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c",
                      "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}), encoding="utf-8")
    unittest.main(argv=[sys.argv[0]], verbosity=1)
