#!/bin/sh
# collopt-tune with a measuring program that answers from a table: rules that are known beforehand,
# mistakes, interruption.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
tune=$COLLOPT_BUILD/tools/collopt-tune
version=$(cat "$COLLOPT_SOURCE/VERSION")
colours=$COLLOPT_SOURCE/tools/python/colours.txt
unset COLLOPT_SOURCE COLLOPT_BUILD LD_PRELOAD
# the last one alone goes to the ranks
export COLLOPT_RULES=/nonexistent COLLOPT_ALLREDUCE=ring COLLOPT_WAIT=yield

# The measuring program, one of whose lines begins with a part of another.  $work/table: COLLECTIVE
# OPERATION BYTES ALGORITHM RATIO LOW HIGH RESULT [LOOK], * for any; the first line that fits; LOOK:
# the how manieth of this algorithm.  $work/asked: what it was asked for.  At the request behind the
# first $work/limit it ends, or waits for its end.
cat >"$work/program" <<'END'
#!/bin/sh
work=${0%/*}
env >"$work/environment"
[ "$1" = --serve ] || exit 9
[ ! -f "$work/dies" ] || exit 7
echo 'some launcher says something'
echo "[1,0]<stdout>: @collopt @collopt about MPI: $(cat "$work/mpi"); collopt: none"
if [ "$RANKS" ]; then
    echo "$RANKS" >>"$work/started"
    printf '@collopt about ranks: %s\n' "$RANKS"
    printf '@collopt ready %s 1 %s 0 %s\n' "$(cut -d ' ' -f 1 "$work/ready")" "$RANKS" \
        "$(cat "$work/leaders.$RANKS")"
else
    printf '@collopt ready %s\n' "$(cat "$work/ready")"
fi
while read -r word collective operation type bytes algorithm seconds hopeless; do
    if [ "$word" = machine ]; then
        echo >>"$work/machine"
        sed 's/^/@collopt machine /' "$work/costs"
        echo '@collopt machine end'
        continue
    fi
    if [ "$word" = verify ]; then
        echo "$collective $operation $type $bytes $algorithm $seconds" >>"$work/verified"
        awk -v c="$collective" -v o="$operation" -v b="$bytes" -v a="$algorithm" '
            function fits(word, value) { return word == "*" || word == value }
            !found && fits($1, c) && fits($2, o) && fits($3, b) && fits($4, a) {
                found = 1
                print "@collopt verify", c, o, b, a, $5, $6, $7, 20, "correct"
            }' "$work/against"
        continue
    fi
    [ "$word" = cell ] || exit 0
    [ -z "$RANKS" ] || echo "$RANKS $algorithm" >>"$work/asked_of"
    echo "$collective $operation $type $bytes $algorithm $seconds $hopeless" >>"$work/asked"
    if [ -f "$work/limit" ] && [ "$(wc -l <"$work/asked")" -gt "$(cat "$work/limit")" ]; then
        [ ! -f "$work/waits" ] || exec sleep 60
        exit 5
    fi
    case $algorithm.$collective in
    auto.reduce) ran=binomial ;;
    auto.exscan) ran=window_doubling ;;
    auto.*scan | auto.allreduce) ran=recursive_doubling ;;
    auto.*) ran=circulant ;;
    *) ran=$algorithm ;;
    esac
    echo "$collective $operation $bytes $ran" >>"$work/ran"
    look=$(grep -cxF "$collective $operation $bytes $ran" "$work/ran")
    awk -v c="$collective" -v o="$operation" -v b="$bytes" -v a="$algorithm" -v ran="$ran" \
        -v look="$look" '
        function fits(word, value) {            # "chain:*": with any parameters
            return word == "*" || word == value ||
                (word ~ /:[*]$/ && index(value, substr(word, 1, length(word) - 1)) == 1)
        }
        !found && fits($1, c) && fits($2, o) && fits($3, b) && fits($4, ran) &&
            ($9 == "" || $9 == look) {
            found = 1
            if ($5 == "none")
                print "@collopt none", c, o, b, a
            else
                print "@collopt cell", c, o, b, a, ran, b / 100, "1.0", $5, $6, $7, 20, $8
        }' "$work/table"
done
END
chmod +x "$work/program"

# Nothing of before is left.
fresh()                 # lines of the table from the standard input
{
    rm -f "$work"/site.rules* "$work/site.machine" "$work/machine" "$work/limit" \
        "$work/waits" "$work/dies"
    : >"$work/asked"
    : >"$work/ran"
    : >"$work/asked_of"
    echo none >"$work/mpi"
    printf '%s\n' 'combine.bandwidth 2e10 1.9e10 2.1e10' 'node.latency 3e-7 2.5e-7 3.5e-7' \
        'net.eager 4096 4096 4096' 'net.group 32 32 32' 'net.taper 2.5 2.25 2.75' >"$work/costs"
    cat >"$work/table"
    echo "$version 1 8 0 0,0,0,0,4,4,4,4" >"$work/ready"
}

run()                   # STATUS ARGUMENT...
{
    wanted=$1
    shift
    "$tune" -o "$work/site.rules" --program "$work/program" --progress off "$@" >"$work/said" 2>&1
    status=$?
    [ $status = "$wanted" ] || fail "status $status, not $wanted: $*"
}

rules()                 # RULE...: exactly these, without spaces and comments
{
    for rule; do echo "$rule"; done >"$work/wanted"
    sed -e 's/#.*//' -e 's/  */ /g' -e 's/ $//' -e '/^$/d' "$work/site.rules" >"$work/found"
    cmp -s "$work/wanted" "$work/found" ||
        fail "not these rules: $(diff "$work/wanted" "$work/found")"
    "$tune" --check "$work/site.rules" >/dev/null || fail 'the rules do not pass --check'
}

