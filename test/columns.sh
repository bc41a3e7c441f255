#!/bin/sh
# No line of the C sources is longer than 100 columns.

set -u
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}

# Prints what is too long in the folders.
too_long()              # FOLDER...
{
    find "$@" -name '*.[ch]' -exec awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) }' {} +
}

cd "$source" || exit 1
found=$(too_long src include examples test tools bench)
[ -z "$found" ] || { echo "longer than 100 columns:"; echo "$found"; exit 1; }

# It finds what it is to find.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '/* %0100d */\n' 0 >"$work/long.c"
printf '/* %094d */\n' 0 >"$work/short.h"
[ "$(too_long "$work")" = "$work/long.c:1: 106" ] || { echo "a long line is not found"; exit 1; }
