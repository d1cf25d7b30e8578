"""Updates of a job that has started: a real apiserver refuses each change of a fixed field, at its
path and in the words of the runtime, and takes all others (crds/transition_rules.h)."""

import copy
import json


def _first_file(spec):
    spec["training"]["input"]["tfRecord"]["files"][0] = "/data/other.tfrecord.gz"


def _label_map(spec):
    spec["training"]["input"]["tfRecord"]["labelMap"]["yes"] = 0.5


def _other_input(spec):
    spec["training"]["input"] = {"csv": {"files": ["/x"], "header": True, "labelColumn": "y"}}


def _no_training(spec):
    del spec["training"]
    del spec["replicaSpecs"]["evaluator"]


BUCKETISED = {"name": "ages", "column": "age",
              "numeric": {"transform": {"bucketize": {"boundaries": [18, 30.5]}}}}


def _bucketised(spec):
    return next(f for f in spec["training"]["features"] if f["name"] == BUCKETISED["name"])


def _boundaries(spec):
    return _bucketised(spec)["numeric"]["transform"]["bucketize"]["boundaries"]


# Path of a fixed field -> changes of it.
REFUSED = {
    "spec.strategy.shards": [lambda spec: spec["strategy"].update(shards=8)],
    "spec.strategy.variablePartitioner": [
        lambda spec: spec["strategy"].update(variablePartitioner={"fixedShards": {"numShards": 3}}),
        lambda spec: spec["strategy"]["variablePartitioner"]["minSize"].update(maxShards=2),
    ],
    "spec.training.model": [
        lambda spec: spec["training"]["model"]["wideAndDeep"].update(hiddenUnits=[4]),
        lambda spec: spec["training"].update(model={"deepFm": {}},
                                             features=[{"name": "job", "hashed": {"buckets": 10},
                                                        "embeddingDimension": 4}]),
        _no_training,
    ],
    "spec.training.features": [
        lambda spec: spec["training"]["features"][0].update(wide=False),
        lambda spec: spec["training"]["features"].pop(),
        lambda spec: spec["training"]["features"][1]["hashed"].update(buckets=11),
        lambda spec: spec["training"]["features"].reverse(),
        lambda spec: _bucketised(spec).update(wide=False),
        lambda spec: _bucketised(spec).update(column="years"),
        lambda spec: _bucketised(spec)["numeric"].update(defaultValue=1.5),
        lambda spec: _bucketised(spec).update(numeric={"transform": {"log": {}}}),
        lambda spec: _boundaries(spec).pop(),
        lambda spec: _boundaries(spec).__setitem__(0, 20),
        lambda spec: _boundaries(spec).__setitem__(1, 31),
    ],
    "spec.training.input": [_first_file, _label_map, _other_input],
    "spec.training.optimizer": [
        lambda spec: spec["training"]["optimizer"]["sgd"].update(learningRate=0.5),
        lambda spec: spec["training"].update(optimizer={"adagrad": {}}),
    ],
    "spec.training.batchSize": [lambda spec: spec["training"].update(batchSize=9)],
    "spec.training.blockSize": [lambda spec: spec["training"].update(blockSize=100)],
    "spec.training.checkpoint.directory": [
        lambda spec: spec["training"]["checkpoint"].update(directory="/elsewhere"),
    ],
    "spec.training.seed": [lambda spec: spec["training"].update(seed=5)],
}
# Of a job with spec.program in place of spec.training.
PROGRAM_REFUSED = {
    "spec.program.checkpoint.directory": [
        lambda spec: spec["program"]["checkpoint"].update(directory="/elsewhere"),
        lambda spec: spec.pop("program"),
    ],
}
# Of a job with lists that the apiserver has as sets, which are equal to it in any order.
PERMUTED = {
    "spec.training.features": [
        lambda spec: spec["training"]["features"][1]["vocabulary"]["values"].reverse(),
        lambda spec: spec["training"]["features"][3]["crossed"]["features"].reverse(),
        lambda spec: spec["training"]["features"].reverse(),
    ],
    "spec.training.input": [
        lambda spec: spec["training"]["input"]["csv"]["columns"].reverse(),
        lambda spec: spec["training"]["input"]["csv"]["files"].reverse(),
    ],
    "spec.training.model": [
        lambda spec: spec["training"]["model"]["wideAndDeep"].update(hiddenUnits=[16, 32]),
    ],
}
ACCEPTED = {
    "epochs": lambda spec: spec["training"].update(epochs=7),
    "badRecords": lambda spec: spec["training"]["input"]["tfRecord"].update(badRecords="Fail"),
    "ps": lambda spec: spec["replicaSpecs"]["ps"].update(replicas=1),
    "worker": lambda spec: spec["replicaSpecs"]["worker"].update(
        replicas=2, template={"spec": {"containers": [{"name": "training", "image": "x"}]}}),
    "checkpoint": lambda spec: spec["training"]["checkpoint"].update(everySeconds=5, keep=4),
    "evaluation": lambda spec: spec["training"]["evaluation"]["input"]["tfRecord"].update(
        files=["/data/c.tfrecord"]),
    "suspend": lambda spec: spec["runPolicy"].update(suspend=True),
}


