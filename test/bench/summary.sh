# bench/summary on files whose answers are known, and on files that are no such files.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
set -u
: "${COLLOPT_SOURCE:=$PWD}"

summary=$COLLOPT_SOURCE/bench/summary
cd "$work" || exit 99

# The summary of FILES must exit with STATUS, and say a line that matches each PATTERN.
gives()                 # STATUS WHAT FILES -- PATTERN...
{
    status=$1 what=$2 files=
    shift 2
    while [ "$1" != -- ]; do
        files="$files $1"
        shift
    done
    shift
    # shellcheck disable=SC2086     # a list
    sh "$summary" $files >said 2>&1
    found=$?
    [ $found = "$status" ] || fail "$what: exit status $found, not $status"
    for pattern; do
        grep -q -e "$pattern" said || fail "$what: nothing like \"$pattern\""
    done
}

header=setting,collective,operation,type,ranks,bytes,algorithm,peer,peer_us,collopt_us
header=$header,ratio,ratio_low,ratio_high,pairs,outliers,result
row()                   # SETTING ALGORITHM PEER_US COLLOPT_US RATIO RESULT
{
    echo "$1,allreduce,sum,double,2,8,$2,Open MPI 4.1.4,$3,$4,$5,$5,$5,20,0,$6"
}

{
    echo "# some machine"
    echo $header
    row one ring 2 1 2 correct
    row '"two, quoted ""so"""' '"leader:node=(ring),net=(ring)"' 4 1 4 correct
    row one ring 8 1 8 correct
    row '"two, quoted ""so"""' ring 0.1 0.11 0.9 unchecked
    row '"two, quoted ""so"""' chain 1 1.25 8e-1 correct
} >good.csv
gives 0 'known answers' good.csv -- '^ok  *4\.000  *2\.000  *2  *0  *0  *0  *0  one$' \
    '^\*\* MISS \*\*  *1\.423  *0\.800  *3  *2  *1  *1  *0  two, quoted "so"$'
[ "$(wc -l <said)" = 3 ] || fail 'known answers: more than a line for each setting'
gives 0 'misses listed' --misses good.csv -- \
    '^    0\.800  allreduce sum of double, 2 ranks, 8 bytes, chain against Open MPI 4\.1\.4$' \
    '^    0\.900 .* ring against'
grep -n '0\.[89]00  *allreduce' said | head -1 | grep -q '0\.800' ||
    fail 'misses listed: not worst first'

sed 's/$/\r/' good.csv >crlf.csv
gives 0 CRLF crlf.csv -- '^ok  *4\.000 .* one$' '^\*\* MISS .* two, quoted "so"$'
! grep -q "$(printf '\r')" said || fail 'CRLF: it is still there'

{ echo result,ratio,setting; echo correct,1.5,bare; echo correct,0.5,bare; } >bare.csv
gives 0 'columns by name, no times' bare.csv -- \
    '^\*\* MISS \*\*  *0\.866  *0\.500  *2  *1  *-  *0  *0  bare$'
gives 0 'by a column' --by algorithm good.csv -- '^ok  *4\.000 .* 0  one: ring$' \
    ' two, quoted "so": leader:node=(ring),net=(ring)$'
gives 0 'by two columns' --by collective,operation good.csv -- ' 0  one: allreduce, sum$'
gives 2 'by an unknown column' --by collectif good.csv -- \
    'good.csv: no column "collectif" in the header line'
gives 2 'by nothing' --by -- 'needs columns'
{
    echo setting,ratio,result,peer_us,collopt_us,bound_us
    echo x,2,correct,8,4,1
    echo x,0.5,correct,1,2,2
} >bound.csv
gives 0 'over the bound' --bound bound.csv -- '^\*\* MISS .* 0  *2\.00  *2\.00  x$'
gives 2 'no bound' --bound good.csv -- 'good.csv: no column "bound_us" in the header line'
sed 's/,1$/,0/' bound.csv >zero.csv
gives 2 'a bound of 0' --bound zero.csv -- 'zero.csv:2: .* are not all times, numbers above 0'
gives 0 'two files' bare.csv good.csv -- ' bare$' ' one$'
cat good.csv good.csv >twice.csv
gives 0 'files one behind the other' twice.csv -- '^ok  *4\.000  *2\.000  *4 .* one$'
cp good.csv a=b.csv
gives 0 'a name like an assignment' a=b.csv -- ' one$'

{ cat good.csv; row one ring 9 1 9 WRONG; } >wrong.csv
gives 1 'a wrong result' wrong.csv -- '^\*\* WRONG \*\* .* 1  one$'
gives 1 'a wrong result listed' --misses wrong.csv -- '^    WRONG  allreduce'

: >empty.csv
gives 2 'an empty file' empty.csv -- 'empty.csv: empty'
gives 2 'an empty file among others' good.csv empty.csv bare.csv -- 'empty.csv: empty'
echo '# nothing' >comment.csv
gives 2 'no header' comment.csv -- 'comment.csv: empty'
echo $header >cells.csv
gives 2 'no cells' cells.csv -- 'cells.csv: no cells'
sed 's/ratio,/quotient,/' good.csv >column.csv
gives 2 'a missing column' column.csv -- 'column.csv: no column "ratio" in the header line'
{ cat good.csv; echo one,allreduce; } >short.csv
gives 2 'a short line' short.csv -- 'short.csv:8: 2 fields, but the header line has 16'
{ cat good.csv; row one ring 1 1 nan correct; } >nan.csv
gives 2 'no number' nan.csv -- 'nan.csv:8: "nan" is not a ratio'
{ cat good.csv; row one ring 1 0 0 correct; } >zero.csv
gives 2 'zero' zero.csv -- 'zero.csv:8: "0" is not a ratio'
{ cat good.csv; row one ring 1 1 1 maybe; } >maybe.csv
gives 2 'no result' maybe.csv -- 'maybe.csv:8: "maybe" is not a result: correct, WRONG or unchecked'
gives 2 'no such file' nowhere.csv -- 'nowhere.csv cannot be read'
gives 2 'an unknown option' --miss good.csv -- '--miss is not an option'
gives 2 'no file' -- 'no file; give'
gives 0 help --help -- 'geometric mean'
exit $failed
