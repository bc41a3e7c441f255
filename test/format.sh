#!/bin/sh
# The layout of the C sources is what clang-format makes of them by .clang-format, with the version
# named below: another one breaks other lines.
#
#     test/format.sh              says where they differ
#     test/format.sh --write      formats them, as `make format` does
#
# Authors keep what clang-format has no option for.  It may take more lines only for a statement
# with a condition: elsewhere it would break up tables, lists, designated initializers, functions of
# one line.  Trailing comments stay in their columns, which it gives up after the first one that
# ends at column 99 or 100; nested directives keep their indentation, attributes and pragmas their
# line.

set -u
version=19
source=${COLLOPT_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$source" || exit 1
for format in "clang-format-$version" clang-format none; do
    "$format" --version 2>/dev/null | grep -q "version $version\." && break
done
[ "$format" != none ] || { echo "SKIP: no clang-format $version"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# The text that a file is to have.
formatted()             # FILE
{
    "$format" --style=file:"$source/.clang-format" "$1" >"$work/new" || exit 1
    diff --unchanged-line-format='=%L' --old-line-format='-%L' --new-line-format='+%L' \
        "$1" "$work/new" | awk '
        # without what authors keep: blanks before a comment, after # and before (*; and the end
        # of a line of a macro, which clang-format 19 loses where the body begins with a comment
        function bare(line)
        {
            sub(/ *\/\*.*/, " &", line)
            gsub(/  +\/\*/, " /*", line)
            sub(/^ *# */, "#", line)
            sub(/ \(\*/, "(*", line)
            sub(/ *\\$/, "", line)
            return line
        }
        function group(    i, j, more, apart)
        {
            for (i = 0; i < olds; i++) {
                more = more || old[i] ~ /^ *(if|else|for|while)[ (].*;$/
                apart = apart || old[i] ~ /^( *_Pragma|.*__attribute__).*\)$/
            }
            if (apart || (news > olds && !more))
                for (i = 0; i < olds; i++)
                    print old[i]
            else
                for (i = j = 0; i < news; i++) {
                    for (j = 0; j < olds && bare(old[j]) != bare(new[i]); j++)
                        ;
                    print j < olds ? old[j] : new[i]
                }
            olds = news = 0
        }
        { kind = substr($0, 1, 1); $0 = substr($0, 2) }
        kind == "-" { old[olds++] = $0 }
        kind == "+" { new[news++] = $0 }
        kind == "=" { group(); print }
        END { group() }'
}

files()
{
    find src include tools bench test examples -name '*.[ch]' ! -name variable_texts.c \
        ! -name algorithms-registry.c | LC_ALL=C sort
}

for file in $(files); do
    formatted "$file" >"$work/text"
    cmp -s "$file" "$work/text" && continue
    case ${1-} in
    --write) cat "$work/text" >"$file" ;;
    *) diff -u "$file" "$work/text" ;;
    esac
done >"$work/differ"
[ ! -s "$work/differ" ] ||
    { cat "$work/differ"; echo "FAIL: \`make format\` mends it"; exit 1; }
