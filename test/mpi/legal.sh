# Legal programs of unusual kinds (test_legal.c).  Without collopt each passes on every host.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# What the subjects leave to the default settings: when collopt takes over is part of some.
subject()               # HOST RANKS [VARIABLE=VALUE]... -- SUBJECT [ARGUMENT]...
{
    subject_host=$1 subject_ranks=$2
    shift 2
    variables_of "$@"
    shift $words
    # shellcheck disable=SC2086     # a list
    launch "$subject_host" "$subject_ranks" LD_PRELOAD="$library" $variables \
        "$(program "$subject_host" legal)" "$@" ||
        fail "$subject_host, $subject_ranks ranks, $variables $*: status $?"
    ! grep -q '^collopt' "$work/said" ||
        fail "$subject_host, $subject_ranks ranks, $variables $*: something is said"
}

# The MPI library that a program is linked with.
mpi_library()           # HOST
{
    # shellcheck disable=SC2046
    env $(library_of "$1") ldd "$(program "$1" legal)" |
        awk '$1 ~ /^libmpi/ || $1 ~ /^libmpich/ { print $3; exit }'
}

# Messages of more than nothing need the sender's progress.
slow_messages='--mca btl tcp,self --mca btl_tcp_eager_limit 1024'

# Open MPI, whose messages need the sender to be in MPI.
by_tcp()                # HOST RANKS SUBJECT
{
    OPENMPI_RUN="$OPENMPI_RUN $slow_messages" subject "$1" "$2" COLLOPT_AFTER=1 -- "$3"
}

past()                  # HOST
{
    "$(wrapper "$1")" -shared -fPIC -DTEST_PLUGIN -o "$work/plugin.so" "$top/test/mpi/test_legal.c"
    for ranks in 1 2 3; do
        subject "$1" $ranks COLLOPT_AFTER=1 -- past "$(mpi_library "$1")"
        subject "$1" $ranks COLLOPT_AFTER=1 -- plugin "$work/plugin.so"
    done
}

legal()                 # HOST
{
    for ranks in 1 2 3 5; do
        for after in auto 1; do
            subject "$1" $ranks COLLOPT_AFTER=$after -- handles
        done
        subject "$1" $ranks COLLOPT_AFTER=1 -- at_end
        # MPICH 4.0 alone fails in MPI_Testall
        ! lends_progress "$1" || subject "$1" $ranks COLLOPT_AFTER=1 COLLOPT_SHM=off -- at_end
    done
    for ranks in 2 3 5; do
        subject "$1" $ranks COLLOPT_AFTER=1 -- layouts
    done
    for ranks in 2 3; do
        subject "$1" $ranks COLLOPT_AFTER=1 -- polling
        subject "$1" $ranks COLLOPT_AFTER=1 -- nothing_owed
        subject "$1" $ranks COLLOPT_AFTER=1 -- pauses
        for async in off thread; do
            subject "$1" $ranks COLLOPT_AFTER=1 COLLOPT_ASYNC=$async -- beside
        done
        [ "$1" != openmpi ] || for owed in polling nothing_owed; do
            by_tcp "$1" $ranks $owed
        done
    done
    subject "$1" 3 COLLOPT_AFTER=1 COLLOPT_SHM=off -- layouts
    subject "$1" 2 COLLOPT_AFTER=1 -- outstanding 20 37748736
    subject "$1" 3 COLLOPT_AFTER=1 COLLOPT_SHM_SIZE=64K -- outstanding 40 200000
    subject "$1" 3 COLLOPT_AFTER=1 -- latest_first 20000
    ! lends_progress "$1" || subject "$1" 3 COLLOPT_AFTER=1 COLLOPT_SHM=off -- latest_first 20000
    subject "$1" 2 COLLOPT_AFTER=1 -- ahead
    subject "$1" 3 COLLOPT_AFTER=1 -- ahead
    [ "$(abi_of "$1")" = abi ] || past "$1"
}

for_each_host legal
