#!/usr/bin/env python3
"""pod_template_policy.py SERVER PKI OBJECTS: OBJECTS, a line each, are what the chart makes with
podTemplatePolicy. Makes the definition, the policy and its binding on a real apiserver, and sends it
jobs with templates that the policy must refuse, each with its words, and others that it must not."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "crds"))
from apiserver import Apiserver, install  # noqa: E402

JOBS = "/apis/pstrain.dev/v1alpha1/namespaces/default/pstrainingjobs"
ADMISSION = "/apis/admissionregistration.k8s.io/v1/"
PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}

# In place of a role: spec.template.
SHARED = "shared"

# Pod spec beside the container, fields of the container -> words of the refusal.
REFUSED = [
    ({"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}, {}, "hostPath"),
    ({"hostNetwork": True}, {}, "hostNetwork"),
    ({"hostPID": True}, {}, "hostPID"),
    ({"hostIPC": True}, {}, "hostIPC"),
    ({}, {"securityContext": {"privileged": True}}, "privileged"),
    ({"initContainers": [{"name": "i", "securityContext": {"privileged": True}}]}, {}, "privileged"),
    ({"serviceAccountName": "admin"}, {}, "serviceAccountName"),
    ({"serviceAccount": "admin"}, {}, "serviceAccountName"),
    # What cannot be judged is refused too.
    ({"volumes": "none"}, {}, ""),
]
ADMITTED = [
    ({}, {}),
    ({"volumes": [{"name": "v", "emptyDir": {}}], "hostNetwork": False}, {}),
    ({"serviceAccountName": "trainer"}, {"securityContext": {"privileged": False}}),
]


def job(role, pod, container):
    template = {"spec": {"containers": [{"name": "c", "image": "mine", **container}], **pod}}
    plain = {"spec": {"containers": [{"name": "c", "image": "mine"}]}}
    roles = {name: {"template": plain} for name in ("chief", "ps", "worker")}
    spec = {"replicaSpecs": roles}
    if role == SHARED:
        spec["template"] = template
    elif role is not None:
        roles[role] = {"template": template}
    return {
        "apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob",
        "metadata": {"name": "tried"}, "spec": spec,
    }


def check(holds, what):
    if not holds:
        sys.exit(what)


def main():
    apiserver = Apiserver(sys.argv[1], sys.argv[2])
    objects = [json.loads(line) for line in open(sys.argv[3], encoding="utf-8")]
    crd = next(one for one in objects if one["kind"] == "CustomResourceDefinition")
    install(crd, apiserver)
    for one in objects:
        if one["kind"] not in PLURALS:
            continue
        status, answer = apiserver.post(ADMISSION + PLURALS[one["kind"]], one,
                                        query="?fieldValidation=Strict")
        check(status == 201, f"{one['kind']} is refused: {answer.get('message')}")

    # The policy holds a moment after it was made.
    deadline = time.monotonic() + 60
    while apiserver.post(JOBS, job("ps", *REFUSED[0][:2]))[0] == 201:
        check(time.monotonic() < deadline, "the policy does not hold")
        time.sleep(0.2)

    places = ("chief", "ps", "worker", "evaluator", SHARED)
    for role in places:
        for pod, container, words in REFUSED:
            status, answer = apiserver.post(JOBS, job(role, pod, container))
            message = answer.get("message", "")
            check(status in (403, 422), f"admitted for {role}: {pod} {container}: {status}")
            check(words in message, f"{role} {pod} {container}: {message!r} does not say {words!r}")
            if words:
                check("ValidatingAdmissionPolicy" in message, f"somebody else refused: {message}")
        for pod, container in ADMITTED:
            status, answer = apiserver.post(JOBS, job(role, pod, container))
            check(status == 201, f"refused for {role}: {pod} {container}: {answer.get('message')}")
    without = job(None, {}, {})
    without["spec"]["replicaSpecs"]["worker"] = {"replicas": 2}
    without["spec"]["replicaSpecs"]["worker"]["template"] = {}
    status, answer = apiserver.post(JOBS, without)
    check("ValidatingAdmissionPolicy" not in answer.get("message", ""),
          f"a role without a pod template cannot be judged: {answer.get('message')}")
    print(f"{len(places) * len(REFUSED)} jobs refused, {len(places) * len(ADMITTED)} admitted")


if __name__ == "__main__":
    main()
