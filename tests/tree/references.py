#!/usr/bin/env python3
"""references.py ROOT: what the documents and sources point at exists: each section that a source
names as "ARCHITECTURE.md, SECTION"; in every document but the changelog each file and folder of the
tree in backquotes or in a block of code, a source also where its name is bare, and each file that
it links to; and, where a row of a table in ARCHITECTURE.md says `FILE` `FUNCTION`, the function in
that file. In a table of steps each file has its function. Globs, placeholders and what is built are
left out."""
import os
import re
import sys

from source_tree import files_of, line_of, text_of

BUILT = ("build/", "dist/")
# What a bare name may mean; a run, a bench or a chart have files like job.yaml of their own.
SOURCES = ("h", "cc", "proto", "py", "sh", "cmake")
EXTENSIONS = (*SOURCES, "md", "txt", "yaml", "yml", "json", "svg")
# Comment leaders go, so that a section's name may run over the end of a line.
LEADER = re.compile(r"\n[ \t]*(?:///|//|#|\*)?[ \t]*")
SECTION = re.compile(r"ARCHITECTURE\.md,\s+([^).;:\"`]+)")
SPAN = re.compile(r"`([^`\n]+)`")
PAIR = re.compile(r"`([\w./-]+\.(?:h|cc|py|sh))` `([A-Za-z_~][\w:~]*)(?:\(\))?`")
BARE = re.compile(r"`([\w./-]+\.(?:h|cc|py|sh))`(?! `)")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
# As in tests/FOLDER/FILE_test.cc; documents have such names too.
PLACEHOLDER = re.compile(r"(?:^|/)[A-Z]{3,}(?!\w*\.md)")
FENCE = re.compile(r"^[ \t]*```.*?^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
STEPS = re.compile(r"^\| step \|.*\n(?:\|.*\n?)+", re.MULTILINE)


class References:
    def __init__(self, root):
        self._root = root
        self.files = files_of(root)
        self._known = set(self.files)
        for path in self.files:
            while "/" in path:
                path = path.rpartition("/")[0]
                self._known.add(path)
        self._names = {path.rpartition("/")[2] for path in self.files}
        self._tops = {path.split("/")[0] for path in self.files if "/" in path}
        self.count = self.violations = 0

    def complain(self, path, text, offset, what):
        print(f"{path}:{line_of(text, offset)}: {what}")
        self.violations += 1

    def check_sections(self, path, text, headings):
        flat = LEADER.sub(lambda gap: " " * len(gap.group()), text)
        for found in SECTION.finditer(flat):
            self.count += 1
            name = " ".join(found.group(1).split()).lower()
            if not any(name == heading or name.startswith(heading + ",") for heading in headings):
                self.complain(path, text, found.start(),
                              f"ARCHITECTURE.md has no section \"{name}\"")

    def _is_path(self, word):
        """Whether a word means a file or folder of the tree."""
        if not re.fullmatch(r"[\w.@+-]+(?:/[\w.@+-]+)*", word):
            return False
        if word.startswith((*BUILT, ".", "-")) or PLACEHOLDER.search(word):
            return False
        ending = word.rpartition(".")[2]
        if "/" not in word:
            return "." in word and ending in SOURCES
        return word.split("/")[0] in self._tops or ending in EXTENSIONS

    def _exists(self, word):
        if "/" not in word:
            return word in self._names
        # A unit is named without its ending.
        return bool(self._known.intersection({word, word + ".h", word + ".cc", word + ".sh"}))

    def check_words(self, path, text, words, offset):
        for word in words:
            word = re.sub(r":\d+$", "", word.strip("\"'(),;:")).rstrip("/")
            if not self._is_path(word):
                continue
            self.count += 1
            if not self._exists(word):
                self.complain(path, text, offset, f"`{word}` does not exist")

    def check_document(self, path, text):
        for block in FENCE.finditer(text):
            for line in re.finditer(r".+", block.group()):
                self.check_words(path, text, line.group().split(), block.start() + line.start())
        code = FENCE.sub(lambda block: re.sub(r"[^\n]", " ", block.group()), text)
        for span in SPAN.finditer(code):
            self.check_words(path, text, span.group(1).split(), span.start())
        for link in LINK.finditer(code):
            if "://" in link.group(1):
                continue
            self.count += 1
            target = os.path.normpath(os.path.join(os.path.dirname(path), link.group(1)))
            if target not in self._known:
                self.complain(path, text, link.start(), f"the link's {target} does not exist")

    def check_functions(self, path, text):
        # The steps of a life: a file alone would not say where to begin to read.
        for table in STEPS.finditer(text):
            for bare in BARE.finditer(table.group()):
                self.complain(path, text, table.start() + bare.start(),
                              f"the step names no function of `{bare.group(1)}`")
        for row in re.finditer(r"^\|.*$", text, re.MULTILINE):
            for pair in PAIR.finditer(row.group()):
                self.count += 1
                file, function = pair.groups()
                source = text_of(self._root, file) if file in self._known else None
                if source is None:
                    continue  # told by check_document
                names = [name for name in function.split("::") if name]
                if not all(re.search(rf"(?<!\w){re.escape(name)}\b", source) for name in names):
                    self.complain(path, text, row.start() + pair.start(),
                                  f"`{file}` has no `{function}`")


def main(root):
    references = References(root)
    architecture = text_of(root, "ARCHITECTURE.md") or ""
    headings = [heading.strip().lower()
                for heading in re.findall(r"^#+ (.*)$", architecture, re.MULTILINE)]
    for path in references.files:
        if path.startswith(("tests/golden/", "tests/fuzz/corpus/", "tests/tree/")):
            continue
        text = text_of(root, path)
        if text is None:
            continue
        references.check_sections(path, text, headings)
        if path.endswith(".md") and path != "CHANGELOG.md":
            references.check_document(path, text)
    references.check_functions("ARCHITECTURE.md", architecture)
    print(f"{references.count} references, {references.violations} violations")
    return 1 if references.violations or references.count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
