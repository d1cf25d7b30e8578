#!/usr/bin/env bash
# test_script_detects.sh ROOT: scripts/test.sh passes when all its tools do, and fails, naming the
# step, when any one of them fails; the steps after it run all the same. The tools are stand-ins.
set -euo pipefail
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

mkdir -p "$scratch/bin" "$scratch/tree/"{base,proto,crds,operator,agent,runtime,library,local,cli,metrics}
cp -r "$root/scripts" "$scratch/tree/scripts"
touch "$scratch/tree/base/a.cc"
cp "$root/.clang-tidy" "$scratch/tree/"

# tool NAME: reports its call and fails when the call begins with $BREAK.
tool() {
  cat >"$scratch/bin/$1" <<'TOOL'
#!/usr/bin/env bash
call="$(basename "$0") $*"
echo "$call" >>"$CALLS"
if [[ -n $BREAK && $call == $BREAK* ]]; then
  echo "stand-in: $call fails"
  exit 1
fi
TOOL
  cat >>"$scratch/bin/$1"
  chmod +x "$scratch/bin/$1"
}
tool cmake <<'TOOL'
if [[ $* == "--build build/asan"* ]]; then
  mkdir -p build/asan/fuzz
  cp "$(dirname "$0")/a_fuzz" build/asan/fuzz/
elif [[ $* == "--preset tidy" ]]; then
  mkdir -p build/tidy
  echo '[{"directory": "build/tidy", "file": "../../base/a.cc", "command": "true"}]' \
    >build/tidy/compile_commands.json
fi
TOOL
tool ctest <<'TOOL'
echo "100% tests passed"
echo "simulation    =  ${SIMULATED:-61.50} sec*proc (3 tests)"
TOOL
tool clang-tidy-19 <<<''
# Installs nothing; scripts are run.
tool python3 <<TOOL
if [[ \$1 != -m ]]; then exec "$(command -v python3)" "\$@"; fi
TOOL
tool dpkg-query <<<'echo installed'
tool a_fuzz <<<''
tool run.sh <<'TOOL'
if [[ $* == all && -n ${KILLED:-} ]]; then kill -9 "$PPID"; fi
TOOL
tool build-tools.sh <<<''
mkdir -p "$scratch/tree/e2e/cluster"
cp "$scratch/bin/run.sh" "$scratch/tree/e2e/"
cp "$scratch/bin/build-tools.sh" "$scratch/tree/e2e/cluster/"

failures=0
# expect STATUS BREAK STEPS ARGUMENT...: STEPS is what the line FAILED names.
expect() {
  local wanted=$1 break=$2 steps=$3 status=0
  shift 3
  : >"$scratch/calls"
  rm -rf "$scratch/tree/build" "$scratch/cache"
  # A shell counts its SECONDS from the number that its environment has.
  env SECONDS="${TOOK:-0}" PATH="$scratch/bin:$PATH" CALLS="$scratch/calls" BREAK="$break" \
    XDG_CACHE_HOME="$scratch/cache" \
    bash "$scratch/tree/scripts/test.sh" "$@" >"$scratch/output" 2>&1 || status=$?
  local named
  named=$(sed -n 's/^FAILED: //p' "$scratch/output")
  local last
  case $* in
    --all | --all=unit) last='cmake --preset tidy' ;;
    --all=cluster) last='run.sh all' ;;
    *) last='run.sh install train_adult worker_deleted scrape' ;;
  esac
  if [[ $status != "$wanted" || $named != "$steps" ]] || ! grep -q "^$last" "$scratch/calls"; then
    echo "test.sh $* with failing '$break': status $status, FAILED: $named; expected $wanted, $steps"
    cat "$scratch/output"
    failures=$((failures + 1))
  fi
}

# expect_calls PATTERN TIMES: how often the last run has called it.
expect_calls() {
  local found
  found=$(grep -c -- "$1" "$scratch/calls" || true)
  if [[ $found != "$2" ]]; then
    echo "'$1' is called $found times, expected $2"
    failures=$((failures + 1))
  fi
}

expect 0 '' ''
if [[ $(grep -c '^the simulations took 61.50 s$' "$scratch/output") != 2 ]]; then
  echo "test.sh does not say how long the simulations of dev and asan took"
  failures=$((failures + 1))
fi
expect_calls '^ctest --test-dir build/dev .*-LE long' 1
expect_calls '^python3 -m pip' 1

