# Files that the environment names, in a process with privileges: neither read nor written. And
# reports: what lies where one is to be written, a link to somebody's file or the half of another
# job's report, is left alone.

set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$COLLOPT_BUILD/test/privileged
unset HOME XDG_CONFIG_HOME COLLOPT_BUILD COLLOPT_SOURCE
cd "$work" || exit 99
chmod 755 .

fail()
{
    echo "FAIL: $*"
    exit 1
}

# ---- reports ----

mkdir plain
echo precious >victim
for name in report report.tmp report.0; do
    ln -s ../victim plain/$name
done
COLLOPT_REPORT=$work/plain/report "$program" report || fail "no report"
[ "$(cat victim)" = precious ] || fail "a file that a link leads to was written"
grep -q '"collopt"' plain/report && [ ! -L plain/report ] ||
    fail "the report is not where it should be"
[ "$(ls plain | tr '\n' ' ')" = "report report.0 report.tmp " ] ||
    { ls -l plain; fail "something was left"; }
(umask 027; COLLOPT_REPORT=$work/plain/other "$program" report) || fail "no other report"
[ "$(stat -c %a plain/other)" = 640 ] || fail "the report has not the mode of the umask"

mkdir jobs
for job in 1 2 3 4 5 6 7 8; do
    for turn in 1 2 3 4 5; do
        COLLOPT_REPORT=$work/jobs/report "$program" report ||
            echo "FAIL: a report of jobs with one name" >>failed
    done &
done
wait
[ ! -e failed ] || fail "$(cat failed)"
[ "$(ls jobs)" = report ] && [ "$(grep -c '"collopt"' jobs/report)" = 1 ] &&
    [ "$(tail -1 jobs/report)" = "}" ] ||
    { ls -l jobs; cat jobs/report; fail "jobs with one name have mixed their reports"; }

# ---- privileges ----

cp "$program" secure
if [ "$(id -u)" = 0 ]; then
    chown 65534 secure && chmod 4755 secure
else
    group=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -1)
    [ -n "$group" ] && chgrp "$group" secure && chmod 2755 secure
fi
mkdir -p home/collopt
echo 'machine.none of this is a machine' >home/collopt/site.machine
echo '* * * * * * nothing' >home/collopt/site.rules
echo '* * * * * * host' >rules
echo 'none' >hosts
all="HOME=$work/home XDG_CONFIG_HOME=$work/home COLLOPT_RULES=$work/rules
    COLLOPT_TOPOLOGY=file:$work/hosts COLLOPT_REPORT=$work/out COLLOPT_ADAPT=on
    COLLOPT_ADAPT_RULES=$work/learnt COLLOPT_AFTER=7"
env $all ./secure >said 2>&1
case $? in
0) ;;
77) echo "SKIP the rest: this user and this file system give a program no privileges"; exit 77 ;;
*) cat said; fail "status $?" ;;
esac
grep -qx "report none, learnt none, rules none, machine none, topology none, after 7" said ||
    { cat said; fail "files are used"; }
for name in RULES TOPOLOGY REPORT ADAPT_RULES; do
    [ "$(grep -c "^collopt: COLLOPT_$name is not used: the process has privileges" said)" = 1 ] ||
        { cat said; fail "COLLOPT_$name: not said once"; }
done
[ "$(wc -l <said)" = 5 ] || { cat said; fail "more was said"; }
env COLLOPT_REPORT=stderr COLLOPT_TOPOLOGY=torus:2x2 COLLOPT_RULES=none ./secure >said 2>&1
grep -qx "report stderr, learnt none, rules none, machine none, topology torus:2x2, after 0" said &&
    [ "$(wc -l <said)" = 1 ] ||
    { cat said; fail "what names no file has no effect"; }
