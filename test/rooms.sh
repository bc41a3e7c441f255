#!/bin/sh
# Rooms, modules and headers are in order (rooms.py); then each kind of disorder, which must be
# found.

set -u
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
check=$source/test/rooms.py
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
python3 "$check" "$source" || exit 1

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
failed=0

put()                   # FILE GUARD LINE...: a header, or without a guard a source
{
    file=$work/$1 guard=$2
    shift 2
    mkdir -p "${file%/*}"
    if [ -n "$guard" ]; then
        printf '#ifndef %s\n#define %s\n\n' "$guard" "$guard"
    else
        echo '#include "config.h"'
    fi >"$file"
    printf '%s\n' "$@" >>"$file"
    [ -z "$guard" ] || echo '#endif' >>"$file"
}

finds()                 # WHAT PATTERN
{
    said=$(python3 "$check" "$work") && { echo "FAIL: $1 is not found"; failed=1; }
    echo "$said" | grep -q "$2" || { echo "FAIL: $1: $said"; failed=1; }
    [ "$(echo "$said" | wc -l)" = 1 ] || { echo "FAIL: $1, and more: $said"; failed=1; }
    rm -r "$work/src/base" "$work/src/mpi" 2>/dev/null
}

mkdir "$work/src"
cat >"$work/src/README.md" <<'END'
| folder | subject |
|---|---|
| base | texts |
| mpi/host | the host |
| mpi/comm | communicators |
END
put src/base/upwards.c '' '#include "mpi/host/host.h"'
finds 'an include of a room below' 'base does not know mpi/host/host.h'
put src/mpi/host/upwards.c '' '#include "mpi/comm/comm.h"'
finds 'an include of a sub-folder below' 'mpi/host does not know mpi/comm/comm.h'
put src/base/strange.c '' '#include "elsewhere/x.h"'
finds 'an include of no room' 'base does not know elsewhere/x.h'
put src/base/sub/loose.c ''
finds 'a source in no room' 'not in a folder of the table'

put src/base/a.h COLLOPT_BASE_A_H 'void collopt_a(void);'
put src/base/a.c '' '#include "base/a.h"' '#include "base/b.h"' 'void collopt_a(void)' '{' '}'
put src/base/b.h COLLOPT_BASE_B_H 'extern int collopt_b;'
put src/base/b.c '' '#include "b.h"' '#include "a.h"' 'int collopt_b = 1;'
finds 'a circle' 'a circle: src/base/a -> src/base/b -> src/base/a'
put src/base/a.h COLLOPT_BASE_A_H 'int collopt_f(int, ...)' \
    '    __attribute__((format(printf, 1, 2)));'
put src/base/b.c '' '#include "a.h"' 'int collopt_f(int n, ...)' '{' '    return n;' '}'
finds 'a function of another source' 'src/base/a.h declares collopt_f of src/base/b.c'
put src/base/a.h COLLOPT_BASE_A_H 'extern const char *const collopt_names[2];'
put src/base/b.c '' '#include "a.h"' 'const char *const collopt_names[2] = { "a", "b" };'
finds 'a variable of another source' 'src/base/a.h declares collopt_names of src/base/b.c'

put src/base/a.h COLLOPT_A_H 'struct a;'
finds 'a guard of another path' 'src/base/a.h: no guard COLLOPT_BASE_A_H'
put src/base/a.c '' ''
sed -i 's/"config.h"/<config.h>/' "$work/src/base/a.c"
finds 'a strange way to config.h' 'a.c: does not begin with'
put src/base/a.c '' ''
sed -i '1i#include <stdio.h>' "$work/src/base/a.c"
finds 'config.h behind another header' 'a.c: does not begin with'
exit $failed
