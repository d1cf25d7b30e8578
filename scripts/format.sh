#!/usr/bin/env bash
# format.sh: writes every C++ file of the tree as .clang-format says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
find . -path ./build -prune -o -path ./.git -prune -o \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 -r clang-format-19 -i