# expect_warning TIMES WHEN: whether the last run has said that the simulations take too long.
expect_warning() {
  if [[ $(grep -c '^WARNING: the simulations took ' "$scratch/output" || true) != "$1" ]]; then
    echo "test.sh has not said $1 times that the simulations take too long: $2"
    cat "$scratch/output"
    failures=$((failures + 1))
  fi
}
# expect_total TIMES WHEN: whether the last run has said that all of it takes too long.
expect_total() {
  local found
  found=$(grep -cE '^WARNING: all of it took [0-9]+ s, .* 9000 s' "$scratch/output" || true)
  if [[ $found != "$1" ]]; then
    echo "test.sh has not said $1 times that all of it takes too long: $2"
    cat "$scratch/output"
    failures=$((failures + 1))
  fi
}
expect_warning 0 'dev and asan take 123 s together'
SIMULATED=119.99 TOOK=9001 expect 0 '' ''
expect_warning 0 'they take 239.98 s together'
expect_total 0 'a normal run has no such limit'
# A machine may be busy: it is said, and nothing fails.
SIMULATED=120.01 expect 0 '' ''
expect_warning 1 'they take 240.02 s together'
if ! grep -q '^WARNING: the simulations took 240.02 s, .* 240 s' "$scratch/output"; then
  echo "the warning does not say how long they took and how long they may take"
  failures=$((failures + 1))
fi
SIMULATED=1000 TOOK=9001 expect 0 '' '' --all=unit
expect_warning 0 'the long ones have no such limit'
expect_total 1 'it took more than 150 minutes'
expect 0 '' '' --all
expect_calls '^python3 -m pip .*tensorflow' 1
expect_total 0 'it took seconds'
if ! grep -qE '^all of it took [0-9]+ s$' "$scratch/output"; then
  echo "test.sh --all does not say how long it took"
  failures=$((failures + 1))
fi
expect_calls '^ctest --test-dir build/dev .*-L' 0
expect_calls '^run.sh all' 1
expect 0 '' '' --all=unit
expect_calls '^ctest --test-dir build/dev .*-LE cluster' 1
expect_calls '^run.sh\|^build-tools.sh' 0
expect_calls '^cmake --build build/tsan' 1
expect 0 '' '' --all=cluster
expect_calls '^ctest --test-dir build/dev .*-L cluster' 1
expect_calls '^run.sh all' 1
expect_calls '^cmake .*\(asan\|release\|tsan\|tidy\)' 0
expect_calls '^python3 -m pip' 0
expect 1 'ctest --test-dir build/dev' 'test-dev'
expect 1 'run.sh --tools' 'cluster-tools'
expect 1 'python3 -m pip' 'python-tools' --all
expect 0 'python3 -m pip' ''
expect 1 'build-tools.sh kwok' 'cluster-tools' --all
expect 1 'run.sh install' 'e2e'
expect 1 'run.sh all' 'e2e' --all
KILLED=1 expect 1 '' 'e2e' --all
expect 1 'run.sh all' 'e2e' --all=cluster
expect 1 'ctest --test-dir build/dev' 'test-dev' --all=cluster
expect 1 'ctest --test-dir build/asan' 'test-asan'
expect 1 'cmake --preset asan' 'build-asan'
expect 1 'cmake --build build/asan' 'build-asan'
expect 1 'cmake --build build/dev' 'build-dev' --all
expect 1 'ctest --test-dir build/release' 'test-release' --all
expect 1 'cmake --build build/tsan' 'build-tsan' --all
expect 1 'ctest --test-dir build/tsan' 'test-tsan' --all
# Without the asan build there is nothing to fuzz.
expect 1 'cmake --build build/asan' 'build-asan' --all
expect_calls '^a_fuzz' 0
expect 1 'a_fuzz' 'fuzz' --all
expect 1 'cmake --preset tidy' 'tidy' --all
expect 1 'clang-tidy-19 -p' 'tidy' --all
expect 1 'ctest' 'test-asan test-release test-tsan test-dev' --all

# An unknown part runs nothing.
: >"$scratch/calls"
status=0
PATH=$scratch/bin:$PATH CALLS=$scratch/calls BREAK='' \
  bash "$scratch/tree/scripts/test.sh" --all=units >"$scratch/output" 2>&1 || status=$?
if [[ $status != 2 || -s $scratch/calls ]] || ! grep -q '^usage:' "$scratch/output"; then
  echo "test.sh --all=units: status $status, expected 2 and its usage"
  failures=$((failures + 1))
fi

exit "$((failures > 0))"
