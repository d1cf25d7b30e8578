#!/usr/bin/env python3
"""image_sbom.py ROOT: scripts/image_sbom.py over an image with a program of this machine."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv[1])
SCRIPTS = ROOT / "scripts"


def run(script, *arguments):
    return subprocess.run([sys.executable, "-B", SCRIPTS / script, *map(str, arguments)],
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, SOURCE_DATE_EPOCH="1769860800"))


class Sbom(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        (self.work / "ours").write_text("a program of ours\n", encoding="utf-8")

    def image(self, *more, libraries=True):
        archive = self.work / "image.tar"
        if libraries:
            more += ("--with-libs", "/bin/true:/usr/bin/true")
        made = run("image_archive.py", "--ref", "pstrain/tried:0.1.0", "--out", archive,
                   "--add", f"{self.work}/ours:/usr/bin/ours", *more)
        self.assertEqual(made.returncode, 0, made.stderr)
        return archive

    def document(self, archive):
        out = self.work / "image.spdx.json"
        done = run("image_sbom.py", archive, "--version", "0.1.0", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        return out.read_text(encoding="utf-8")

    def test_each_file_is_of_its_package(self):
        document = json.loads(self.document(self.image()))
        packages = {one["SPDXID"]: one for one in document["packages"]}
        holder = {one["relatedSpdxElement"]: one["spdxElementId"]
                  for one in document["relationships"] if one["relationshipType"] == "CONTAINS"}
        files = {one["fileName"]: one for one in document["files"]}
        of = {name: packages[holder[one["SPDXID"]]]["name"] for name, one in files.items()}
        [libc] = [name for name in files if name.endswith("/libc.so.6")]
        self.assertEqual(of[libc], "libc6")
        self.assertEqual(of["./usr/bin/ours"], "pstrain")
        self.assertEqual(of["./usr/bin/true"], "coreutils")
        version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "libc6"],
                                 capture_output=True, text=True, check=True).stdout
        package = next(one for one in packages.values() if one["name"] == "libc6")
        self.assertEqual(package["versionInfo"], version)
        self.assertIn("glibc", package["sourceInfo"])
        self.assertTrue(package["externalRefs"][0]["referenceLocator"].startswith(
            "pkg:deb/debian/libc6@"))
        ours = (self.work / "ours").read_bytes()
        self.assertEqual({one["algorithm"]: one["checksumValue"]
                          for one in files["./usr/bin/ours"]["checksums"]},
                         {"SHA1": hashlib.sha1(ours).hexdigest(),
                          "SHA256": hashlib.sha256(ours).hexdigest()})

    def test_it_is_what_spdx_2_3_asks_for(self):
        document = json.loads(self.document(self.image()))
        for name in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace"):
            self.assertIsInstance(document[name], str)
        self.assertEqual(document["creationInfo"]["created"], "2026-01-31T12:00:00Z")
        ids = [one["SPDXID"] for kind in ("packages", "files") for one in document[kind]]
        self.assertEqual(len(ids), len(set(ids)))
        for name in ids:
            self.assertRegex(name, r"^SPDXRef-[A-Za-z0-9.-]+$")
        known = {*ids, document["SPDXID"]}
        for one in document["relationships"]:
            self.assertLessEqual({one["spdxElementId"], one["relatedSpdxElement"]}, known)
        [described] = [one["relatedSpdxElement"] for one in document["relationships"]
                       if one["relationshipType"] == "DESCRIBES"]
        image = next(one for one in document["packages"] if one["SPDXID"] == described)
        self.assertEqual((image["name"], image["primaryPackagePurpose"]),
                         ("pstrain/tried:0.1.0", "CONTAINER"))
        for one in document["packages"]:
            self.assertIn("downloadLocation", one)

    def test_the_same_image_gives_the_same_text(self):
        self.assertEqual(self.document(self.image()), self.document(self.image()))

    def test_a_library_of_nobody_is_an_error(self):
        # Another content than the package's is not the package's either.
        for path in ("/usr/lib/libnobody.so.1", "/lib/x86_64-linux-gnu/libc.so.6"):
            archive = self.image("--add", f"{self.work}/ours:{path}", libraries=False)
            done = run("image_sbom.py", archive, "--version", "1", "--out", self.work / "none")
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{path} of {archive} is of no package of this machine", done.stderr)
            self.assertFalse((self.work / "none").exists())

    def test_what_is_no_image_is_refused_by_name(self):
        done = run("image_sbom.py", self.work / "ours", "--version", "1", "--out",
                   self.work / "none")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"{self.work}/ours is not what image_archive.py writes", done.stderr)


unittest.main(argv=[sys.argv[0]], verbosity=1)
