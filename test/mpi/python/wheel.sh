# The wheel of packaging/build-wheel, unpacked as pip does it without a network, runs a program with
# mpi4py: preloaded in each rank, and by the command for launchers.
. "${COLLOPT_SOURCE:-.}/test/mpi/python/check.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

"$python" -c 'import setuptools, wheel, pip' 2>/dev/null || skip "$python has no pip and wheel"
PYTHON=$python "$top/packaging/build-wheel" --into "$work" "$build" >"$work/said" 2>&1 ||
    { fail "build-wheel: status $?"; finish; }
wheel=$(tail -n 1 "$work/said")
case ${wheel##*/} in
collopt-*-py3-none-linux_*.whl) ;;
*) fail "$wheel is no name for a wheel of programs for any Python 3" ;;
esac
"$python" -m pip install -q --no-index --no-deps --target "$work/site" "$wheel" \
    >"$work/said" 2>&1 || { fail "pip install: status $?"; finish; }
PYTHONPATH=$work/site
export PYTHONPATH

launch "$host" 3 COLLOPT_AFTER=1 PYTHONPATH="$PYTHONPATH" "$python" -m collopt run "$family" ||
    fail "run: status $?"
grep -q 'counted by collopt' "$work/said" || fail 'run: not by collopt'
# The library of the wheel, and once.  A rank compares it itself: lines of several may be mixed.
launch "$host" 2 COLLOPT_AFTER=1 PYTHONPATH="$PYTHONPATH" LD_PRELOAD="$library" \
    "$python" -m collopt run -c 'import os, sys
found = os.environ["LD_PRELOAD"]
sys.exit(found != sys.argv[1] and "LD_PRELOAD: " + found)' \
    "$work/site/collopt/prefix/lib/libcollopt.so.0" ||
    fail "run -c: status $?"

# shellcheck disable=SC2046     # the launcher has options
COLLOPT_AFTER=1 timeout 120 "$python" -m collopt $(launcher_of "$host") -n 2 "$python" "$family" \
    </dev/null >"$work/said" 2>&1 || fail "the command: status $?"
grep -q 'counted by collopt' "$work/said" || fail 'the command: not by collopt'
PATH=$work/site/bin:$PATH collopt-info --algorithms >"$work/said" 2>&1 ||
    fail "collopt-info: status $?"
grep -q '^  ring ' "$work/said" || fail 'collopt-info: no algorithms'

# The wheel serves the other MPI libraries, too, for which Debian has no mpi4py: a program in C.
for other in $native_hosts; do
    if [ "$other" = "$host" ] || ! built_for "$other"; then
        continue
    fi
    # shellcheck disable=SC2046
    $(wrapper "$other") -I"$top/include" -o "$work/app" "$top/test/tools/app.c" ||
        fail "$other: app.c"
    # shellcheck disable=SC2046
    timeout 120 "$python" -m collopt --after 1 --report stderr $(launcher_of "$other") -n 2 \
        "$work/app" 20 1000 0 </dev/null >"$work/said" 2>&1 || fail "$other: status $?"
    grep -q '^  allreduce .* 8K  *40 ' "$work/said" || fail "$other: not by collopt"
done

# Where it cannot: one sentence that says why.
says()                  # SENTENCE
{
    [ "$(cat "$work/said")" = "collopt: $1" ] || fail "not one sentence: $1"
}
mkdir "$work/none" "$work/other"
echo 'raise ImportError("there is none")' >"$work/none/mpi4py.py"
PYTHONPATH=$work/none:$PYTHONPATH "$python" -m collopt run "$family" >"$work/said" 2>&1 &&
    fail 'run without mpi4py'
where=$("$python" -c 'import sys; print(sys.executable)')
says "run is for programs that use mpi4py, which $where cannot load: there is none"
cat >"$work/other/mpi4py.py" <<'END'
class rc:
    pass
class MPI:
    def get_vendor():
        return "Some MPI", (1, 0)
END
parts=$(cd "$work/site/collopt/prefix/lib/collopt" && ls)
if ! echo "$parts" | grep -q abi; then
    PYTHONPATH=$work/other:$PYTHONPATH "$python" -m collopt run "$family" >"$work/said" 2>&1 &&
        fail 'run on an MPI library that is not served'
    parts=$(echo "$parts" | sed 's/libcollopt-\(.*\)\.so/\1/' | tr '\n' ' ' |
        sed 's/ $//; s/ / and /g')
    says "mpi4py is for Some MPI; this build of collopt serves $parts"
fi
finish
