#!/bin/sh
# The tables of doc/performance.md and other pages are those of doc/figures, and bench/tables
# notices if they are not.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }

tables()
{
    "$work/bench/tables" "$@"
}

for page in doc/hosts doc/performance doc/programs doc/requests; do
    "$COLLOPT_SOURCE/bench/tables" --check "$COLLOPT_SOURCE/$page.md" ||
        fail "$page.md and the figures differ; run make performance-page"
done

# So are the pictures; those that are not of a tree's pages and figures are named.
"$COLLOPT_SOURCE/bench/pictures" --check || fail 'pictures and figures differ'
mkdir "$work/changed"
for each in HACKING.md src/README.md bench tools/python doc/sphinx doc/figures doc/pictures; do
    mkdir -p "$work/changed/$(dirname "$each")"
    cp -R "$COLLOPT_SOURCE/$each" "$work/changed/$each"
    chmod -R u+w "$work/changed/$each"
done
sed -i 's/,1\.\([0-9]*\),/,2.\1,/' "$work/changed/doc/figures"/*.csv
sed -i 's/the combining loops/loops/' "$work/changed/src/README.md"
sed -i 's/describes the call/tells the call/' "$work/changed/HACKING.md"
! "$work/changed/bench/pictures" --check >"$work/said" 2>&1 || fail 'old pictures are not noticed'
for picture in "$COLLOPT_SOURCE"/doc/pictures/*.svg; do
    picture=${picture##*/}
    [ "$picture" = timeline.svg ] ||
        grep -q "/$picture is not of .*; run make pictures\$" "$work/said" ||
        fail "nobody notices that $picture is old"
done

# All have their colours from one list.
other_colours()         # DIRECTORY: those that the list does not have
{
    grep -rIhoE '#[0-9a-f]{6}\b' "$1/bench" "$1/tools" "$1/doc/sphinx" | sort -u |
        grep -vF "$(grep -oE '#[0-9a-f]{6}\b' "$1/tools/python/colours.txt" | sort -u)"
}
found=$(other_colours "$COLLOPT_SOURCE")
[ -z "$found" ] || fail "colours that tools/python/colours.txt does not have: $found"
sed -i 's/#0b63a8/#0b63a9/g' "$work/changed/tools/python/colours.txt"
echo 'fill: #0b63a8' >"$work/changed/bench/another.css"
[ "$(other_colours "$work/changed")" = '#0b63a8' ] || fail 'a colour of its own is not noticed'

# The cells of the overview are read back: a size that a row lacks stands for the next larger one,
# what is slower is told apart.
cat >"$work/some.csv" <<'EOF'
# where it is from
collective,operation,type,bytes,peer,ratio
allreduce,sum,double,8,A,2.0
allreduce,sum,double,4096,A,8
allreduce,user,double,4096,A,0.1
reduce,sum,double,8,A,0.5
reduce,sum,double,4096,A,1
scan,sum,double,16,A,12.34
scan,sum,double,4096,A,1.1
EOF
if command -v gnuplot >/dev/null; then
    "$COLLOPT_SOURCE/bench/overview" "$work/some.csv" operation=sum >"$work/some.svg" ||
        fail 'no picture'
    grep -q '<desc>A, Allreduce: 8 B 2.00, 4 KiB 8.00. A, Reduce: 8 B 0.50, 4 KiB 1.00. A, Scan: '\
'8 B 12.3, 4 KiB 1.10. ' "$work/some.svg" || fail "the picture does not say its figures"
    # the shades of cells, by their place in the legend
    sed -n 's/.*<polygon fill *= *.\(#[0-9a-f]*\).*/\1/p' "$work/some.svg" >"$work/shades"
    said=$(head -n 6 "$work/shades" | while read -r shade; do
        tail -n 7 "$work/shades" | grep -nx "$shade" | cut -d: -f1
    done | tr '\n' ' ')
    [ "$said" = '5 7 1 2 7 3 ' ] || fail "cells of the picture: $said"
    grep -q '>two ranks on one node, sum of double<' "$work/some.svg" ||
        fail 'the picture does not say of what'
fi
! "$COLLOPT_SOURCE/bench/overview" "$work/some.csv" operation=none >/dev/null 2>"$work/said" ||
    fail 'a picture of nothing'
grep -q 'no line has operation=none' "$work/said" || fail "$(cat "$work/said")"

