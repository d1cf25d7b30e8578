#!/usr/bin/env python3
"""pods_by_hand.py PSTRAIN MANIFEST JOB NAMESPACE IMAGE ROLE=COUNT...: the pods of a job as the
operator is to make them (one headless Service, a ConfigMap with the job, a pod for each replica), so
that image and training can be tried without it. Prints a List as JSON."""

import json
import subprocess
import sys

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}


def pod(job, namespace, image, role, index, tf_config):
    name = f"{job}-{role}-{index}"
    env = {
        "TF_CONFIG": tf_config,
        "PSTRAIN_JOB_NAME": job,
        "PSTRAIN_NAMESPACE": namespace,
        "PSTRAIN_REPLICA_TYPE": role,
        "PSTRAIN_REPLICA_INDEX": str(index),
        "PSTRAIN_ATTEMPT": "0",
        "PSTRAIN_RUN_ID": "by-hand",
        "PSTRAIN_GRACE_SECONDS": "30",
    }
    mounts = {"job": "/etc/pstrain", "data": "/data", "checkpoints": "/checkpoints", "tmp": "/tmp"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": job, "role": role}},
        "spec": {
            "hostname": name,
            "subdomain": job,
            "restartPolicy": "Never",
            "enableServiceLinks": False,
            "automountServiceAccountToken": False,
            "securityContext": {"runAsNonRoot": True, "runAsUser": 65532, "fsGroup": 65532,
                                "seccompProfile": {"type": "RuntimeDefault"}},
            "containers": [{
                "name": "training",
                "image": image,
                "imagePullPolicy": "Never",
                "env": [{"name": key, "value": value} for key, value in env.items()],
                "ports": [{"name": "training", "containerPort": 2222},
                          {"name": "metrics", "containerPort": 9464}],
                "readinessProbe": {"httpGet": {"path": "/readyz", "port": "metrics"},
                                   "periodSeconds": 1},
                "securityContext": RESTRICTED,
                "volumeMounts": [{"name": key, "mountPath": path} for key, path in mounts.items()],
            }],
            "volumes": [
                {"name": "job", "configMap": {"name": job}},
                {"name": "data", "configMap": {"name": "adult-data"}},
                {"name": "checkpoints", "persistentVolumeClaim": {"claimName": "adult-checkpoints"}},
                {"name": "tmp", "emptyDir": {}},
            ],
        },
    }


def main():
    pstrain, manifest, job, namespace, image, *roles = sys.argv[1:]
    with open(manifest, encoding="utf-8") as text:
        job_text = text.read()
    items = [
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": job},
         "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": job},
                  "ports": [{"name": "training", "port": 2222}]}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": job},
         "data": {"job.yaml": job_text}},
    ]
    for role, count in (word.split("=") for word in roles):
        for index in range(int(count)):
            tf_config = subprocess.run(
                [pstrain, "tf-config", manifest, "--role", role, "--index", str(index),
                 "--set", f"metadata.namespace={namespace}"],
                check=True, capture_output=True, text=True).stdout.strip()
            items.append(pod(job, namespace, image, role, index, tf_config))
    json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)


main()
