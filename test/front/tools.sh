# Behind and before a tool that goes on as Darshan does, the backends of this build do in MPI_Init
# and MPI_Finalize what they do without it, once, in C and in Fortran: ranks agree, keys are taken,
# there is one report of all ranks.

. "$(dirname "$0")/common.sh"

ours=$front
calls()         # COUNT: so many MPI_Allreduce in the report, on both ranks, whatever ran them
{
    grep -q '"combined": *true' report || { cat report; fail "no report of all ranks"; }
    sum=$(tr '{}' '\n\n' <report | grep '"collective": *"allreduce"\|"name": *"MPI_Allreduce"' |
          sed 's/.*"calls": *\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n + 0 }')
    [ "$sum" = "$1" ] || { cat report; fail "$sum calls in the report, should be $1"; }
    rm report
}

for host in $hosts; do
    program $host keys.c keys -Wl,--no-as-needed -L"${ours%/*}" -lcollopt -Wl,-rpath,"${ours%/*}"
    [ -z "$(fortran_of $host)" ] || $(fortran_of $host) -o fortran "$here/keys.f90" ||
        fail "compiling keys.f90"
    $(wrapper $host) -g -O2 -fPIC -shared -o darshan.so "$here/darshan.c" ||
        fail "compiling darshan.c"
    for order in OURS OURS:$work/darshan.so $work/darshan.so:OURS; do
        preload=$(echo $order | sed "s|OURS|$ours|")
        case $order in OURS) of_tool=0 ;; *) of_tool=1 ;; esac
        heard()         # PROGRAM'S WORD
        {
            expect 1 "$1"
            expect $of_tool "darshan begins"
            expect $of_tool "darshan ends"
            calls $((10 + 4 * of_tool))
            expect_like 0 "^collopt:"
        }

        run $host 2 COLLOPT_AFTER=1 COLLOPT_REPORT=$work/report LD_PRELOAD=$preload ./keys
        heard "keys ok: 5 by the key"
        if [ -n "$(fortran_of $host)" ]; then
            run $host 2 COLLOPT_AFTER=1 COLLOPT_REPORT=$work/report LD_PRELOAD=$preload ./fortran
            heard "fortran ok"
        fi

        # Ranks that cannot agree say so once: they have asked each other, and once only.
        run $host 2 LD_PRELOAD=$preload sh -c 'COLLOPT_ALLREDUCE=$(
            test ${PMI_RANK-$OMPI_COMM_WORLD_RANK} = 0 && echo ring || echo chain) exec ./keys'
        expect_like 1 "^collopt: the 2 ranks of MPI_COMM_WORLD have different COLLOPT_ variables"
    done
done
