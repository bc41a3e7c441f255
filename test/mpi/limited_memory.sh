# Runs a command in a control group of its own, with so much memory.  Who runs this removes the
# groups, FOLDER/NAME-*.
#
#     limited_memory.sh NAME BYTES COMMAND...

name=$1-$$ bytes=$2
shift 2
for folder in /sys/fs/cgroup/memory /sys/fs/cgroup/unified /sys/fs/cgroup; do
    group=$folder/$name
    mkdir "$group" 2>/dev/null || continue
    for limit in "$group/memory.max" "$group/memory.limit_in_bytes"; do
        # the shell itself is moved
        [ -e "$limit" ] && echo "$bytes" >"$limit" && echo $$ >"$group/cgroup.procs" && exec "$@"
    done
    rmdir "$group"
done 2>/dev/null
echo "no control group whose memory can be limited" >&2
exit 1
