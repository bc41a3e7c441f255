# Processes that fail, and communicators that are revoked: nobody waits with collopt who does not
# wait without it.  Where the MPI library's fault tolerance is on, all is left to it, and that is
# said.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# Open MPI tells by a variable of its own.  From 5.0 on it has it, and sets it as its parameter
# says; a stand-in for it serves every other library.
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
    launch "$told_host" 2 "$@" COLLOPT_AFTER=1 "$(program "$told_host" settings)" \
        allreduce=4 dup allreduce=4 \
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

# Rank 0 revokes the communicator on which the others reduce; or the last rank dies, or leaves,
# while the others do.
program_that_fails()    # HOST
{
    cat >"$work/fail.c" <<'END'
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int *in, *sum;

static int add(int n)
{
    return MPI_Allreduce(in, sum, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    int n = atoi(argv[2]), rank, ranks, err = MPI_SUCCESS;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    alarm(60);
    in = calloc((size_t)n, sizeof *in);
    sum = calloc((size_t)n, sizeof *sum);
    for (int i = 0; i < 10; i++)
        add(n);
    if (strcmp(how, "die") == 0 && rank == ranks - 1)
        raise(SIGKILL);
    if (strcmp(how, "leave") == 0 && rank == ranks - 1)
        _exit(3);
#ifdef MPIX_ERR_REVOKED
    if (strcmp(how, "revoke") == 0 && rank == 0) {
        sleep(1);
        err = MPIX_Comm_revoke(MPI_COMM_WORLD) ? MPI_SUCCESS : MPI_ERR_OTHER;
    } else
#endif
    for (int i = 0; i < 1000 && err == MPI_SUCCESS; i++)
        err = add(n);
    printf("rank %d: %s\n", rank, err ? "an error" : "none");
    fflush(stdout);
    _exit(0);
}
END
    # shellcheck disable=SC2046     # the wrapper may have options
    $(wrapper "$1") -o "$work/fail" "$work/fail.c" ||
        { fail "$1: a program that fails does not compile"; return 1; }
}

real()
{
    launcher=$OPENMPI_RUN
    OPENMPI_RUN="$OPENMPI_RUN --with-ft ulfm"
    for how in revoke die; do
        launch openmpi 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$work/fail" $how 1
        said $([ $how = die ] && echo 2 || echo 3) '^rank [0-9]*: an error' \
            "a job with fault tolerance, $how"
    done
    OPENMPI_RUN=$launcher
}

# Where the job ends without collopt, it ends with it: in an error, for the launcher too.
as_without()            # HOST HOW INTS
{
    launch "$1" 3 "$work/fail" "$2" "$3"
    alone=$?
    [ $alone != 124 ] || { echo "$1 alone hangs: $2, $3 ints"; return; }
    [ $alone != 0 ] || fail "$1 alone, $2, $3 ints: the job ends as if nothing had happened"
    launch "$1" 3 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$work/fail" "$2" "$3"
    case $? in
    0) fail "$1, $2, $3 ints: the job ends as if nothing had happened" ;;
    124) fail "$1, $2, $3 ints: hangs, which it does not without collopt" ;;
    esac
    echo "$1, $2, $3 ints: ends"
}

failures_of()           # HOST
{
    program_that_fails "$1" || return
    for ints in 2 100000; do                    # shared memory, and messages
        as_without "$1" die $ints
        as_without "$1" leave $ints
    done
    [ "$1" != mpich ] || unattended
    ! has_tolerance "$1" || real
}

# MPICH's launcher leaves the others alone if it is told to; its MPIX_Comm_revoke stops the job; its
# own switch for fault tolerance.
unattended()
{
    as_without mpich revoke 2
    launcher=$MPICH_RUN
    MPICH_RUN="$MPICH_RUN -disable-auto-cleanup"
    for ints in 2 100000; do
        as_without mpich die $ints
    done
    MPICH_RUN=$launcher
    launch mpich 2 LD_PRELOAD="$library" MPIR_CVAR_ENABLE_FT=1 COLLOPT_AFTER=1 \
        "$(program mpich settings)" allreduce=4 dup allreduce=4 \
        || fail "mpich, MPIR_CVAR_ENABLE_FT=1: status $?"
    said 2 '^rank [0-9]*: run 0 passed 8' "mpich, MPIR_CVAR_ENABLE_FT=1"
    said 1 "^collopt: the MPI library's fault tolerance is on" "mpich, MPIR_CVAR_ENABLE_FT=1"
}

tolerance()             # HOST
{
    told "$1"
    case $1 in abi@*) ;; *) failures_of "$1" ;; esac
}

for_each_host tolerance