has()                   # PATTERN...: lines of the rules
{
    for pattern; do
        grep -q -e "$pattern" "$work/site.rules" ||
            fail "no line \"$pattern\" in $(cat "$work/site.rules")"
    done
}

says()                  # PATTERN...
{
    for pattern; do
        grep -q -e "$pattern" "$work/said" || fail "nothing like \"$pattern\" is said"
    done
}

# ---- what is written -----------------------------------------------------------------------------

# At 2K binomial is about as good as knomial, so one range goes through; the host is not beaten at
# 8K.
fresh <<'END'
reduce sum 8192 *           1.2 0.9 1.3 correct
reduce sum 2048 knomial     1.52 1.48 1.55 correct
reduce sum *    binomial    1.5 1.45 1.55 correct
reduce sum *    knomial     1.3 1.25 1.35 correct
*      *   *    *           0.8 0.7 0.9 correct
END
run 0 --collectives reduce --ops sum --sizes 8:32K --candidates 11 env
rules 'reduce 8 2 4 0-4K commutative binomial' 'reduce 8 2 4 4K-16K commutative host' \
    'reduce 8 2 4 16K-64K commutative binomial' '* * * * * * auto'
has '^reduce .*binomial .*# 1.50x (1.45-1.55) of the host at 8, 1.50x (1.45-1.55) at 32' \
    '^reduce .*host .*# [a-z_]* 1.20x (0.90-1.30) of the host at 8K$' \
    '^# command: .* --sizes 8:32K .*env$' '^# MPI: none'
says '^reduce *commutative *7 *1 *1.42 ' '^all *7 *1 *1.42 ' 'site.rules: 7 of 7 cells measured' \
    'some launcher says something'
says '^1 of them are left to the MPI library because figures differ too much to tell'
# Three looks at what may be the fastest, one at all else.  binomial is what auto is, so it is asked
# for by its name in later ones.
[ "$(grep -c ' binomial ' "$work/asked")" = 14 ] || fail 'not three looks at the fastest'
sort "$work/ran" | uniq -c |
    awk '$4 == 8192 || $5 == "binomial" || ($4 == 2048 && $5 == "knomial") ? $1 != 3 : $1 != 1' |
    grep . && fail 'as many looks as these'
[ ! -f "$work/site.rules.part" ] || fail 'the .part is left over'
# The same as JSON; sentences and the launcher's words are on the other output.
"$tune" -o "$work/site.rules" --program "$work/program" --progress off --collectives reduce \
    --ops sum --sizes 8:32K --candidates 11 --json env >"$work/json" 2>"$work/said" ||
    fail "--json: status $?"
