#!/bin/sh
# `make install` puts the measurements of single processors in the data folder, below DESTDIR, and
# `make uninstall` takes them away.  The installed files are those of the source, and have no
# mistakes.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
build=${COLLOPT_BUILD:-$PWD} source=$COLLOPT_SOURCE
unset COLLOPT_BUILD COLLOPT_SOURCE MAKEFLAGS MFLAGS MAKELEVEL

target()                # NAME
{
    make -s -C "$build" "$1" DESTDIR="$work" >"$work/said" 2>&1 ||
        fail "make $1: status $?, $(cat "$work/said")"
}

target install-dist_pkgdataDATA
folder=$work$("$build/tools/collopt-info" --all | sed -n "s/^  collopt's   //p")
n=0
for file in "$source"/data/collopt/*; do
    installed=$folder/${file##*/}
    cmp "$file" "$installed" || fail "$installed is not $file"
    case $file in
    *.rules)
        "$build/tools/collopt-tune" --check "$installed" >"$work/said" || fail "$(cat "$work/said")"
        ;;
    *.machine)
        "$build/tools/collopt-info" --check-machine "$installed" >"$work/said" ||
            fail "$(cat "$work/said")"
        ;;
    *) fail "$file is neither rules nor a machine" ;;
    esac
    n=$((n + 1))
done
[ $n -gt 0 ] && [ "$(find "$folder" -maxdepth 1 -type f | wc -l)" = $n ] ||
    fail "$folder: $(ls "$folder"), not $n files"
target uninstall-dist_pkgdataDATA
[ -z "$(find "$folder" -maxdepth 1 -type f)" ] || fail "left: $(ls "$folder")"
exit $failed
