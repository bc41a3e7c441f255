# The MPIs that tests run on, for the scripts that source this: $test_hosts.  "abi@mpich" is
# programs of the standard ABI with the library and the launcher of MPICH, "mpich" such as are
# compiled with its own mpi.h.
#
# Where the environment says nothing, as by hand, Debian's names are taken.

: "${TEST_HOSTS=openmpi mpich}"
: "${OPENMPI_MPICC=mpicc.openmpi}" "${OPENMPI_MPIFC=mpifort.openmpi}"
: "${OPENMPI_RUN=mpirun.openmpi --oversubscribe --mca mpi_yield_when_idle 1}"
: "${MPICH_MPICC=mpicc.mpich}" "${MPICH_MPIFC=mpifort.mpich}" "${MPICH_RUN=mpirun.mpich}"
test_hosts=$TEST_HOSTS
# for which there are benches and archives
native_hosts=$(echo " $TEST_HOSTS " | sed 's/ abi@[^ ]*//g')

abi_of() { echo "${1%@*}"; }            # HOST: whose mpi.h
mpi_of() { echo "${1#*@}"; }            # HOST: whose library

variable_of_mpi()       # NAME SUFFIX: $NAME_SUFFIX, in capitals
{
    eval "echo \"\${$(echo "$1" | tr '[:lower:]' '[:upper:]')_$2-}\""
}

wrapper() { variable_of_mpi "$(abi_of "$1")" MPICC; }           # HOST: the compiler of its programs
fortran_of() { variable_of_mpi "$(abi_of "$1")" MPIFC; }        # HOST: its Fortran, or nothing
launcher_of() { variable_of_mpi "$(mpi_of "$1")" RUN; }         # HOST: with its options

# For env: what a program needs to find the library.
library_of()            # HOST
{
    case $1 in
    abi@*)
        echo "LD_LIBRARY_PATH=$build/abi/$(mpi_of "$1")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        ;;
    esac
}

# Is collopt built for this host?
built_for()             # HOST
{
    case " $test_hosts " in *" $1 "*) [ -n "$(wrapper "$1")" ] ;; *) false ;; esac
}

# Does the MPI library call collopt while it makes progress?  Then collopt runs persistent and
# nonblocking reductions by messages.
lends_progress()        # HOST
{
    # shellcheck disable=SC2046
    env $(library_of "$1") ldd "$build/test/mpi/$(abi_of "$1")/test_requests" |
        awk '$3 ~ /^\// { print $3 }' |
        xargs nm -D --defined-only 2>/dev/null |
        grep -q ' \(opal_progress_register\|PMPIX_Async_start\)$'
}

fortran_for()           # HOST
{
    [ -n "$(fortran_of "$1")" ]
}
