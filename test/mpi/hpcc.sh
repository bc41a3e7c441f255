# A program that nobody here wrote: the packaged hpcc (HPC Challenge, for Open MPI) on a small
# input, without collopt and with it.  Its own verification must pass both times, and collopt must
# have run at least 90% of its reductions on intracommunicators.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

hpcc=${HPCC:-$(command -v hpcc)} || skip "hpcc is not installed"
built_for openmpi || skip "collopt is not built for Open MPI"
ldd "$hpcc" | grep -q 'libmpi\.so\.40' || skip "$hpcc is not built with Open MPI 4"

# hpcc reads its input from where it is started, and appends its answers there.
input()
{
    cp "$top/test/mpi/hpccinf.txt" hpccinf.txt
}

# Its verdict on itself: everything ran, every residual was small, nothing was wrong.
verified()              # WITH|WITHOUT
{
    [ -f hpccoutf.txt ] || { fail "hpcc $1 collopt wrote no answer"; return; }
    for line in 'Success=1' 'MPIRandomAccess_Errors=0' 'MPIRandomAccess_LCG_Errors=0' \
                '1 tests completed and passed residual checks' \
                '0 tests completed and failed residual checks'; do
        grep -qF "$line" hpccoutf.txt || fail "hpcc $1 collopt does not say \"$line\""
    done
    ! grep -n 'FAILED\|failed)' hpccoutf.txt || fail "hpcc $1 collopt failed its verification"
}

mkdir "$work/without" "$work/with"
cd "$work/without" || exit 99
input
LAUNCH_SECONDS=300 launch openmpi 4 "$hpcc" || fail "hpcc without collopt: status $?"
verified without

cd "$work/with" || exit 99
input
LAUNCH_SECONDS=300 launch_collopt openmpi 4 "$hpcc" || fail "hpcc with collopt: status $?"
verified with

run=$(reported run '')
inter=$(reported passed 'ntercomm')
passed=$(($(reported passed '') - inter))
percent=$((run + passed > 0 ? run * 100 / (run + passed) : 0))
[ "$percent" -ge 90 ] ||
    fail "collopt ran only $percent% of hpcc's reductions: $(cat "$work/report" 2>/dev/null)"
echo "hpcc: verified with collopt and without; collopt ran $run of $((run + passed)) reductions" \
    "($percent%)"
finish
