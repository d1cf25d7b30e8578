#!/usr/bin/env bash
# test.sh [--all[=unit|cluster]]: installs what the tests need, builds and runs them; fails when any
# of them does.
#   dev   all tests without the label "long"
#   asan  the unit tests again under AddressSanitizer and UBSan (no real processes, no tree checks),
#         and the corpora of the fuzz targets
#   e2e   cases on a real Kubernetes cluster on this machine; where none can run (not root, no cgroup
#         v1, ...) that is said and the rest continues, unless PSTRAIN_REQUIRE_CLUSTER is set
# --all adds the long tests, the unit tests as they ship (release) and under the thread sanitizer,
# 30 s of each fuzz target, clang-tidy, and every case of e2e. --all=unit is the part of it that needs
# nothing of a cluster, --all=cluster the rest: the tests with the label "cluster", and e2e. --all
# runs e2e and the tests of dev beside the other steps, since they mostly wait: for pods, for faults
# that last. What compiles gives way to them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Histories of the protocol's simulation under a sanitizer, which is some 15 times slower than dev.
sanitizer_seeds=500
# The commit protocol that is simulated has one thread.
thread_sanitizer_seeds=200

all=true
units=true
cluster=true
case "${1-}" in
  "") all=false ;;
  --all) ;;
  --all=unit) cluster=false ;;
  --all=cluster) units=false ;;
  *)
    echo "usage: $0 [--all[=unit|cluster]]" >&2
    exit 2
    ;;
esac

scripts/install-deps.sh --test

logs=$(mktemp -d)
declare -A beside=()     # the processes of the steps that run beside the others, by name
clean_up() {
  local process
  for process in "${beside[@]}"; do
    pkill -P "$process" || true
    wait "$process" || true
  done
  rm -rf "$logs"
}
trap clean_up EXIT
steps=()     # names and times in the order they ended
failed=()    # names of those that failed

# ended NAME SECONDS OUTCOME: keeps it, and is it.
ended() {
  steps+=("$1 $2s")
  if (($3 != 0)); then failed+=("$1"); fi
  return "$3"
}
# step NAME COMMAND...: runs it, keeps its output; the others run all the same when it fails.
step() {
  local name=$1 start=$SECONDS outcome=0
  shift
  echo "=== $name"
  "$@" 2>&1 | tee "$logs/$name.log" || outcome=1
  ended "$name" $((SECONDS - start)) "$outcome"
}
# start_beside NAME COMMAND...: as step, but returns, and says nothing until `join_beside NAME`.
start_beside() {
  local name=$1
  shift
  echo "=== $name, beside the steps that follow"
  {
    local start=$SECONDS outcome=0
    "$@" || outcome=1
    echo "$((SECONDS - start)) $outcome" >"$logs/$name.ended"
  } >"$logs/$name.log" 2>&1 &
  beside[$name]=$!
}
join_beside() {
  local name=$1 seconds='?' outcome=1
  wait "${beside[$name]}" || true
  unset "beside[$name]"
  echo "=== $name"
  cat "$logs/$name.log"
  # Not there when the process was killed.
  if [[ -f $logs/$name.ended ]]; then read -r seconds outcome <"$logs/$name.ended"; fi
  ended "$name" "$seconds" "$outcome"
}

# In front of what takes all processors for minutes, while tests run beside it.
giving_way=()
if $all && $units; then giving_way=(nice -n 10); fi

build() { "${giving_way[@]}" scripts/build.sh "$@" | tail -n 40; }
run_ctest() {
  local preset=$1
  shift
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j 2 "$@"
}
# unit_tests PRESET
unit_tests() {
  step "build-$1" build "$1" unit_tests || return
  step "test-$1" run_ctest "$1" -LE 'long|process|tree' || true
}

