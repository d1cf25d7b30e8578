"""What the apiserver's audit log says of calls, with its own times (seconds since 1970)."""

import datetime
import json
import urllib.parse


def seconds(timestamp):
    return datetime.datetime.fromisoformat(timestamp.replace("Z", "+00:00")).timestamp()


class Call:
    """One finished call."""

    def __init__(self, entry):
        ref = entry.get("objectRef", {})
        self.user = entry["user"]["username"]
        self.verb = entry["verb"]
        self.resource = "/".join(filter(None, (ref.get("resource"), ref.get("subresource"))))
        self.name = ref.get("name", "")
        self.namespace = ref.get("namespace", "")
        query = urllib.parse.urlparse(entry.get("requestURI", "")).query
        # The operator tries a template so; nothing is made.
        self.dry_run = "dryRun" in urllib.parse.parse_qs(query)
        self.code = entry.get("responseStatus", {}).get("code", 0)
        self.received = seconds(entry["requestReceivedTimestamp"])
        self.done = seconds(entry["stageTimestamp"])

    @property
    def ok(self):
        return 200 <= self.code < 300

    @property
    def writes(self):
        return self.verb not in ("get", "list", "watch") and not self.dry_run

    def created(self, resource):
        return self.ok and self.writes and self.verb == "create" and self.resource == resource


class AuditLog:
    """Follows the file. Calls that have not ended are not in it, nor are watches."""

    def __init__(self, path):
        self._file = open(path, "rb")
        self._rest = b""
        self.calls = []

    def read(self):
        """All calls so far."""
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        for line in lines:
            entry = json.loads(line)
            if entry["stage"] == "ResponseComplete" and entry["verb"] != "watch":
                self.calls.append(Call(entry))
        return self.calls

    def mark(self):
        """For since(): what is in the file now is left out."""
        return len(self.read())

    def since(self, mark, **wanted):
        """Calls after the mark whose attributes are as wanted."""
        return [call for call in self.read()[mark:]
                if all(getattr(call, key) == value for key, value in wanted.items())]
