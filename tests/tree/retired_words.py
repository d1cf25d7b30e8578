#!/usr/bin/env python3
"""retired_words.py ROOT: no text file of the tree has a word of tests/tree/retired_words.txt, except
the changelog, which tells what was, files of others, and the list itself."""
import os
import re
import sys

from source_tree import files_of, line_of, text_of

LIST = "tests/tree/retired_words.txt"
LEFT_OUT = ("CHANGELOG.md", "tests/golden/", "tests/fuzz/corpus/", "tests/tree/retired_words")
# Between the words of a phrase: blanks, and the leader of a comment that runs on.
GAP = r"(?:[ \t]|\n[ \t]*(?:///|//|#|\*)?[ \t]*)+"


def patterns_of(text):
    """(pattern, new word) of each line of the list."""
    patterns, section = [], None
    for line in text.splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            old, _, new = (part.strip() for part in line.partition("->"))
            if section == "identifiers":
                word = re.escape(old).replace(r"\*", r"\w*")
                patterns.append((re.compile(rf"(?<!\w){word}(?!\w)"), new))
            else:
                words = GAP.join(re.escape(word) for word in old.split())
                patterns.append((re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE), new))
    return patterns


def main(root):
    patterns = patterns_of(text_of(root, LIST) or "")
    files = violations = 0
    for path in files_of(root):
        if path.startswith(LEFT_OUT) or os.path.basename(path) == "go.sum":
            continue
        # A retired word in a file's name counts as in its first line.
        text = text_of(root, path)
        if text is None:
            continue
        files += 1
        for pattern, new in patterns:
            for found in pattern.finditer(os.path.basename(path).replace(".", " ")):
                print(f"{path}:1: the name has {found.group()}: {new}")
                violations += 1
            for found in pattern.finditer(text):
                word = " ".join(found.group().split())
                print(f"{path}:{line_of(text, found.start())}: {word}: {new}")
                violations += 1
    print(f"{len(patterns)} words, {files} files, {violations} violations")
    return 1 if violations or not patterns else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