# fuzz_one TARGET: new inputs go to a scratch corpus; only what crashes is left behind.
fuzz_one() {
  local target=$1 corpus=$logs/corpus.$1 outcome=0
  mkdir "$corpus"
  if [[ -d tests/fuzz/corpus/$target ]]; then cp -r "tests/fuzz/corpus/$target/." "$corpus/"; fi
  "build/asan/fuzz/$target" -max_total_time=30 -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
    -print_funcs=0 -print_final_stats=1 -artifact_prefix="build/asan/fuzz/$target-" "$corpus" \
    >"$logs/$target.fuzz" 2>&1 || outcome=1
  echo "--- $target"
  cat "$logs/$target.fuzz"
  return "$outcome"
}
# As many targets at a time as there are processors, each on one.
fuzz() {
  local fuzzer running=0 count=0 bad=0
  for fuzzer in build/asan/fuzz/*_fuzz; do
    if [[ ! -x $fuzzer ]]; then continue; fi
    if ((running == $(nproc))); then
      wait -n || bad=$((bad + 1))
      running=$((running - 1))
    fi
    fuzz_one "$(basename "$fuzzer")" &
    running=$((running + 1))
    count=$((count + 1))
  done
  for (( ; running > 0; running--)); do wait -n || bad=$((bad + 1)); done
  echo "$count fuzz targets, $bad failed"
  ((count > 0 && bad == 0))
}

cluster_cases=(install train_adult worker_deleted scrape)
if $all; then cluster_cases=(all); fi

# e2e [--tools]: what e2e/run.sh says; that it cannot run here is no failure unless it must.
e2e() {
  local rc=0
  PSTRAIN_E2E_PRESET=dev e2e/run.sh "$@" "${cluster_cases[@]}" || rc=$?
  if ((rc == 77)) && [[ -z ${PSTRAIN_REQUIRE_CLUSTER:-} ]]; then rc=0; fi
  return "$rc"
}

# What clusters are made of; a long test runs a bench that wants fake nodes.
cluster_tools() {
  e2e --tools || return
  local build=e2e/cluster/build-tools.sh
  if $all && [[ -z $("$build" --missing kube-apiserver) ]]; then "$build" kwok; fi
}

# The cluster's programs first: a test of the CRD uses some of them.
if $cluster; then
  if ((EUID == 0)); then scripts/install-deps.sh --cluster; fi
  step cluster-tools cluster_tools || true
fi

# What exported models are read by; TensorFlow and onnxruntime, which are large, by long tests.
python_tools=(safetensors)
if $all; then python_tools+=(tensorflow tensorboard onnx); fi
if $units && $all; then
  step python-tools scripts/python-tools.sh "${python_tools[@]}" || true
elif $units && ! scripts/python-tools.sh "${python_tools[@]}"; then
  echo "=== python-tools: not there, so the tests that need them are skipped"
fi

# What pstrain/torch.h is compiled against.
if $units && $all; then step torch scripts/install-deps.sh --torch || true; fi

labels=()
if ! $all; then labels=(-LE long); fi
if ! $cluster; then labels=(-LE cluster); fi
if ! $units; then labels=(-L cluster); fi
test_dev() { run_ctest dev "${labels[@]}"; }
dev_built=true
asan_built=true
step build-dev build dev || dev_built=false
if $all && $units; then
  if $cluster; then start_beside e2e e2e; fi
  if $dev_built; then start_beside test-dev test_dev; fi
elif $dev_built; then
  step test-dev test_dev || true
fi
if $units; then
  PSTRAIN_SIMULATION_SEEDS=$sanitizer_seeds unit_tests asan || asan_built=false
fi
if $all && $units; then
  unit_tests release || true
  PSTRAIN_SIMULATION_SEEDS=$thread_sanitizer_seeds unit_tests tsan || true
  if $asan_built; then step fuzz fuzz || true; fi
  step tidy "${giving_way[@]}" scripts/tidy.sh || true
  if $dev_built; then join_beside test-dev || true; fi
  if $cluster; then join_beside e2e || true; fi
elif $cluster; then
  step e2e e2e || true
fi

printf '=== ran:'
printf ' %s,' "${steps[@]}"
echo " ${#failed[@]} failed"
if ((${#failed[@]} > 0)); then echo "FAILED: ${failed[*]}"; fi
if [[ -f $logs/e2e.log ]]; then
  echo "--- e2e"
  tail -n 1 "$logs/e2e.log"
fi
# Last of all what ctest said at its end, of the dev preset last.
simulated=()
for preset in tsan release asan dev; do
  if [[ -f $logs/test-$preset.log ]]; then
    echo "--- $preset"
    sed -n '/tests passed/,$p' "$logs/test-$preset.log"
    # The summary of labels.
    seconds=$(sed -nE 's/^simulation *= *([0-9.]+) sec.*/\1/p' "$logs/test-$preset.log")
    if [[ -n $seconds ]]; then
      echo "the simulations took $seconds s"
      simulated+=("$seconds")
    fi
  fi
done
# All simulations of the project have 4 minutes of a normal run. Nothing fails by it, since a
# machine may be busy; whoever adds a simulation is to see it.
if ! $all; then
  printf '%s\n' 0 "${simulated[@]}" | awk -v most=240 '
    { sum += $1 }
    END {
      if (sum > most)
        printf "WARNING: the simulations took %.2f s, more than the %d s that they may take in a " \
               "normal run; try fewer seeds there, and more with --all\n", sum, most
    }'
else
  # So has all of it 150 minutes: a run that takes a night is a run that nobody makes.
  most=$((150 * 60))
  took=$SECONDS
  echo "all of it took $took s"
  if ((took > most)); then
    echo "WARNING: all of it took $took s, more than the $most s that it may take; see the times" \
         "of the steps above"
  fi
fi
((${#failed[@]} == 0))
