# bench/kit: what it packs runs in a root that has a shell, a few commands and the C library alone,
# without network, as any user, on both hosts; results are compared; a GPU is found, and what a bad
# one loses is noticed.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

kit=$top/bench/kit
export LC_ALL=C

# ---- without packing -----------------------------------------------------------------------------

refuses()               # PATTERN COMMAND...: status 2, in one sentence
{
    pattern=$1
    shift
    "$@" >"$work/said" 2>&1
    [ $? = 2 ] || fail "$*: not status 2"
    grep -q -e "$pattern" "$work/said" || fail "$*: nothing like \"$pattern\""
}

refuses '"--fast" is not an option; there are' sh "$kit/pack" --fast
refuses 'xz has the levels 0 to 9' sh "$kit/pack" --level best
refuses 'is not built in .*; say where' sh "$kit/pack" --build "$work"
refuses '--time soon: a number of seconds' sh "$kit/run" --time soon
refuses '--ranks 2,x: numbers of ranks' sh "$kit/run" --ranks 2,x
refuses '--output /dev/null/of: the folder cannot be written' sh "$kit/run" --output /dev/null/of
refuses '"-v" is not an option; there are' sh "$kit/run" -v

# The fastest component counts; a wrong result does wherever it is.
cat >"$work/pairs.csv" <<'END'
# seed: 1
setting,collective,operation,type,ranks,bytes,algorithm,peer,peer_us,collopt_us,ratio,form,result
openmpi tuned,scan,sum,double,2,8,"ring:a,b",Open MPI 4,9.0,2.0,4.5,blocking,WRONG
openmpi sm,scan,sum,double,2,8,"ring:a,b",Open MPI 4,1.8,2.0,0.9,blocking,correct
mpich own,scan,sum,double,2,8,ring,MPICH 4,8.0,2.0,4.0,blocking,correct
mpich own,scan,sum,double,2,64,ring,MPICH 4,10.0,10.0,1.0,blocking,correct
END
awk -f "$kit/best.awk" "$work/pairs.csv" >"$work/best.csv"
sed 1d "$work/best.csv" >"$work/said"
cmp -s - "$work/said" <<'END' || fail 'the best components are others'
openmpi,sm,Open MPI 4,scan,sum,double,blocking,2,8,1.8,2.0,0.9,"ring:a,b",WRONG
mpich,own,MPICH 4,scan,sum,double,blocking,2,8,8.0,2.0,4.0,"ring",correct
mpich,own,MPICH 4,scan,sum,double,blocking,2,64,10.0,10.0,1.0,"ring",correct
END
awk -f "$kit/summary.awk" "$work/best.csv" | tr -s ' ' >"$work/said"
for line in 'openmpi 2 ranks blocking 1 0.90x 0.90x 1' 'mpich 2 ranks blocking 2 2.00x 1.00x 0' \
    '1 wrong results'; do
    grep -qx "$line" "$work/said" || fail "the summary has no line \"$line\""
done

# Two sockets of two cores with two threads each, of which one socket may be used.
machine()               # FILE TEXT
{
    mkdir -p "$work/sys/${1%/*}" && echo "$2" >"$work/sys/$1"
}
for number in 0 1 2 3 4 5 6 7; do
    core=$((number % 4)) socket=$((number % 4 / 2)) at=devices/system/cpu/cpu$number
    machine $at/topology/thread_siblings_list "$core,$((core + 4))"
    machine $at/topology/core_id $((core % 2))
    machine $at/topology/physical_package_id $socket
    machine $at/topology/core_siblings_list "$((2 * socket))-$((2 * socket + 1))"
    machine $at/cache/index0/level 2
    machine $at/cache/index0/type Unified
    machine $at/cache/index0/size 1024K
    machine $at/cache/index0/shared_cpu_list "$core,$((core + 4))"
done
machine devices/system/node/node0/cpulist 0-7
machine devices/system/node/node0/meminfo 'Node 0 MemTotal:       4096 kB'
echo 'model name	: Some processor' >"$work/sys/cpuinfo"
awk -f "$kit/topology.awk" -v allowed=2-3,6 -v sys="$work/sys" -v proc="$work/sys" \
    -v cores_file="$work/cores" >"$work/said"
