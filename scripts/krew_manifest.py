#!/usr/bin/env python3
"""krew_manifest.py --version vX.Y.Z --uri PREFIX --out DIR ARCH=PSTRAIN...: packs the program
`pstrain` of each architecture (amd64, arm64) as the archive of a kubectl plugin, DIR/pstrain-ARCH.tar.gz,
and writes DIR/pstrain.yaml, the manifest by which Krew installs it from PREFIX/pstrain-ARCH.tar.gz.
The same programs give the same archives. The manifest is checked by the rules of Krew
(internal/index/validation/validate.go of kubernetes-sigs/krew) before it is written."""
import argparse
import gzip
import hashlib
import io
import json
import os
import re
import sys
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = "kubectl-pstrain"
API_VERSION = "krew.googlecontainertools.github.com/v1alpha2"
# internal/installation/semver of Krew: with the v.
VERSION = re.compile(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
NAME = re.compile(r"[\w-]+")
SHA256 = re.compile(r"[a-f0-9]{64}")
FIELDS = {"uri", "sha256", "selector", "files", "license", "bin"}


def problems_of(manifest):
    """What Krew would refuse, a sentence each."""
    problems = []

    def expect(holds, sentence):
        if not holds:
            problems.append(sentence)

    spec = manifest["spec"]
    expect(manifest["apiVersion"] == API_VERSION, f"apiVersion must be {API_VERSION}")
    expect(manifest["kind"] == "Plugin", "kind must be Plugin")
    expect(NAME.fullmatch(manifest["metadata"]["name"]), "metadata.name must be letters, digits, _ and -")
    expect(VERSION.fullmatch(spec["version"]), f"spec.version {spec['version']!r} must be as v1.2.3")
    expect(spec["shortDescription"] and not re.search(r"[\r\n]", spec["shortDescription"]),
           "spec.shortDescription must be one line")
    expect(spec["platforms"], "spec.platforms must have one at least")
    seen = set()
    for platform in spec["platforms"]:
        labels = platform["selector"]["matchLabels"]
        where = f"spec.platforms of {labels}"
        expect(set(platform) <= FIELDS, f"{where} has fields that Krew does not know")
        expect(platform["uri"].startswith("https://"), f"{where}: uri must begin with https://")
        expect(SHA256.fullmatch(platform["sha256"]), f"{where}: sha256 must be 64 hex digits")
        expect(platform["bin"], f"{where}: bin must be given")
        expect(labels and set(labels) <= {"os", "arch"}, f"{where}: the selector takes os and arch")
        expect(platform["files"] and all(one["from"] and one["to"] for one in platform["files"]),
               f"{where}: files must each have from and to")
        expect(tuple(sorted(labels.items())) not in seen, f"{where} is there twice")
        seen.add(tuple(sorted(labels.items())))
    return problems


def archive(program):
    """The bytes of a tar.gz with the program and the licence."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as zipped:
        with tarfile.open(fileobj=zipped, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for name, path, mode in ((PROGRAM, program, 0o755),
                                     ("LICENSE", os.path.join(ROOT, "LICENSE"), 0o644)):
                with open(path, "rb") as file:
                    content = file.read()
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(content), mode
                tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def platform_of(arch, uri, packed):
    return {
        "selector": {"matchLabels": {"os": "linux", "arch": arch}},
        "uri": f"{uri}/pstrain-{arch}.tar.gz",
        "sha256": hashlib.sha256(packed).hexdigest(),
        "bin": PROGRAM,
        "files": [{"from": PROGRAM, "to": "."}, {"from": "LICENSE", "to": "."}],
    }


def manifest_of(version, platforms):
    return {
        "apiVersion": API_VERSION,
        "kind": "Plugin",
        "metadata": {"name": "pstrain"},
        "spec": {
            "version": version,
            "shortDescription": "Ask a cluster about its parameter-server training jobs",
            "description": "Status, logs, rates, events and configuration of PSTrainingJobs; suspends and\n"
                           "resumes them, restarts replicas, and waits for their end.\n",
            "caveats": "The program is linked to the libraries of Debian 12 (scripts/install-deps.sh).\n",
            "platforms": platforms,
        },
    }


def yaml_of(value, indent=0):
    """As YAML, in lines: texts are quoted as JSON does."""
    pad = "  " * indent
    lines = []
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                lines += [f"{pad}{key}:", *yaml_of(inner, indent + 1)]
            else:
                lines.append(f"{pad}{key}: {json.dumps(inner)}")
    else:
        for inner in value:
            first, *rest = yaml_of(inner, indent + 1)
            lines += [f"{pad}- {first.strip()}", *rest]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--version", required=True)
    parser.add_argument("--uri", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("programs", nargs="+", metavar="ARCH=PSTRAIN")
    options = parser.parse_args()
    archives, platforms = {}, []
    for text in options.programs:
        arch, equals, program = text.partition("=")
        if not equals or arch not in ("amd64", "arm64"):
            parser.error(f"{text}: must be amd64=FILE or arm64=FILE")
        archives[arch] = archive(program)
        platforms.append(platform_of(arch, options.uri.rstrip("/"), archives[arch]))
    manifest = manifest_of(options.version, platforms)
    problems = problems_of(manifest)
    for problem in problems:
        print(f"krew_manifest.py: {problem}", file=sys.stderr)
    if problems:
        return 1
    os.makedirs(options.out, exist_ok=True)
    for arch, packed in archives.items():
        with open(os.path.join(options.out, f"pstrain-{arch}.tar.gz"), "wb") as file:
            file.write(packed)
    with open(os.path.join(options.out, "pstrain.yaml"), "w") as file:
        file.write("\n".join(yaml_of(manifest)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
