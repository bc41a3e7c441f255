# The other names of the family, handles that are reused, and threads.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

# Two ranks take 1 GiB of scratch each; the scan, which is to have all elements in one segment,
# takes 2 GiB on one of them.  Lengths are the same to all hosts, so one has its messages tested and
# the other shared memory.
huge()                  # HOST
{
    awk '/^MemAvailable:/ { exit $2 < 5000000 }' /proc/meminfo ||
        { echo "not run, too little memory: $1, huge"; return; }
    case $(mpi_of "$1") in openmpi) by=off ;; *) by=auto ;; esac
    quiet "$1" 2 COLLOPT_SHM=$by "$(program "$1" calls)" huge
    [ "$(mpi_of "$1")" != mpich ] ||
        quiet "$1" 2 COLLOPT_SCAN=two_tree:segment=4G "$(program "$1" calls)" huge_count
}

calls()                 # HOST
{
    for ranks in 1 2 3 5; do
        quiet "$1" $ranks "$(program "$1" calls)"
        quiet "$1" $ranks COLLOPT_CUT=16 "$(program "$1" calls)" 60
    done
    quiet "$1" 2 "$(program "$1" calls)" 400
    quiet "$1" 1 "$(program "$1" handles)" 2000
    quiet "$1" 2 "$(program "$1" handles)" 20000
    quiet "$1" 5 "$(program "$1" handles)" 300
    quiet "$1" 3 COLLOPT_CUT=4K "$(program "$1" handles)" 30
    quiet "$1" 3 COLLOPT_CUT=1 "$(program "$1" handles)" 30
    quiet "$1" 1 "$(program "$1" threads)"
    quiet "$1" 2 "$(program "$1" threads)"
    quiet "$1" 3 "$(program "$1" threads)"
    huge "$1"
    # without collopt the programs hold as well
    launch "$1" 3 "$(program "$1" calls)" || fail "$1 alone, calls: status $?"
    launch "$1" 3 "$(program "$1" handles)" || fail "$1 alone, handles: status $?"
}

for_each_host calls
