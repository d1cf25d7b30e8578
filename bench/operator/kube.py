"""The least of a client for an apiserver: JSON over kept connections, with a client certificate.

http.client is not used because parsing its headers would cost the CPU that the apiserver needs: the
bare loop makes hundreds of calls a second on the machine that the cluster runs on.
"""

import json
import socket
import ssl
import threading
import time

TIMEOUT_S = 120
IDLE_S = 30  # the server closes a connection after 90 s without a call


class Failed(Exception):
    def __init__(self, action, status, body):
        super().__init__(f"{action}: {status} {body[:500].decode(errors='replace')}")
        self.status = status


class Connection:
    """One connection; one call at a time."""

    def __init__(self, port, pki, user):
        context = ssl.create_default_context(cafile=f"{pki}/ca.crt")
        context.load_cert_chain(f"{pki}/{user}.crt", f"{pki}/{user}.key")
        plain = socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT_S)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = context.wrap_socket(plain, server_hostname="localhost")
        self._file = self._socket.makefile("rb")

    def call(self, method, target, body=b"", content_type="application/json"):
        """(status, body)"""
        status, chunks = self.stream(method, target, body, content_type)
        return status, b"".join(chunks)

    def stream(self, method, target, body=b"", content_type="application/json"):
        """(status, pieces of the body as they come)"""
        self._socket.sendall(
            f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
            f"User-Agent: bench\r\nContent-Type: {content_type}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        status = int(self._file.readline().split()[1])
        length, chunked = 0, False
        while (line := self._file.readline().strip().lower()):
            if line.startswith(b"content-length:"):
                length = int(line[15:])
            chunked |= line.startswith(b"transfer-encoding:") and line.endswith(b"chunked")
        return status, self._chunks() if chunked else iter([self._file.read(length)])

    def _chunks(self):
        while (size := int(self._file.readline(), 16)) > 0:
            yield self._file.read(size)
            self._file.readline()
        self._file.readline()

    def wait_for_ever(self):
        """From now on silence is no error."""
        self._socket.settimeout(None)

    def close(self):
        self._socket.close()


class Api:
    """Calls of one user, and loops of many of them. Any thread, one call at a time."""

    def __init__(self, port, pki, user):
        self.connect = lambda: Connection(port, pki, user)
        self._connection = None
        self._used_at = 0
        self._lock = threading.Lock()

    def call(self, method, target, body=None, content_type="application/json", allow=()):
        """The answer as JSON; None for a status in `allow`. Raises Failed for another error."""
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        with self._lock:
            if self._connection is None or time.monotonic() - self._used_at > IDLE_S:
                self._connection = self.connect()
            status, answer = self._connection.call(method, target, data, content_type)
            self._used_at = time.monotonic()
        if status in allow:
            return None
        if status >= 400:
            raise Failed(f"{method} {target}", status, answer)
        return json.loads(answer)

    def all(self, calls, parallel):
        """Makes the calls (method, target, body), so many in parallel; all must succeed."""
        left, failures = iter(calls), []
        lock, begin = threading.Lock(), threading.Barrier(parallel + 1)

        def loop():
            connection = self.connect()
            connection.call("GET", "/version")  # the connection stands before the start
            begin.wait()
            while not failures:
                with lock:
                    call = next(left, None)
                if call is None:
                    break
                status, answer = connection.call(*call)
                if status >= 400:
                    failures.append(Failed(f"{call[0]} {call[1]}", status, answer))
            connection.close()

        threads = [threading.Thread(target=loop) for _ in range(parallel)]
        for thread in threads:
            thread.start()
        begin.wait()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def watch(self, target, heard):
        """Calls heard(event) for each event from now on, on a thread that ends with the process."""
        connection = self.connect()
        version = self.call("GET", target + "?limit=1")["metadata"]["resourceVersion"]
        status, chunks = connection.stream(
            "GET", f"{target}?watch=true&resourceVersion={version}&timeoutSeconds=3600")
        if status != 200:
            raise Failed(f"watch {target}", status, b"".join(chunks))
        connection.wait_for_ever()

        def follow():
            rest = b""
            for chunk in chunks:
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    heard(json.loads(line))

        threading.Thread(target=follow, daemon=True).start()
