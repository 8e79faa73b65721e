# For the checks in scripts/accept.d, which run in the repository's root: rows go to standard output, the rest to standard error.

logs=out/accept
mkdir -p "$logs"
short=0

# row LINE WANTED SEEN STATUS: one row, which holds where STATUS is 0.
row() {
  if [ "$4" -eq 0 ]; then
    printf '%s | %s | %s\n' "$1" "$2" "$3"
  else
    printf '%s | %s | %s | short\n' "$1" "$2" "$3"
    short=1
  fi
}

# logged NAME COMMAND...: runs the command with its output in a log and, where it fails, the log's end on standard error.
logged() {
  local log=$logs/$1.log status=0
  shift
  "$@" >"$log" 2>&1 </dev/null || status=$?
  [ "$status" -eq 0 ] || tail -n 40 "$log" >&2
  return "$status"
}

# clean_room run|test WANTED: one row about a command of the README in a fresh Debian.
clean_room() {
  local status=0 started=$SECONDS last
  logged "clean-room-$1" scripts/clean-room "$1" || status=$?
  last=$(tail -n 1 "$logs/clean-room-$1.log" | tr '|' '/')
  # `make test` ends with the browsers' tests; one that was skipped has shown nothing.
  [ "$1" != test ] || grep -qE '[0-9]+ failed, 0 skipped$' "$logs/clean-room-$1.log" || status=1
  row "make $1 in a fresh Debian 12" "$2" "$last, $((SECONDS - started)) s in all" "$status"
  exit "$short"
}
