#!/usr/bin/env python3
"""free_ports.py COUNT: prints the first of so many free ports in a row on 127.0.0.1."""

import random
import socket
import sys


def free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


while True:
    first = random.randrange(20000, 32000)
    if all(free(first + i) for i in range(int(sys.argv[1]))):
        print(first)
        break
