#!/usr/bin/env python3
"""training_readers.py ROOT: below runtime/ only the adapters read the message `training` of
psjob.proto, so that chief, ps and worker do not depend on what a job trains. Looks at what ships,
without comments and strings: its type, and the accessors of the field. Beside them and in library/
no text names a field of spec.training either: a program of a user's own has none, and its field is
called otherwise (JobFields)."""
import re
import sys

from source_tree import code_and_strings_of, code_of, line_of, sources_of, text_of

SCHEMA = "proto/job/psjob.proto"
# spec.training as the roles take it; the built-in models, which are described in it; the evaluator,
# which scores them; main, which hands the evaluator its part.
ADAPTERS = ("runtime/model/", "runtime/evaluator/run_evaluator.", "runtime/main.cc")
# Who may name its fields: what only a job with spec.training comes to, and why.
NAMES_FIELDS = {
    "runtime/model/": "the adapters",
    "runtime/evaluator/": "only such a job is evaluated",
    "runtime/chief/peers/evaluator_peer.cc": "only such a job is evaluated",
    "runtime/checkpoint/evaluations.cc": "a person names a checkpoint of such a run alone",
    "runtime/chief/disk/scores.cc": "only such a job is evaluated",
    "runtime/chief/disk/warm_start.cc": "only such a job begins with the values of another run",
    "runtime/chief/chief.cc": "only such a job is evaluated",
    "runtime/chief/run_directory.cc": "the evaluation, and variables that a run begins with",
    "runtime/worker/grant_session.cc": "says what a worker of such a job is",
}


def names_of(schema):
    """The type and the name of the field of JobSpec: ("Training", "training")."""
    spec = re.search(r"\bmessage JobSpec \{(.*?)\n\}", code_of(schema), re.DOTALL)
    field = re.search(r"^\s*(\w+) (training) = \d+", spec.group(1), re.MULTILINE) if spec else None
    return field.groups() if field else None


def field_names(root):
    """Where a text names a field of spec.training and may not: (path, line)."""
    for path in sources_of(root):
        if not path.startswith(("runtime/", "library/")) or path.startswith(tuple(NAMES_FIELDS)):
            continue
        code = code_and_strings_of(text_of(root, path) or "")
        for found in re.finditer(r"spec\.training", code):
            yield path, line_of(code, found.start())


def main(root):
    violations = readers = 0
    for path, line in field_names(root):
        print(f"{path}:{line}: names a field of spec.training, which a program has not; take it "
              "from JobFields")
        violations += 1
    names = names_of(text_of(root, SCHEMA) or "")
    sources = [path for path in sources_of(root) if path.startswith("runtime/")]
    if names:
        pattern = re.compile(r"\b%s\b|\b(?:has_|mutable_|clear_|set_allocated_)?%s\s*\(" % names)
    for path in sources if names else []:
        code = code_of(text_of(root, path) or "", directives=False)
        for found in pattern.finditer(code):
            if path.startswith(ADAPTERS):
                readers += 1
                continue
            print(f"{path}:{line_of(code, found.start())}: {found.group()}: only the adapters read "
                  "spec.training; add what you need to JobSettings, ChiefJob, PsJob or WorkerJob")
            violations += 1
    print(f"{len(sources)} sources, {readers} uses in adapters, {violations} violations")
    return 1 if violations or not readers else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
