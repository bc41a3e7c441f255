# bench/cluster says what is wrong with what it is given, and who may run it: with status 125, and
# before anything is built.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

cluster=$top/bench/cluster

refused()               # WHAT-IT-SAYS ARGUMENT...
{
    says=$1
    shift
    sh "$cluster" "$@" >"$work/said" 2>&1
    status=$?
    [ $status = 125 ] || fail "$*: status $status, not 125"
    grep -q "^bench/cluster: $says" "$work/said" || fail "$*: does not say \"$says\""
}

refused '--hosts 1: must be a number from 2 to 16' --hosts 1
refused '--hosts 17: must be a number from 2 to 16' --hosts 17
refused '--hosts many: must be' --hosts many
refused '--hosts needs a value' --hosts
refused '--ranks-per-host 0: "0" is not a number from 1 to 64' --ranks-per-host 0
refused '--ranks-per-host 1,2: must be one number, or 8 of them' --ranks-per-host 1,2
refused '--ranks-per-host 2,x: "x" is not' --hosts 2 --ranks-per-host 2,x
refused '--rate 200: must be a number with kbit, mbit or gbit, as 200mbit, or none' --rate 200
refused '--switches 5: must be a number from 1 to 4' --hosts 4 --switches 5
refused '--uplink 1gbit: there are none with one switch' --uplink 1gbit
refused '--uplink fast: must be a number with kbit' --switches 2 --uplink fast
refused '--mpi lam: must be openmpi or mpich' --mpi lam
refused '--preload /nowhere: there is no such file' --preload /nowhere
refused '--fast is not an option; there are' --fast
sh "$cluster" --help | grep -q -- '--ranks-per-host N' ||
    fail "--help does not name --ranks-per-host"

# As nobody, for whom the source tree may be out of reach; and where tools are missing.
if [ "$(id -u)" = 0 ]; then
    setpriv --reuid 65534 --clear-groups sh -s -- true <"$cluster" >"$work/said" 2>&1
    [ $? = 125 ] || fail "as nobody: not status 125"
else
    sh "$cluster" true >"$work/said" 2>&1
    [ $? = 125 ] || fail "not as root: not status 125"
fi
grep -q 'needs root, for network namespaces' "$work/said" || fail "does not say that it needs root"
finish
