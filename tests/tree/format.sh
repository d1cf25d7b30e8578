#!/usr/bin/env bash
# format.sh ROOT: every C++ file of the tree is as clang-format-19 writes it. 77 when that is
# absent.
set -euo pipefail
cd "$1"
if ! command -v clang-format-19 >/dev/null; then
  echo "SKIPPED: clang-format-19 is not installed (scripts/install-deps.sh --test)"
  exit 77
fi
find . -path ./build -prune -o -path ./.git -prune -o \( -name '*.h' -o -name '*.cc' \) -print |
  sort | xargs -r clang-format-19 --dry-run -Werror
