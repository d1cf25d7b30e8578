#!/usr/bin/env bash
# python-tools.sh SET...: installs packages of Python that tests read our files by, each set into a
# folder of the cache: safetensors, tensorflow, tensorboard, onnx. Does nothing where a set is there.
# python-tools.sh --path SET: prints the folder, for PYTHONPATH; 77, and why, where it is not there.
#
# PSTRAIN_PYTHON_DIR   the cache (default ${XDG_CACHE_HOME:-$HOME/.cache}/pstrain/python)
set -euo pipefail

cache=${PSTRAIN_PYTHON_DIR:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/pstrain/python}

packages_of() { # SET
  case $1 in
    safetensors) echo numpy==2.4.6 safetensors==0.8.0 ;;
    tensorflow) echo tensorflow-cpu==2.21.0 ;;
    tensorboard) echo numpy==2.4.6 tensorboard==2.21.0 ;;
    onnx) echo numpy==2.4.6 onnx==1.23.2 onnxruntime==1.32.0 ;;
    *)
      echo "python-tools.sh: there is no set $1" >&2
      return 2
      ;;
  esac
}
# The folder of a set is named by what is in it, so that another version is another folder.
folder_of() { # SET
  local packages
  packages=$(packages_of "$1") || return
  echo "$cache/${packages// /+}"
}

if [[ ${1-} == --path ]]; then
  folder=$(folder_of "${2:?a set}") || exit
  if [[ -d $folder ]]; then
    echo "$folder"
    exit
  fi
  echo "SKIPPED: $2 is not installed (scripts/python-tools.sh $2)" >&2
  exit 77
fi

for set in "$@"; do
  folder=$(folder_of "$set") || exit
  if [[ -d $folder ]]; then continue; fi
  echo "python-tools: installing $(packages_of "$set")" >&2
  mkdir -p "$cache"
  part=$(mktemp -d "$folder.XXXXXX")
  trap 'rm -rf "$part"' EXIT
  read -ra packages <<<"$(packages_of "$set")"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --target "$part" \
    "${packages[@]}"
  chmod 755 "$part"
  mv -T "$part" "$folder"
done
