# An MPI that we do not know: one warning, on rank 0, and its own collectives.

. "$(dirname "$0")/common.sh"

installation lib
shared libstrange.so strange.c
$CC -o stranger "$here/stranger.c" -L. -lstrange -Wl,-rpath,"$work" -ldl -lpthread ||
    fail "compiling stranger.c"

warning="this MPI library is not one that collopt knows (Strange MPI 1.0)"
for rank in OMPI_COMM_WORLD_RANK PMI_RANK PMIX_RANK SLURM_PROCID NONE; do
    env $rank=0 LD_PRELOAD="$work/lib/libcollopt.so" ./stranger >said 2>&1 ||
        fail "stranger: status $?"
    expect 1 "stranger ok"
    expect_like 1 "^collopt: $warning"
done
LD_PRELOAD=$work/lib/libcollopt.so ./stranger threads >said 2>&1 ||
    fail "stranger threads: status $?"
expect 1 "stranger ok"
expect_like 1 "^collopt: $warning"
PMI_RANK=1 LD_PRELOAD=$work/lib/libcollopt.so ./stranger >said 2>&1 || fail "stranger: status $?"
expect 1 "stranger ok"
expect_like 0 "^collopt:"
COLLOPT=off LD_PRELOAD=$work/lib/libcollopt.so ./stranger >said 2>&1 || fail "stranger: status $?"
expect 1 "stranger ok"
expect_like 0 "^collopt:"
# A pipe that nobody reads, and a file that may not grow: nothing is said, and the program goes on.
mkfifo pipe
exec 3<>pipe
exec 4>pipe 3>&-
out=$(LD_PRELOAD=$work/lib/libcollopt.so ./stranger 2>&4)
[ "$out" = 'stranger ok' ] || fail "a message into a closed pipe ends the program: \"$out\""
exec 4>&-
: >said
out=$(
    ulimit -f 0
    LD_PRELOAD=$work/lib/libcollopt.so exec ./stranger 2>said
)
[ "$out" = 'stranger ok' ] || fail "a message into a full file ends the program: \"$out\""
[ -s said ] && fail 'the file has grown'

# What a call costs by way of the front.
ns=$(PMI_RANK=1 LD_PRELOAD=$work/lib/libcollopt.so ./stranger cost)
echo "a call through the front: $ns ns"
[ "${ns%.*}" -lt 10 ] || fail "a call through the front costs $ns ns"
