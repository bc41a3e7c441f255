#!/bin/sh
# What all tools have in common: --help and --version on the standard output, mistakes on the
# standard error output with status 2, no colours where there is no terminal, --json where tables
# are printed, one line and a status where the disk is full, and no complaint where nobody reads on
# or the output is closed.

. "${COLLOPT_SOURCE:-.}/test/launch.sh"
build=${COLLOPT_BUILD:-$PWD} source=${COLLOPT_SOURCE:-.}
version=$(cat "$source/VERSION")
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
unset COLLOPT_BUILD COLLOPT_SOURCE

fail()
{
    echo "FAIL: $*"
    sed 's/^/    /' "$work/out" "$work/err" | head -n 20
    failed=1
}

run()                   # COMMAND...: $status, $work/out, $work/err
{
    timeout 120 "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
}

full_disk()             # NAME COMMAND...
{
    name=$1
    shift
    : >"$work/out"
    timeout 120 "$@" >/dev/full 2>"$work/err" </dev/null
    status=$?
    [ $status -gt 0 ] && [ $status -lt 124 ] || fail "$* on a full disk: status $status"
    [ "$(cat "$work/err")" = \
        "$name: the standard output cannot be written: No space left on device" ] ||
        fail "$* on a full disk"
}

# NAME is what --version says; WORDS start the tool.
tool()                  # NAME WORDS...
{
    name=$1
    shift
    run "$@" --help
    [ $status = 0 ] || fail "$name --help: status $status"
    grep -qi '^usage: ' "$work/out" || fail "$name --help: no usage on the standard output"
    for option in --help --version; do
        grep -q -e "$option" "$work/out" || fail "$name --help: no $option"
    done
    [ ! -s "$work/err" ] || fail "$name --help: something on the standard error output"
    run "$@" --version
    [ "$status $(cat "$work/out")" = "0 $name $version" ] || fail "$name --version"
    run "$@" --no-such-option
    [ $status = 2 ] || fail "$name --no-such-option: status $status"
    [ -s "$work/err" ] && [ ! -s "$work/out" ] ||
        fail "$name --no-such-option: not on the standard error output alone"
    grep -q -e 'no-such-option' "$work/err" || fail "$name --no-such-option: it is not named"
    ! cat "$work/out" "$work/err" | grep -q "$(printf '\033')" ||
        fail "$name: colours without a terminal"
    { "$@" --help; echo $? >"$work/status"; } 2>"$work/err" | head -n 1 >"$work/out"
    [ ! -s "$work/err" ] || fail "$name --help | head: it complains"
    full_disk "$name" "$@" --help
    timeout 120 "$@" --version 2>"$work/err" <&- >&- || fail "$name, output closed: status $?"
    [ ! -s "$work/err" ] || fail "$name, output closed: it complains"
}

tool collopt "$build/tools/collopt"
for each in info plan ps tune report; do
    case $each in report) command -v python3 >/dev/null || continue ;; esac
    tool collopt-$each "$build/tools/collopt-$each"
done
for each in compare profile doctor demo; do
    command -v python3 >/dev/null || continue
    tool "collopt $each" "$build/tools/collopt" $each
done

# Tables and their JSON.
is_json()               # WORDS...
{
    run "$@"
    [ $status = 0 ] || fail "$*: status $status"
    if command -v python3 >/dev/null; then
        python3 -m json.tool "$work/out" >/dev/null 2>&1 || fail "$*: no JSON"
    fi
}

is_json "$build/tools/collopt-info" --json
is_json "$build/tools/collopt-info" --algorithms --json
is_json "$build/tools/collopt-info" --explain allreduce --ranks 64 --nodes 4 --bytes 1M --json
grep -q '"algorithm": *"[a-z]' "$work/out" && grep -q '"seconds": *[0-9]' "$work/out" ||
    fail '--explain --json: no algorithm or no time'
echo 'host openmpi scan 64 64 1 8 commutative = 2 us' >"$work/machine"
COLLOPT_MACHINE=$work/machine is_json "$build/tools/collopt-info" --explain scan --ranks 64 \
    --nodes 64 --host openmpi --json
grep -q '"algorithm": *"host", *"seconds": *\(2e-06\|1.9999[0-9]*e-06\), *"measured": *true' \
    "$work/out" || fail '--explain --json: no measured time'
is_json "$build/tools/collopt-plan" allreduce --json
run "$build/tools/collopt-info" --files
grep -q '^openmpi rules ' "$work/out" || fail '--files: nothing of rules'
echo 'allreduce * * * * * ring' >"$work/some.rules"
COLLOPT_RULES=$work/some.rules COLLOPT_MACHINE=none run "$build/tools/collopt-info" --files
grep -qx "mpich rules $work/some.rules" "$work/out" && grep -qx 'mpich machine none' "$work/out" ||
    fail '--files: not the variables'

# A full disk, whatever a tool prints.
full_disk collopt-info "$build/tools/collopt-info"
for words in --all --json --files '--algorithms --json' '--variable COLLOPT' \
    '--explain allreduce' '--explain allreduce --json' "--check-machine $work/machine"; do
    # shellcheck disable=SC2086     # words
    full_disk collopt-info "$build/tools/collopt-info" $words
done
for format in text svg html json; do
    full_disk collopt-plan "$build/tools/collopt-plan" allreduce --format $format
done
full_disk collopt-ps "$build/tools/collopt-ps" --read "$source/test/tools/files-0.1/dump"
full_disk collopt-ps "$build/tools/collopt-ps" --read "$source/test/tools/files-0.1/dump" --json
echo '* * * * * * auto' >"$work/some.rules"
full_disk collopt-tune "$build/tools/collopt-tune" --check "$work/some.rules"
echo '1 2' >"$work/numbers"
full_disk collopt-statistics sh -c '"$1" <"$2"' sh "$build/tools/collopt-statistics" \
    "$work/numbers"
for host in $native_hosts; do
    built_for "$host" || continue
    full_disk collopt-bench "$build/bench/$host/collopt-bench" --help
done
exit $failed
