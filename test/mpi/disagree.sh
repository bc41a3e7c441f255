# Variables that are set on one rank only: one warning, right results from the MPI library's own
# collectives, and no hang.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

alone()                 # HOST RANK VARIABLE=VALUE COMMAND...: set on that rank only; $after: on all
                        # ranks
{
    alone_host=$1 rank=$2 variable=$3
    shift 3
    # shellcheck disable=SC2016
    launch "$alone_host" 3 \
        sh -c '[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" != "$1" ] || export "$2"
        shift 2; exec "$@"' sh "$rank" "$variable" \
        env LD_PRELOAD="$library" ${after:+COLLOPT_AFTER="$after"} \
        "$(program "$alone_host" settings)" "$@" ||
        fail "$alone_host, $variable on rank $rank: status $?"
}

# Each rank has the rules of a folder of its own.
copies()                # HOST LINE
{
    # shellcheck disable=SC2016
    launch "$1" 3 \
        sh -c 'cd "$1/${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" && shift && exec "$@"' sh "$work" \
        env LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_RULES=rules \
        "$(program "$1" settings)" allreduce=6 \
        || fail "$1, copies of rules: status $?"
    said 3 "^rank [0-9]*: $2\$" "$1, copies of rules"
}

# A build beside this one with other objects in front of its own.
make_other_build()      # HOST OBJECT...
{
    other_host=$1
    shift
    cp "$build/.libs/libcollopt.so" "$work/other"
    # shellcheck disable=SC2046
    ${CC:-cc} -O2 -fPIC -shared -Wl,-z,muldefs \
        -o "$work/other/libcollopt-$(abi_of "$other_host").so" "$@" \
        $(find "$build/backend/$(abi_of "$other_host")" -path '*/.libs/*.o') \
        -Wl,--whole-archive "$build/.libs/libcollopt-core.a" -Wl,--no-whole-archive \
        || fail "$other_host: the other build could not be linked"
}

# It differs in nothing but that it computes predicted times otherwise.
make_other_times()      # HOST
{
    echo '#include <stdint.h>
          uint64_t collopt_fingerprint(void);
          __attribute__((visibility("hidden"))) uint64_t collopt_fingerprint(void) { return 1; }' |
          ${CC:-cc} -O2 -fPIC -c -x c -o "$work/other/times.o" - &&
        make_other_build "$1" "$work/other/times.o"
}

# It differs in nothing but the order of two members of what processes share.
make_other_layout()     # HOST
{
    mkdir -p "$work/other/shm"
    sed 's/^\( *uint32_t\) call;/\1 other;/; s/^\( *uint32_t\) where;/\1 call;/
         s/^\( *uint32_t\) other;/\1 where;/' "$top/src/shm/channel.h" >"$work/other/shm/channel.h"
    ! cmp -s "$top/src/shm/channel.h" "$work/other/shm/channel.h" || fail "the layout is the same"
    # the command of the makefile
    make -n V=1 -C "$build" -W src/shm/channel.h sources.h |
        sed -n "s|[^ ]*src/shm/channel.h|$work/other/shm/channel.h|
                s|>sources.h|>$work/other/sources.h|p" | sh
    for source in mpi/node/agree shm/channel; do
        # shellcheck disable=SC2046
        ${CC:-cc} -O2 -fPIC -fvisibility=hidden -D_GNU_SOURCE -I"$work/other" -I"$build" \
            -I"$top/src" -I"$top/include" -DCOLLOPT_HOST="\"$(abi_of "$1")\"" \
            $(made "$(abi_of "$1" | tr '[:lower:]' '[:upper:]')_CPPFLAGS") \
            -c "$top/src/$source.c" -o "$work/other/${source##*/}.o" ||
            fail "$1: $source could not be compiled"
    done
    make_other_build "$1" "$work/other/agree.o" "$work/other/channel.o"
}

builds()                # HOST WHAT MESSAGE
{
    for odd in 0 2; do
        # shellcheck disable=SC2016
        launch "$1" 3 \
            sh -c 'p=$2; [ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" != "$1" ] || p=$3
            shift 3; exec env LD_PRELOAD="$p" "$@"' sh $odd "$library" "$work/other/libcollopt.so" \
            "$(program "$1" settings)" allreduce=6 ||
            fail "$1, a build with $2 on rank $odd: status $?"
        said 3 '^rank [0-9]*: run 0 passed 6' "$1, a build with $2 on rank $odd"
        said 1 "^collopt: the 3 ranks of MPI_COMM_WORLD $3" "$1, a build with $2 on rank $odd"
        said 1 '^collopt: ' "$1, a build with $2 on rank $odd"
    done
}

