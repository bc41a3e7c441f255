# Communicators that end, or begin, while something else goes on, and messages that have to go on:
# what MPI allows hangs nowhere, and sums stay right.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

lives()                 # HOST
{
    for subject in threads pending callbacks; do
        for after in 1 3; do
            for ranks in 2 3; do
                quiet "$1" $ranks COLLOPT_AFTER=$after "$(program "$1" lives)" $subject
            done
        done
    done
    for shm in auto off; do
        for wait in auto spin yield; do
            quiet "$1" 2 COLLOPT_AFTER=1 COLLOPT_SHM=$shm COLLOPT_WAIT=$wait \
                "$(program "$1" lives)" progress
        done
    done
    quiet "$1" 3 COLLOPT_AFTER=1 "$(program "$1" lives)" progress
}

for_each_host lives