def _encrypt(spec):
    spec["security"] = {"tls": {"secretName": "certificates"}}


def _suspend(spec):
    spec["runPolicy"]["suspend"] = True


def _created(apiserver, path, body, name):
    """(that job as it was made, None), or (None, what the apiserver says)."""
    body = copy.deepcopy(body)
    body["metadata"]["name"] = name
    status, job = apiserver.post(path, body, query="")
    return (job, None) if status == 201 else (None, job.get("message"))


def _put(apiserver, path, job):
    return apiserver.call(path, json.dumps(job).encode(), method="PUT")


def check_security_updates(apiserver, path, body):
    """Encryption changes only where the job has no pods yet, or is suspended by the same update or
    before it. What is wrong, as a list of texts. `body`: a job."""
    job, refusal = _created(apiserver, path, body, "encrypted")
    if job is None:
        return [f"security: the job is refused: {refusal}"]
    one = f"{path}/encrypted"
    wrong = []

    def expect(what, changes, wanted):
        changed = copy.deepcopy(job)
        for change in changes:
            change(changed["spec"])
        status, answer = _put(apiserver, f"{one}?dryRun=All", changed)
        said = wanted == 200 or "resume the job" in answer.get("message", "")
        if status != wanted or not said:
            wrong.append(f"security: {what}: {status} {answer.get('message', 'accepted')}")

    expect("without a status", [_encrypt], 200)
    job["status"] = {"phase": "Running"}
    _, job = _put(apiserver, f"{one}/status", job)
    expect("of a running job", [_encrypt], 422)
    expect("with its suspension", [_encrypt, _suspend], 200)
    _suspend(job["spec"])
    _, job = _put(apiserver, one, job)
    expect("of a suspended job", [_encrypt], 200)
    expect("with its resumption", [_encrypt, lambda spec: spec["runPolicy"].update(suspend=False)],
           200)
    return wrong


OWN_PROGRAM = {"apiVersion": "pstrain.dev/v1alpha1", "kind": "PSTrainingJob",
               "metadata": {"name": "own"},
               "spec": {"replicaSpecs": {"ps": {"replicas": 1}, "worker": {"replicas": 2}}}}


def check_policy_updates(apiserver, path):
    """managedBy never changes, and successPolicy only where no pods may run. What is wrong, as a list
    of texts."""
    wrong = []

    def expect(what, job, change, wanted, words):
        changed = copy.deepcopy(job)
        change(changed["spec"])
        name = job["metadata"]["name"]
        status, answer = _put(apiserver, f"{path}/{name}?dryRun=All", changed)
        if status != wanted or (wanted != 200 and words not in answer.get("message", "")):
            wrong.append(f"policies: {what}: {status} {answer.get('message', 'accepted')}")

    plain, refusal = _created(apiserver, path, OWN_PROGRAM, "plain")
    managed = copy.deepcopy(OWN_PROGRAM)
    managed["spec"]["managedBy"] = "example.com/other"
    managed, refusal_of_managed = _created(apiserver, path, managed, "managed")
    if plain is None or managed is None:
        return [f"policies: a job is refused: {refusal} {refusal_of_managed}"]
    never = "make a new one"
    expect("managedBy is set", plain, lambda spec: spec.update(managedBy="example.com/a"), 422, never)
    expect("managedBy changes", managed, lambda spec: spec.update(managedBy="example.com/a"), 422,
           never)
    expect("managedBy goes", managed, lambda spec: spec.pop("managedBy"), 422, never)
    expect("nothing changes", managed, lambda spec: None, 200, "")

    def all_workers(spec):
        spec.update(successPolicy="AllWorkers")
        spec["replicaSpecs"]["chief"]["replicas"] = 0

    expect("successPolicy before the start", plain, all_workers, 200, "")
    plain["status"] = {"phase": "Running"}
    _, plain = _put(apiserver, f"{path}/plain/status", plain)
    expect("successPolicy of a running job", plain, all_workers, 422, "resume the job")
    return wrong


