#!/bin/sh
# The examples in doc/manual, on each MPI: the blocks that are marked, in a folder where `mpirun`,
# `mpicc` and the tools are those of this build. examples.py says how blocks are marked and what
# counts as the same output.
# shellcheck disable=SC1091

build=$COLLOPT_BUILD
. "$COLLOPT_SOURCE/test/launch.sh"
if ! command -v python3 >/dev/null; then
    echo 'SKIP: no python3'
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
pages=$(grep -l '^% \(run\|show\)' "$COLLOPT_SOURCE"/doc/manual/*.md)
for name in $(env | sed -n 's/^\(COLLOPT_[A-Z_]*\)=.*/\1/p'); do
    case $name in
        COLLOPT_SOURCE | COLLOPT_BUILD) ;;
        *) unset "$name" ;;
    esac
done
unset LD_PRELOAD
failed=0 ran=

for host in $native_hosts; do
    built_for "$host" || continue
    ran=yes
    mkdir -p "$work/$host/bin"
    cd "$work/$host" || exit 99
    printf '#!/bin/sh\nexec %s "$@"\n' "$(launcher_of "$host")" >bin/mpirun
    printf '#!/bin/sh\nexec %s "$@"\n' "$(wrapper "$host")" >bin/mpicc
    ln -s "$build/bench/$host/collopt-bench" "bin/collopt-bench-$host"
    chmod +x bin/*
    for tool in collopt collopt-info collopt-plan collopt-tune; do
        ln -s "$build/tools/$tool" "bin/$tool"
    done
    cp "$COLLOPT_SOURCE/examples/conjugate_gradient.c" .
    echo "$host:"
    # shellcheck disable=SC2086     # a list
    env -u COLLOPT_BUILD -u COLLOPT_SOURCE PATH="$work/$host/bin:$PATH" \
        LIBRARY="$build/.libs/libcollopt.so" python3 "$COLLOPT_SOURCE/test/docs/examples.py" \
        "$host" $pages || failed=1
done
[ -n "$ran" ] || exit 77
exit $failed
