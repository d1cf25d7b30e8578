#!/usr/bin/env python3
"""model_names.py ROOT: no folder but runtime/model knows a model's name, so that a new model is a
new file and a line of its table. The names are those of ModelSpec in psjob.proto, as messages and as
fields, in code and in strings, there as a manifest has them too. Looks at what ships."""
import re
import sys

from source_tree import code_and_strings_of, code_of, line_of, sources_of, text_of

SCHEMA = "proto/job/psjob.proto"
HOME = "runtime/model/"


def names_of(schema):
    """The message and the field of each model: {"WideAndDeep", "wide_and_deep", "wideAndDeep"}."""
    spec = re.search(r"\bmessage ModelSpec \{(.*?)\n\}", code_of(schema), re.DOTALL)
    models = re.findall(r"^\s*(\w+) (\w+) = \d+", spec.group(1), re.MULTILINE) if spec else []
    names = {name for model in models for name in model}
    return sorted(names | {name[0].lower() + name[1:] for name in names})


def main(root):
    violations = 0
    names = names_of(text_of(root, SCHEMA) or "")
    pattern = re.compile(r"\b(?:has_|mutable_|clear_|k)?(?:" + "|".join(names) + r")\b")
    sources = [path for path in sources_of(root) if not path.startswith(HOME)]
    for path in sources if names else []:
        code = code_and_strings_of(text_of(root, path) or "")
        for found in pattern.finditer(code):
            print(f"{path}:{line_of(code, found.start())}: {found.group()}: {HOME} alone knows "
                  "models by name; ask Model, or proto/job/model_kind.h")
            violations += 1
    print(f"{len(names)} names, {len(sources)} sources, {violations} violations")
    return 1 if violations or not names or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
