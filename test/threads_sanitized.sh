# Races, looked for by ThreadSanitizer: in the part without MPI (threads_core.c), in the front where
# several threads make the first call of a process (front/stranger.c), and on each MPI, through
# front and module (mpi/test_threads.c).  All of collopt is compiled for it; the kernels at -O0,
# since how they are optimized does not matter here and takes long.
#
# The MPI libraries are not, so what they read and write is not looked at.  Their locks are made
# unseen as well: nearly every call takes one, so that threads would seem to wait for one another
# wherever they call MPI, and races between them would not be found.  Nothing of collopt relies on
# such a lock: what one thread leaves to another goes by a lock or an atomic of collopt's, or the
# program orders it.  So nothing of collopt is suppressed.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

: "${CC:=cc}"
cd "$work" || exit 99

listed()                # VARIABLE FILE: the sources that it lists there
{
    sed -n "/^$1 = /,/[^\\\\]\$/s|^[[:space:]]*\(src/[^ ]*\.c\).*|$top/\1|p" "$top/$2"
}

compiled()              # FLAG|SOURCE|OBJECT...
{
    # shellcheck disable=SC2086     # the compiler may have options
    $CC $flags "$@" || { fail "compiling for ThreadSanitizer"; finish; }
}

objects()               # DIRECTORY FLAG|SOURCE...
{
    mkdir "$1" && cd "$1" || exit 99
    shift
    compiled "$@" -c
    cd "$work" || exit 99
}

# ---- is there one? -------------------------------------------------------------------------------

# Processes in which addresses are too random for it may run with fixed ones.
try()                   # PROGRAM: sets $fixed
{
    for fixed in '' "setarch $(uname -m) -R"; do
        # shellcheck disable=SC2086
        $fixed "$1" >said 2>&1 && return
    done
    false
}

flags='-std=gnu11 -g1 -O1 -fsanitize=thread -fPIC'
cat >try.c <<'EOF'
#include <pthread.h>
static int n;
static void *count(void *unused) { n++; return unused; }
int main(int argc, char **argv)
{
    pthread_t thread;

    (void)argv;
    pthread_create(&thread, 0, count, 0);
    if (argc > 1)
        n++;
    pthread_join(thread, 0);
    return 0;
}
EOF
# shellcheck disable=SC2086
$CC $flags try.c -o try -lpthread 2>/dev/null || skip "$CC has no ThreadSanitizer"
try ./try || { cat said; skip "programs compiled for ThreadSanitizer do not run"; }
# shellcheck disable=SC2086
! $fixed ./try race >said 2>&1 || skip "ThreadSanitizer does not find a race"

flags="$flags -fvisibility=hidden -fopenmp-simd -ffp-contract=off -D_GNU_SOURCE
    -DCOLLOPT_SYSCONFDIR=\"/nonexistent\" -I$build -I$top/src -I$top/include $(made HWLOC_CFLAGS)"

# ---- without MPI ---------------------------------------------------------------------------------

# shellcheck disable=SC2046
objects core $(listed COLLOPT_CORE_SOURCES src/backend.mk) \
    $(listed ALGORITHM_SOURCES src/algorithms/algorithms.mk) \
    $(listed ALGORITHM_HELPERS src/algorithms/algorithms.mk) \
    "$build/src/algorithms/algorithms-registry.c" $(listed KERNEL_SOURCES src/kernels/isa.mk)
for isa in generic AVX2 AVX512 NEON SVE; do
    [ $isa = generic ] || grep -q "^#define COLLOPT_HAVE_$isa 1" "$build/config.h" || continue
    # shellcheck disable=SC2046
    compiled -O0 $(made COLLOPT_${isa}_CFLAGS) \
        -DCOLLOPT_ISA="$(echo $isa | tr '[:upper:]' '[:lower:]')" \
        -c "$top/src/kernels/reduce_tmpl.c" -o core/kernels-$isa.o
