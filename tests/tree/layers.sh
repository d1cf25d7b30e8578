#!/usr/bin/env bash
# layers.sh ROOT: checks all includes of the tree at ROOT against ROOT/cmake/layers.txt and
# ROOT/cmake/quarantine.txt; prints each violation as FILE:LINE and fails if there is one.
set -euo pipefail
cd "$1"

folders=()
for folder in include base proto crds operator agent runtime library local cli metrics tests bench; do
  if [[ -d $folder ]]; then folders+=("$folder"); fi
done

grep -rnE '^[[:space:]]*#[[:space:]]*include' --include='*.h' --include='*.cc' "${folders[@]}" |
  awk -v layers=cmake/layers.txt -v quarantine=cmake/quarantine.txt '
    function folder_of(path) { sub(/\/[^\/]*$/, "", path); return path }
    # The named entry that covers a folder: itself or the nearest one above, where PARENT/* covers
    # each folder right below PARENT; "" when there is none.
    function entry_of(folder, parent) {
      while (!(folder in allowed)) {
        if (folder !~ /\//) return ""
        parent = folder_of(folder)
        if ((parent "/*") in allowed) return parent "/*"
        folder = parent
      }
      return folder
    }
    # What an include of that header needs a permission for: the header itself where it has an
    # entry.
    function target_of(header) { return header in allowed ? header : entry_of(folder_of(header)) }
    # A file pattern of the shell as a regular expression; * stays inside one folder.
    function to_regex(pattern) {
      gsub(/\./, "\\.", pattern); gsub(/\*/, "[^/]*", pattern)
      return "^" pattern "$"
    }
    function complain(text) { print text; ++violations }
    function may_include(file, from, to, list, n, i) {
      n = split(allowed[from] (file in allowed ? " " allowed[file] : ""), list, " ")
      for (i = 1; i <= n; ++i) {
        if (list[i] == to) return 1
        # In the entries of tests and bench a name stands for all below it.
        if ((from == "tests" || from == "bench") && index(to "/", list[i] "/") == 1) return 1
      }
      return 0
    }
    function check_own(place, file, header, from, to) {
      from = entry_of(folder_of(file))
      if (from == "") { complain(place ": its folder is not in " layers); return }
      to = target_of(header)
      if (header !~ /\// || to == "") {
        if (header !~ /\.pb\.h$/ || header !~ /\//) complain(place ": \"" header "\" is not a path from the root")
        return
      }
      if (to != from && !may_include(file, from, to)) complain(place ": " from " may not include " header)
    }
    function check_foreign(place, file, header, prefix, list, n, i, ok) {
      for (prefix in homes) {
        if (index(header, prefix) != 1) continue
        n = split(homes[prefix], list, " "); ok = 0
        for (i = 1; i <= n; ++i) if (file ~ to_regex(list[i])) ok = 1
        if (!ok) complain(place ": <" header "> may not be included here")
      }
    }
    BEGIN {
      while ((getline line < layers) > 0) {
        if (line ~ /^#/ || line !~ /:/) continue
        name = line; sub(/:.*/, "", name); sub(/^[^:]*:/, "", line); allowed[name] = line; ++rules
      }
      while ((getline line < quarantine) > 0) {
        if (line ~ /^#/ || line !~ /:/) continue
        name = line; sub(/:.*/, "", name); sub(/^[^:]*:/, "", line); homes[name] = line; ++rules
      }
      if (rules == 0) { print "no rules in " layers " and " quarantine; exit 2 }
    }
    {
      file = $0; sub(/:.*/, "", file)
      number = substr($0, length(file) + 2); sub(/:.*/, "", number)
      place = file ":" number
      ++includes
      if (match($0, /"[^"]+"/)) {
        header = substr($0, RSTART + 1, RLENGTH - 2)
        check_own(place, file, header)
        check_foreign(place, file, header)
      } else if (match($0, /<[^>]+>/)) {
        header = substr($0, RSTART + 1, RLENGTH - 2)
        # Ours as our users write it.
        if (header ~ /^pstrain\//) check_own(place, file, "include/" header)
        check_foreign(place, file, header)
      }
    }
    END {
      if (rules > 0) printf "%d includes, %d violations\n", includes, violations
      exit violations > 0 || rules == 0
    }'
