#!/usr/bin/env python3
"""Pushes archives that image_archive.py has made to a registry, without a daemon.

    push_image.py HOST[:PORT][/PATH] build/images/operator.tar...

An image pstrain/operator:0.1.0 becomes HOST/PATH/pstrain/operator:0.1.0, what `image.registry` of
the chart is for; its digest is on stdout. The registry is spoken to over HTTPS, or over HTTP with
--plain-http. Who we are is read where `docker login` has written it: $DOCKER_CONFIG/config.json, or
~/.docker/config.json, there `auths`. What the registry has already is not sent again.

The protocol is that of the OCI distribution specification 1.0.
"""

import argparse
import base64
import gzip
import hashlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import image_archive

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
SECONDS = 120
ATTEMPTS = 3


class Refused(Exception):
    """One sentence that says what and why."""


def login_of(host):
    """Base64 of user:password, or None."""
    folder = os.environ.get("DOCKER_CONFIG") or os.path.expanduser("~/.docker")
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            return json.load(file).get("auths", {}).get(host, {}).get("auth")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError) as error:
        raise Refused(f"{folder}/config.json cannot be read: {error}") from error


class Registry:
    """Speaks to one registry as one user."""

    def __init__(self, host, plain_http):
        self.base = f"{'http' if plain_http else 'https'}://{host}"
        self.host = host
        self.login = login_of(host)
        self.authorization = None

    def call(self, method, url, body=None, content_type=None, accepted=(200,)):
        """The answer; a registry that asks who we are is told, once for each new token."""
        for attempt in range(2):
            code, headers = self.send(method, url, body, content_type)
            if code != 401 or attempt:
                break
            self.log_in(headers.get("WWW-Authenticate", ""))
        if code in accepted:
            return code, headers
        if code in (401, 403):
            raise Refused(f"{self.host} does not let us {method} {urllib.parse.urlsplit(url).path} "
                          f"({code}); log in by `docker login {self.host}`")
        raise Refused(f"{self.host} answers {method} {urllib.parse.urlsplit(url).path} with {code}")

    def send(self, method, url, body, content_type):
        url = urllib.parse.urljoin(self.base, url)
        # An upload may be sent to another host, which is told nothing of us.
        ours = urllib.parse.urlsplit(url).netloc == self.host
        for attempt in range(ATTEMPTS):
            time.sleep(attempt)
            request = urllib.request.Request(url, data=body, method=method)
            if content_type:
                request.add_header("Content-Type", content_type)
            if self.authorization and ours:
                request.add_header("Authorization", self.authorization)
            try:
                with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                    return answer.status, answer.headers
            except urllib.error.HTTPError as error:
                if error.code < 500 or attempt + 1 == ATTEMPTS:
                    return error.code, error.headers
            except (urllib.error.URLError, OSError) as error:
                if attempt + 1 == ATTEMPTS:
                    reason = getattr(error, "reason", error)
                    raise Refused(f"{self.host} is not reachable: {reason}") from error
        raise AssertionError("unreachable")

    def log_in(self, challenge):
        kind, _, rest = challenge.partition(" ")
        if kind.lower() == "basic" and self.login:
            self.authorization = "Basic " + self.login
        elif kind.lower() == "bearer":
            fields = dict(re.findall(r'(\w+)="([^"]*)"', rest))
            realm = fields.pop("realm", "")
            request = urllib.request.Request(realm + "?" + urllib.parse.urlencode(fields))
            if self.login:
                request.add_header("Authorization", "Basic " + self.login)
            try:
                with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                    token = json.load(answer)
                self.authorization = "Bearer " + (token.get("token") or token["access_token"])
            except (urllib.error.URLError, OSError, ValueError, KeyError) as error:
                raise Refused(f"{self.host} gives no token at {realm}: {error}; log in by "
                              f"`docker login {self.host}`") from error

    def push_blob(self, name, data):
        digest = digest_of(data)
        code, _ = self.call("HEAD", f"/v2/{name}/blobs/{digest}", accepted=(200, 404))
        if code == 200:
            return digest
        _, headers = self.call("POST", f"/v2/{name}/blobs/uploads/", body=b"", accepted=(202,))
        where = headers.get("Location")
        if not where:
            raise Refused(f"{self.host} does not say where an upload of {name} goes to")
        where += ("&" if "?" in where else "?") + urllib.parse.urlencode({"digest": digest})
        self.call("PUT", where, body=data, content_type="application/octet-stream",
                  accepted=(201,))
        return digest


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def read_archive(path):
    """Name, tag, configuration and the compressed layer."""
    try:
        ref, config, layer = image_archive.read(path)
    except ValueError as error:
        raise Refused(str(error)) from error
    name, _, tag = ref.rpartition(":")
    # The same bytes each time: what the registry has need not be sent again.
    return name, tag, config, gzip.compress(layer, 6, mtime=0)


def push(registry, prefix, path):
    name, tag, config, layer = read_archive(path)
    name = "/".join(part for part in (prefix, name) if part)
    manifest = json.dumps({
        "schemaVersion": 2, "mediaType": MANIFEST,
        "config": {"mediaType": CONFIG, "digest": registry.push_blob(name, config),
                   "size": len(config)},
        "layers": [{"mediaType": LAYER, "digest": registry.push_blob(name, layer),
                    "size": len(layer)}]}).encode()
    registry.call("PUT", f"/v2/{name}/manifests/{tag}", body=manifest, content_type=MANIFEST,
                  accepted=(201,))
    print(f"{registry.host}/{name}:{tag} {digest_of(manifest)}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("registry", metavar="HOST[:PORT][/PATH]")
    parser.add_argument("archives", nargs="+", metavar="ARCHIVE")
    parser.add_argument("--plain-http", action="store_true")
    args = parser.parse_args()
    if "://" in args.registry:
        parser.error("a registry is HOST[:PORT][/PATH], without http:// or https://")
    host, _, prefix = args.registry.partition("/")
    try:
        registry = Registry(host, args.plain_http)
        for path in args.archives:
            push(registry, prefix.strip("/"), path)
    except Refused as error:
        sys.exit(f"push_image.py: {error}")


if __name__ == "__main__":
    main()
