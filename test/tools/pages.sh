#!/bin/sh
# The manual pages: no warnings from the formatters; every function and every option described as
# --help has it, and no other.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
build=$COLLOPT_BUILD
source=$COLLOPT_SOURCE/doc/manual
pages=$build/doc/man
[ -f "$pages/collopt.7" ] || pages=$COLLOPT_SOURCE/doc/man

if [ ! -f "$pages/collopt.7" ]; then
    echo 'SKIP: no manual pages; configure found no sphinx-build with MyST'
    exit 77
fi
checked=
for page in "$pages"/*.[0-9]; do
    if command -v groff >/dev/null; then
        checked=yes
        said=$(groff -man -ww -z "$page" 2>&1)
        [ -z "$said" ] || fail "groff: $page: $said"
    fi
    if command -v mandoc >/dev/null; then
        checked=yes
        said=$(mandoc -T lint -W warning "$page" 2>&1)
        [ -z "$said" ] || fail "mandoc: $page: $said"
    fi
done
if [ -z "$checked" ]; then
    echo 'SKIP: neither groff nor mandoc'
    exit 77
fi
for page in "$source"/*.[0-9].md; do
    page=${page##*/}
    [ -s "$pages/${page%.md}" ] || fail "no manual page ${page%.md}"
done
for function in \
    $(sed -n 's/^COLLOPT_API [^(]*[ *]\(collopt_[a-z_]*\)(.*/\1/p' \
    "$COLLOPT_SOURCE/include/collopt.h"); do
    grep -q "$function" "$pages/collopt.3" || fail "collopt.3 has no $function"
    cat "$COLLOPT_SOURCE"/src/report/public_names.c "$COLLOPT_SOURCE"/src/front/exact.c |
        grep -q "$function(" || fail "no $function"
    grep -q '^\.so man3/collopt\.3$' "$build/man/$function.3" ||
        fail "no page $function.3 that leads to collopt.3"
done

# "--report FILE" and so on of the page: the terms that begin with a dash.
described()             # PAGE
{
    grep -E '^`-' "$source/$1.1.md" | tr '`' '\n' | grep '^-' | sort -u
}

offered()               # TOOL: its path, or its name in tools/; with what its subcommands have
{
    for name in "$1" "$1 compare" "$1 profile" "$1 doctor" "$1 demo"; do
        "$build/tools/collopt" --complete "$name"
    done | awk -F '\t' '{ print $2 ? $1 " " $2 : $1 }' | sort -u
}

compare()               # PAGE TOOL
{
    described "$1" >described
    offered "$2" >offered
    [ -s offered ] || fail "$2 has no options"
    while read -r option; do
        grep -qxF -e "$option" described || fail "$1.1 has no \"$option\""
    done <offered
    while read -r option; do
        grep -qxF -e "$option" offered || fail "$1.1 has \"$option\", $2 --help has not"
    done <described
}

cd "$work" || exit 99
for tool in "$build"/tools/collopt "$build"/tools/collopt-[a-z]*; do
    name=${tool##*/}
    # started by collopt only
    case $name in *.* | collopt-probe | collopt-statistics) continue ;; esac
    [ -f "$source/$name.1.md" ] || { fail "$name has no manual page"; continue; }
    compare "$name" "$name"
done
for bench in "$build"/bench/*/collopt-bench; do
    [ ! -x "$bench" ] || { compare collopt-bench "$bench"; break; }
done
exit $failed