# A tree with a file of its own, whose tables are known.
mkdir -p "$work/bench" "$work/doc/figures"
cp "$COLLOPT_SOURCE/bench/tables" "$work/bench"
cat >"$work/doc/figures/some.csv" <<'EOF'
# where it is from
setting,collective,operation,bytes,algorithm,peer,peer_us,collopt_us,ratio,bound_us,result
s,reduce,sum,8,ring,A,2,1,2.0,0.5,correct
s,reduce,sum,4096,ring,A,8,1,8.0,1,correct
s,reduce,user,8,ring,A,0.5,1,0.5,1,correct
setting,collective,operation,bytes,algorithm,peer,peer_us,collopt_us,ratio,bound_us,result
"s, t",reduce_scatter_block,sum,16,"ring:a,b",A,3,1,3.0,1,correct
"s, t",reduce_scatter_block,sum,4096,ring,A,0.90,0.91,0.90,1,correct
EOF
page()                  # MARKER
{
    printf 'before\n<!-- %s -->\nstale\n<!-- end -->\nafter\n' "$1" >"$work/page.md"
}
expect()                # MARKER TABLE
{
    page "$1"
    tables --check "$work/page.md" >/dev/null && fail "$1: a stale table is not noticed"
    tables "$work/page.md" || fail "$1: status $?"
    printf 'before\n<!-- %s -->\n\n%s\n\n<!-- end -->\nafter\n' "$1" "$2" >"$work/expected"
    cmp -s "$work/expected" "$work/page.md" ||
        { fail "$1 became"; diff -u "$work/expected" "$work/page.md"; }
    tables --check "$work/page.md" || fail "$1: a table that was just written differs"
}
refuse()                # MARKER WORD
{
    page "$1"
    tables "$work/page.md" 2>"$work/said" && fail "$1 is not refused"
    grep -q -- "$2" "$work/said" || { fail "$1: the message does not say $2"; cat "$work/said"; }
    grep -q stale "$work/page.md" || fail "$1: the page was changed"
}

# sizes that a row does not have; the mean of a row; columns in the order of the list
expect 'table some.csv operation=sum rows=collective columns=bytes:8,4K mean' \
'| | 8 B | 4 KiB | mean |
|---|--:|--:|--:|
| Reduce | 2.00 | 8.00 | 4.00 |
| Reduce_scatter_block | 3.00 | 0.90 | 1.64 |'
# several lines in a cell, a missing cell, a value with a space
expect 'table some.csv collective=reduce* rows=setting columns=operation' \
'| | Sum | User |
|---|--:|--:|
| S | 4.00 | 0.50 |
| s, t | 1.64 |  |'
expect 'table some.csv setting="s, t" rows=collective columns=bytes:16 cell=times' \
'| | 16 B |
|---|--:|
| Reduce_scatter_block | 3.0 / 1.0: 3.00 |'
expect 'table some.csv setting=s rows=operation columns=bytes:8 cell=bound' \
'| | 8 B |
|---|--:|
| Sum | 2.00 |
| User | 1.00 |'
# 10 ns are noise, 0.5 us are not
expect 'slower some.csv' \
'1 of 5 cells is slower by more than 5% and 20 ns: A, Reduce user 8 B: 0.50 (0.50 / 1.0 us).'
expect 'table some.csv setting=s operation=sum rows=operation columns=bytes:8 cell=both' \
'| | 8 B |
|---|--:|
| Sum | 2.00, 2.00 |'
expect 'slower some.csv operation=sum' '0 of 4 cells are slower by more than 5% and 20 ns.'

# what has to be known of a peer stands below, once
cat >"$work/doc/figures/noted.csv" <<'EOF'
setting,collective,operation,bytes,algorithm,peer,peer_us,collopt_us,ratio,result
s,reduce,sum,8,ring,MPICH 4.0.2,2,1,2.0,correct
s,reduce,sum,8,ring,MPICH 5.0.2,2,1,2.0,correct
s,reduce,sum,8,ring,Open MPI 4.1.4,2,1,2.0,correct
EOF
page 'table noted.csv rows=peer columns=bytes'
tables "$work/page.md" || fail "noted.csv: status $?"
[ "$(tr '\n' ' ' <"$work/page.md" | grep -o 'release_gather\|rank for a node' | wc -l)" = 2 ] ||
    { fail 'the notes of MPICH are not there once'; cat "$work/page.md"; }
tables --check "$work/page.md" || fail 'noted.csv: a table that was just written differs'
page 'table noted.csv peer="Open MPI 4.1.4" rows=peer columns=bytes'
tables "$work/page.md" && ! grep -q MPICH "$work/page.md" || fail 'a note of another peer'

refuse 'table none.csv rows=collective columns=bytes' none.csv
refuse 'table some.csv rows=collective columns=sizes' sizes
refuse 'table some.csv color=red rows=collective columns=bytes' color
refuse 'table some.csv operation=xor rows=collective columns=bytes' xor
cat >"$work/doc/figures/shares.csv" <<'EOF'
setting,bytes,peer,side,hidden,result
s,65536,A,peer,-0.0500,correct
s,65536,A,collopt,0.4560,correct
s,1048576,A,peer,0.2500,correct
s,1048576,A,collopt,1.0000,correct
EOF
expect 'table shares.csv rows=peer,side columns=bytes cell=hidden mean' \
'| | 64 KiB | 1 MiB | mean |
|---|--:|--:|--:|
| A, Peer | -5% | 25% | 10% |
| A, Collopt | 46% | 100% | 73% |'
refuse 'table some.csv rows=collective columns=bytes cell=price' price
refuse 'table some.csv columns=bytes' rows
sed 's/0.91,0.90,1,correct/0.91,0.90,1,WRONG/' "$work/doc/figures/some.csv" \
    >"$work/doc/figures/wrong.csv"
refuse 'table wrong.csv rows=collective columns=bytes' wrong
exit $failed
