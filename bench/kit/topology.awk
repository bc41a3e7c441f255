# Writes the processor and its memory, by Linux's files, as CSV: kind,name,size,processors.
#
#     awk -f topology.awk -v allowed=0-3,8 -v sys=/sys -v proc=/proc -v cores_file=FILE
#
# A line for each socket, core, NUMA node and cache of the processors in the list ALLOWED, each
# once.  Writes to FILE how many cores have a thread that is allowed.

function line_of(file,    text) {
    text = ""
    if ((getline text < file) < 0)
        return ""
    close(file)
    return text
}

# "0-3,8" as keys of set
function expand(list, set,    parts, ends, n, i, k) {
    n = split(list, parts, ",")
    for (i = 1; i <= n; i++) {
        if (parts[i] == "")
            continue
        if (split(parts[i], ends, "-") == 1)
            ends[2] = ends[1]
        for (k = ends[1] + 0; k <= ends[2] + 0; k++)
            set[k] = 1
    }
}

function tell(kind, name, size, processors) {
    if (!((kind, name, processors) in told))
        printf "%s,%s,%s,\"%s\"\n", kind, name, size, processors
    told[kind, name, processors] = 1
}

function caches_of(cpu,    at, i, level, type) {
    for (i = 0; i < 10; i++) {
        at = cpu "/cache/index" i
        level = line_of(at "/level")
        if (level == "")
            return
        type = line_of(at "/type")
        tell("cache", "L" level (type == "Unified" ? "" : " " type), line_of(at "/size"),
             line_of(at "/shared_cpu_list"))
    }
}

function processor_of(cpu, number,    threads) {
    threads = line_of(cpu "/topology/thread_siblings_list")
    if (threads == "")
        threads = number
    if (!((threads) in cores))
        count++
    cores[threads] = 1
    tell("socket", line_of(cpu "/topology/physical_package_id"), "",
         line_of(cpu "/topology/core_siblings_list"))
    tell("core", line_of(cpu "/topology/core_id"), "", threads)
    caches_of(cpu)
}

function model(    line, parts) {
    while ((getline line < (proc "/cpuinfo")) > 0)
        if (line ~ /^model name/) {
            split(line, parts, ": *")
            return parts[2]
        }
    return "unknown"
}

function nodes(    i, at, memory, parts) {
    for (i = 0; i < 1024; i++) {
        at = sys "/devices/system/node/node" i
        if (line_of(at "/cpulist") == "" && line_of(at "/distance") == "")
            continue
        memory = line_of(at "/meminfo")
        split(memory, parts)
        tell("node", i, parts[4] == "" ? "" : parts[4] "K", line_of(at "/cpulist"))
    }
}

BEGIN {
    print "kind,name,size,processors"
    expand(allowed, set)
    tell("processor", "\"" model() "\"", "", allowed)
    for (number = 0; number < 8192; number++)
        if (number in set)
            processor_of(sys "/devices/system/cpu/cpu" number, number)
    nodes()
    print count + 0 > cores_file
}