cmp -s - "$work/said" <<'END' || fail 'the topology is another'
kind,name,size,processors
processor,"Some processor",,"2-3,6"
socket,1,,"2-3"
core,0,,"2,6"
cache,L2,1024K,"2,6"
core,1,,"3,7"
cache,L2,1024K,"3,7"
node,0,4096K,"0-7"
END
[ "$(cat "$work/cores")" = 2 ] || fail "$(cat "$work/cores") cores, not 2"

# ---- a GPU that loses data -----------------------------------------------------------------------

standin()               # FOLDER [WORD]...
{
    mkdir -p "$work/$1"
    ${CC:-cc} -shared -fPIC -O2 -DCUDA -Wl,-soname,libcuda.so.1 -o "$work/$1/libcuda.so.1" \
        "$top/test/mpi/gpu_standin.c" "${2--DNOTHING}" -ldl || { fail 'no stand-in'; finish; }
}
standin gpu
standin losing -DLOSING

lost()                  # HOST
{
    ! launch "$1" 2 LD_LIBRARY_PATH="$work/losing" LD_PRELOAD="$library" \
        "$build/bench/$1/device_memory" --short "$work/device.csv" "$work/staging.csv" ||
        fail "$1: results that were lost are taken for right"
    grep -q '^device_memory: WRONG result of allreduce, sum, blocking, 8 bytes, memory device' \
        "$work/said" || fail "$1: a lost result is not told"
    [ "$(grep -c ',managed,.*,correct$' "$work/device.csv")" -gt 100 ] ||
        fail "$1: results in managed memory are not right"
    ! launch "$1" 2 "$build/bench/$1/device_memory" "$work/device.csv" "$work/staging.csv" ||
        fail "$1: without collopt, no failure"
    grep -q '^device_memory: collopt is not loaded' "$work/said" ||
        fail "$1: it is not told that collopt is not loaded"
}

hosts=''
for host in openmpi mpich; do
    ! built_for $host || hosts="$hosts $host"
done
[ -z "$hosts" ] || lost "${hosts##* }"
[ "$failures" = 0 ] || finish

# ---- the whole -----------------------------------------------------------------------------------

[ "$hosts" = ' openmpi mpich' ] || skip "collopt is not built for Open MPI and MPICH"
launcher=$(readlink -f "$(command -v mpirun.openmpi || echo none)")
[ "${launcher##*/}" = orterun ] || skip "only Open MPI 4 can be packed"
[ "$(id -u)" = 0 ] || skip "needs root"
unshare --net --ipc --mount --pid --fork true 2>/dev/null ||
    skip "this machine does not let root make namespaces"
for command in ip xz; do
    command -v $command >/dev/null || skip "$command is not installed"
done

sh "$kit/pack" --build "$build" --level 0 -o "$work/kit.tar.xz" >"$work/said" 2>&1 ||
    { fail "pack: status $?"; finish; }

# Programs with their libraries, and all that belongs to the C library.
root=$work/root
mkdir -p "$root/proc" "$root/sys" "$root/dev" "$root/tmp" "$root/some/where" "$root/bin"
chmod 755 "$work"
chmod 1777 "$root/tmp" "$root/some/where"
for command in awk cat chmod date dirname env grep mkdir mktemp rm sh sort timeout tr wc; do
    program=$(command -v $command)
    cp -L "$program" "$root/bin/$command"
    ldd "$program" | grep -o '/[^ ]*'
done | sort -u >"$work/needed"
c=$(grep '/libc\.so\.6$' "$work/needed")
while read -r file; do cp -L --parents "$file" "$root"; done <"$work/needed"
for library_of_c in libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libutil.so.1; do
    [ ! -e "${c%/*}/$library_of_c" ] || cp -L "${c%/*}/$library_of_c" "$root/${c%/*}"
done
xz -dc "$work/kit.tar.xz" | tar -x --no-same-owner -C "$root/some/where" ||
    { fail "the archive does not unpack"; finish; }

