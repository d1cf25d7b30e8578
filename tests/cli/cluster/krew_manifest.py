#!/usr/bin/env python3
"""krew_manifest.py ROOT YAML_TO_JSON PSTRAIN: the manifest that scripts/krew_manifest.py makes is what
Krew takes, its archive has the program that the manifest names, and what Krew refuses is refused."""
import hashlib
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tempfile

root, yaml_to_json, pstrain = sys.argv[1:]
script = os.path.join(root, "scripts", "krew_manifest.py")
spec = importlib.util.spec_from_file_location("krew_manifest", script)
krew = importlib.util.module_from_spec(spec)
spec.loader.exec_module(krew)


def make(out, *more, version="v1.2.3", uri="https://host/v1.2.3/"):
    return subprocess.run([script, "--version", version, "--uri", uri, "--out", out, *more],
                          capture_output=True, text=True)


def check_good(folder):
    done = make(folder, f"amd64={pstrain}", f"arm64={script}")
    assert done.returncode == 0, done.stderr
    with open(os.path.join(folder, "pstrain.yaml")) as file:
        text = subprocess.run([yaml_to_json], stdin=file, capture_output=True, text=True, check=True)
    manifest = json.loads(text.stdout.splitlines()[0])
    assert krew.problems_of(manifest) == [], krew.problems_of(manifest)
    first = manifest["spec"]["platforms"][0]
    assert first["uri"] == "https://host/v1.2.3/pstrain-amd64.tar.gz", first
    path = os.path.join(folder, "pstrain-amd64.tar.gz")
    with open(path, "rb") as file:
        packed = file.read()
    assert hashlib.sha256(packed).hexdigest() == first["sha256"]
    assert krew.archive(pstrain) == packed, "the same program gives another archive"
    with tarfile.open(path) as tar:
        assert [one["from"] for one in first["files"]] == tar.getnames()
        tar.extract(first["bin"], folder)
    named = os.path.join(folder, first["bin"])
    said = subprocess.run([named, "version"], capture_output=True, text=True)
    assert said.stdout.startswith("pstrain "), said
    return manifest


def check_bad(manifest, folder):
    def change(path, value):
        copy = json.loads(json.dumps(manifest))
        at = copy
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = value
        return krew.problems_of(copy)

    platform = ("spec", "platforms", 0)
    for path, value in (
            (("apiVersion",), "v1"), (("kind",), "Tool"), (("metadata", "name"), "a b"),
            (("spec", "version"), "1.2.3"), (("spec", "version"), "v1.2"),
            (("spec", "shortDescription"), ""), (("spec", "shortDescription"), "a\nb"),
            (("spec", "platforms"), []), ((*platform, "uri"), "ftp://host"),
            ((*platform, "sha256"), "A" * 64), ((*platform, "bin"), ""), ((*platform, "files"), []),
            ((*platform, "extra"), 1), ((*platform, "selector", "matchLabels"), {}),
            ((*platform, "selector", "matchLabels"), {"os": "linux", "arch": "arm64"})):
        assert change(path, value), f"{path} = {value!r} is not refused"
    other = os.path.join(folder, "other")
    assert "must be as v1.2.3" in make(other, f"amd64={pstrain}", version="1.2").stderr
    assert "must begin with https://" in make(other, f"amd64={pstrain}", uri="http://host").stderr
    assert make(other, f"sparc={pstrain}").returncode == 2
    assert not os.path.exists(other)


with tempfile.TemporaryDirectory() as folder:
    check_bad(check_good(folder), folder)
