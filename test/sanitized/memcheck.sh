# Valgrind finds no error and no leak of collopt's after MPI_Finalize: a test program on two ranks
# of each MPI library, and a session that goes on then.  judge.py tells collopt's from the
# library's.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"
command -v valgrind >/dev/null || skip "no valgrind"
python3 -c '' 2>/dev/null || skip "no python3"

memcheck="valgrind -q --leak-check=full --show-leak-kinds=definite,indirect --num-callers=30
    --fullpath-after= --log-file=$work/memory.%p"

judged()                # SRC: true if nothing concerns the sources there
{
    python3 -B "$top/test/sanitized/judge.py" "$1" "$work"/memory.* >"$work/said" 2>&1
}

# What it is to find: a leak, and a read of what nobody set, of the library and not of others.
finds()
{
    mkdir "$work/src" "$work/other"
    cat >"$work/src/wrong.c" <<'END'
#include <stdlib.h>
int main(int argc, char **argv)
{
    int *volatile p = malloc(argc * sizeof *p);

    if (argc > 1 && p[0] == 5)
        return **argv;
    if (argc > 1)
        free(p);
    p = NULL;
    return 0;
}
END
    cp "$work/src/wrong.c" "$work/other"
    for folder in src other; do
        ${CC:-cc} -g -O0 "$work/$folder/wrong.c" -o "$work/wrong" || { fail "wrong.c"; return; }
        for argument in '' unset; do
            rm -f "$work"/memory.*
            # shellcheck disable=SC2086
            $memcheck "$work/wrong" $argument
            judged "$work/src"
            case $folder$? in
            src1 | other0) ;;
            *) fail "judge.py does not tell what is in $folder: $argument" ;;
            esac
        done
    done
}

check_memory()          # HOST RANKS REPORT PROGRAM [ARGUMENT]...: REPORT may be empty
{
    checked_host=$1 checked_ranks=$2 checked_report=$3 checked_what="$*"
    shift 3
    rm -f "$work"/memory.*
    # shellcheck disable=SC2086
    LAUNCH_SECONDS=300 launch "$checked_host" "$checked_ranks" LD_PRELOAD="$library" \
        COLLOPT_AFTER=1 COLLOPT_REPORT="$checked_report" HWLOC_COMPONENTS=-x86 $memcheck "$@" ||
        fail "$checked_what: status $?"
    [ "$(cat "$work"/memory.* | wc -l)" -gt 0 ] ||
        fail "$checked_what: valgrind has said nothing at all"
    judged "$top/src" || fail "$checked_what"
    echo "$checked_what: $(cat "$work"/memory.* | grep -c ' lost in loss record') leaks of others"
}

checked()               # HOST
{
    built_for "$1" || { missing="$missing $1"; return; }
    case $1 in abi@*) return ;; esac
    check_memory "$1" 2 '' "$(program "$1" calls)" 10
    ! "$(program "$1" communicators)" has_sessions ||
        check_memory "$1" 2 "$work/report" "$(program "$1" communicators)" session_goes_on 1
}

finds
for_each_host checked
