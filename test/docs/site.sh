#!/bin/sh
# The site: made without a warning, with links that lead somewhere, a page for each algorithm's
# drawing, and nothing from the network.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
build=$COLLOPT_BUILD

if grep -q "^COLLOPT_SPHINX_TRUE = '#'\|^COLLOPT_SPHINX_TRUE = #" "$build/Makefile"; then
    echo 'SKIP: configure found no sphinx-build with MyST'
    exit 77
fi
make -C "$build" site >"$work/said" 2>&1 || fail "make site: $(tail -20 "$work/said")"
python3 "$COLLOPT_SOURCE/test/docs/site.py" "$build/doc/site" || failed=1

# Every algorithm has its drawing, every variable its heading.
"$build/tools/collopt-info" --algorithms | awk '
    NF == 0 { collective = "" }
    / order +rounds / { collective = $1 }
    /^  [a-z]/ && collective { print collective "-" $1 ".svg" }' >"$work/drawings"
[ -s "$work/drawings" ] || fail 'no algorithms'
while read -r drawing; do
    [ -s "$build/doc/site/_images/$drawing" ] || fail "no drawing $drawing"
done <"$work/drawings"
"$build/tools/collopt-info" --json |
    sed -n 's/.*"name": "\(COLLOPT[A-Z_]*\)".*/\1/p' >"$work/variables"
[ -s "$work/variables" ] || fail 'no variables'
while read -r variable; do
    grep -q "<h3>$variable<" "$build/doc/site/variables.html" ||
        fail "variables.html has no heading $variable"
    "$build/tools/collopt-info" --variable "$variable" | sed -n 4p | grep -q '[a-z]' ||
        fail "--variable $variable has no text"
done <"$work/variables"

# What the checks above find, on a page where it is.
mkdir "$work/bad"
cat >"$work/bad/index.html" <<'END'
<html><body><h1>x</h1><a href="none.html">x</a><a href="#none">x</a>
<img src="https://example.org/x.svg" alt="x"><a href="https:/x">x</a></body></html>
END
found=$(python3 "$COLLOPT_SOURCE/test/docs/site.py" "$work/bad")
for what in 'no language' 'there is no none.html' 'there is no #none' \
    'loads https://example.org/x.svg' 'https:/x is no address'; do
    case $found in *"$what"*) ;; *) fail "site.py does not find: $what" ;; esac
done
exit $failed
