# bench/apps: its table and CSV have every program with its figures, a result that differs is
# noticed, and wrong arguments are refused.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

apps()                  # ARGUMENT...: what it says goes to $work/said
{
    timeout 120 sh "$top/bench/apps" --build "$build" "$@" </dev/null >"$work/said" 2>&1
}

refused()               # WHAT-IT-SAYS ARGUMENT...
{
    says=$1
    shift
    apps "$@"
    status=$?
    [ $status = 2 ] || fail "$*: status $status, not 2"
    grep -q "^bench/apps: $says" "$work/said" || fail "$*: does not say \"$says\""
}

refused '--programs lu: "lu" is none of conjugate_gradient,' --programs lu
refused '--mpi lam: "lam" is none of openmpi,mpich' --mpi lam
refused '--ranks many: must be a number from 1 to 1024' --ranks many
refused '--pairs 0: must be a number from 1 to 1000' --pairs 0
refused '--pairs needs a value' --pairs
refused '--fast is not an option; there are' --fast
refused '--ranks and --cluster: the cluster says' --ranks 4 --cluster '--hosts 2'
refused 'collopt is not built in /nowhere' --build /nowhere

if built_for openmpi; then mpi=openmpi; else mpi=mpich; fi

apps --small --pairs 2 --ranks 2 --programs conjugate_gradient,training,kmeans --mpi $mpi \
    --csv "$work/csv" || fail "status $?"
numbers='[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+ - [0-9.]+'
for program in conjugate_gradient training; do
    grep -qE "^$program +[A-Za-z ]+ 2 +$numbers +[0-9]+% +[0-9]+% +[a-z_]+$" "$work/said" ||
        fail "no line of $program, or not as it should be"
    record="^\"[A-Za-z ]+, programs, 2 ranks\",application,$program,-,2,[1-9][0-9]*,[a-z_]+"
    record="$record,[A-Za-z ]+,([0-9.]+,){5}2,[0-9]+,correct,0\.[0-9]+,0\.[0-9]+$"
    grep -qE "$record" "$work/csv" ||
        fail "no record of $program, or not as it should be: $(cat "$work/csv")"
done
sh "$top/bench/summary" "$work/csv" >"$work/said" 2>&1 || fail "bench/summary does not read the CSV"

# A program that does not say what its reductions take: the shares are those of the reports.
cat >"$work/lmp.c" <<'END'
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    double mine = 1, sum = 0;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 1000; i++)
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("Step Temp E_pair E_mol TotEng Press\n     100   %f   -4.75   0   -2.28   5.88\n"
               "Loop time of 0.5 on 2 procs for 100 steps with 4000 atoms\n", sum);
    MPI_Finalize();
    return 0;
}
END
mkdir "$work/bin"
# shellcheck disable=SC2046     # lists
$(wrapper $mpi) -o "$work/bin/lmp" "$work/lmp.c" || fail 'lmp.c'
PATH=$work/bin:$PATH apps --pairs 1 --ranks 2 --programs lammps --mpi $mpi ||
    fail "lammps: status $?"
grep -qE '^lammps +[A-Za-z ]+ 2 +5.000 +5.000 +1.00 .* [0-9]+% +[0-9]+% +[a-z_]+$' "$work/said" ||
    fail 'no line of lammps, or not as it should be'

# A launcher that spoils what the program says where collopt is preloaded.
case $mpi in openmpi) real=${OPENMPI_RUN%% *} ;; mpich) real=${MPICH_RUN%% *} ;; esac
cat >"$work/launcher" <<END
#!/bin/sh
case "\$*" in
*LD_PRELOAD*) $real "\$@" | sed "s/ 0 weights wrong/ 1 weights wrong/" ;;
*) exec $real "\$@" ;;
esac
END
chmod +x "$work/launcher"
OPENMPI_MPIRUN=$work/launcher MPICH_MPIRUN=$work/launcher apps --small --pairs 1 --ranks 2 \
    --programs training --mpi $mpi
status=$?
[ $status = 1 ] || fail "results that differ: status $status"
for told in 'the results differ' 'WRONG$'; do
    grep -q "$told" "$work/said" || fail "results that differ: does not say \"$told\""
done

OPENMPI_MPIRUN=false MPICH_MPIRUN=false apps --small --pairs 1 --ranks 2 \
    --programs training --mpi $mpi
status=$?
[ $status = 1 ] || fail "a program that fails: status $status"
finish
