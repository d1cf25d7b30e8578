#!/usr/bin/env python3
"""chart.py ROOT HELM YAML_TO_JSON OPERATOR: renders helm/pstrain with several values and looks at it.

The chart is a copy without links into the tree, as a package would be.
"""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "tests" / "metrics"))
import document  # noqa: E402

ROOT, HELM, YAML_TO_JSON, OPERATOR = map(pathlib.Path, sys.argv[1:5])
NAMESPACE = "pstrain-system"
RUNBOOKS = "https://wiki/runbooks"
RULES = ("metrics.prometheusRule.enabled=true", f"metrics.prometheusRule.runbookBaseUrl={RUNBOOKS}")
MONITORS = ("monitoring.coreos.com/v1",)
# What is off by default.
POLICIES = ("networkPolicy.jobs.enabled=true", "networkPolicy.operator.enabled=true",
            "podTemplatePolicy.enabled=true", "metrics.authorization.enabled=true")

# What the operator may do, each line once: group, resource, verbs.
OPERATOR_RULES = {
    ("pstrain.dev", "pstrainingjobs"): {"get", "list", "watch", "delete"},
    ("pstrain.dev", "pstrainingjobs/status"): {"patch"},
    ("pstrain.dev", "pstrainingjobs/finalizers"): {"update"},
    ("", "pods"): {"get", "list", "watch", "create", "patch", "delete"},
    ("", "services"): {"get", "list", "watch", "create"},
    ("", "configmaps"): {"get", "list", "watch", "create", "delete"},
    ("", "persistentvolumeclaims"): {"get"},
    ("events.k8s.io", "events"): {"create", "patch"},
}
# What has no namespace, where the operator is not bound to one.
CLUSTER_RULES = OPERATOR_RULES | {("", "nodes"): {"get"}}

# --set of a bad value -> what the refusal names.
BAD_VALUES = {
    "replicaCount=-1": "replicaCount",
    "replicaCount=two": "replicaCount",
    "replicas=2": "replicas",
    "image.pullPolicy=Sometimes": "pullPolicy",
    "image.digest=latest": "digest",
    "image.repository=": "repository",
    "image.name=x": "name",
    "trainingImagePullPolicy=x": "trainingImagePullPolicy",
    "leaderElection.leaseDuration=15": "leaseDuration",
    "progressPeriod=often": "progressPeriod",
    "progressStatusPeriod=often": "progressStatusPeriod",
    "concurrentReconciles=0": "concurrentReconciles",
    "logLevel=loud": "logLevel",
    "extraArgs=--x": "extraArgs",
    "crds.keep=maybe": "keep",
    "rbac.create=1": "create",
    "serviceAccount.annotations=x": "annotations",
    "metrics.service.port=70000": "port",
    "metrics.serviceMonitor.interval=soon": "interval",
    "metrics.dashboards.label=": "label",
    "metrics.dashboards.namespace=1": "namespace",
    "metrics.dashboard.enabled=true": "dashboard",
    "metrics.podMonitor.enable=true": "enable",
    "metrics.podMonitor.drop={a b}": "drop",
    "metrics.prometheusRule.enable=true": "enable",
    "metrics.prometheusRule.window=5": "window",
    "metrics.prometheusRule.interval=often": "interval",
    "metrics.prometheusRule.runbookBaseUrl=docs/runbooks": "runbookBaseUrl",
    "metrics.prometheusRule.alertLabels.team=1": "team",
    "metrics.prometheusRule.alerts.Stalled.for=5m": "Stalled",
    "metrics.prometheusRule.alerts.PSTrainingJobStalled.for=long": "for",
    "metrics.prometheusRule.alerts.PSTrainingJobStalled.severity=loud": "severity",
    "metrics.prometheusRule.alerts.PSLoadImbalance.ratio=0.5": "ratio",
    "metrics.prometheusRule.alerts.PSLoadImbalance.busy=2": "busy",
    "metrics.prometheusRule.alerts.WorkerRestartStorm.restarts=0": "restarts",
    "metrics.prometheusRule.alerts.WorkerRestartStorm.window=0m": "window",
    "metrics.prometheusRule.alerts.ThroughputDrop.baseline=x": "baseline",
    "metrics.prometheusRule.alerts.CheckpointStale.intervals=0": "intervals",
    "metrics.prometheusRule.alerts.BackoffNearlyUsed.share=0": "share",
    "metrics.prometheusRule.alerts.PsMemoryGrowing.aheadSeconds=4h": "aheadSeconds",
    "metrics.prometheusRule.alerts.ApiThrottled.perSecond=0": "perSecond",
    "terminationGracePeriodSeconds=-1": "terminationGracePeriodSeconds",
    "networkPolicy.jobs.enabled=maybe": "enabled",
    "networkPolicy.scrapers=x": "scrapers",
    "podTemplatePolicy.serviceAccountNames=x": "serviceAccountNames",
    "metrics.authorization.enabled=1": "enabled",
    "peerIdentity.required=1": "required",
    "refuseOtherReleases=1": "refuseOtherReleases",
    "hostNetwork=maybe": "hostNetwork",
    "fullnameOverride=" + "x" * 41: "fullnameOverride",
}


