"""A real apiserver, as a test speaks to it."""

import json
import ssl
import sys
import time
import urllib.error
import urllib.request


class Apiserver:
    def __init__(self, server, pki):
        self.server = server
        self.context = ssl.create_default_context(cafile=f"{pki}/ca.crt")
        self.context.load_cert_chain(f"{pki}/admin.crt", f"{pki}/admin.key")

    def post(self, path, body, query="?fieldValidation=Strict&dryRun=All"):
        """(HTTP status, answer)"""
        return self.call(path + query, json.dumps(body).encode())

    def call(self, path, data=None, method=None):
        request = urllib.request.Request(
            self.server + path, data=data, headers={"Content-Type": "application/json"},
            method=method
        )
        try:
            with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            text = error.read().decode()
            is_json = error.headers.get_content_type() == "application/json"
            return error.code, json.loads(text) if is_json else {"message": text}


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def install(crd, apiserver):
    """Makes the CRD and waits until jobs can be made."""
    status, answer = apiserver.post(CRDS, crd, query="?fieldValidation=Strict")
    if status != 201:
        sys.exit(f"the CRD is refused: {answer.get('message')}")
    deadline = time.monotonic() + 30
    while apiserver.call("/apis/pstrain.dev/v1alpha1/pstrainingjobs")[0] != 200:
        if time.monotonic() > deadline:
            _, crd = apiserver.call(f"{CRDS}/{crd['metadata']['name']}")
            sys.exit(f"the CRD is not served: {crd.get('status')}")
        time.sleep(0.1)
