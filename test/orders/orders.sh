#!/bin/sh
# The memory orders of what threads and processes share without locks.  Small models run the
# library's own code in every order of their threads, and with each value that C11 lets a load read
# (explore.c): no access races with another, nothing is lost, nobody waits for good.  Then each
# order is weakened in turn, and some model must fail.  So an order that is too weak is found, and
# one that is not needed, too.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

: "${CC:=cc}"
cd "$work" || exit 99

# Files and functions whose orders may be stronger than needed.
spared='
src/mpi/request/table.c:change_table            under a lock; the default of C11 on a rare path
src/mpi/host/handles.c:collopt_handles_stamp    see there
src/mpi/host/handles.c:collopt_free_begins      see there
src/mpi/host/handles.c:collopt_free_ends        see there
src/recorder/recorder.c:begin_change            the name that follows is not atomic
src/recorder/recorder.c:collopt_recorder_add_comm       assignments on a rare path
src/recorder/recorder.c:collopt_recorder_remove_comm    assignments on a rare path
'

# Debug information that addr2line of binutils 2.40 reads: version 5 misleads it.
flags="-std=gnu11 -gdwarf-4 -O1 -fno-inline -U_FORTIFY_SOURCE -D_GNU_SOURCE -DCOLLOPT_HOST=__FILE__
    -I$build -I$top/src -I$top/include -I$top/test/orders"

compiled()              # FLAG|SOURCE...
{
    # shellcheck disable=SC2086     # the compiler may have options
    $CC $flags "$@"
}

cat >try.c <<'END'
#include <stdatomic.h>
#include <ucontext.h>
atomic_int n;
int main(void) { ucontext_t here; return getcontext(&here) + n; }
END
compiled -fsanitize=thread -c try.c -o try.o 2>said || skip "$CC has no -fsanitize=thread"
compiled -Wall -Wextra -Werror -c "$top/test/orders/explore.c" -o explore.o || skip "no ucontext.h"
compiled -no-pie try.o explore.o -o try 2>said || { cat said; skip "$CC links no such program"; }
command -v addr2line >/dev/null || skip "no addr2line"

in_lines()              # PROGRAM: reads addresses, writes function and line of each
{
    addr2line -f -e "$1" | sed 's/ (discriminator.*//; s|^.*/src/|src/|' | paste -d ' ' - -
}

# What a model does not call, such as MPI, is not there: the functions beside those that it runs
# may call what they like.
explored()              # NAME [SOURCE...]: makes the program and runs it
{
    name=$1
    objects=
    for source in "test/orders/$@"; do
        object=$name-$(basename "$source" .c).o
        # shellcheck disable=SC2086
        compiled -Wall -Wextra -Wno-unused -fsanitize=thread $mpi \
            -include "$top/test/orders/explored.h" -c "$top/$source" -o "$object" ||
            { fail "compiling $source"; return; }
        objects="$objects $object"
    done
    # shellcheck disable=SC2086
    compiled -no-pie -Wl,--unresolved-symbols=ignore-all explore.o $objects -o "$name" ||
        { fail "linking $name"; return; }
    timeout 300 "./$name" >said 2>&1 ||
        { fail "$name: status $?"; sed -n 's/.* at \(0x\)/\1/p' said | in_lines "$name"; }
    grep -v '^order' said
    grep '^order' said | cut -d ' ' -f 2 >sites
    in_lines "$name" <sites >places
    grep '^order' said | cut -d ' ' -f 3- | paste -d ' ' places - >>orders
}

mpi=
explored litmus.c
explored channel.c test/orders/segment.c
explored journal.c test/orders/segment.c
explored failures.c
explored recorder.c
explored communicators.c
explored choice.c
explored bind.c

headers_of()            # HOST: where its mpi.h is
{
    made "$(echo "$1" | tr '[:lower:]' '[:upper:]')_CPPFLAGS"
}

host=${native_hosts# } host=${host%% *}
if [ -n "$host" ]; then
    mpi=$(headers_of "$host")
    explored stamps.c
    explored requests.c src/mpi/request/request.c
    explored slots.c
    explored slices.c
    explored flags.c
    explored operations.c
    explored comparison.c
    explored world.c
    explored handles.c
    explored gpu.c
fi
# Of MPICH alone something is kept that other threads read.
case $native_hosts in
*mpich*) mpi=$(headers_of mpich); explored progress.c ;;
esac

# Lines in these files that ask for an order, and that no model runs.  A statement may begin some
# lines before its order.
unmet()                 # FILE...
{
    grep -nE 'memory_order_(acquire|release|acq_rel|seq_cst)' "$@" /dev/null | sed "s|^$top/||" |
        while IFS=: read -r file line _; do
            awk -v file="$file" -v line="$line" '
                { split($2, at, ":") }
                at[1] == file && line >= at[2] && line <= at[2] + 2 { met = 1 }
                END { exit met }' orders && echo "$file:$line"
        done
}

# Walks of all chains of the table, as walk() walks along one; what they look at first.
unexplored='look_at_all collopt_requests_help may_be_helped'
case $native_hosts in
*mpich*) ;;
*) unexplored="$unexplored collopt_progress_begin" ;;
esac
if [ -n "$host" ]; then
    # shellcheck disable=SC2046     # a list
    for at in $(unmet $(find "$top/src" -name '*.[ch]')); do
        function=$(sed -n "1,${at#*:}s/^[a-z].*[ *]\([a-z0-9_]*\)(.*/\1/p" "$top/${at%:*}" |
            tail -n 1)
        case " $unexplored " in
        *" $function "*) ;;
        *) fail "no model runs $at in $function" ;;
        esac
    done
fi

# Of several models that meet an order, one that needs it is enough.
awk -v spared="$spared" '
    BEGIN {
        lines = split(spared, line, "\n")
        for (i = 1; i <= lines; i++)
            if (split(line[i], word, " "))
                spare[word[1]] = 1
    }
    $2 ~ /^src/ {               # function file:line asks ORDER, needs ORDER
        file = $2
        sub(/:.*/, "", file)
        site = $1 " " $2
        of[site] = file ":" $1
        if ($4 == $6 "," || $4 ":" == $6 "," || $4 == substr($6, 1, length($6) - 1) ",")
            needed[site] = 1
        else
            line_of[site] = $0
    }
    END {
        for (site in needed)
            n++
        for (site in line_of)
            if (site in needed)
                continue
            else if (of[site] in spare)
                used[of[site]] = 1
            else {
                print "FAIL: " line_of[site]
                failed = 1
            }
        for (key in spare)
            if (!(key in used)) {
                print "FAIL: " key " is spared, and each of its orders is needed"
                failed = 1
            }
        print n + 0 " memory orders are needed"
        exit failed
    }' orders >said || fail "memory orders"
cat said
finish