says 'some launcher says something' 'site.machine: what messages cost here'
python3 - "$work/json" <<'END' || fail "--json: $(cat "$work/json")"
import json, sys
j = json.load(open(sys.argv[1]))
assert (j["cells"], j["measured"], j["left_to_host_for_noise"]) == (7, 7, 1)
assert not j["slower_than_without_rules"] and j["name_there"] == "site"
assert j["rules"].endswith("/site.rules") and j["machine"].endswith("/site.machine")
row, whole = j["jobs"][0]["rows"]
assert row["collective"] == "reduce" and row["operations"] == "commutative"
assert row["left_to_host"] == 1
assert whole["collective"] == "all" and abs(whole["ratio"] - 1.42) < 0.01 and whole["sizes"] == 7
END
grep -q '^LD_PRELOAD=.*libcollopt.so' "$work/environment" || fail 'collopt is not preloaded'
grep -q '^COLLOPT_WAIT=yield$' "$work/environment" || fail 'a setting does not go along'
grep -q '^COLLOPT_RULES=none$' "$work/environment" || fail 'rules in a default place go along'
! grep -q '^COLLOPT_RULES=/\|^COLLOPT_ALLREDUCE' "$work/environment" ||
    fail 'what chooses algorithms goes along'
awk '$4 == 8 && $5 == "leader" { print $7 }' "$work/asked" | tail -n 1 | grep -q '^1.4500$' \
    || fail 'the last one of a cell has not to beat the best'

# Kinds of operation; an algorithm that is wrong; none that can serve.
fresh <<'END'
scan  min            * recursive_doubling 2 1.9 2.1 WRONG
scan  min            * chain              1.5 1.4 1.6 correct
scan  sum            * recursive_doubling 2 1.9 2.1 correct
scan  noncommutative * *                  none
*     *              * *                  0.5 0.4 0.6 correct
END
run 1 --collectives=scan --ops=sum,min,noncommutative --sizes=64,1K --candidates 11 env
says 'WRONG result with collopt: scan, min, 64 bytes, algorithm recursive_doubling; no rule'
rules 'scan 8 2 4 0-4K exact chain' 'scan 8 2 4 0-4K commutative recursive_doubling' \
    'scan 8 2 4 0-4K noncommutative host' '* * * * * * auto'
has ' noncommutative *host  *# nothing to choose from at 64, '

# Two operations of one kind count alike.
fresh <<'END'
exscan sum  * chain 4 4 4 correct
exscan prod * chain 1 1 1 correct
*      *    * *     1.5 1.4 1.6 correct
END
run 0 --collectives exscan --ops sum,prod --sizes 1M --candidates 11 env
has '^exscan *8 *2 *4 *512K-2M *commutative *chain  *# 2.00x (2.00-2.00)'

# Options among the launcher's words, but not among those of a launcher that may have the same.
ln -s /usr/bin/env "$work/mpirun"
run 0 "$work/mpirun" --sizes 64 --collectives exscan --time 5s
says ' 2 of 2 cells'
run 1 /bin/echo --sizes 64
says '--sizes 64 env LD_PRELOAD=' 'ended before it measured'

# --verify: what is chosen against what is chosen without rules, where they differ; a rule that
# makes slower is taken back.
fresh <<'END'
scan sum  64    chain              3   2.9 3.1 correct
scan sum  1024  recursive_doubling 2   1.9 2.1 correct
scan sum  16384 chain              3   2.9 3.1 correct
scan sum  262144 *                 0.8 0.7 0.9 correct
*    *    *     *                  1.5 1.4 1.6 correct
END
rm -f "$work/verified"
cat >"$work/against" <<'END'
scan sum 64     chain 2    1.9  2.1
scan sum 16384  chain 0.8  0.7  0.9
scan sum 262144 host  0.97 0.96 0.98
END
run 0 --verify --collectives scan --ops sum --sizes 64:256K:16 --candidates 11 --time 8s env
rules 'scan 8 2 4 0-256 commutative chain' 'scan 8 2 4 256-64K commutative recursive_doubling' \
    'scan 8 2 4 64K-1M commutative host' '* * * * * * auto'
