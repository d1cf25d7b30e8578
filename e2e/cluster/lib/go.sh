# Finds a Go toolchain that is new enough for the tools. To be sourced.
# shellcheck shell=bash disable=SC2154 # variables of common.sh

go_wanted=1.26.0

# go_at_least GO: whether that program is Go $go_wanted or later.
go_at_least() {
  local version
  version=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  version=${version#go}
  [[ $(printf '%s\n' "$go_wanted" "$version" | sort -V | head -n 1) == "$go_wanted" ]]
}

# Debian's Go is older than the tools ask for. A newer one is a Go module too
# (golang.org/toolchain); an old `go` unpacks it without execute bits, so it is copied.
fetch_go() { # OLD-GO
  local module=golang.org/toolchain@v0.0.1-go$go_wanted.linux-amd64 from to=$cache/go$go_wanted
  if [[ ! -x $to/bin/go ]]; then
    from=$(cd / && GO111MODULE=on GOFLAGS=-mod=mod "$1" mod download -json "$module" |
      sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
    [[ -d $from ]] || return 1
    rm -rf "$to.new"
    cp -r "$from" "$to.new"
    chmod -R u+w "$to.new"
    chmod +x "$to.new"/bin/* "$to.new"/pkg/tool/*/*
    mv "$to.new" "$to"
  fi
  echo "$to/bin/go"
}

# Prints the path of a Go that is new enough; fails with a reason on stderr.
find_go() {
  local candidate
  for candidate in "$(command -v go || true)" /usr/lib/go-*/bin/go; do
    [[ -x $candidate ]] || continue
    if go_at_least "$candidate"; then echo "$candidate"; return; fi
    if fetch_go "$candidate"; then return; fi
    echo "cannot fetch Go $go_wanted as a module" >&2
    return 1
  done
  echo "there is no Go (Debian: golang-go)" >&2
  return 1
}
