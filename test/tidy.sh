# What clang-tidy finds by .clang-tidy in the sources of src: those without MPI, and the others with
# the mpi.h of the first MPI library.  A false alarm is silenced where it is raised, by NOLINT and
# the reason.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

version=19
for tidy in "clang-tidy-$version" clang-tidy none; do
    "$tidy" --version 2>/dev/null | grep -q "version $version\." && break
done
[ "$tidy" != none ] || skip "no clang-tidy $version"

# A limit to the paths that the analyzer follows in a function: all of them take ten times as long.
tidied()                # FLAGS FILE...
{
    flags=$1
    shift
    printf '%s\n' "$@" | xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 8 sh -c '
        flags=$1 tidy=$2
        shift 2
        said=$("$tidy" --quiet --extra-arg-before=-Xclang --extra-arg-before=-analyzer-config \
            --extra-arg-before=-Xclang --extra-arg-before=max-nodes=6000 "$@" -- $flags 2>&1)
        status=$?
        printf "%s\n" "$said" | grep -v "^$\| warnings\? .*generated\.$\|Processing file"
        exit $status' \
        sh "$flags -std=gnu11 -DHAVE_CONFIG_H -DNDEBUG -D_GNU_SOURCE -I$build -Isrc -Iinclude \
            -DCOLLOPT_ISA=generic -DCOLLOPT_SYSCONFDIR=__FILE__ -DCOLLOPT_DATADIR=__FILE__" \
        "$tidy" >"$work/said"
    status=$?
    [ "$status" = 0 ] && [ ! -s "$work/said" ] || fail "$tidy"
}

cd "$top" || exit 99
host=${native_hosts# } host=${host%% *}
[ -n "$host" ] || skip "collopt is not built for any MPI"
# shellcheck disable=SC2046     # lists
tidied '' $(find src -name '*.c' ! -path 'src/mpi/*')
# shellcheck disable=SC2046
tidied "-DCOLLOPT_HOST=__FILE__ $(made "$(echo "$host" | tr '[:lower:]' '[:upper:]')_CPPFLAGS")" \
    $(find src/mpi -name '*.c')

# It finds what it is to find.
cat >"$work/leak.c" <<'END'
#include <stdlib.h>
double leak(int n)
{
    int *a = malloc(sizeof *a);
    if (n == n)
        return n / 2;
    free(a);
    return 0;
}
END
cp .clang-tidy "$work"
"$tidy" --quiet "$work/leak.c" -- >"$work/said" 2>&1
for check in bugprone-integer-division misc-redundant-expression clang-analyzer-unix.Malloc; do
    grep -q "\[$check" "$work/said" || fail "$check finds nothing"
done
finish
