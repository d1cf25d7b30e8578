#!/usr/bin/env bash
# torch.sh BUILD ROOT: installs BUILD into a temporary folder, builds the test of pstrain/torch.h and
# examples/torch_deepfm against it and libtorch, and runs them. libpstrain and libtorch are in one
# process in either order, and neither has names of the other. 77 where libtorch is not installed.
set -euo pipefail
build=$1
root=$2
if [[ $(dpkg-query -W -f='${db:Status-Status}' libtorch-dev 2>/dev/null || true) != installed ]]; then
  echo "SKIPPED: libtorch-dev is not installed (scripts/install-deps.sh --torch)" >&2
  exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cmake --install "$build" --prefix "$tmp/prefix" >"$tmp/install.log"
pstrain=$(find "$tmp/prefix" -name 'libpstrain.so')

# make NAME FOLDER OPTION...: builds the project into $tmp/NAME.
make() {
  local name=$1 folder=$2
  shift 2
  {
    cmake -S "$folder" -B "$tmp/$name" -DCMAKE_PREFIX_PATH="$tmp/prefix" "$@"
    cmake --build "$tmp/$name"
  } >"$tmp/$name.log" 2>&1 || { cat "$tmp/$name.log"; return 1; }
}
make test "$root/tests/consumer/torch_project" -DPSTRAIN_TORCH_TEST="$root/tests/include/pstrain/torch_test.cc"
make example "$root/examples/torch_deepfm"

# Where a name is asked for, the library that was loaded first answers: either may be the first one.
torch=$(ldd "$tmp/test/torch_test" | sed -n 's/.*=> \(.*libtorch_cpu\.so[^ ]*\) .*/\1/p')
names_of() { nm -D --defined-only "$1" | awk '{ print $3 }' | sed 's/@.*//' | LC_ALL=C sort -u; }
names_of "$pstrain" >"$tmp/ours"
names_of "$torch" >"$tmp/theirs"
both=$(LC_ALL=C comm -12 "$tmp/ours" "$tmp/theirs")
if [[ ! -s $tmp/ours || ! -s $tmp/theirs || -n $both ]]; then
  echo "torch.sh: $(wc -l <"$tmp/ours") names of ours, $(wc -l <"$tmp/theirs") of libtorch, of both:" >&2
  head -20 <<<"$both" >&2
  exit 1
fi
for first in "$pstrain" "$torch"; do
  LD_PRELOAD=$first "$tmp/test/torch_test" --gtest_brief=1
done

# The example as processes, one epoch of it.
data=$root/examples/adult/data
sed 's|/data/adult.test.gz\]|/data/adult.test.gz, "1"]|' "$root/examples/torch_deepfm/job.yaml" \
  >"$tmp/job.yaml"
(cd "$tmp" && PATH=$tmp/example:$build/bin:$PATH \
  pstrain run job.yaml --volume data="$data" >"$tmp/run.log" 2>&1) || { cat "$tmp/run.log"; exit 1; }
cat "$tmp"/.pstrain/torch-deepfm/logs/chief-0* >"$tmp/chief.log"
# And as threads.
"$tmp/example/torch_deepfm" "$data/adult.data.gz" "$data/adult.test.gz" 3 >"$tmp/threads.log"
check() { # LOG LINES LEAST: so many epochs, the last one with at least that AUC.
  grep '^epoch ' "$1" | tail -n "$2"
  grep '^epoch ' "$1" | awk -v lines="$2" -v least="$3" '
    { auc = $NF }
    END { exit !(NR == lines && auc >= least && auc < 1) }' ||
    { echo "torch.sh: $2 epochs and an AUC of $3 are wanted" >&2; cat "$1" >&2; return 1; }
}
check "$tmp/chief.log" 1 0.89
check "$tmp/threads.log" 3 0.905
echo "torch.sh: $(wc -l <"$tmp/ours") names of ours, $(wc -l <"$tmp/theirs") of libtorch, none of both"
