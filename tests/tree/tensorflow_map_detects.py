#!/usr/bin/env python3
"""tensorflow_map_detects.py ROOT: tensorflow_map.py accepts a clean tree and refuses each kind of
violation."""
from detects import Trees

MAP = "docs/tensorflow-map.md"
HEAD = "| state | meaning |\n|---|---|\n\n| TensorFlow | state | ours | tests |\n|---|---|---|---|\n"
PINNED = "| tf.Tensor | pinned | `Tensor::Zeros` | `Tensor.IsZero`, `Tensor.Other` |\n"
DEVIATES = "| tf.x | deviates | `Tensor`: for a reason | `Tensor.IsZero` |\n"
NONE = "| tf.tpu | none | it is another machine | `Tensor.IsZero` |\n"
NEXT = "| tf.data | next | | |\n"
ALL = "| 1-191 | next | | |\n| 192 one, 193 two | next | | |\n| 192a ours, of 1, 193 | next | | |\n"
CLEAN = {
    "include/pstrain/tensor.h": "// Planned\nclass Tensor {\n  static Tensor Zeros();\n};\n",
    "tests/include/pstrain/tensor_test.cc":
        "TEST(Tensor, IsZero) {}\nTEST_F(Tensor,\n       Other) {}\n// TEST(Tensor, Gone) {}\n",
    "tests/include/pstrain/helper.cc": "TEST(Tensor, NoTest) {}\n",
    MAP: HEAD + PINNED + DEVIATES + NONE + NEXT + ALL,
}


def with_row(row):
    return {**CLEAN, MAP: HEAD + row}


trees = Trees("tensorflow_map.py")
trees.accepts(CLEAN)
for row in ("| tf.x | done | `Tensor` | `Tensor.IsZero` |",
            "| tf.x | pinned | `Tensor` | `Tensor.Gone` |",      # a comment
            "| tf.x | pinned | `Tensor` | `Tensor.NoTest` |",    # no source of tests
            "| tf.x | pinned | `Tensor` | Tensor.IsZero |",
            "| tf.x | pinned | `Tensor` | |",
            "| tf.x | pinned | `Tensor::Ones` | `Tensor.IsZero` |",
            "| tf.x | pinned | `Planned` | `Tensor.IsZero` |",   # in a comment
            "| tf.x | pinned | | `Tensor.IsZero` |",
            "| tf.x | deviates | `Tensor` | `Tensor.IsZero` |",
            "| tf.x | deviates | for a reason | `Tensor.IsZero` |",
            "| tf.x | none | | `Tensor.IsZero` |",
            "| tf.x | none | for a reason | |",
            "| tf.x | next | `Tensor` | |",
            "| tf.x | next | | `Tensor.IsZero` |"):
    trees.refuses(f"{MAP}:6:", with_row(row + "\n"))
trees.refuses(f"{MAP}:7:", with_row(NEXT + NEXT))
trees.refuses(f"{MAP}: behaviour 192 is in no row", with_row(ALL.replace("192 one, ", "")))
trees.refuses(f"{MAP}: behaviour 1 is in no row", with_row(ALL.replace("1-191", "2-191")))
trees.refuses(f"{MAP}: behaviour 194 is one", with_row(ALL.replace("193 two", "193-194 two")))
trees.refuses(f"{MAP}:7: ", with_row(ALL.replace("1-191", "1-192")))
trees.refuses("0 rows", with_row(""))
trees.refuses("0 rows", {path: text for path, text in CLEAN.items() if path != MAP})
trees.finish()