# UCX says nothing of plugins that it does not find, and takes slower ways.
ways()                  # LAUNCHER PROGRAM: of UCX, between two ranks
{
    $1 -n 2 env UCX_LOG_LEVEL=info "$2" --sizes 8 --collectives scan --pairs 1 --calls 1 \
        --progress off 2>/dev/null | sed -n 's/.* UCX  INFO  *ep_cfg\[[0-9]\]: //p' | sort -u
}
packed=$root/some/where/collopt-kit
ways "$MPICH_RUN" "$build/bench/mpich/collopt-bench" >"$work/ways"
LD_LIBRARY_PATH=$packed/lib UCX_MODULE_DIR=$packed/plugins/ucx \
    ways "$packed/mpich/bin/mpiexec" "$packed/bench/mpich/collopt-bench" >"$work/said"
[ -s "$work/ways" ] && cmp -s "$work/ways" "$work/said" ||
    fail "UCX has other ways in the kit: $(cat "$work/ways")"

bare()                  # USER OPTION...: the kit, in a root without network
{
    user=$1
    shift
    # shellcheck disable=SC2016     # of the inner shell
    timeout -k 5 300 unshare --net --ipc --mount --pid --fork --kill-child sh -c '
        root=$1 user=$2
        shift 2
        ip link set lo up
        mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
            mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/dev/shm" || exit
        exec chroot --userspec="$user" "$root" /bin/env -i PATH=/bin \
            /some/where/collopt-kit/run --output /tmp/of-"$user" --short --time 280 --ranks 2 "$@"
        ' sh "$root" "$user" "$@" </dev/null >"$work/said" 2>&1
}

table()                 # FILE HEADER LINES: all correct
{
    read -r first <<END
$(grep -v '^#' "$1")
END
    [ "$first" = "$2" ] || fail "${1##*/}: the header is \"$first\""
    [ "$(grep -v '^#' "$1" | sed 1d | grep -c '')" = "$3" ] ||
        fail "${1##*/}: $(grep -v '^#' "$1" | sed 1d | grep -c '') lines, not $3"
    [ "$(grep -v '^#' "$1" | sed 1d | grep -vc ',correct$')" = 0 ] ||
        fail "${1##*/}: $(grep -v '^#' "$1" | sed 1d | grep -v ',correct$' | head -n 1)"
}

of_both()               # FOLDER CELLS BEST: lines of pairs.csv and best.csv
{
    table "$1/pairs.csv" "setting,collective,operation,type,ranks,bytes,algorithm,peer,peer_us,\
collopt_us,ratio,ratio_low,ratio_high,pairs,outliers,calls,in_place,input,form,asked,result" "$2"
    table "$1/best.csv" "host,component,peer,collective,operation,type,form,ranks,bytes,peer_us,\
collopt_us,ratio,algorithm,result" "$3"
    for host in openmpi mpich; do
        [ -s "$1/$host.machine" ] || fail "no $host.machine"
    done
    grep -q '^core,' "$1/topology.csv" || fail "no cores in topology.csv"
}

bare 0:0 --sizes 8 || fail "as root, without GPU: status $?"
grep -q '^device_memory: no GPU: there is no libcuda.so.1$' "$work/said" ||
    fail 'without a GPU, it is not said'
# six collectives: on each component of a host two operations, on each host two other forms of a sum
components=$(grep -o 'components: .*;' "$work/said" | wc -w)
of_both "$root/tmp/of-0:0" $((12 * (components - 1) + 36)) 48
rm -rf "$root/tmp/of-0:0"

cp "$work/gpu/libcuda.so.1" "$packed/lib/"
bare 1234:1234 --sizes 8 || fail "as another user, with a GPU: status $?"
table "$root/tmp/of-1234:1234/device.csv" "peer,device,ranks,memory,collective,operation,type,form,\
in_place,bytes,algorithm,result" 1152
for memory in device managed pinned mixed; do
    [ "$(grep -c ",$memory,.*,correct$" "$root/tmp/of-1234:1234/device.csv")" = 288 ] ||
        fail "device.csv: not 288 cells in $memory memory"
done
[ "$(grep -c '^[^,]*,stand-in 0,2,65536,' "$root/tmp/of-1234:1234/staging.csv")" = 2 ] ||
    fail 'staging.csv has no line for each host'
finish
