#!/usr/bin/env python3
"""sizes_detects.py ROOT: sizes.py accepts a tree at the limits and refuses one line or unit more,
however the function is written."""
from detects import Trees


def body(lines):
    return "  Do();\n" * lines


CLEAN = {
    "base/a.cc": "namespace pstrain {\nvoid F() {\n" + body(60) + "}\n}  // namespace pstrain\n",
    "base/b.h": "class B {\n" + "  int b;\n" * 248 + "};\n",
    "base/c.cc": "int c;\n" * 400,
    # Neither a table nor a namespace is a function.
    "base/d.cc": "constexpr std::array kTable = {\n" + "    1,\n" * 100 + "};\nnamespace {\n"
                 + "int d = f({1, 2});\n" * 100 + "}\n",
    "proto/b.proto": "// b\n" * 400,
    "proto/job/psjob.proto": "// a\n" * 401,
    "tests/a_test.cc": "void F() {\n" + body(61) + "}\n",
    **{f"agent/u{i}.h": "int a;\n" for i in range(14)},
    "agent/sub/a.cc": "int a;\n",
}

trees = Trees("sizes.py")
trees.accepts(CLEAN)
trees.refuses("base/e.h:251:", {**CLEAN, "base/e.h": "int e;\n" * 251})
trees.refuses("base/e.cc:401:", {**CLEAN, "base/e.cc": "int e;\n" * 401})
trees.refuses("proto/e.proto:401:", {**CLEAN, "proto/e.proto": "// e\n" * 401})
for head, where in [
        ("void F() {\n", 1),
        ("namespace a {\nnamespace {\nvoid F() {\n", 3),
        ("class A {\n public:\n  void F() const {\n", 3),
        ("template <typename T>\nauto F(T t = {}) -> int {\n", 2),
        ("A::A(int a)\n    : a_(a), b_{a} {\n", 2),
        ("bool operator==(const A& a, const A& b) {\n", 1),
        ("struct A {\n  explicit A(int a) : a_(a), b_{a} {\n", 2),
        ("const auto f = [](int a) {\n", 1),
        ("class PSTRAIN_CAPABILITY(\"m\") M {\n  void Lock() PSTRAIN_ACQUIRE() {\n", 2),
        ("int main(int argc, char** argv) {\n  if (a) {\n  }\n", 1)]:
    closed = "}\n" * (head.count("{\n") - head.count("}\n"))
    trees.refuses(f"base/e.cc:{where}:", {**CLEAN, "base/e.cc": head + body(61) + closed})
trees.refuses("agent: 16 units", {**CLEAN, "agent/one_more.cc": "int a;\n"})
trees.refuses("agent: 16 units", {**CLEAN, "agent/folder/a.h": "int a;\n"})
trees.refuses("0 functions", {"base/a.cc": "int a;\n"})
trees.finish()
