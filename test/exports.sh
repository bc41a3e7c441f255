# What the built libraries export and need: the front the intercepted names, the functions of
# collopt.h and what AddressSanitizer asks (src/front/asan.c), a backend one function, an archive
# the MPI_X that its host has. The lists are taken from names.h and collopt.h.

set -u
: "${COLLOPT_BUILD:=$PWD}" \
    "${COLLOPT_SOURCE:=$(cd "$(dirname "$0")/.." && pwd)}" "${CC:=cc}" "${NM:=nm}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
failed=0

# Of sorted lists of words.  Not at the end of a pipe: what a failure sets would be lost.
same()          # WHAT EXPECTED FOUND
{
    cmp -s "$2" "$3" ||
        { echo "FAIL: $1 (< expected, > found):"; diff "$2" "$3" | grep '^[<>]'; failed=1; }
}

subset()        # WHAT SMALLER LARGER
{
    comm -23 "$2" "$3" >over
    [ ! -s over ] || { echo "FAIL: $1:"; cat over; failed=1; }
}

# A: the name of the version.
symbols()       # WHICH FILE: names of the symbols that nm lists with the options WHICH
{
    $NM $1 "$2" | sed -n 's/.* [B-Zb-z] \([^@ ]*\).*/\1/p' | sort -u
}

needed()        # FILE
{
    readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort
}

cat >names.c <<'EOF'
#include "front/names.h"
#define SPELLED(function, id, ID, needs, parameters, arguments) @function@
COLLOPT_NAMES(SPELLED) @MPI_Pcontrol@
EOF
$CC -E -P -I"$COLLOPT_SOURCE/src" names.c | grep -o '@[^@ ]*@' | tr -d @ | sort >mpi
sed 's/^/P/' mpi | sort >pmpi
sed -n 's/^COLLOPT_API.*[ *]\(collopt_[a-z_]*\)(.*/\1/p' "$COLLOPT_SOURCE/include/collopt.h" |
    sort >public
[ "$(wc -l <mpi)" -gt 40 ] && [ -s public ] || { echo "FAIL: the lists are empty"; exit 1; }
ends="-e ^_init$ -e ^_fini$ -e ^__bss_start$ -e ^_edata$ -e ^_end$"
echo 'ld-linux
libc.
libm.
libhwloc.' >allowed

front=$COLLOPT_BUILD/.libs/libcollopt.so
symbols "-D --defined-only" "$front" | grep -v $ends >found
echo __asan_default_options >asked
sort mpi pmpi public asked >expected
same "exports of libcollopt.so" expected found
needed "$front" | grep -v '^libc\.\|^libdl\.\|^libpthread\.\|^ld-linux' >over
[ ! -s over ] || { echo "FAIL: libcollopt.so needs more than libc:"; cat over; failed=1; }

for backend in "$COLLOPT_BUILD"/.libs/libcollopt-*.so; do
    name=${backend##*/}
    [ -f "$backend" ] || continue
    echo collopt_backend_open >expected
    symbols "-D --defined-only" "$backend" | grep -v $ends >found
    same "exports of $name" expected found
    symbols "-D --undefined-only" "$backend" >undefined
    grep -Fxf pmpi undefined >over &&
        { echo "FAIL: $name calls these, which are ours, not the host's:"; cat over; failed=1; }
    grep '^MPI_[A-Z][a-z]' undefined >over &&
        { echo "FAIL: $name calls these without P:"; cat over; failed=1; }
    grep '^collopt_' undefined >over && { echo "FAIL: $name lacks these:"; cat over; failed=1; }
    # /dev/shm may be full, or 64 MiB in a container, and keeps what killed processes leave: only
    # memory without a name
    grep -x 'shm_open\|shmget' undefined >over &&
        { echo "FAIL: $name shares memory by these:"; cat over; failed=1; }
    needed "$backend" | grep -vFf allowed >over
    [ ! -s over ] || { echo "FAIL: $name needs more than libc and hwloc:"; cat over; failed=1; }
done

for archive in "$COLLOPT_BUILD"/libcollopt-*[a-z].a; do
    name=${archive##*/}
    case $name in *-objects.a | "libcollopt-*[a-z].a") continue ;; esac
    symbols "--defined-only --extern-only" "$archive" >found
    sort mpi public >expected
    subset "exports of $name that are not ours" found expected
    subset "functions of collopt.h that $name lacks" public found
    echo 'MPI_Allreduce
MPI_Finalize
MPI_Iscan
MPI_Pcontrol
MPI_Reduce_local' >expected
    subset "names that $name lacks" expected found
    symbols "--undefined-only" "$archive" >undefined
    grep '^MPI_[A-Z][a-z]' undefined >over &&
        { echo "FAIL: $name calls these without P:"; cat over; failed=1; }
    grep '^collopt_' undefined >over && { echo "FAIL: $name lacks these:"; cat over; failed=1; }
done
exit $failed