cut -d ' ' -f 4- "$work/verified" >"$work/found"
printf '64 chain 0.666667\n16384 chain 0.666667\n262144 host 0.666667\n' | cmp -s - "$work/found" ||
    fail "compared: $(cat "$work/found")"
says '^scan, sum, 16K: chain is 0.80 (0.70-0.90) times as fast as recursive_doubling, '\
'the choice without rules, which stays$' \
    '^verified: 4 cells, in 3 of which the rules differ from the choice without them; '\
'there they are 1.16 times as fast, in all 1.12 times (geometric means); slower: 1$'
# nothing to compare
fresh <<'END'
scan * * recursive_doubling 2 1.9 2.1 correct
*    * * *                  1 0.9 1.1 correct
END
rm -f "$work/verified"
run 0 --verify --collectives scan --ops sum --sizes 64 --candidates 11 env
says '^verified: 1 cell, in 0 of which '
[ ! -f "$work/verified" ] || fail 'one and the same is compared'

# The middle one of three looks: a look that was disturbed, and one that was too good, do not
# decide.
fresh <<'END'
reduce sum * binomial    0.9 0.85 0.95 correct 1
reduce sum * binomial    1.5 1.45 1.55 correct
reduce sum * knomial     1.8 1.70 1.90 correct 2
reduce sum * knomial     1.2 1.10 1.30 correct
*      *   * *           0.8 0.75 0.85 correct
END
run 0 --collectives reduce --ops sum --sizes 1K --candidates 11 env
has '^reduce .*binomial .*# 1.50x (1.45-1.55) of the host at 1K$'

# More algorithms than five if time is left, but not than are asked for; and not if it is up.
different() { cut -d ' ' -f 5 "$work/asked" | sort -u | wc -l; }
fresh <<'END'
* * * * 0.8 0.7 0.9 correct
END
run 0 --collectives reduce --ops sum --sizes 1M env
[ "$(different)" -gt 8 ] || fail "only $(different) algorithms in all that time"
[ ! -f "$work/site.rules.part" ] || fail 'the .part is left over'
: >"$work/asked"
run 0 --collectives reduce --ops sum --sizes 1M --candidates 5 env
[ "$(different)" -le 7 ] || fail "$(different) algorithms, not 5 and what is chosen without rules"
: >"$work/asked"
run 0 --collectives reduce --ops sum --sizes 1M --time 0.000001s env
[ "$(different)" -le 6 ] || fail "$(different) algorithms when the time is up"
says 'site.rules: 1 of 1 cells measured'

# Segments and radices of what is fastest are varied, where that makes a difference and the host is
# beaten.
fresh <<'END'
scan sum * chain   2    1.9  2.1  correct
scan sum * chain:* 2.5  2.4  2.6  correct
reduce * * chain   0.8  0.7  0.9  correct
*    *   * *       0.5  0.4  0.6  correct
END
run 0 --collectives scan,reduce --ops sum --sizes 64,1M --candidates 11 env
[ "$(grep -o '^scan sum double 1048576 chain:segment=[0-9]*K ' "$work/asked" | sort -u |
    wc -l)" = 2 ] || fail "variants: $(cat "$work/asked")"
! grep -q ' 64 chain:\|^reduce .*:' "$work/asked" ||
    fail "variants that are none: $(cat "$work/asked")"
has '^scan .* commutative *chain:segment=[0-9]*K *# 2.50x'
# and levels on which vectors are split
fresh <<'END'
allreduce sum * recursive_splitting   2    1.9  2.1  correct
allreduce sum * recursive_splitting:* 2.5  2.4  2.6  correct
*         *   * *                     0.5  0.4  0.6  correct
END
: >"$work/asked"
run 0 --collectives allreduce --ops sum --sizes 64K --candidates 11 env
grep -q ' recursive_splitting:splits=[0-9]* ' "$work/asked" || fail "splits: $(cat "$work/asked")"
fresh <<'END'
scan sum * chain   2    1.9  2.1  correct
scan sum * chain:* 2.5  2.4  2.6  correct
*    *   * *       0.5  0.4  0.6  correct
END
# and are found again by a command that goes on
: >"$work/asked"
echo 14 >"$work/limit"
run 1 --collectives scan --ops sum --sizes 1M,4M --candidates 11 env
rm "$work/limit"
run 0 --collectives scan --ops sum --sizes 1M,4M --candidates 11 env
[ "$(grep -v 'chain:\|recursive_doubling' "$work/asked" | cut -d ' ' -f 4,5 | sort | uniq -d |
    wc -l)" -le 1 ] || fail "asked twice: $(sort "$work/asked")"
