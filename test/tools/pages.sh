#!/bin/sh
# The manual pages: no warnings from the formatter, every function and option described.

failed=0
pages=$COLLOPT_SOURCE/doc/man

fail()
{
    echo "FAIL: $*"
    failed=1
}

if command -v groff >/dev/null; then
    for page in "$pages"/*; do
        said=$(groff -man -ww -z "$page" 2>&1)
        [ -z "$said" ] || fail "$page: $said"
    done
fi
for function in $(sed -n 's/^COLLOPT_API [^(]*[ *]\(collopt_[a-z_]*\)(.*/\1/p' "$COLLOPT_SOURCE/include/collopt.h"); do
    grep -q "$function" "$pages/collopt.3" || fail "collopt.3 has no $function"
    grep -q "$function(" "$COLLOPT_SOURCE/src/public_names.c" || fail "no $function"
    grep -q '^\.so man3/collopt\.3$' "$COLLOPT_BUILD/man/$function.3" || fail "no page $function.3 that leads to collopt.3"
done
for tool in collopt collopt-info collopt-plan collopt-tune; do
    for option in $("$COLLOPT_BUILD/tools/$tool" --help | sed -n 's/^ *\(--[a-z-]*\).*/\1/p'); do
        sed 's/\\-/-/g' "$pages/$tool.1" | grep -q -e "$option" || fail "$tool.1 has no $option"
    done
done
exit $failed
