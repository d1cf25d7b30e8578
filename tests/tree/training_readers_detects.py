#!/usr/bin/env python3
"""training_readers_detects.py ROOT: training_readers.py accepts a clean tree and refuses each kind
of violation."""
from detects import Trees

SCHEMA = """message JobSpec {
  Strategy strategy = 1;
  // Says "Training old = 9;" in a comment.
  Training training = 3;
}
message Training {
  int32 epochs = 1;
}
"""
CLEAN = {
    "proto/job/psjob.proto": SCHEMA,
    "runtime/model/training/training_jobs.cc": "int e(const Training& t) { return t.epochs(); }\n",
    "runtime/model/a.h": "Result<int> Create(const Training& training);\n",
    "runtime/chief/a.cc": "// Of spec.training.\nconst char* s = \"training()\";\nint training = 1;\n"
                          "bool ok = restraining(); TrainingJobs jobs;\n",
    "runtime/evaluator/a.cc": 'Fail("correct spec.training.evaluation.input");\n',
    "operator/plan/a.cc": "if (spec.has_training()) return;\n",
    "tests/runtime/ps/a_test.cc": "spec.mutable_training();\n",
}

trees = Trees("training_readers.py")
trees.accepts(CLEAN)
for path, line in [
        ("runtime/chief/b.cc", "auto epochs = job.spec().training().epochs();"),
        ("runtime/worker/b.h", "if (spec.has_training()) return;"),
        ("runtime/ps/b.cc", "*spec.mutable_training() = {};"),
        ("runtime/cluster/b.h", "const Training& t;"),
        ("runtime/evaluator/b.cc", "int Run(const Training& job);"),
        ("runtime/ps/b.cc", 'Fail("raise spec.training.peerTimeoutSeconds");'),
        ("library/b.cc", 'Fail("raise spec.training.peerTimeoutSeconds");'),
]:
    trees.refuses(f"{path}:2:", {**CLEAN, path: "\n" + line + "\n"})
trees.refuses("0 uses", {**CLEAN, "proto/job/psjob.proto": "message Other {\n}\n"})
trees.finish()