has 'chain:segment=[0-9]*K *# 2.50x'

# What is fastest at one size is tried at its neighbours, whatever is predicted there; of several
# that are as fast, the one with the fewest messages is taken.
fresh <<'END'
allreduce sum * recursive_doubling 2    1.9  2.1  correct
*         *   * *                  0.5  0.4  0.6  correct
END
: >"$work/asked"
run 0 --collectives allreduce --ops sum --sizes 8,4M --candidates 3 env
has '^allreduce .* 0-[0-9]*G .* recursive_doubling *# 2.00x .* at 8, 2.00x .* at 4M'
fresh <<'END'
allreduce sum * recursive_splitting 2    1.9  2.1  correct
allreduce sum * knomial             1.95 1.9  2.05 correct
*         *   * *                   0.5  0.4  0.6  correct
END
run 0 --collectives allreduce --ops sum --sizes 8 env
has '^allreduce .* knomial *# 1.95x'

# --ranks: a job for each number, which stands where %n is; what lies between them goes by the
# nearer one.
fresh <<'END'
* * 1024 recursive_doubling 2   1.9 2.1 correct
* * 1024 *                  1.5 1.4 1.6 correct
* * *    *                  0.8 0.7 0.9 correct
END
rm -f "$work/started"
echo 0,0 >"$work/leaders.2"
echo 0,0,0,0,0 >"$work/leaders.5"
echo 0,0,0,0,0,0,0,0,8,8,8,8,8,8,8,8 >"$work/leaders.16"
echo 'MPICH 4.0.2' >"$work/mpi"
run 0 --ranks 16,2,5,2 --collectives scan --ops sum --sizes 1K --candidates 11 --verify env RANKS=%n
printf '2\n5\n16\n' | cmp -s - "$work/started" || fail "started: $(cat "$work/started")"
rules 'scan 2-3 1 * 512-2K commutative recursive_doubling' \
    'scan 4-8 1 * 512-2K commutative recursive_doubling' \
    'scan 9-16 2- 8 512-2K commutative recursive_doubling' '* * * * * * auto'
has '^# ranks: 2$' '^# ranks: 5$' '^# ranks: 16$' '^# Numbers of ranks between'
says '^times as fast *2 ranks ' '^times as fast *16 ranks ' 'site.rules: 3 of 3 cells measured'
[ "$(grep -c '^host mpich scan  *\(2 *1 *2\|5 *1 *5\|16 *2 *8\) ' "$work/site.machine")" = 3 ] \
    || fail "the host's times: $(cat "$work/site.machine")"
