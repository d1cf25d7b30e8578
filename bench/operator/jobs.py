"""Manifests of the jobs that the operator is measured with."""

import json

API = "/apis/pstrain.dev/v1alpha1"
COLUMNS = ["age", "city", "label"]
# What the agent of a chief that has trained all leaves behind: the operator believes no exit alone.
PROVEN = json.dumps({"values": dict.fromkeys(
    ("examples_expected", "examples_committed", "applied_min", "applied_max"), 8000)})


def job(name, workers, chief_annotations=None):
    """1 chief, 2 ps and the workers. Fake nodes run nothing of it, so the training is a formality:
    with it the operator replaces and asks for progress as it does for real ones."""
    chief = {"template": {"metadata": {"annotations": chief_annotations or {}}}}
    return {
        "apiVersion": "pstrain.dev/v1alpha1",
        "kind": "PSTrainingJob",
        "metadata": {"name": name},
        "spec": {
            "replicaSpecs": {"chief": chief, "ps": {"replicas": 2}, "worker": {"replicas": workers}},
            "training": {
                "model": {"wideAndDeep": {}},
                "features": [{"name": "age", "numeric": {}},
                             {"name": "city", "vocabulary": {"values": ["a", "b"]}}],
                "input": {"csv": {"files": ["/data/a.csv"], "columns": COLUMNS,
                                  "labelColumn": "label"}},
                "optimizer": {"sgd": {}},
                "batchSize": 8,
                "checkpoint": {"directory": "/c"},
            },
        },
    }


def bare_pods(pod, owner, count):
    """Bodies of pods like the one given, in bytes as in kind, that no operator feels bound to."""
    labels = pod["metadata"]["labels"]
    labels = labels | {"app.kubernetes.io/managed-by": labels["app.kubernetes.io/managed-by"][::-1]}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    for i in range(count):
        yield json.dumps({
            "apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": f"bare-worker-{i}", "labels": labels, "ownerReferences": [owner],
                         "annotations": pod["metadata"].get("annotations", {})},
        }).encode()
