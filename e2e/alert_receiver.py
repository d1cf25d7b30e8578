#!/usr/bin/env python3
"""alert_receiver.py PORT ARRIVED RUNBOOKS: the webhook of an Alertmanager on 127.0.0.1, and the pages
that alerts link to. What arrives at /alerts is written to the file ARRIVED, a line of JSON for each
alert, with the first line of the page behind its link, or why there is none. The folder RUNBOOKS is
at /runbooks/. Ends with a signal."""

import http.server
import json
import pathlib
import sys
import urllib.request

PORT, ARRIVED, RUNBOOKS = int(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])


def first_line(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            return page.readline().decode().strip()
    except (OSError, ValueError) as error:
        return f"{url}: {error}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.answer(200, b"")
        lines = [json.dumps({"name": alert["labels"]["alertname"], "status": alert["status"],
                             "labels": alert["labels"], "annotations": alert["annotations"],
                             "page": first_line(alert["annotations"]["runbook_url"])})
                 for alert in message["alerts"]]
        with open(ARRIVED, "a", encoding="utf-8") as arrived:
            arrived.write("".join(line + "\n" for line in lines))

    def do_GET(self):
        page = RUNBOOKS / pathlib.PurePosixPath(self.path).name
        if self.path == f"/runbooks/{page.name}" and page.is_file():
            self.answer(200, page.read_bytes())
        else:
            self.answer(404, b"there is no such page\n")

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
