#!/usr/bin/env python3
"""dependency_versions.py ROOT: the table of SECURITY.md, "What we depend on", has each library that
scripts/install-deps.sh installs for the build, in the series (3.0 of 3.0.19-1~deb12u2) that is
installed here: within a release Debian's security updates stay in a series, and come at any time. 77
where nothing can be compared: no dpkg-query, or none of the packages."""
import re
import subprocess
import sys

from source_tree import text_of

TABLE, SCRIPT = "SECURITY.md", "scripts/install-deps.sh"
# By their name in the table; the first package is asked for its version.
LIBRARIES = {
    "gRPC": ["libgrpc-dev", "libgrpc++-dev"],
    "Protocol Buffers": ["libprotobuf-dev"],
    "c-ares": ["libc-ares-dev"],
    "RE2": ["libre2-dev"],
    "OpenSSL": ["libssl-dev"],
    "C++ REST SDK": ["libcpprest-dev"],
    "Boost.System": ["libboost-system1.74-dev"],
    "Abseil": ["libabsl-dev"],
    "FarmHash": ["libfarmhash-dev"],
    "Eigen": ["libeigen3-dev"],
    "zlib": ["zlib1g-dev"],
    "yaml-cpp": ["libyaml-cpp-dev"],
    "nlohmann's JSON": ["nlohmann-json3-dev"],
    "prometheus-cpp core": ["prometheus-cpp-dev"],
    "glibc": ["libc6"],
    "libstdc++": ["libstdc++6"],
}
OF_TESTS = {"libgmock-dev", "libgtest-dev"}
SECTION = re.compile(r"^## What we depend on\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PACKAGES = re.compile(r"^packages=\((.*?)\)", re.MULTILINE | re.DOTALL)


def rows_of(text):
    """Library -> version. A row may have several of both, divided by commas."""
    versions = {}
    section = SECTION.search(text)
    for line in section.group(1).splitlines() if section else []:
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) < 4 or cells[1] in ("", "library") or set(cells[1]) == {"-"}:
            continue
        names, numbers = cells[1].split(", "), cells[2].split(", ")
        versions.update(zip(names, numbers + [""] * len(names)))
    return versions


def series(version):
    found = re.match(r"(?:\d+:)?(\d+(?:\.\d+)?)", version)
    return found.group(1) if found else version


def installed(package):
    """The version; None where the package is not installed."""
    asked = subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status} ${Version}\n", package],
                           capture_output=True, text=True, check=False)
    words = asked.stdout.split("\n")[0].split()
    return words[1] if asked.returncode == 0 and words[:1] == ["installed"] else None


def main(root):
    violations = compared = 0

    def complain(text):
        nonlocal violations
        print(text)
        violations += 1

    rows = rows_of(text_of(root, TABLE) or "")
    for name in rows.keys() - LIBRARIES.keys():
        complain(f"{TABLE}: {name}: this check knows no package of it")
    for name in LIBRARIES.keys() - rows.keys():
        complain(f"{TABLE}: no row for {name}")
    known = {package for packages in LIBRARIES.values() for package in packages} | OF_TESTS
    listed = PACKAGES.search(text_of(root, SCRIPT) or "")
    for package in listed.group(1).split() if listed else []:
        if package.endswith("-dev") and package not in known:
            complain(f"{SCRIPT}: {package}: {TABLE} and this check do not name it")
    try:
        for name, packages in LIBRARIES.items():
            version = installed(packages[0])
            if version is None or name not in rows:
                continue
            compared += 1
            if series(version) != series(rows[name]):
                complain(f"{TABLE}: {name}: {rows[name]} is written, {version} is installed")
    except FileNotFoundError:
        print("no dpkg-query here")
    print(f"{len(rows)} libraries, {compared} compared, {violations} violations")
    return 1 if violations else 0 if compared else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
