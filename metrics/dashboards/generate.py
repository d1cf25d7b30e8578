#!/usr/bin/env python3
"""generate.py FOLDER: writes the dashboards into it, each as its uid says. What else lies there goes."""

import json
import pathlib
import sys

from boards import BOARDS


def write(folder: pathlib.Path) -> None:
    wanted = {f"{board.uid}.json" for board in BOARDS}
    for path in folder.glob("*.json"):
        if path.name not in wanted:
            path.unlink()
    for board in BOARDS:
        text = json.dumps(board.as_json(), indent=2, ensure_ascii=False)
        (folder / f"{board.uid}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))
