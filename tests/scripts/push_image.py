#!/usr/bin/env python3
"""push_image.py ROOT: scripts/push_image.py against a registry of this test."""

import base64
import gzip
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

ROOT = pathlib.Path(sys.argv[1])
SCRIPTS = ROOT / "scripts"
LOGIN = base64.b64encode(b"ann:secret").decode()


class Registry(http.server.BaseHTTPRequestHandler):
    """Takes what the OCI distribution specification says; state is of one test at a time."""

    blobs: dict = {}
    manifests: dict = {}
    calls: list = []
    wants = None  # None, "basic" or "bearer"
    broken = 0    # so many calls are answered with 503 first
    denies = False

    def allowed(self):
        got = self.headers.get("Authorization")
        if self.wants == "basic" and got != "Basic " + LOGIN:
            return 'Basic realm="here"'
        if self.wants == "bearer" and got != "Bearer t1":
            return f'Bearer realm="http://{self.headers["Host"]}/token",service="s",scope="push"'
        return None

    def handle_call(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        url = urllib.parse.urlsplit(self.path)
        cls = type(self)
        cls.calls.append((self.command, url.path))
        if cls.broken > 0:
            cls.broken -= 1
            return self.reply(503)
        if url.path == "/token":
            asked = urllib.parse.parse_qs(url.query)
            good = (self.headers.get("Authorization") == "Basic " + LOGIN
                    and asked == {"service": ["s"], "scope": ["push"]})
            return self.reply(200 if good else 401, json.dumps({"token": "t1"}).encode())
        challenge = self.allowed()
        if challenge:
            return self.reply(401, headers={"WWW-Authenticate": challenge})
        if self.denies:
            return self.reply(403)
        return self.serve(url, body)

    def serve(self, url, body):
        parts = url.path.split("/")
        if self.command == "HEAD" and "blobs" in parts:
            return self.reply(200 if parts[-1] in self.blobs else 404)
        if self.command == "POST" and url.path.endswith("/blobs/uploads/"):
            return self.reply(202, headers={"Location": url.path + "u1?state=x"})
        if self.command == "PUT" and "uploads" in parts:
            query = urllib.parse.parse_qs(url.query)
            digest = query["digest"][0]
            if query["state"] != ["x"] or digest != "sha256:" + hashlib.sha256(body).hexdigest():
                return self.reply(400)
            self.blobs[digest] = body
            return self.reply(201)
        if self.command == "PUT" and "manifests" in parts:
            self.manifests[url.path.removeprefix("/v2/")] = (body, self.headers["Content-Type"])
            return self.reply(201)
        return self.reply(404)

    def reply(self, code, body=b"", headers=None):
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET = do_POST = do_PUT = handle_call  # noqa: N815 (the library's names)

    def log_message(self, *_):
        pass


def run(script, *arguments, **environment):
    return subprocess.run([sys.executable, "-B", SCRIPTS / script, *map(str, arguments)],
                          capture_output=True, text=True, check=False,
                          env=dict(os.environ, **environment))


class Push(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        (self.work / "file").write_text("x", encoding="utf-8")
        self.archive = self.work / "image.tar"
        made = run("image_archive.py", "--ref", "pstrain/tried:0.1.0", "--out", self.archive,
                   "--add", f"{self.work}/file:/etc/file", "--entrypoint", "/bin/x")
        self.assertEqual(made.returncode, 0, made.stderr)
        Registry.blobs, Registry.manifests, Registry.calls = {}, {}, []
        Registry.wants, Registry.broken, Registry.denies = None, 0, False

    def push(self, prefix="", login=None):
        if login:
            (self.work / "config.json").write_text(
                json.dumps({"auths": {HOST: {"auth": login}}}), encoding="utf-8")
        return run("push_image.py", "--plain-http", HOST + prefix, self.archive,
                   DOCKER_CONFIG=str(self.work))

    def pushed(self, *arguments, **options):
        done = self.push(*arguments, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, words, **options):
        done = self.push(**options)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertEqual(Registry.manifests, {})

    def test_the_image_arrives_whole(self):
        said = self.pushed("/team")
        [(where, (manifest, kind))] = Registry.manifests.items()
        self.assertEqual(where, "team/pstrain/tried/manifests/0.1.0")
        digest = "sha256:" + hashlib.sha256(manifest).hexdigest()
        self.assertEqual(said, f"{HOST}/team/pstrain/tried:0.1.0 {digest}\n")
        manifest = json.loads(manifest)
        self.assertEqual(kind, manifest["mediaType"])
        for entry in [manifest["config"], *manifest["layers"]]:
            self.assertEqual(len(Registry.blobs[entry["digest"]]), entry["size"])
        config = json.loads(Registry.blobs[manifest["config"]["digest"]])
        self.assertEqual(config["config"]["Entrypoint"], ["/bin/x"])
        layers = [gzip.decompress(Registry.blobs[one["digest"]]) for one in manifest["layers"]]
        self.assertEqual(config["rootfs"]["diff_ids"],
                         ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers])

    def test_what_is_there_is_not_sent_again(self):
        first = self.pushed()
        Registry.calls = []
        self.assertEqual(self.pushed(), first)
        self.assertEqual([path for method, path in Registry.calls if method == "POST"], [])

    def test_who_we_are_is_said_when_asked(self):
        for kind in ("basic", "bearer"):
            with self.subTest(kind):
                Registry.wants, Registry.manifests = kind, {}
                self.pushed(login=LOGIN)
                self.assertEqual(len(Registry.manifests), 1)

    def test_without_a_login_the_way_out_is_said(self):
        for kind in ("basic", "bearer"):
            Registry.wants = kind
            self.refused(f"`docker login {HOST}`")
        Registry.wants, Registry.denies = None, True
        self.refused("does not let us HEAD /v2/pstrain/tried/blobs/")

    def test_a_short_outage_is_lived_through_and_a_long_one_is_said(self):
        Registry.broken = 2
        self.pushed()
        Registry.broken, Registry.manifests = 100, {}
        self.refused("with 503")

    def test_nobody_there_and_no_image_are_said(self):
        done = run("push_image.py", "--plain-http", "127.0.0.1:1", self.archive)
        self.assertIn("127.0.0.1:1 is not reachable", done.stderr)
        self.assertEqual(done.returncode, 1)
        self.archive = self.work / "file"
        self.refused("is not what image_archive.py writes")
        done = run("push_image.py", "https://host", self.archive)
        self.assertEqual(done.returncode, 2)
        self.assertIn("without http:// or https://", done.stderr)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
HOST = f"127.0.0.1:{server.server_port}"
unittest.main(argv=[sys.argv[0]], verbosity=1)
