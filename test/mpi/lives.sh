# Communicators that end, or begin, while something else goes on: what MPI allows hangs nowhere, and sums stay right.

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
}

for_each_host lives
