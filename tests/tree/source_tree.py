"""What the checks of the sources share: which files there are, and C++ without what is not code."""
import os
import re
import subprocess

SHIPPED = ("include", "base", "proto", "crds", "operator", "agent", "runtime", "library", "local", "cli",
           "metrics")


def files_of(root):
    """Every file of the tree by its path from the root, sorted: those that git tracks or would."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        paths = [path for path in listed.stdout.decode().split("\0") if path]
    else:
        paths = []
        for folder, below, names in os.walk(root):
            below[:] = [name for name in below if name not in (".git", "build")]
            paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(path for path in set(paths) if os.path.isfile(os.path.join(root, path)))


def sources_of(root):
    """The C++ files of what ships."""
    return [path for path in files_of(root)
            if path.split("/")[0] in SHIPPED and path.endswith((".h", ".cc"))]


def text_of(root, path):
    """The file's text; None for what is not there or not text."""
    if not os.path.isfile(os.path.join(root, path)):
        return None
    with open(os.path.join(root, path), "rb") as file:
        content = file.read()
    try:
        return None if b"\0" in content else content.decode()
    except UnicodeDecodeError:
        return None


_NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text, directives=True):
    """The text with comments, strings and characters blanked (without directives: them too); lines
    and columns stay."""
    code = _NOT_CODE.sub(_blank, text)
    return code if directives else _DIRECTIVE.sub(_blank, code)


def code_and_strings_of(text):
    """The text with comments and directives blanked; lines and columns stay."""
    kept = _NOT_CODE.sub(
        lambda found: _blank(found) if found.group().startswith(("//", "/*")) else found.group(),
        text)
    return _DIRECTIVE.sub(_blank, kept)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
