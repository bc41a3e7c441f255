# What the table of quirks says of an MPI library is what it does.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

quirks()                # HOST
{
    launch "$1" 2 "$(program "$1" quirks)" || fail "$1: status $?"
    said 1 "^test_quirks: $(mpi_of "$1"), " "$1: whose library it is"
    grep '^test_quirks: ' "$work/said"
}

for_each_host quirks
