# Where the MPI library's fault tolerance is on, all is left to it, and that is said: those who wait for a process that has failed,
# or on a communicator that is revoked, hear of it as without collopt.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# Open MPI tells by a variable of its own.  From 5.0 on it has it, and sets it as its parameter says; a stand-in for it serves
# every other library.
told()                  # HOST
{
    if has_tolerance "$1"; then
        set -- "$1" OMPI_MCA_mpi_ft_enable=1 LD_PRELOAD="$library"
    else
        echo '#include <stdbool.h>
              bool ompi_ftmpi_enabled = true;' >"$work/enabled.c"
        ${CC:-cc} -shared -fPIC -o "$work/enabled.so" "$work/enabled.c" || fail "no stand-in"
        set -- "$1" LD_PRELOAD="$library $work/enabled.so"
    fi
    told_host=$1
    shift
    launch "$told_host" 2 "$@" COLLOPT_AFTER=1 "$(program "$told_host" settings)" allreduce=4 dup allreduce=4 \
        || fail "$told_host, fault tolerance: status $?"
    said 2 '^rank [0-9]*: run 0 passed 8' "$told_host, fault tolerance"
    said 1 "^collopt: the MPI library's fault tolerance is on" "$told_host, fault tolerance"
    said 1 '^collopt' "$told_host, fault tolerance"
}

has_tolerance()         # HOST
{
    case $(mpi_of "$1"),$($OPENMPI_RUN --version 2>/dev/null) in
    openmpi,*"(Open MPI) "[5-9]*) ;;
    *) false ;;
    esac
}

# Rank 0 revokes the communicator on which the others reduce; or the last rank dies.
real()
{
    cat >"$work/fail.c" <<'END'
#include <mpi.h>
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank, ranks, x = 1, sum, err = MPI_SUCCESS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    alarm(60);
    for (int i = 0; i < 10; i++)
        MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (argv[1][0] == 'd' && rank == ranks - 1)
        raise(SIGKILL);
    if (argv[1][0] == 'r' && rank == 0) {
        sleep(1);
        err = MPIX_Comm_revoke(MPI_COMM_WORLD) ? MPI_SUCCESS : MPI_ERR_OTHER;
    } else {
        for (int i = 0; i < 1000 && err == MPI_SUCCESS; i++)
            err = MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    printf("rank %d: %s\n", rank, err ? "an error" : "none");
    fflush(stdout);
    _exit(0);
}
END
    $OPENMPI_MPICC -o "$work/fail" "$work/fail.c" || { fail "a program with MPIX_Comm_revoke does not compile"; return; }
    launcher=$OPENMPI_RUN
    OPENMPI_RUN="$OPENMPI_RUN --with-ft ulfm"
    for how in revoke die; do
        launch openmpi 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$work/fail" $how
        said $([ $how = die ] && echo 2 || echo 3) '^rank [0-9]*: an error' "a job with fault tolerance, $how"
    done
    OPENMPI_RUN=$launcher
}

tolerance()             # HOST
{
    told "$1"
    if [ "$1" = openmpi ] && has_tolerance "$1"; then
        real
    fi
}

for_each_host tolerance