def helm(*arguments):
    """(exit code, stdout, stderr)"""
    environment = dict(os.environ, HOME=WORK, KUBECONFIG=os.devnull)
    done = subprocess.run(
        [HELM, *arguments], capture_output=True, text=True, env=environment, check=False
    )
    return done.returncode, done.stdout, done.stderr


def template(*values, chart=None, apis=(), release="pstrain", more=()):
    arguments = ["template", release, chart or CHART, "--namespace", NAMESPACE, *more]
    for value in values:
        arguments += ["--set", value]
    for api in apis:
        arguments += ["--api-versions", api]
    return helm(*arguments)


def render(*values, **options):
    """The objects that Helm makes."""
    code, text, error = template(*values, **options)
    assert code == 0, error
    lines = subprocess.run(
        [YAML_TO_JSON], input=text, capture_output=True, text=True, check=False
    )
    assert lines.returncode == 0, lines.stderr
    return [json.loads(line) for line in lines.stdout.splitlines()]


def of_kind(objects, kind):
    return [item for item in objects if item["kind"] == kind]


def only(objects, kind):
    found = of_kind(objects, kind)
    assert len(found) == 1, f"{len(found)} of kind {kind}"
    return found[0]


def rules_of(role):
    rules = collections.defaultdict(set)
    for rule in role["rules"]:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                rules[group, resource] |= set(rule["verbs"])
    return rules


