"""Prints one JSON line about the machine that the following lines were measured on."""

import datetime
import json
import os
import platform


def cpu_model():
    with open("/proc/cpuinfo", encoding="ascii") as info:
        for line in info:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


print(json.dumps({
    "bench": "machine",
    "cpu": cpu_model(),
    "cpus": os.cpu_count(),
    "load_average": os.getloadavg()[0],
    "kernel": platform.release(),
    "date": datetime.date.today().isoformat(),
}), flush=True)
