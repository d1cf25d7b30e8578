# Processes of the cluster: started in the background, known by pid and birth. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of common.sh

# Start time of a process in clock ticks: tells it from a later one with the same pid.
# Prints nothing for a zombie, since some init processes are slow to reap orphans; but one whose first
# thread alone has ended still has its sockets, and counts as running.
birth() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" || $18 > 1 { print $20 }'; }

# pid of component $1 if it runs.
pid_of() {
  local pid born
  read -r pid born 2>/dev/null <"$state/run/$1.pid" || return 1
  [[ $(birth "$pid") == "$born" ]] && echo "$pid"
}

# launch NAME NETNS CMD...: starts CMD in the background; NETNS "-" is the host's.
launch() {
  local name=$1 ns=$2
  shift 2
  [[ $ns == - ]] || set -- nsenter "--net=/run/netns/$ns" "$@"
  printf '%q ' "$@" >"$state/run/$name.cmd"
  relaunch "$name"
}

relaunch() {
  local -a cmd
  eval "cmd=($(cat "$state/run/$1.cmd"))"
  setsid "${cmd[@]}" >>"$state/log/$1.log" 2>&1 </dev/null 9>&- &
  echo "$! $(birth $!)" >"$state/run/$1.pid"
  disown
}

# stop NAME [SIGNAL]: ends a component and waits for it (at most 10 s, then SIGKILL).
stop() {
  local pid
  pid=$(pid_of "$1") || { rm -f "$state/run/$1.pid"; return 0; }
  kill "-${2:-TERM}" "$pid" 2>/dev/null || true
  for _ in {1..100}; do
    pid_of "$1" >/dev/null || break
    sleep 0.1
  done
  kill -KILL "$pid" 2>/dev/null || true
  rm -f "$state/run/$1.pid"
}

# wait_for SECONDS WHAT CMD...: polls CMD; gives up immediately when a component died.
wait_for() {
  local end=$((SECONDS + $1)) what=$2 f name
  shift 2
  until "$@" >/dev/null 2>&1; do
    for f in "$state"/run/*.pid; do
      name=$(basename "$f" .pid)
      pid_of "$name" >/dev/null || die "$name died: $(tail -n 3 "$state/log/$name.log")"
    done
    ((SECONDS < end)) || die "timed out waiting for $what; see $state/log"
    sleep 0.1
  done
}

api_ready() { curl -sfk --max-time 2 "https://127.0.0.1:$port/readyz"; }
kubectl() { "$bin/kubectl" --kubeconfig "$state/admin.kubeconfig" "$@"; }