class Chart(unittest.TestCase):
    def test_lint_finds_nothing(self):
        code, text, error = helm("lint", "--strict", CHART)
        self.assertEqual(code, 0, text + error)
        self.assertNotIn("[WARNING]", text)

    def test_a_package_renders_the_same_each_time(self):
        code, text, error = helm("package", CHART, "--destination", WORK)
        self.assertEqual(code, 0, text + error)
        self.assertNotIn("symbolic link", text + error)
        package = next(pathlib.Path(WORK).glob("pstrain-*.tgz"))
        once = template()
        self.assertEqual(once, template())
        self.assertEqual(once[1], template(chart=package)[1])
        self.assertEqual(once[2], "", "Helm warns")

    def test_defaults_are_these_objects(self):
        kinds = collections.Counter(item["kind"] for item in render())
        self.assertEqual(
            kinds,
            {
                "CustomResourceDefinition": 1, "ServiceAccount": 1, "ClusterRole": 3,
                "ClusterRoleBinding": 1, "Role": 1, "RoleBinding": 1, "Deployment": 1,
                "Service": 1, "ConfigMap": 4,
            },
        )

    def test_the_definition_is_that_of_the_tree_and_stays(self):
        shown = only(render(), "CustomResourceDefinition")
        self.assertEqual(shown["metadata"]["annotations"], {"helm.sh/resource-policy": "keep"})
        tree = (ROOT / "crds" / "pstrain.dev_pstrainingjobs.yaml").read_text(encoding="utf-8")
        whole = subprocess.run(
            [YAML_TO_JSON], input=tree, capture_output=True, text=True, check=True
        ).stdout
        spec = json.loads(whole)["spec"]
        old = only(render(more=("--kube-version", "1.30.9")), "CustomResourceDefinition")
        self.assertEqual(old["spec"], spec)
        # Jobs are chosen by phase where the apiserver can do that.
        spec["versions"][0]["selectableFields"] = [{"jsonPath": ".status.phase"}]
        new = only(render(more=("--kube-version", "1.31.0")), "CustomResourceDefinition")
        self.assertEqual(new["spec"], spec)
        self.assertEqual(new["metadata"], shown["metadata"])
        leaves = only(render("crds.keep=false"), "CustomResourceDefinition")
        self.assertNotIn("annotations", leaves["metadata"])
        self.assertEqual(of_kind(render("crds.enabled=false"), "CustomResourceDefinition"), [])

    def test_every_object_has_the_recommended_labels(self):
        for release in ("pstrain", "a", "x" * 53):
            objects = render("replicaCount=2", "metrics.serviceMonitor.enabled=true",
                             "metrics.podMonitor.enabled=true",
                             *RULES, *POLICIES, apis=MONITORS, release=release)
            for item in objects:
                metadata = item["metadata"]
                labels = metadata["labels"]
                for name in ("name", "instance", "version", "component", "part-of", "managed-by"):
                    self.assertIn(f"app.kubernetes.io/{name}", labels, item["kind"])
                self.assertIn("helm.sh/chart", labels)
                self.assertLessEqual(len(metadata["name"]), 63)
            names = [(item["kind"], item["metadata"]["name"]) for item in objects]
            self.assertEqual(len(names), len(set(names)))

    def test_selectors_choose_the_operator_and_do_not_change_with_the_version(self):
        objects = render("replicaCount=2", "podLabels.team=a")
        pod_labels = only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
        self.assertEqual(pod_labels["team"], "a")
        for selector in (
            only(objects, "Deployment")["spec"]["selector"]["matchLabels"],
            only(objects, "Service")["spec"]["selector"],
            only(objects, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        ):
            self.assertLessEqual(selector.items(), pod_labels.items())
            self.assertFalse({"app.kubernetes.io/version", "helm.sh/chart"} & selector.keys())

    def test_roles_grant_what_is_used_and_no_more(self):
        objects = render()
        self.assertEqual(rules_of(of_kind(objects, "ClusterRole")[0]), CLUSTER_RULES)
        for role in of_kind(objects, "ClusterRole") + of_kind(objects, "Role"):
            for (group, resource), verbs in rules_of(role).items():
                self.assertNotIn("*", {group, resource} | verbs)
                self.assertNotIn(resource, {"secrets", "pods/exec"})
                self.assertFalse(verbs & {"escalate", "bind", "impersonate"})
        lease = only(objects, "Role")
        self.assertEqual(lease["metadata"]["namespace"], NAMESPACE)
        named = [rule for rule in lease["rules"] if "resourceNames" in rule]
        self.assertEqual([set(rule["verbs"]) for rule in named], [{"get", "update"}])
        self.assertEqual(set(rules_of(lease)), {("coordination.k8s.io", "leases")})

    def test_rights_for_policies_come_with_their_switches(self):
        def roles(*values):
            return {role["metadata"]["name"]: rules_of(role)
                    for role in of_kind(render(*values), "ClusterRole")}

        policies = ("networking.k8s.io", "networkpolicies")
        self.assertEqual(
            roles("networkPolicy.jobs.enabled=true")["pstrain"],
            CLUSTER_RULES | {policies: {"get", "list", "watch", "create", "delete"}})
        self.assertEqual(roles("networkPolicy.operator.enabled=true")["pstrain"], CLUSTER_RULES)
        self.assertNotIn("pstrain-metrics-auth", roles())
        objects = render("metrics.authorization.enabled=true", "watchNamespace=ml")
        auth = next(role for role in of_kind(objects, "ClusterRole")
                    if role["metadata"]["name"] == "pstrain-metrics-auth")
        self.assertEqual(rules_of(auth), {
            ("authentication.k8s.io", "tokenreviews"): {"create"},
            ("authorization.k8s.io", "subjectaccessreviews"): {"create"}})
        self.assertIn("--metrics-authorization", self.container(objects)["args"])
        self.assertNotIn("--metrics-authorization", self.container(render())["args"])

    def test_peer_identity_can_be_required_and_needs_no_right_of_its_own(self):
        objects = render("peerIdentity.required=true")
        self.assertIn("--require-peer-identity", self.container(objects)["args"])
        self.assertNotIn("--require-peer-identity", self.container(render())["args"])
        self.assertEqual(of_kind(objects, "ClusterRole"), of_kind(render(), "ClusterRole"))

    def test_network_policies_name_the_operator_and_the_scrapers(self):
        scraper = "networkPolicy.scrapers[0].podSelector.matchLabels.app=prom"
        self.assertEqual(of_kind(render(), "NetworkPolicy"), [])
        objects = render(*POLICIES, scraper)
        labels = only(objects, "Deployment")["spec"]["template"]["metadata"]["labels"]
        policy = only(objects, "NetworkPolicy")["spec"]
        self.assertLessEqual(policy["podSelector"]["matchLabels"].items(), labels.items())
        self.assertEqual(policy["policyTypes"], ["Ingress"])
        self.assertEqual(policy["ingress"], [
            {"from": [{"podSelector": {"matchLabels": {"app": "prom"}}}],
             "ports": [{"port": "metrics", "protocol": "TCP"}]}])
        # Without scrapers nobody reads; an empty `from` would be everybody.
        self.assertEqual(only(render(*POLICIES), "NetworkPolicy")["spec"]["ingress"], [])
        flag = "--job-network-policy-peers="
        peers = json.loads(next(argument for argument in self.container(objects)["args"]
                                if argument.startswith(flag))[len(flag):])
        self.assertEqual(peers[1:], [{"podSelector": {"matchLabels": {"app": "prom"}}}])
        self.assertLessEqual(peers[0]["podSelector"]["matchLabels"].items(), labels.items())
        self.assertEqual(peers[0]["namespaceSelector"],
                         {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}})

    def test_the_policy_on_pod_templates_needs_kubernetes_1_30(self):
        objects = render("podTemplatePolicy.enabled=true",
                         "podTemplatePolicy.serviceAccountNames={default,trainer}",
                         more=("--kube-version", "1.30.0"))
        policy = only(objects, "ValidatingAdmissionPolicy")
        binding = only(objects, "ValidatingAdmissionPolicyBinding")
        self.assertEqual(binding["spec"]["policyName"], policy["metadata"]["name"])
        self.assertEqual(binding["spec"]["validationActions"], ["Deny"])
        self.assertEqual(policy["spec"]["failurePolicy"], "Fail")
        self.assertIn('["default","trainer"]', json.dumps(policy["spec"]["validations"]).replace(
            '\\"', '"'))
        code, _, error = template("podTemplatePolicy.enabled=true",
                                  more=("--kube-version", "1.29.5"))
        self.assertNotEqual(code, 0)
        self.assertIn("podTemplatePolicy needs", error)

    def test_bindings_name_what_is_there(self):
        for values in ((), ("watchNamespace=ml",), ("serviceAccount.create=false",
                                                    "serviceAccount.name=mine")):
            objects = render(*values)
            accounts = {item["metadata"]["name"] for item in of_kind(objects, "ServiceAccount")}
            account = only(objects, "Deployment")["spec"]["template"]["spec"]["serviceAccountName"]
            self.assertIn(account, accounts | {"mine"})
            for kind in ("Role", "ClusterRole"):
                roles = {
                    (item["metadata"]["name"], item["metadata"].get("namespace"))
                    for item in of_kind(objects, kind)
                }
                for binding in of_kind(objects, kind + "Binding"):
                    reference = binding["roleRef"]
                    self.assertEqual(reference["kind"], kind)
                    self.assertIn(
                        (reference["name"], binding["metadata"].get("namespace")), roles
                    )
                    self.assertEqual(
                        binding["subjects"],
                        [{"kind": "ServiceAccount", "name": account, "namespace": NAMESPACE}],
                    )

    def test_one_namespace_needs_no_cluster_role_but_those_of_people(self):
        objects = render("watchNamespace=ml")
        aggregated = [item["metadata"]["labels"] for item in of_kind(objects, "ClusterRole")]
        for labels in aggregated:
            self.assertTrue(any(name.startswith("rbac.authorization.k8s.io/aggregate-to-")
                                for name in labels))
        self.assertEqual(of_kind(objects, "ClusterRoleBinding"), [])
        role = next(r for r in of_kind(objects, "Role") if r["metadata"]["namespace"] == "ml")
        self.assertEqual(rules_of(role), OPERATOR_RULES)
        self.assertIn("--namespace=ml", self.container(objects)["args"])
        self.assertEqual(of_kind(render("watchNamespace=ml", "rbac.aggregate=false"),
                                 "ClusterRole"), [])
        without = render("rbac.create=false")
        for kind in ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"):
            self.assertEqual(of_kind(without, kind), [])

    @staticmethod
    def container(objects):
        containers = only(objects, "Deployment")["spec"]["template"]["spec"]["containers"]
        assert len(containers) == 1
        return containers[0]

    def test_the_operator_is_restricted(self):
        objects = render()
        pod = only(objects, "Deployment")["spec"]["template"]["spec"]
        container = self.container(objects)
        self.assertTrue(pod["securityContext"]["runAsNonRoot"])
        self.assertGreater(pod["securityContext"]["runAsUser"], 0)
        self.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(
            container["securityContext"],
            {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
             "capabilities": {"drop": ["ALL"]}},
        )
        for name in ("hostNetwork", "hostPID", "hostIPC", "volumes", "initContainers"):
            self.assertNotIn(name, pod)
        self.assertNotIn("env", container)
        self.assertIn("memory", container["resources"]["limits"])

    def test_the_operator_knows_its_arguments(self):
        usage = subprocess.run(
            [OPERATOR, "--help"], capture_output=True, text=True, check=True
        ).stdout
        objects = render("replicaCount=2", "watchNamespace=ml", "trainingImagePullPolicy=Always",
                         *POLICIES)
        arguments = self.container(objects)["args"]
        self.assertIn("--leader-elect", arguments)
        for argument in arguments:
            flag = argument.split("=")[0]
            self.assertRegex(usage, re.escape(flag) + r"[^a-z-]")
        probes = [self.container(objects)[name]["httpGet"]["port"]
                  for name in ("livenessProbe", "readinessProbe")]
        ports = {port["name"]: port["containerPort"] for port in self.container(objects)["ports"]}
        self.assertEqual(probes, ["health", "health"])
        self.assertIn(f"--health-probe-bind-address=:{ports['health']}", arguments)
        self.assertIn(f"--metrics-bind-address=:{ports['metrics']}", arguments)

    def test_images_are_named_as_asked(self):
        self.assertEqual(self.container(render())["image"], "pstrain/operator:0.1.0")
        digest = "sha256:" + "a" * 64
        image = self.container(render("image.registry=r:5000", f"image.digest={digest}"))["image"]
        self.assertEqual(image, f"r:5000/pstrain/operator@{digest}")
        for values, training in (((), "pstrain/runtime:0.1.0"),
                                 (("image.registry=r:5000",), "r:5000/pstrain/runtime:0.1.0"),
                                 (("image.registry=r:5000", "trainingImage=mine:1"), "mine:1")):
            self.assertIn(f"--training-image={training}", self.container(render(*values))["args"])

    def test_the_nodes_network_is_not_used_unless_asked_and_with_no_policies(self):
        pod = only(render("hostNetwork=true"), "Deployment")["spec"]["template"]["spec"]
        self.assertEqual((pod["hostNetwork"], pod["dnsPolicy"]), (True, "ClusterFirstWithHostNet"))
        for policy in POLICIES[:2]:
            code, _, error = template("hostNetwork=true", policy)
            self.assertNotEqual(code, 0)
            self.assertIn("hostNetwork and networkPolicy cannot be used together", error)
            self.assertIn("set hostNetwork to false, or", error)

    def test_two_operators_have_a_disruption_budget(self):
        objects = render("replicaCount=2")
        self.assertEqual(only(objects, "Deployment")["spec"]["replicas"], 2)
        self.assertEqual(only(objects, "PodDisruptionBudget")["spec"]["minAvailable"], 1)
        self.assertEqual(
            of_kind(render("replicaCount=2", "podDisruptionBudget.enabled=false"),
                    "PodDisruptionBudget"), [])

    def test_monitors_find_the_operator_and_the_training_pods(self):
        objects = render(
            "metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true",
            "metrics.serviceMonitor.labels.release=prom", "watchNamespace=ml", apis=MONITORS)
        service = only(objects, "Service")
        monitor = only(objects, "ServiceMonitor")
        self.assertEqual(monitor["metadata"]["labels"]["release"], "prom")
        self.assertLessEqual(monitor["spec"]["selector"]["matchLabels"].items(),
                             service["metadata"]["labels"].items())
        self.assertEqual([end["port"] for end in monitor["spec"]["endpoints"]],
                         [port["name"] for port in service["spec"]["ports"]])
        pods = only(objects, "PodMonitor")["spec"]
        self.assertEqual(pods["namespaceSelector"], {"matchNames": ["ml"]})
        self.assertEqual(pods["selector"]["matchExpressions"][0]["key"], "pstrain.dev/job-name")
        names = (ROOT / "operator" / "job" / "well_known.h").read_text(encoding="utf-8")
        self.assertIn('"pstrain.dev/job-name"', names)

    def test_monitors_drop_families_that_exist(self):
        exported = {name for families in document.read(ROOT)[0].values() for name in families}
        objects = render("metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true",
                         apis=MONITORS)
        for kind, endpoints in (("ServiceMonitor", "endpoints"),
                                ("PodMonitor", "podMetricsEndpoints")):
            [relabeling] = only(objects, kind)["spec"][endpoints][0]["metricRelabelings"]
            self.assertEqual((relabeling["action"], relabeling["sourceLabels"]),
                             ("drop", ["__name__"]))
            self.assertLessEqual(set(relabeling["regex"].split("|")), exported)
        objects = render("metrics.serviceMonitor.enabled=true", "metrics.serviceMonitor.drop=null",
                         apis=MONITORS)
        self.assertNotIn("metricRelabelings", only(objects, "ServiceMonitor")["spec"]["endpoints"][0])

    def test_rules_are_off_and_need_the_definitions(self):
        self.assertEqual(of_kind(render(apis=MONITORS), "PrometheusRule"), [])
        rule = only(render(*RULES, "metrics.prometheusRule.labels.release=prom", apis=MONITORS),
                    "PrometheusRule")
        self.assertEqual(rule["metadata"]["labels"]["release"], "prom")
        code, _, error = template("metrics.prometheusRule.enabled=true")
        self.assertNotEqual(code, 0)
        self.assertIn("metrics.prometheusRule needs", error)
        self.assertIn("install them first or switch it off", error)

    def test_rules_need_to_know_where_runbooks_are(self):
        code, _, error = template(RULES[0], apis=MONITORS)
        self.assertNotEqual(code, 0)
        self.assertIn("metrics.prometheusRule.runbookBaseUrl is needed: each alert links to", error)

    def test_the_operator_down_alert_asks_for_this_release(self):
        objects = render(*RULES, "fullnameOverride=mine", apis=MONITORS)
        self.assertIn("--leader-election-id=mine", self.container(objects)["args"])
        [down] = [rule for group in only(objects, "PrometheusRule")["spec"]["groups"]
                  for rule in group["rules"] if rule.get("alert") == "PSTrainingOperatorDown"]
        self.assertIn('name="mine"', down["expr"])

    def test_monitors_that_cannot_be_are_refused(self):
        code, _, error = template("metrics.podMonitor.enabled=true")
        self.assertNotEqual(code, 0)
        self.assertIn("install them first or switch both off", error)
        code, _, error = template("metrics.serviceMonitor.enabled=true",
                                  "metrics.service.enabled=false", apis=MONITORS)
        self.assertNotEqual(code, 0)
        self.assertIn("metrics.service.enabled: true", error)

    def test_dashboards_are_those_of_the_tree(self):
        files = {path.name: path.read_text(encoding="utf-8")
                 for path in (ROOT / "helm" / "pstrain" / "dashboards").iterdir()}
        shown = of_kind(render("metrics.dashboards.labelValue=yes",
                               "metrics.dashboards.namespace=grafana",
                               "metrics.dashboards.annotations.grafana_folder=a",
                               f"{RULES[1]}/"), "ConfigMap")
        for config_map in shown:
            metadata = config_map["metadata"]
            self.assertEqual(metadata["labels"]["grafana_dashboard"], "yes")
            self.assertEqual(metadata["annotations"], {"grafana_folder": "a"})
            self.assertEqual(metadata["namespace"], "grafana")
            [(name, text)] = config_map["data"].items()
            self.assertIn(name.removeprefix("pstrain-").removesuffix(".json"), metadata["name"])
            self.assertEqual(json.loads(text),
                             json.loads(files.pop(name).replace("<runbookBaseUrl>", RUNBOOKS)))
        self.assertEqual(files, {})
        self.assertEqual(of_kind(render("metrics.dashboards.enabled=false"), "ConfigMap"), [])

    def test_dashboards_have_no_link_that_leads_nowhere(self):
        def panels(*values):
            return [panel for config_map in of_kind(render(*values), "ConfigMap")
                    for text in config_map["data"].values()
                    for panel in json.loads(text)["panels"]]

        with_links, without = panels(RULES[1]), panels()
        self.assertTrue(any("links" in panel for panel in with_links))
        for panel in with_links:
            panel.pop("links", None)
        self.assertEqual(without, with_links)

    def test_bad_values_are_refused_by_name(self):
        for value, name in BAD_VALUES.items():
            with self.subTest(value):
                code, _, error = template(value)
                self.assertNotEqual(code, 0)
                self.assertIn("values don't meet the specifications", error)
                self.assertIn(name, error)

    def test_an_old_cluster_is_refused(self):
        self.assertEqual(template(more=("--kube-version", "1.29.0"))[0], 0)
        code, _, error = template(more=("--kube-version", "1.28.9"))
        self.assertNotEqual(code, 0)
        self.assertIn("kubeVersion", error)

    def test_notes_say_what_comes_next(self):
        def notes(*values, **options):
            objects = render(*values, chart=pathlib.Path(WORK) / "notes", **options)
            return next(item["notes"] for item in objects if "notes" in item)

        shutil.copytree(CHART, pathlib.Path(WORK) / "notes")
        folder = pathlib.Path(WORK) / "notes"
        shutil.move(folder / "templates" / "NOTES.txt", folder / "files" / "NOTES.txt")
        (folder / "templates" / "notes.yaml").write_text(
            'kind: Notes\nnotes: {{ tpl (.Files.Get "files/NOTES.txt") . | toJson }}\n',
            encoding="utf-8")
        text = notes()
        for words in ("in all namespaces", "rollout status deployment/pstrain\n",
                      "kubectl get pstj", "podMonitor.enabled=true", "ConfigMaps pstrain-dashboard-*",
                      "kubectl delete crd pstrainingjobs.pstrain.dev"):
            self.assertIn(words, text)
        text = notes("watchNamespace=ml", "crds.keep=false", "metrics.podMonitor.enabled=true",
                     "metrics.dashboards.enabled=false", apis=MONITORS)
        self.assertIn("in namespace ml", text)
        for words in ("delete crd", "podMonitor.enabled=true", "dashboard"):
            self.assertNotIn(words, text)


with tempfile.TemporaryDirectory() as WORK:
    CHART = pathlib.Path(WORK) / "pstrain"
    shutil.copytree(ROOT / "helm" / "pstrain", CHART, symlinks=True)
    unittest.main(argv=[sys.argv[0]], verbosity=1)
