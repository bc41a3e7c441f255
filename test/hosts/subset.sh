# Every MPI test program on 2 and 3 ranks, on Open MPI and MPICH, and with the standard ABI of those
# that have it: what .ci/run has done in a root of another release.
#
# To be run in the source folder, built in ./build (or $BUILD).  TEST_BUILT: a folder with the
# libraries of another build, of older versions of the same MPIs, that are to serve these as well.
# Nothing is skipped here: a program that is not run, or a host that is missing, is a failure.  The
# last line is "N passed, N failed".

set -u
build=${BUILD:-$PWD/build}
cd "$build" || exit 1
: >subset.log

value()                 # a variable of the Makefile
{
    # shellcheck disable=SC2016
    printf 'include Makefile\nsubset-value:\n\t@echo "$(%s)"\n' "$1" |
        make -s -f - subset-value 2>/dev/null
}

make -s Makefile >/dev/null 2>&1       # up to date, or that would be told among the values
programs=$(value MPI_TEST_NAMES)
[ -n "$programs" ] || { echo "0 passed, 1 failed: no Makefile in $build"; exit 1; }
files=$(value MPI_TEST_FILES | tr ' ' '\n' | grep -v /smpi/ | tr '\n' ' ')$(value FORTRAN_FAMILIES)
# shellcheck disable=SC2086     # a list
make -k -j"${JOBS:-$(getconf _NPROCESSORS_ONLN)}" $files >subset.make 2>&1 ||
    { grep -i 'error' subset.make; echo "0 passed, 1 failed: $files"; exit 1; }

for variable in OPENMPI_MPICC MPICH_MPICC ABI_MPICC OPENMPI_MPIFC MPICH_MPIFC ABI_MPIFC \
    OPENMPI_RUN MPICH_RUN; do
    export $variable="$(value $variable)"
done
# and the standard ABI where there is one
export TEST_HOSTS; TEST_HOSTS=$(value TEST_HOSTS | tr ' ' '\n' | grep -v smpi | tr '\n' ' ')
COLLOPT_BUILD=$build COLLOPT_SOURCE=$OLDPWD
. "$OLDPWD/test/mpi/hosts.sh"
passed=0 ran=

# One run: right results, and a library that says nothing.
try()                   # HOST RANKS NAME [VARIABLE=VALUE]... -- [ARGUMENT]...
{
    host=$1 ranks=$2 name=$3 before=$failures
    shift 3
    variables_of "$@"
    shift "$words"
    ran="$ran test_$name"
    # shellcheck disable=SC2086
    quiet "$host" "$ranks" $variables "$(program "$host" "$name")" "$@"
    judge "$host, $ranks ranks,$variables $name $*"
}

judge()                 # WHAT; "$before" failures were there
{
    [ "$failures" != "$before" ] || passed=$((passed + 1))
    echo "$([ "$failures" = "$before" ] && echo PASS || echo FAIL): $1" | tee -a subset.log
}

# The ways in which each algorithm runs are proved without MPI, and tried on the build's own
# machine; here the host is.
collectives()           # HOST RANKS
{
    try "$1" "$2" collectives --
    # more than eager messages carry
    try "$1" "$2" collectives TEST_LONGEST=300001 -- count=300001
    try "$1" "$2" collectives COLLOPT_CUT=1000 -- count=1000
    try "$1" "$2" collectives COLLOPT_ALLREDUCE=elimination COLLOPT_REDUCE=chain \
        COLLOPT_REDUCE_SCATTER=pairwise COLLOPT_SCAN=chain COLLOPT_EXSCAN=chain -- count=1000
}

communicators()         # HOST RANKS
{
    for subject in sorts attributes wildcards handler_at_end; do
        case $subject in
        handler_at_end) try "$1" "$2" communicators COLLOPT_REPORT="$work/at-end" -- $subject ;;
        *) try "$1" "$2" communicators -- $subject ;;
        esac
    done
    try "$1" "$2" communicators -- repeats 200
    try "$1" "$2" communicators -- churn 200
    if "$(program "$1" communicators)" has_sessions; then
        try "$1" "$2" communicators COLLOPT_PCONTROL=on -- session
        try "$1" "$2" communicators COLLOPT_COMMUNICATORS=3 -- session_goes_on 4
    fi
    spawned "$1" "$2"
}

# Children inherit the launcher's environment, on MPICH their parents'.  Debian's MPICH 4.2.1 spawns
# nothing ("Error in spawn call").
spawned()               # HOST RANKS
{
    before=$failures
    launch "$1" "$2" "$(program "$1" communicators)" spawn 2 ||
        { echo "left out, as $1 alone fails in it: MPI_Comm_spawn"; return; }
    LD_PRELOAD=$library COLLOPT_AFTER=1 COLLOPT_BEYOND_WORLD=on launch "$1" "$2" \
        LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_BEYOND_WORLD=on \
        "$(program "$1" communicators)" spawn 2 ||
        fail "$1, $2 ranks, spawned and merged: status $?"
    judge "$1, $2 ranks, spawned and merged"
}

