#!/bin/sh
# collopt-plan: facts that are known of some schedules, its four formats, and mistakes.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
plan=$COLLOPT_BUILD/tools/collopt-plan
version=$(cat "$COLLOPT_SOURCE/VERSION")
unset COLLOPT_SOURCE COLLOPT_BUILD

run() # ARGUMENT...: its output is looked at by has()
{
    what="$*"
    "$plan" "$@" >"$work/out" 2>"$work/err" || fail "status $? of $what: $(cat "$work/err")"
}

has() # PATTERN: the last output has it
{
    grep -q -e "$1" "$work/out" || fail "no \"$1\" in $what"
}

refuses() # PATTERN ARGUMENT...
{
    pattern=$1
    shift
    "$plan" "$@" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "$* is accepted"
    grep -q -e "$pattern" "$work/err" || fail "no \"$pattern\" for $*: $(cat "$work/err")"
}

# ---- text ----

run reduce --algorithm binomial --ranks 8 --count 10
has '^reduce by binomial, 8 ranks, 10 elements of 8 bytes, root 0$'
has '^    1 -> 0    all of rank 1 (10 elements)$'
has '^    6 -> 4    all of ranks 6-7 (10 elements)$'
has '^    0 combines  all: 0-3 with 4-7$'
has '^rounds    3$'
has '^messages  7 in all$'
has '^bytes     240 sent or received by the busiest rank$'
has '^combined  240 bytes by the busiest rank$'
run allreduce --algorithm ring --ranks 4 --count 8 --alpha 1 --beta 0 --gamma 0
has '^Blocks 0 to 3 of the vector have 2 elements each$'
has '^    2 -> 3    block 0 of ranks 1-2 (2 elements)$'
has '^rounds    6$'
has '^bytes     96 sent'
has '^time      6 s,'
run scan --algorithm alltoall --ranks 4 --count 16
has '^    0 combines  block 0: 0-2 with 3$'
has '^    0 -> 2    block 0 of ranks 0-2 '
run exscan --algorithm alltoall --ranks 4 --count 16
has '^    3 -> 2    block 3 of ranks 0-1 '
run scan --algorithm recursive_doubling --ranks 5 --count 1 --size 4 --beta 1 --alpha 0 --gamma 0
has '^    0 -> 4    all of rank 0 (1 element)$'
has '^    4 combines  all: 0 with 1-4$'
has '^time      12 s,'
run allreduce --algorithm ring --ranks 4 --count 8 --rank 3
grep -q '0 -> 1' "$work/out" && fail '--rank 3 shows rank 0'
has '3 -> 0'
run allreduce --algorithm leader:node=\(binomial\),net=\(recursive_doubling\) \
    --ranks 6 --node-ranks 3
has '^    0 -> 3    all of ranks 0-2 '
run allreduce --algorithm leader:node=\(binomial\),net=\(recursive_doubling\) \
    --ranks 7 --node-ranks 3
has '^    0 -> [36]    all of ranks 0-2 '
run allreduce --algorithm leader:node=\(binomial\),net=\(recursive_doubling\) --ranks 8 \
    --nodes 2 --bytes 800
has '^    0 -> 4    all of ranks 0-3 (100 elements)'
run allreduce --algorithm ring --ranks 4 --bytes 2K --size 4
has '^allreduce by ring, 4 ranks, 512 elements of 4 bytes'
run allreduce --exact --algorithm recursive_doubling --ranks 4 --count 1
has '^allreduce by recursive_doubling, 4 ranks, 1 element of 288 bytes$'
run scan --exact --size 4 --ranks 1024 --count 1 --in-place
has '^scan by [a-z_:=0-9]*, 1024 ranks, 1 element of 56 bytes$'
run allreduce --exact --ranks 4 --count 1M
has '^allreduce by alltoall, 4 ranks, '
run allreduce --algorithm ring --ranks 1
has '^rounds    0$'
run allreduce --count 0
run exscan --order --in-place --count 1M --ranks 3
run reduce_scatter --ranks 3 --count 10
has 'Blocks 0 to 2 of the vector have 3 to 4 elements'
run allreduce --help
has '^Usage: collopt-plan'
run --version
has "^collopt-plan $version\$"

# ---- the other formats ----

