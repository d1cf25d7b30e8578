#!/usr/bin/env python3
"""model_names_detects.py ROOT: model_names.py accepts a clean tree and refuses each kind of
violation."""
from detects import Trees

SCHEMA = """message ModelSpec {
  oneof kind {
    // Says "TwoTowers old = 9;" in a comment.
    WideAndDeep wide_and_deep = 1;
    DeepFm deep_fm = 3 [(manifest_field) = {test_only: true}];
  }
}
message Tower {
  int32 width = 1;
}
"""
CLEAN = {
    "proto/job/psjob.proto": SCHEMA,
    "runtime/model/wide_and_deep.cc": "int w = spec.wide_and_deep().hidden_units(0);\n",
    "runtime/ps/a.cc": "// As WideAndDeep has it.\nconst char* s = \"two_towers\";\nint width = 1;\n"
                       "int my_wide_and_deep_one = 2; TwoTowers old;\n",
    "tests/runtime/ps/a_test.cc": "spec.mutable_wide_and_deep();\n",
}

trees = Trees("model_names.py")
trees.accepts(CLEAN)
for path, line in [
        ("runtime/ps/b.cc", "auto units = model.wide_and_deep().hidden_units();"),
        ("runtime/cluster/b.h", "if (model.has_deep_fm()) return;"),
        ("operator/plan/b.cc", "*spec.mutable_wide_and_deep() = {};"),
        ("cli/b.cc", "const DeepFm model;"),
        ("runtime/chief/b.cc", "case ModelSpec::kWideAndDeep:"),
        ("proto/job/b.cc", 'return "set model.wideAndDeep.hiddenUnits";'),
        ("runtime/stats/b.cc", 'Count("deep_fm");'),
]:
    trees.refuses(f"{path}:2:", {**CLEAN, path: "\n" + line + "\n"})
trees.refuses("0 names", {**CLEAN, "proto/job/psjob.proto": "message Other {\n}\n"})
trees.finish()
