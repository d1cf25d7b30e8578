#!/usr/bin/env python3
"""public_types_detects.py ROOT: public_types.py accepts a clean tree and refuses each kind of
violation."""
from detects import Trees

HEAD = "namespace pstrain {\n\nnamespace program {\nclass Run;\n}  // namespace program\n\n"
CLEAN = {
    "include/pstrain/a.h": HEAD + "/// Rows. Mirrors tf.Tensor.\nclass Tensor {\n};\n"
                           "/// TensorFlow has none.\ntemplate <typename T>\n  requires true\n"
                           "struct Options {\n  struct Inner {\n  };\n};\n"
                           "/// gRPC's codes.\nenum class Code : int {\n};\n"
                           "namespace a_internal {\nstruct Detail {\n};\n}  // namespace a_internal\n"
                           "/// One. Mirrors\n/// tf.Variable.\nclass [[nodiscard]] One final : public Two {\n};\n"
                           "}  // namespace pstrain\n",
    "library/b.h": "class B {\n};\n",
    "include/pstrain/b.txt": "class B {\n};\n",
}

trees = Trees("public_types.py")
trees.accepts(CLEAN)
for text in ("class B {\n};\n",
             "/// It does something.\nstruct B {\n};\n",
             "/// Mirrors tf.Tensor.\n\nclass B {\n};\n",
             "// Mirrors tf.Tensor.\nclass B {\n};\n",
             "enum class B : std::uint8_t {\n};\n",
             "template <typename T>\nclass B {\n};\n",
             "class [[nodiscard]] B {\n};\n",
             "struct B : public A {\n};\n"):
    trees.refuses("include/pstrain/b.h:", {**CLEAN, "include/pstrain/b.h": HEAD + text})
trees.refuses("0 types", {"include/pstrain/b.h": HEAD})
trees.finish()
