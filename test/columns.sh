#!/bin/sh
# No line is longer than 100 columns: of the C sources, of shell scripts, and of what make and
# Autoconf read.

set -u
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}

# What is looked at among these files and in these folders; but for one file that a build writes.
# A script without a suffix is known by its first line.
sources()               # FILE-OR-FOLDER...
{
    find "$@" -type f ! -name variable_texts.c \( -name '*.[ch]' \
        -o -name '*.sh' -o -path '*/completion/*' -o -name '*.awk' -o -name '*.gp' \
        -o -name '*.mk' -o -name '*.mk.in' -o -name Makefile.am \
        -o -name configure.ac -o -name 'collopt*.m4' \)
    find "$@" -type f \( ! -name '*.*' -o -name '*.in' \) \
        -exec awk 'FNR == 1 && /^#!.*(sh|make)/ { print FILENAME }' {} +
}

# Prints what is too long in them.
too_long()              # FILE-OR-FOLDER...
{
    # shellcheck disable=SC2016     # awk's
    sources "$@" | xargs awk 'length($0) > 100 { print FILENAME ":" FNR ": " length($0) }'
}

cd "$source" || exit 1
set -- Makefile.am configure.ac hosts.mk.in quickstart m4 packaging data doc \
    src include examples test tools bench
[ ! -d .ci ] || set -- "$@" .ci         # not in a tarball
found=$(too_long "$@")
[ -z "$found" ] || { echo "longer than 100 columns:"; echo "$found"; exit 1; }

# It finds what it is to find.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
printf '/* %0100d */\n' 0 >long.c
printf '/* %094d */\n' 0 >short.h
printf '#!/bin/sh\n# %0100d\n' 0 >script
printf 'no script\n# %0100d\n' 0 >text
[ "$(too_long .)" = "./long.c:1: 106
./script:2: 102" ] || { echo "long lines are not found"; exit 1; }