ls "$work"/*.part 2>/dev/null && fail 'a .part is left over'
# interrupted in the second of them: the first is not measured again
: >"$work/asked"
echo 5 >"$work/limit"
run 1 --ranks 2,5 --collectives scan --ops sum --sizes 1K --candidates 4 env RANKS=%n
for ranks in 2 5; do
    [ -f "$work/site.rules.$ranks.part" ] || fail 'what was measured is not there'
done
rm "$work/limit"
: >"$work/asked_of"
run 0 --ranks 2,5 --collectives scan --ops sum --sizes 1K --candidates 4 env RANKS=%n
says 'site.rules: 2 of 2 cells measured'
grep '^2 ' "$work/asked_of" | grep -v recursive_doubling &&
    fail 'what was measured is measured again'
run 2 --ranks 2,4 env
says '^collopt-tune: --ranks: no word of the launcher has %n, .* as in mpirun -n %n$'
for list in '' 1 2,x 2,,4x; do
    run 2 --ranks "$list" env RANKS=%n
    says '^collopt-tune: --ranks: ".*" is not understood; it takes numbers from 2 on, such as 2,4,8'
done

# What messages cost: a file of its own, beside the rules unless it is named; not where ranks
# outnumber processors.
fresh <<'END'
* * * * 1.5 1.4 1.6 correct
END
run 0 --collectives scan --sizes 64 env
says 'site.machine: what messages cost here'
for line in '^node.latency  *= 300 ns  # quartiles 0.25 and 0.35 us$' '^net.eager  *= 4 KiB$' \
    '^# command: ' '^# MPI: none' '^combine.bandwidth = 20 GB/s  # quartiles 19 and 21 GB/s$' \
    '^net.group  *= 32$' '^net.taper  *= 2.5  # quartiles 2.25 and 2.75$' \
    '^# What messages .*COLLOPT_MACHINE=.*made by collopt-tune'; do
    grep -q "$line" "$work/site.machine" || fail "no line \"$line\" in $(cat "$work/site.machine")"
done
[ "$(grep -c '^[^#]' "$work/site.machine")" = 5 ] || fail "too much in $(cat "$work/site.machine")"
# numbers of a busy machine
fresh <<'END'
* * * * 1.5 1.4 1.6 correct
END
sed 's/^node\.latency .*/node.latency 1e-9 1e-12 9.55e-6/' "$work/costs" >"$work/busy"
mv "$work/busy" "$work/costs"
run 0 --collectives scan --sizes 64 env
says 'site.machine: what differed by more than ten times while it was measured is left out '\
'(1 of its numbers): a busy machine$'
grep -q '^# node.latency is left out, as shipped: quartiles 1e-06 and 9.55 us are too far apart '\
'to tell$' "$work/site.machine" || fail "no remark in $(cat "$work/site.machine")"
grep -q '^node.latency' "$work/site.machine" && fail "a busy machine's latency is written"
fresh <<'END'
* * * * 1.5 1.4 1.6 correct
END
run 0 --collectives scan --sizes 64 env
grep -q 'slower than the choice without' "$work/said" &&
    fail 'rules as fast as the choice without them are refused'
# nothing can be told, so all is the host's, and the choice without rules seems faster
fresh <<'END'
* * * * 1.5 0.7 2.5 correct
END
rm -f "$work/site.rules" "$work/site.machine"
run 4 --collectives scan --sizes 64 env
says '^collopt-tune: no file is written: by these figures the rules would be slower than the '\
'choice without them, so they are noise; measure again on a quiet machine'
! grep -q 'For all jobs' "$work/said" || fail 'noise: it says how to install the rules'
for file in rules machine rules.part; do
    [ ! -e "$work/site.$file" ] || fail "noise: site.$file is there"
done
# an interval that tells the order of magnitude at most makes no rule, however fast it seems
fresh <<'END'
* * * ring 133.87 1.67 427 correct
* * * * 1.5 1.4 1.6 correct
END
run 0 --collectives allreduce --sizes 64 env
grep -q ' ring ' "$work/site.rules" && fail 'a rule is made of an interval from 1.67 to 427'
fresh <<'END'
* * * * 1.5 1.4 1.6 correct
END
# of the host's times one for each kind of operation and size; none of users' functions, nor of an
# MPI that is not known
echo 'Open MPI 4.1.4' >"$work/mpi"
run 0 --collectives scan --ops user,sum,prod,max,noncommutative --sizes 64,1K env
grep '^host' "$work/site.machine" | sed 's/  */ /g' >"$work/found"
says "^For all jobs, on every node: $work/site.rules as /.*/collopt/openmpi.rules, \
$work/site.machine as /.*/collopt/openmpi.machine; for "
cat >"$work/wanted" <<'END'
host openmpi scan 8 2 4 64 commutative = 0.640 us # sum, median of 20
host openmpi scan 8 2 4 1K commutative = 10.240 us # sum, median of 20
host openmpi scan 8 2 4 64 exact = 0.640 us # max, median of 20
host openmpi scan 8 2 4 1K exact = 10.240 us # max, median of 20
END
cmp -s "$work/wanted" "$work/found" || fail "the host's times: $(diff "$work/wanted" "$work/found")"
echo none >"$work/mpi"
rm "$work/site.machine"
run 0 --collectives scan --sizes 64 --machine "$work/site.rules.costs" env
[ -f "$work/site.rules.costs" ] || fail '--machine names another file'
[ ! -f "$work/site.machine" ] || fail 'a file that --machine does not name'
# places that are not there are told before anything is measured
: >"$work/asked"
run 2 --collectives scan --sizes 64 --machine "$work/site.rules" env
says '^collopt-tune: --machine and -o are both '
run 1 --collectives scan --sizes 64 --machine "$work/missing/machine" env
says "$work/missing/machine cannot be written: No such file"
run 1 --collectives scan --sizes 64 --picture "$work/missing/map.svg" env
says "$work/missing/map.svg cannot be written: No such file"
[ ! -s "$work/asked" ] || fail 'measured for a file that cannot be written'
# a command with a line feed is one comment
run 0 --collectives scan --sizes 64 env 'X=two
lines'
has '^# command: .* env X=two lines$'
rm "$work/machine" "$work/site.machine"
echo "$version 1 8 1 0,0,0,0,0,0,0,0" >"$work/ready"
run 0 --collectives scan --sizes 64 env
[ ! -f "$work/machine" ] || fail 'measured with more ranks than processors'
[ ! -f "$work/site.machine" ] || fail 'written with more ranks than processors'
says "^For all jobs, on every node: $work/site.rules as /.*/collopt/site.rules; for yours alone, \
in /.*/collopt\$"