def check_status_updates(apiserver, path, bodies):
    """The status of a job that has started can be written, whatever its spec has. `bodies`: jobs by
    name; a list of texts."""
    wrong = []
    for name, body in bodies:
        job, refusal = _created(apiserver, path(body), body, "status")
        if job is None:
            wrong.append(f"status: {name} is refused: {refusal}")
            continue
        one = f"{path(body)}/status"
        for committed in (0, 1):
            job["status"] = {"training": {"examplesExpected": 9, "examplesCommitted": committed}}
            status, answer = _put(apiserver, f"{one}/status", job)
            if status != 200:
                wrong.append(f"status: {name}: {status} {answer.get('message')}")
                break
            job = answer
        apiserver.call(one, method="DELETE")
    return wrong


class _Started:
    """A job of that name, which starts when it is told to."""

    def __init__(self, apiserver, path, body, name):
        self.apiserver, self.path = apiserver, f"{path}/{name}"
        self.job, self.refusal = _created(apiserver, path, body, name)

    def update(self, change):
        changed = copy.deepcopy(self.job)
        change(changed["spec"])
        return _put(self.apiserver, f"{self.path}?dryRun=All", changed)

    def start(self):
        """What is wrong with that, as a list of texts."""
        self.job["status"] = {"training": {"examplesExpected": 100}}
        status, self.job = _put(self.apiserver, f"{self.path}/status", self.job)
        return [] if status == 200 else [f"the status is refused: {self.job.get('message')}"]

    def accepts(self, changes, what):
        """Those that are refused. `changes`: pairs of a name and a change."""
        wrong = []
        for name, change in changes:
            status, answer = self.update(change)
            if status != 200:
                wrong.append(f"{name}, {what}: {status} {answer.get('message')}")
        return wrong

    def refuses(self, changes, fixed):
        """Those that are not refused at the path of their field and in its words."""
        wrong = []
        for field, change in changes:
            status, answer = self.update(change)
            causes = answer.get("details", {}).get("causes", [])
            words = fixed.get(field, "")
            said = any(c.get("field") == field and words in c.get("message", "") for c in causes)
            if status != 422 or not said:
                wrong.append(f"{field}: {status} {answer.get('message', 'accepted')}")
        return wrong


def _check_started(job, refused, accepted, fixed):
    if job.job is None:
        return [f"the job is refused: {job.refusal}"]
    everything = [(field, change) for field, changes in refused.items() for change in changes]
    wrong = job.accepts(everything, "before the start")
    not_started = job.start()
    if not_started:
        return wrong + not_started
    same = [("what changes nothing", lambda spec: None)]
    return (wrong + job.accepts(same + accepted, "after the start") +
            job.refuses(everything, fixed))


def _of_program(body):
    """The same job with a program of its own."""
    body = copy.deepcopy(body)
    spec = body["spec"]
    del spec["training"]
    spec["program"] = {"checkpoint": {"directory": "/checkpoints"}}
    spec["replicaSpecs"].pop("evaluator", None)
    spec.get("strategy", {}).pop("variablePartitioner", None)
    return body


def check_updates(apiserver, path, body, fixed):
    """What is wrong, as a list of texts. `body`: a job; `fixed`: messages by path."""
    wrong = [f"{field} has no case" for field in fixed if field not in REFUSED | PROGRAM_REFUSED]
    wrong += _check_started(_Started(apiserver, path, _of_program(body), "program"),
                            PROGRAM_REFUSED, [], fixed)
    body = copy.deepcopy(body)
    body["spec"]["training"]["features"].append(copy.deepcopy(BUCKETISED))
    wrong += _check_started(_Started(apiserver, path, body, "updated"), REFUSED,
                            list(ACCEPTED.items()), fixed)
    return [f"updates: {text}" for text in wrong]


def check_order(apiserver, path, body, fixed):
    """The order of lists is fixed too. `body`: a job with a vocabulary, crossed features and
    columns."""
    body = copy.deepcopy(body)
    training = body["spec"]["training"]
    training["input"]["csv"]["files"] = ["/data/a.csv", "/data/b.csv"]
    training["model"]["wideAndDeep"]["hiddenUnits"] = [32, 16]
    job = _Started(apiserver, path, body, "ordered")
    return [f"order: {text}" for text in _check_started(job, PERMUTED, [], fixed)]
