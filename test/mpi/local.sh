# MPI_Reduce_local gives the host's own bits, wherever the host's are right; logical results are
# 0 and 1 as the host's.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

results()               # FILE: the lines that begin with an operation
{
    grep -E '^[a-z]+ [a-z0-9_]+ [0-9a-f]{16}$' "$work/said" | sort >"$1"
}

alike()                 # HOST
{
    launch "$1" 1 "$(program "$1" local)" || fail "$1 alone: status $?"
    results "$work/host"
    [ "$(wc -l <"$work/host")" -gt 200 ] || fail "$1 alone: only $(wc -l <"$work/host") results"
    for isa in auto avx512 avx2 generic; do
        case $isa in
        auto | generic) ;;
        *) grep -q " ${isa}f\{0,1\} " /proc/cpuinfo 2>/dev/null || continue ;;
        esac
        quiet "$1" 1 COLLOPT_ISA=$isa "$(program "$1" local)"
        results "$work/ours"
        diff "$work/host" "$work/ours" >"$work/diff" ||
            { cat "$work/diff"; fail "$1, $isa: results differ from the host's (<)"; }
    done
    quiet "$1" 3 "$(program "$1" local)"
}

for_each_host alike
