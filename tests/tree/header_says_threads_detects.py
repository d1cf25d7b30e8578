#!/usr/bin/env python3
"""header_says_threads_detects.py ROOT: header_says_threads.py accepts a clean tree and refuses each
kind of violation."""
from detects import Trees

CLEAN = {
    "base/a.h": "/// What a is. One thread at a time.\nclass A {\n public:\n  int Get() const;\n};\n",
    "base/b.h": "/// Pure; any number of threads.\nint B(int b);\n",
    # Plain data, constants, enums, types.
    "runtime/data.h": "/// A value.\nstruct Data {\n  std::function<int(int a)> call;\n"
                      "  std::vector<std::pair<int, int>> pairs = {};\n  int a = sizeof(int);\n"
                      "  Data() = default;\n  explicit Data(int b);\n"
                      "  friend bool operator==(const Data&, const Data&) = default;\n};\n",
    "runtime/limits.h": "inline constexpr int kMost = 8 << (10);\nenum class Kind { kOne };\n"
                        "using Rule = bool (*)(int a);\nclass Declared;\n",
    "tests/base/a.h": "class Fake {\n};\n",
}

trees = Trees("header_says_threads.py")
trees.accepts(CLEAN)
for text in ("class A {\n public:\n  int Get() const;\n};\n",
             "class A final : public B {\n};\n",
             "class [[nodiscard]] A {\n};\n",
             "template <typename T>\nclass A {\n};\n",
             "int Get(int a);\n",
             "inline std::string Name() { return {}; }\n",
             "const std::map<std::string, int>& Names();\n",
             "struct A {\n  int a = 0;\n  bool Even() const { return a % 2 == 0; }\n};\n",
             "Result<std::vector<std::pair<int, int>>> Read(std::string_view text);\n",
             "bool operator<(const A& a, const A& b);\n",
             # In a name or a string the word says nothing.
             "#include \"base/thread.h\"\nvoid Join(std::jthread& thread);\n",
             "/// Reads it.\nvoid Read(const char* name = \"thread\");\n"):
    trees.refuses("local/c.h:", {**CLEAN, "local/c.h": text})
trees.refuses("0 of them", {"base/limits.h": "inline constexpr int kMost = 8;\n"})
trees.finish()
