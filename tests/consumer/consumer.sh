#!/usr/bin/env bash
# consumer.sh BUILD PROJECT: installs BUILD into a temporary folder, builds a copy of PROJECT there
# against what was installed, by find_package and by pkg-config, and runs it. Every name that
# libpstrain.so exports has to be ours.
set -euo pipefail
build=$1
project=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/install.log"
library=$(find "$tmp/prefix" -name 'libpstrain.so')
libraries=$(dirname "$library")

# Names as the linker sees them, without the versions; "A" is the name of a version.
exported=$(nm -DC --defined-only "$library" | awk '$2 != "A"' | cut -d' ' -f3-)
if [[ -z $exported ]]; then
  echo "consumer: $library exports nothing" >&2
  exit 1
fi
foreign=$(grep -vE '^((typeinfo|typeinfo name|vtable) for )?pstrain::' <<<"$exported" || true)
if [[ -n $foreign ]]; then
  echo "consumer: libpstrain.so exports names that are not ours:" >&2
  head -20 <<<"$foreign" >&2
  exit 1
fi

cp -r "$project" "$tmp/project"
cmake -S "$tmp/project" -B "$tmp/build" -DCMAKE_PREFIX_PATH="$tmp/prefix" >"$tmp/configure.log"
cmake --build "$tmp/build" >"$tmp/build.log" || { cat "$tmp/build.log"; exit 1; }
for program in consumer counting; do
  [[ $("$tmp/build/$program") == right ]]
done

export PKG_CONFIG_PATH=$libraries/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs pstrain)"
for program in consumer counting; do
  "${CXX:-g++}" "$tmp/project/$program.cc" "${flags[@]}" -o "$tmp/by-pkg-config"
  [[ $(LD_LIBRARY_PATH=$libraries "$tmp/by-pkg-config") == right ]]
done
echo "consumer: $(wc -l <<<"$exported") names exported, all ours; built and run in both ways"
