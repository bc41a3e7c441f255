#!/bin/sh
# Programs compiled with sanitizers run with collopt, and the sanitizer still finds what it is for:
# by the command collopt, preloaded without it, with the runtime as a shared library or within the
# program, from gcc and from clang.
#
# AddressSanitizer's runtime as a shared library wants to be the first of a process, and ends it
# otherwise. The other sanitizers do not.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"
collopt=$build/tools/collopt
cd "$work" || exit 99
export ASAN_OPTIONS=detect_leaks=0      # the MPI libraries have some

compile()               # HOST COMPILER PROGRAM FLAG...: false if the compiler cannot
{
    host=$1 compiler=$2 program=$3
    shift 3
    # shellcheck disable=SC2046
    OMPI_CC=$compiler MPICH_CC=$compiler $(wrapper "$host") -g -O1 -w "$@" -o "$program" \
        "$top/test/tools/sanitized.c" >said 2>&1
}

ran()                   # WHAT STATUS: of a run that has come to its end, with collopt in it
{
    [ "$2" = 0 ] && grep -q '^right$' said || fail "$1: status $2"
    [ "$(reported run allreduce)" -gt 0 ] || fail "$1: collopt ran nothing"
    rm -f report
}

by_collopt()            # WHAT COMMAND...
{
    what=$1
    shift
    COLLOPT_REPORT=$work/report COLLOPT_AFTER=1 timeout 120 "$collopt" "$@" </dev/null >said 2>&1
    ran "$what" $?
}

preloaded()             # HOST PROGRAM
{
    launch_collopt "$1" 2 "$2"
    ran "$1: $2, preloaded" $?
}

# The program runs alone, or there is nothing to be tested.
runs_alone()            # HOST PROGRAM
{
    launch "$1" 2 "$2" && return
    echo "$1: $2 does not run without collopt either"
    false
}

asan_of()               # HOST
{
    launcher=$(launcher_of "$1")
    # shellcheck disable=SC2086     # the launcher has options
    {
        by_collopt "$1: by collopt" $launcher -n 2 ./asan
        by_collopt "$1: by collopt and env" $launcher -n 2 env A=b ./asan
        by_collopt "$1: options of its own" $launcher -n 2 ./defaults
        by_collopt "$1: a script" $launcher -n 2 sh -c './asan && true'
        by_collopt "$1: two programs" $launcher -n 1 ./plain : -n 1 ./asan
    }
    launch_collopt "$1" 2 ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 ./defaults
    ran "$1: as the manual says" $?
    launch_collopt "$1" 2 ./asan overflow
    grep -q 'heap-buffer-overflow' said || fail "$1: an error of the program is not found"
}

tested=''
for each in $native_hosts; do
    built_for "$each" || continue
    compile "$each" gcc plain || { fail "$each: sanitized.c"; continue; }
    if compile "$each" gcc asan -fsanitize=address && runs_alone "$each" ./asan; then
        compile "$each" gcc defaults -fsanitize=address -DDEFAULTS || fail "$each: defaults"
        asan_of "$each"
        tested=yes
    fi
    for flag in address undefined thread; do
        for compiler in gcc clang; do
            compile "$each" $compiler ./$compiler-$flag -fsanitize=$flag &&
                runs_alone "$each" ./$compiler-$flag && preloaded "$each" ./$compiler-$flag
        done
    done
    if compile "$each" gcc ./asan-static -fsanitize=address -static-libasan &&
        runs_alone "$each" ./asan-static; then
        preloaded "$each" ./asan-static
    fi
done
[ -n "$tested" ] || skip "no AddressSanitizer for programs of MPI"

# What the launchers are told, and what stays of the user's.
# shellcheck disable=SC2046
set -- $(launcher_of "${each}")
dry=$(ASAN_OPTIONS=a=b "$collopt" --dry-run "$@" -n 2 ./asan)
case $dry in
    *ASAN_OPTIONS=verify_asan_link_order=0:a=b*|*"ASAN_OPTIONS verify_asan_link_order=0:a=b"*) ;;
    *) fail "options of the user: $dry" ;;
esac
case $("$collopt" --dry-run "$@" -n 2 ./plain) in
    *ASAN*) fail "a program without a sanitizer is given options for one" ;;
esac
finish