# The picture, or how to make it.
fresh <<'END'
* sum * * 1.5 1.4 1.6 correct
* *   * * 0.9 0.8 0.95 correct
END
if command -v gnuplot >/dev/null; then
    run 0 --collectives scan,reduce_scatter --sizes 64,4K --picture "$work/map.svg" env
    for text in '<svg' 'reduce_scatter, noncommutative' '>1.50<' '>host<' '>4K<'; do
        grep -q "$text" "$work/map.svg" || fail "no \"$text\" in the picture"
    done
    [ ! -f "$work/map.gp" ] || fail "gnuplot's instructions are left over"
fi
colour_of()             # NAME
{
    awk -v name="$1" '$1 == name { print $2 }' "$colours"
}
mkdir "$work/bin"
for program in env sh awk sed cat wc; do ln -s "$(command -v $program)" "$work/bin"; done
path=$PATH PATH=$work/bin
run 0 --collectives scan --sizes 64 --picture "$work/none.svg" env
PATH=$path
says 'gnuplot is not installed here.*: gnuplot .*none.gp makes .*none.svg'
grep -q '^set output .*none.svg' "$work/none.gp" || fail 'no instructions for gnuplot'
palette="-1 '$(colour_of slower)', 0 '$(colour_of same)', 3 '$(colour_of faster)'"
grep -qF "palette defined ($palette)" "$work/none.gp" || fail 'not the colours of colours.txt'

# ---- interrupted, and again ----------------------------------------------------------------------

# Of what has one look only, and of first looks at what is chosen without rules.
asked_twice()           # lines of $work/asked from the standard input
{
    cut -d' ' -f1-5 | grep -v ' \(recursive\|window\)_doubling$' | sort | uniq -d | grep .
}

fresh <<'END'
* * * recursive_doubling 1.5 1.4 1.6 correct
* * * window_doubling    1.5 1.4 1.6 correct
* * * *                  0.8 0.7 0.9 correct
END
echo 5 >"$work/limit"
: >"$work/waits"
"$tune" -o "$work/site.rules" --program "$work/program" --progress on --collectives scan,exscan \
    --sizes 8,64 env >"$work/said" 2>&1 &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ "$(wc -l <"$work/asked")" -le 5 ] || break
    sleep 0.2
done
kill -TERM $pid
wait $pid
status=$?
[ $status = 130 ] || fail "interrupted: status $status"
says 'interrupted; what was measured is in .*site.rules.part' '\[#*\.*\] 0 of 8 cells'
[ "$(grep -c ^cell "$work/site.rules.part")" = 5 ] || fail 'what was measured is not there'
[ ! -f "$work/site.rules" ] || fail 'rules of an interrupted command'
run 2 --collectives scan --sizes 8,4K env
says 'site.rules.part is of another command: .* env --sizes 8,64.*; give that again, or remove'
export COLLOPT_TOPOLOGY=nodes:1
run 2 --collectives scan --sizes 8,64 env
says 'site.rules.part is of another command: .* env --sizes 8,64.*; give that again, or remove'
unset COLLOPT_TOPOLOGY
rm "$work/limit" "$work/waits"
printf 'cell scan sum 8' >>"$work/site.rules.part"
run 0 --collectives scan,exscan --sizes 8,64 env
says '8 of 8 cells measured'
[ "$(wc -l <"$work/machine")" = 1 ] || fail 'what messages cost is measured again'
sed '6d' "$work/asked" | asked_twice && fail 'what was measured is asked for again'
[ ! -f "$work/site.rules.part" ] || fail 'the .part is left over'

