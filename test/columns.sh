#!/bin/sh
# No line of what people write here is longer than 100 columns: sources, scripts, what make and
# Autoconf read, and pages.

set -u
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}

# These files and those in these folders, without what a build leaves in a source tree.
files()                 # FILE-OR-FOLDER...
{
    find "$@" \( -path doc/site -o -path doc/stage \) -prune -o -type f \
        ! -name variable_texts.c ! -name configure ! -name Makefile -print
}

# Prints what is too long in them.  A script is known by its suffix or by its first line.  In
# Markdown, rows of tables, code and what has no space may be longer.  A character is one column,
# of however many bytes.
too_long()              # FILE-OR-FOLDER...
{
    files "$@" | LC_ALL=C xargs awk '
        FNR == 1 {
            markdown = FILENAME ~ /\.md$/
            wanted = markdown || FILENAME ~ /\.([ch]|sh|py|css|js|awk|gp|mk|mk\.in)$/ ||
                FILENAME ~ /(^|\/)(configure\.ac|Makefile\.am|collopt[^\/]*\.m4)$/ ||
                FILENAME ~ /\/completion\// || /^#!.*(sh|make|python)/
            code = 0
        }
        !wanted { next }
        markdown && /^ *```/ { code = !code }
        markdown && (code || /^\|/ || /^    / || /^[^ ]*$/ || /^\[[^]]*\]: /) { next }
        { gsub(/[\200-\277]/, "") }
        length($0) > 100 { print FILENAME ":" FNR ": " length($0) }'
}

cd "$source" || exit 1
set -- ./*.md Makefile.am configure.ac hosts.mk.in quickstart m4 packaging data doc \
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
printf '#!/usr/bin/env python3\n# %0100d\n' 0 >snake
printf 'no script\n# %0100d\n' 0 >text
printf '.tone { color: %0100d }\n' 0 >long.css
printf '"""\303\244%093d"""\n' 0 >exactly.py
printf 'A %0100d\n%0101d\n| %0100d\n    %0100d\n```\n# %0100d\n```\n* %0100d\n' \
    0 0 0 0 0 0 >long.md
[ "$(too_long . | sort)" = "./long.c:1: 106
./long.css:1: 117
./long.md:1: 102
./long.md:8: 102
./script:2: 102
./snake:2: 102" ] || { echo "not the long lines that there are: $(too_long .)"; exit 1; }
