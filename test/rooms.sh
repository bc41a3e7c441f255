#!/bin/sh
# Every #include of src goes to its own folder or to one above it in the table of src/README.md, and
# no source lies outside of the folders of that table.

set -u
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}

# Prints what is wrong in a folder like src.
wrong()                 # SRC
{
    (cd "$1" && find . -name '*.[ch]' | sed 's|^\./||' | LC_ALL=C sort | awk '
        BEGIN {
            while ((getline line <"README.md") > 0)
                if (line ~ /^\| [a-z]+ \|/ && split(line, cell, / *\| */) && cell[2] != "folder")
                    order[cell[2]] = ++rooms
            if (!rooms)
                print "README.md has no table of folders"
        }
        {
            room = $0
            if (!sub(/\/.*/, "", room) || !(room in order)) {
                print $0 ": not in a folder of the table"
                next
            }
            for (file = $0; (getline line <file) > 0; )
                if (line ~ /^# *include "/) {
                    split(line, part, "\"")
                    other = part[2]
                    if (other == "config.h" || other == "collopt.h")
                        continue
                    if (!sub(/\/.*/, "", other))
                        other = room
                    if (!(other in order) || order[other] > order[room])
                        print file ": " room " does not know " part[2]
                }
            close(file)
        }')
}

found=$(wrong "$source/src")
[ -z "$found" ] || { echo "$found"; exit 1; }

# What it is there to find.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/base" && cp "$source/src/README.md" "$work"
echo '#include "mpi/comm/comm.h"' >"$work/base/upwards.c"
echo '#include "elsewhere/x.h"' >"$work/base/strange.h"
: >"$work/loose.c"
[ "$(wrong "$work" | wc -l)" = 3 ] || { echo "wrong includes are not found"; exit 1; }
