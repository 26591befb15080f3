# Sourced by scripts that consist of stages: runs each, and prints at the end how long each took, also where one failed.
# It decides nothing about what the stages do.
#
#   stage NAME COMMAND...   runs it here; the script ends if it fails
#   begin NAME COMMAND...   starts it in the background; its output is kept
#   finish NAME...          waits for stages of the background, prints what they printed; the script ends if one failed
stages=$(mktemp -d)
stages_began=$(date +%s)
stages_failed=

_now() { date +%s.%N; }

# Runs a command and notes its seconds: of the clock, and of the CPU with every process that it waited for.
_timed() {
    _name=$1
    shift
    _from=$(_now)
    _status=0
    "$@" || _status=$?
    { _now; echo "$_from"; times; echo "$_status"; } >"$stages/$_name.times"
    return "$_status"
}

stage() {
    printf '\n== %s: ' "$1"
    (shift && printf '%s\n' "$*")
    echo "$1" >>"$stages/order"
    (_timed "$@") || { stages_failed=$1; exit 1; }
}

# Runs a command so that it ends when this shell gets a signal: a shell hears none while a command is in its foreground.
_ending() {
    "$@" &
    _command=$!
    trap 'kill "$_command" 2>/dev/null; wait "$_command"; exit 143' TERM
    wait "$_command"
}

begin() {
    echo "$1" >>"$stages/order"
    _begun=$1
    shift
    (_timed "$_begun" _ending "$@") >"$stages/$_begun.output" 2>&1 &
    echo $! >"$stages/$_begun.pid"
}

finish() {
    for _each in "$@"; do
        _status=0
        wait "$(cat "$stages/$_each.pid")" || _status=$?
        rm "$stages/$_each.pid"
        printf '\n== %s (in the background)\n' "$_each"
        cat "$stages/$_each.output"
        [ "$_status" = 0 ] || { stages_failed=$_each; exit 1; }
    done
}

# The table. Seconds of the background overlap with the others.
_table() {
    printf '\n%-28s %9s %9s\n' stage seconds 'CPU s'
    while read -r _each; do
        _note=
        [ ! -e "$stages/$_each.output" ] || _note=' (background)'
        [ "$_each" != "$stages_failed" ] || _note="$_note FAILED"
        if [ -e "$stages/$_each.times" ]; then
            # The end, the beginning, what the shell itself took, what its children took, the status.
            awk -v name="$_each" -v note="$_note" '
                function seconds(text, parts) { split(text, parts, "m"); return parts[1] * 60 + parts[2] }
                NR == 1 { end = $1 } NR == 2 { wall = end - $1 } NR == 4 { cpu = seconds($1) + seconds($2) }
                END { printf "%-28s %9.1f %9.1f%s\n", name, wall, cpu, note }' "$stages/$_each.times"
        else
            printf '%-28s %9s %9s%s\n' "$_each" - - "$_note (not finished)"
        fi
    done <"$stages/order"
    printf '%-28s %9d\n' 'in all' $(($(date +%s) - stages_began))
}

_end() {
    _code=$?
    trap - EXIT
    for _pid in "$stages"/*.pid; do
        # Without any, the pattern itself.
        [ -e "$_pid" ] || continue
        kill "$(cat "$_pid")" 2>/dev/null || true
        wait "$(cat "$_pid")" || true
    done
    [ ! -e "$stages/order" ] || _table
    [ -z "$stages_failed" ] || printf '\nfailed: %s\n' "$stages_failed"
    rm -rf "$stages"
    exit "$_code"
}
trap _end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