drawn='reduce:binomial:8 allreduce:recursive_doubling:8 allreduce:ring:8 allreduce:rabenseifner:8
    scan:recursive_doubling:8 allreduce:two_tree:10 allreduce:swing:32 exscan:two_tree:4
    reduce_scatter:pairwise:7'
for d in $drawn; do
    collective=${d%%:*} ranks=${d##*:} algorithm=${d#*:}
    run "$collective" --algorithm "${algorithm%:*}" --ranks "$ranks" --format svg
    messages=$("$plan" "$collective" --algorithm "${algorithm%:*}" --ranks "$ranks" |
        sed -n 's/^messages *\([0-9]*\).*/\1/p')
    [ "$(grep -c '^<g class="message"' "$work/out")" -eq "$messages" ] ||
        fail "not $messages arrows in $what"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$work/out" || fail "$what is not XML"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/out" ||
            fail "$what is not XML"
    fi
done

if command -v jq >/dev/null; then
    for d in $drawn; do
        collective=${d%%:*} ranks=${d##*:} algorithm=${d#*:}
        run "$collective" --algorithm "${algorithm%:*}" --ranks "$ranks" --format json
        jq -e --argjson p "$ranks" '.ranks == $p and (.programs | length == $p)
            and (.transfers | length) == .totals.messages
            and ([.transfers[].round] | max) == .totals.rounds
            and ([.programs[] | .rank as $r | .messages[] | select(.kind == "send")
                    | [$r, .peer, .tag, .n]] | sort)
             == ([.programs[] | .rank as $r | .messages[] | select(.kind == "receive")
                    | [.peer, $r, .tag, .n]] | sort)
            and all(.transfers[]; .n == ([.what[].n] | add))
            and all(.programs[]; all(.messages[]; .n == ([.runs[].n] | add)))
            and .blocks[0] == 0 and .blocks[-1] == .count' "$work/out" >/dev/null ||
            fail "$what does not fit together"
    done
elif command -v python3 >/dev/null; then
    run allreduce --algorithm ring --format json
    python3 -m json.tool "$work/out" >/dev/null || fail "$what is not JSON"
fi

# ---- mistakes ----

refuses 'no collective "allredcue".*did you mean allreduce?' allredcue
refuses 'no algorithm "rings".*did you mean ring (or swing)?' allreduce --algorithm rings
refuses 'no parameter "segmnt".*did you mean' reduce --algorithm mesh:segmnt=64K
refuses 'no format "sgv".*did you mean svg?' allreduce --format sgv
refuses 'does not commute' allreduce --algorithm ring --order
refuses 'dims do not multiply' allreduce --algorithm bucket:dims=3x3 --ranks 8
refuses 'leave out --order' allreduce --exact --order
refuses 'not of --size 16' allreduce --exact --size 16
refuses 'ring cannot serve this: it combines partial' allreduce --exact --algorithm ring --count 1M
refuses 'ranks 0 is not from 1 to 4096' allreduce --ranks 0
refuses 'ranks many is not a number' allreduce --ranks many
refuses 'alpha fast is not a number of seconds' allreduce --alpha fast
refuses 'alpha -1 is not a number of seconds' allreduce --alpha -1
refuses 'nodes 9: there are 8 ranks' allreduce --nodes 9
refuses 'give one of them' allreduce --nodes 2 --node-ranks 4
refuses 'give one of them' allreduce --count 8 --bytes 64
refuses 'bytes 12 are not whole elements of 8 bytes' allreduce --bytes 12
refuses 'root 8 is not one of 8 ranks' reduce --root 8
refuses 'allreduce has none' allreduce --root 1
refuses 'rank 9 is not one of 8 ranks' reduce --rank 9
refuses 'reduce_scatter_block takes 8 or 16' reduce_scatter_block --count 10
refuses 'name an algorithm' allreduce --algorithm host
refuses 'Usage' allreduce scan
refuses 'Usage'
refuses 'Usage' allreduce --nonsense
"$plan" allreduce --ranks 200 --algorithm ring --format svg >/dev/null 2>"$work/err" &&
    fail 'a drawing of 200 ranks'
grep -q 'too many for a drawing' "$work/err" || fail "a large drawing: $(cat "$work/err")"
exit $failed