done
compiled "$top/test/threads_core.c" core/*.o -lm -lpthread -ldl -o threads_core
printf 'allreduce * * * * * ring\n* * * * * * auto\n' >rules
# shellcheck disable=SC2086
timeout 120 env COLLOPT_LOG=decide COLLOPT_RULES="$work/rules" COLLOPT_ALLREDUCE=bucket:dims=3x3 \
    $fixed ./threads_core >said 2>&1 || fail "threads without MPI: status $?"
said 1 '^collopt: 8 threads say this once$' "threads without MPI"
said 1 '^collopt: 8 threads decide this once$' "threads without MPI"
said 1 '^collopt: COLLOPT_ALLREDUCE=bucket:dims=3x3 cannot serve 8 ranks, ' "threads without MPI"

# Channels and journals of shared memory.  Whether they need each order that they ask of memory:
# test/orders.
queue()                 # channel|journal
{
    wrapped=''
    [ "$1" != channel ] || wrapped=-Wl,--wrap=madvise
    # shellcheck disable=SC2046,SC2086
    compiled "$top/test/unit/test_$1.c" "$top/src/shm/channel.c" "$top/src/shm/journal.c" \
        "$top/src/shm/segment.c" core/launcher.o core/control_groups.o core/contents.o \
        core/text.o $(made CHECK_CFLAGS) $(made CHECK_LIBS) -lm -lpthread $wrapped -o "$1"
    # shellcheck disable=SC2086
    CK_FORK=no timeout 300 $fixed "./$1" >said 2>&1
}

if [ -n "$(made CHECK_LIBS)" ]; then
    for queue in channel journal; do
        queue $queue || fail "$queue: status $?"
        said 0 'WARNING: ThreadSanitizer' "$queue"
    done
fi

# shellcheck disable=SC2046
compiled -shared $(listed libcollopt_la_SOURCES Makefile.am) \
    $(listed COLLOPT_PUBLIC_SOURCES src/backend.mk) \
    -Wl,--version-script="$top/src/front/front.map" -ldl -o libcollopt.so
compiled -shared -fvisibility=default "$top/test/front/strange.c" -o libstrange.so
compiled "$top/test/front/stranger.c" -L. -Wl,--no-as-needed -lcollopt -lstrange \
    -Wl,-rpath,"$work" -ldl -lpthread -o stranger
# shellcheck disable=SC2086
timeout 120 $fixed ./stranger threads >said 2>&1 ||
    fail "the first calls of a process, from threads: status $?"
said 1 '^stranger ok$' "the first calls of a process, from threads"
said 1 '^collopt: this MPI library is not one that collopt knows' \
    "the first calls of a process, from threads"

# ---- on the MPIs ---------------------------------------------------------------------------------

# Libraries that stay in the process to its end; plug-ins are unloaded before.
printf 'called_from_lib:%s\n' libmpi.so libopen-pal.so libopen-rte.so libmpich.so libucp.so \
    libucs.so libuct.so >unseen
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 suppressions=$work/unseen"
# UCX's own madvise() takes a lock, in threads that ThreadSanitizer does not know yet, and it falls
# over that.
export UCX_MEM_MMAP_HOOK_MODE=none

cat >try_mpi.c <<'EOF'
#include <mpi.h>
int main(void)
{
    int level;

    MPI_Init_thread(0, 0, MPI_THREAD_MULTIPLE, &level);
    return MPI_Finalize();
}
EOF

# ThreadSanitizer sees a race by what orders two accesses, not by their coincidence: one meeting of
# two threads is enough.  Starts of a rank that has one thread show nothing, and 100 show each race
# that was made for the purpose dozens of times.  200 also reach what each 1024th call does.
starts=200

no_race()               # PROGRAM HOST RANKS [VARIABLE=VALUE]...
{
    program=$1 host=$2 ranks=$3
    shift 3
    # shellcheck disable=SC2086
    launch "$host" "$ranks" COLLOPT_AFTER=1 "$@" $fixed "./$program-$host" $starts ||
        fail "$program, $host, $ranks ranks, $*: status $?"
    said 0 'WARNING: ThreadSanitizer' "$program, $host, $ranks ranks, $*"
}

program_of()            # threads|requests HOST
{
    # shellcheck disable=SC2046
    compiled $(made "${upper}_CPPFLAGS") -I"$top/test/mpi" "$top/test/mpi/test_$1.c" \
        "$top/test/mpi/common.c" -L. -Wl,--no-as-needed -lcollopt \
        -Wl,-rpath,"$work" $(made "${upper}_LIBS") -lpthread -o "$1-$2"
}

races()                 # HOST
{
    abi=$(abi_of "$1")
    upper=$(echo "$abi" | tr '[:lower:]' '[:upper:]')
    # shellcheck disable=SC2046
    compiled $(made "${upper}_CPPFLAGS") try_mpi.c $(made "${upper}_LIBS") -o "try-$1"
    # shellcheck disable=SC2086
    launch "$1" 1 $fixed "./try-$1" ||
        { cat said; echo "$1 does not run here"; missing="$missing $1"; return; }
    # shellcheck disable=SC2046
    objects "$1" -DCOLLOPT_HOST="\"$abi\"" $(made "${upper}_CPPFLAGS") \
        $(listed COLLOPT_BACKEND_SOURCES src/backend.mk)
    compiled -shared "$1"/*.o core/*.o -lm -lpthread -ldl -o "libcollopt-$abi.so"
    program_of threads "$1"
    no_race threads "$1" 1
    no_race threads "$1" 2
    no_race threads "$1" 2 COLLOPT_ADAPT=on COLLOPT_CHECK=on COLLOPT_REPORT="$work/report"
    program_of requests "$1"
    for form in persistent nonblocking; do
        no_race requests "$1" 2 TEST_FORM=$form TEST_OURS=1
        no_race requests "$1" 3 TEST_FORM=$form TEST_OURS=1 COLLOPT_ASYNC=thread
        ! lends_progress "$1" ||
            no_race requests "$1" 2 TEST_FORM=$form TEST_OURS=messages COLLOPT_SHM=off
    done
    no_race requests "$1" 2 TEST_FORM=nonblocking TEST_OURS=1 COLLOPT_CHECK=on
    ! lends_progress "$1" ||
        no_race requests "$1" 2 TEST_FORM=nonblocking TEST_OURS=messages COLLOPT_SHM=off \
            COLLOPT_CHECK=on
}

for_each_host races