# Errors are answered as the host answers them.
errors()                # HOST RANKS
{
    before=$failures
    rm -f "$work"/both.*
    ran="$ran test_errors"
    errors_alone "$1" "$2"
    quiet "$1" "$2" "$without" "$(program "$1" errors)" "$work/both"
    for answers in "$work"/alone.*; do
        diff "$answers" "$work/both.${answers##*.}" ||
            fail "$1, $2 ranks: error classes differ (< $1 alone, > with collopt)"
    done
    judge "$1, $2 ranks, errors"
}

fortran()               # HOST RANKS
{
    case $1 in abi@*) return ;; esac            # whose Fortran is each library's own
    for binding in mpifh mpi mpif08; do
        before=$failures
        fortran_alone "$1" "$2" "$build/test/mpi/fortran/$1/family_$binding"
        launch_collopt "$1" "$2" "$without" "$build/test/mpi/fortran/$1/family_$binding" ||
            fail "$1, $binding on $2 ranks: status $?"
        grep -q 'counted by collopt' "$work/said" ||
            fail "$1, $binding on $2 ranks was not counted by collopt"
        judge "$1, $2 ranks, Fortran by $binding"
    done
}

all()                   # HOST
{
    built_for "$1" || { fail "collopt is not built for $1"; return; }
    for ranks_now in 2 3; do
        collectives "$1" $ranks_now
        communicators "$1" $ranks_now
        errors "$1" $ranks_now
        try "$1" $ranks_now calls --
        try "$1" $ranks_now handles -- 300
        try "$1" $ranks_now threads --
        for form in persistent nonblocking; do
            try "$1" $ranks_now requests TEST_OURS=1 TEST_FORM=$form -- 500
            ! lends_progress "$1" ||
                try "$1" $ranks_now requests COLLOPT_SHM=off TEST_OURS=messages \
                    TEST_FORM=$form -- 500
        done
        try "$1" $ranks_now local --
        [ $ranks_now != 2 ] || try "$1" $ranks_now rare --
        try "$1" $ranks_now arithmetic -- upwards early late
        try "$1" $ranks_now limits -- sums nofile=40
        try "$1" $ranks_now exact COLLOPT_REPRODUCIBLE=exact --
        try "$1" $ranks_now reproducible COLLOPT_REPRODUCIBLE=placement --
        try "$1" $ranks_now check COLLOPT_CHECK=on -- right=4
        try "$1" $ranks_now pairs -- guards
        try "$1" $ranks_now pairs -- gaps
        try "$1" $ranks_now settings -- allreduce=5 dup reduce=6 halves allreduce=5
        fortran "$1" $ranks_now
    done
}

# What another version of the host was there for at build time: names it did not have are handed on,
# calls are run, errors answered.
built_elsewhere()       # HOST
{
    own=$library library=$TEST_BUILT/libcollopt.so
    for ranks_now in 2 3; do
        try "$1" $ranks_now collectives --
        try "$1" $ranks_now calls --
        try "$1" $ranks_now handles -- 300
        try "$1" $ranks_now communicators -- sorts
        errors "$1" $ranks_now
        fortran "$1" $ranks_now
    done
    library=$own
}

# Scripts that choose their host themselves; skipped is failed.
script()                # PATH
{
    before=$failures
    COLLOPT_BUILD=$build COLLOPT_SOURCE=$top sh "$top/$1" >"$work/script" 2>&1
    status=$?
    [ $status = 0 ] || { cp "$work/script" "$work/said"; fail "$1: status $status"; }
    judge "$1"
}

all openmpi
all mpich
for abi in $TEST_HOSTS; do
    case $abi in abi@*) all "$abi" ;; esac
done
if [ -n "${TEST_BUILT-}" ]; then
    echo "with $TEST_BUILT/libcollopt.so:"
    built_elsewhere openmpi
    built_elsewhere mpich
fi
# Packages of these releases load the GPU runtimes whose names the stand-ins of gpu.sh have, so that
# it cannot run here.  That every program above ran with them loaded shows that they keep nothing
# from running.
# Their scripts choose the numbers of ranks.
ran="$ran test_exact_sum test_gpu test_invalid test_legal test_lives test_quirks test_waiting"
# What these look for, does not depend on the version of the MPI library: make check has them.
ran="$ran test_faults test_load test_trace"
for name in exact_sum.sh invalid.sh legal.sh lives.sh quirks.sh waiting.sh hpcc.sh \
    python/preload.sh python/profile.sh; do
    script "test/mpi/$name"
done
# Only here are there programs of the standard ABI.
case $TEST_HOSTS in *abi@*) script test/tools/agree.sh ;; esac
for name in $programs; do
    case " $ran " in
    *" $name "*) ;;
    *) fail "$name was not run: test/hosts/subset.sh does not know it" ;;
    esac
done
echo "$passed passed, $failures failed"
[ "$failures" = 0 ]