# The job ends: kept, said, and not tried again.
fresh <<'END'
* * * recursive_doubling 1.5 1.4 1.6 correct
* * * window_doubling    1.5 1.4 1.6 correct
* * * *                  0.8 0.7 0.9 correct
END
echo 3 >"$work/limit"
run 1 --collectives scan --ops sum --sizes 8,64 env
says 'the job ended while it measured scan, sum, [0-9]* bytes, algorithm [a-z_]*; '\
'the same command goes on with the rest'
rm "$work/limit"
run 0 --collectives scan --ops sum --sizes 8,64 env
asked_twice <"$work/asked" && fail 'asked twice'

# The time is up: rules of what there is, the rest is auto.
fresh <<'END'
* * * * 1.5 1.4 1.6 correct
END
run 0 --time 0.01s --collectives all --ops all env
says 'The time was not enough; the same command goes on'
has '^# [0-9]* of [0-9]* cells were not measured'
[ -f "$work/site.rules.part" ] || fail 'the .part is gone'

# ---- mistakes ------------------------------------------------------------------------------------

fresh <<'END'
* * * * 1.5 1.4 1.6 correct
END
run 1 /nonexistent/mpirun -n 2
says '/nonexistent/mpirun cannot be started: No such file'
run 1 --program /nonexistent/bench env
says '--program: /nonexistent/bench: No such file'
run 1 -o "$work/missing/rules" env
says "$work/missing/rules cannot be written: No such file"
for taken in /dev/null /dev/stdout "$work"; do
    run 1 -o "$taken" env
    says "^collopt-tune: $taken is not a file that could be replaced; give the name of one"
done
[ -c /dev/null ] && [ -L /dev/stdout ] || fail 'a device was replaced'
: >"$work/dies"
run 1 env
says 'the job ended before it measured anything, with status 7'
rm "$work/dies"
[ ! -f "$work/site.rules.part" ] || fail 'an empty .part is left'
echo '9.9.9 1 8 0 0,0,0,0,0,0,0,0' >"$work/ready"
run 1 env
says 'is of collopt 9.9.9, and this is'
echo "$version 0 2 0 0,0" >"$work/ready"
run 1 env
says 'collopt is not loaded in the ranks'
echo "$version 1 1 0 0" >"$work/ready"
run 1 env
says 'every rank finds itself alone: env starts one only'

refused()               # SENTENCE ARGUMENT...
{
    sentence=$1
    shift
    "$tune" "$@" >"$work/said" 2>&1
    status=$?
    [ $status = 2 ] || fail "status $status, not 2: $*"
    says "$sentence"
}

refused 'a launcher is missing' -o x
refused '-o FILE is missing: where the rules go$' mpirun -n 2
refused '-o FILE is missing: .*; it must stand before the launcher' srun -n 2 -o x
refused 'there is no "sacn"; there are: all reduce' -o x --collectives sacn env
refused 'there is no "add"; there are: all sum' -o x --ops add env
refused '"0" is not understood; sizes are' -o x --sizes 0 env
refused '"64:8" is not understood; sizes are' -o x --sizes 64:8 env
refused '"8:1M:1" is not understood; sizes are' -o x --sizes 8:1M:1 env
refused '"soon" is not a time' -o x --time soon env
refused '"0" is not a number from 1 to 11' -o x --candidates 0 env
refused '"intel" is neither openmpi nor mpich' -o x --mpi intel env
refused '"a.gif" ends neither with .svg' -o x --picture a.gif env
refused '"maybe" is not auto, on or off' -o x --progress maybe env
refused '--time needs a value' mpirun --time
refused '--nonsense is not an option' --nonsense -o x env
exit $failed