# A rank without collopt: the others wait for it, and say so.
mixed()                 # HOST
{
    : >"$work/said"
    # shellcheck disable=SC2016
    launch "$1" 2 \
        sh -c '[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" = 1 ] || export LD_PRELOAD="$1"
        shift; exec "$@"' sh "$library" "$(program "$1" settings)" allreduce=6 &
    job=$! looks=0
    until grep -q '^collopt: ' "$work/said" || [ $looks = 600 ]; do
        sleep 0.2
        looks=$((looks + 1))
    done
    kill -TERM "$(pgrep -P $job | head -n 1)"       # timeout passes it on
    wait $job
    said 1 '^collopt: rank 0 has waited in MPI_Init for other ranks for 10 seconds: ' "$1, mixed"
    said 0 '^rank [0-9]*: run' "$1, mixed"
}

disagree()              # HOST
{
    mkdir -p "$work/other"
    make_other_times "$1"
    builds "$1" 'other times' 'run builds of collopt that compute predicted times differently '
    make_other_layout "$1"
    builds "$1" 'another layout' \
        'run different versions of collopt, or builds of different sources; '
    mixed "$1"
    # Rank 0 compares and tells; it differs in one half of the variables, another rank in the other.
    rank=0
    for variable in COLLOPT_AFTER=1 COLLOPT_AFTER=5 COLLOPT_ALLREDUCE=ring \
                    COLLOPT_PCONTROL=on COLLOPT_CUT=1K COLLOPT_GPU=host COLLOPT_CHECK=on \
                    COLLOPT_ADAPT=on COLLOPT_REPRODUCIBLE=placement COLLOPT_TOPOLOGY=nodes:2 \
                    COLLOPT_TOPOLOGY=mesh:3 COLLOPT=off COLLOPT=off; do
        alone "$1" $rank $variable allreduce=6 dup reduce=6 pcontrol=0 allreduce=2 \
            pcontrol=1 allreduce=2
        said 3 '^rank [0-9]*: run 0 passed' "$1, $variable on rank $rank"
        said 1 "^collopt: the 3 ranks of MPI_COMM_WORLD have different COLLOPT_ variables: .*\
rank $rank has $variable[,;]" "$1, $variable on rank $rank"
        said 1 '^collopt: ' "$1, $variable on rank $rank"
        rank=$((2 - rank))
    done
    # rules that lie in different places, and that differ
    for i in 0 1 2; do
        mkdir -p "$work/$i"
        printf '# copy %s\nallreduce * * * * * ring\n' "$i" >"$work/$i/rules"
    done
    copies "$1" 'run 6 passed 0'
    said 0 '^collopt' "$1, copies of rules"
    echo 'reduce * * * * * host' >>"$work/2/rules"
    copies "$1" 'run 0 passed 6'
    said 1 '^collopt: .*: rank 2 has another content of COLLOPT_RULES=rules than rank 0; ' \
        "$1, rules that differ"
    said 1 '^collopt' "$1, rules that differ"
    echo 'reduce * * * * * hst' >>"$work/2/rules"
    copies "$1" 'run 0 passed 6'
    said 1 '^collopt' "$1, rules with a mistake on one rank"
    rm "$work/1/rules" "$work/2/rules"
    copies "$1" 'run 0 passed 6'
    said 1 '^collopt: .*: rank 1 has no COLLOPT_RULES or cannot use it, rank 0 has '\
'COLLOPT_RULES=rules (of a variable or in a default' "$1, rules on one rank only"
    said 1 '^collopt' "$1, rules on one rank only"
    # what may differ
    for variable in COLLOPT_WAIT=spin COLLOPT_SCRATCH=0 COLLOPT_LOG=warn COLLOPT_ISA=generic; do
        after=3 alone "$1" 1 $variable allreduce=6
        said 3 '^rank [0-9]*: run 4 passed 2$' "$1, $variable on rank 1"
        said 0 '^collopt' "$1, $variable on rank 1"
    done
    # a file without numbers counts as none
    : >"$work/machine"
    for rank in 0 2; do
        after=3 alone "$1" $rank COLLOPT_MACHINE="$work/machine" allreduce=6
        said 3 '^rank [0-9]*: run 4 passed 2$' "$1, an empty machine on rank $rank"
    done
    # a report each, which no rank waits for
    rm -f "$work"/report*
    alone "$1" 0 COLLOPT_AFTER=1 allreduce=6
    launch "$1" 3 \
        sh -c '[ "${OMPI_COMM_WORLD_RANK-${PMI_RANK-}}" != 0 ] || export COLLOPT_AFTER=1
        exec "$@"' sh env LD_PRELOAD="$library" COLLOPT_REPORT="$work/report" \
        "$(program "$1" settings)" allreduce=6 ||
        fail "$1, reports of ranks that disagree: status $?"
    for rank in 0 1 2; do
        grep -q '"combined": *false' "$work/report.$rank" ||
            fail "$1: no report of rank $rank alone"
    done
    [ ! -f "$work/report" ] || fail "$1: a combined report of ranks that disagree"
}

for_each_host disagree
