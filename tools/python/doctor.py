"""collopt doctor: why does collopt not work here?

First step: the launcher runs a shell script without MPI on every node.  It needs nothing of collopt
there, so it also tells of nodes that lack it, on which a job would hang.  Second and third: a small
MPI program, without collopt and with it.  Fourth: collopt-bench, for about ten seconds, where the
MPI library's reductions are much faster.  Every step has a time limit.  What was found is judged by
a list of rules, each of which says what is wrong and the command that fixes it. """

import json
import os
import re
import subprocess

import commandline
import figures
import jobs
from progress import Progress
from say import Screen, plural
from text import seconds, size

HELP = """\
Usage: collopt doctor [OPTION]... [--] LAUNCHER [ARGUMENT]... [PROGRAM ...]
Look at the nodes that LAUNCHER (mpirun, mpiexec, srun, flux run) with these
arguments starts ranks on, and say what keeps collopt from working there.
PROGRAM is looked at and not run.

      --program FILE        the program, where the doctor does not see which word
                              it is: one with a slash that can be executed
      --mpi openmpi|mpich   whose library to start the test with, where there is no
                              program that says it
      --time DURATION       for each of three steps at most: 60s, 5m (60s)
      --measure DURATION|off  how long to look for reductions that the MPI library
                              runs much faster: 10s, 1m (10s)
      --json                print what was found as JSON
      --help                print this help
      --version             print the version

Exit status: 0 if nothing is wrong; 1 if something is; 2 for wrong arguments.
"""

SHORT, LONG = "", ["program=", "mpi=", "time=", "measure=", "json", "help", "version"]

# On each node; $1 is the library, $2 collopt-info.  One line, as not all launchers hand on others.
SCRIPT = "; ".join((
    "h=$(uname -n)",
    'l=${OMPI_COMM_WORLD_LOCAL_RANK-${MPI_LOCALRANKID-${SLURM_LOCALID-${FLUX_TASK_LOCAL_ID-0}}}}',
    's() { echo "@collopt $h $* @"',
    "}",
    "s rank $l",
    '[ "$l" = 0 ] || exit 0',
    'if [ -r "$1" ]',
    "then s library yes",
    "else s library no",
    "fi",
    's preload "$LD_PRELOAD"',
    'case $(LD_PRELOAD=$1 cat /proc/self/maps 2>/dev/null) in *libcollopt*) s maps yes',
    "esac",
    'e=$(LD_PRELOAD=$1 cat /dev/null 2>&1 | head -n 1)',
    '[ -z "$e" ] || s loader "$e"',
    "s memlock $(ulimit -l 2>/dev/null)",
    "s open-files $(ulimit -n)",
    "s stack $(ulimit -s)",
    "set -- \"$1\" \"$2\" $(df -Pk /dev/shm 2>/dev/null | tail -n 1)",
    's shm ${6:-none}',
    "s ptrace $(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null)",
    "for f in /dev/xpmem /dev/knem /dev/nvidia0 /dev/kfd /dev/infiniband /sys/class/net/hsn0",
    "do [ ! -e $f ] || s device $f",
    "done",
    "s processors $(getconf _NPROCESSORS_ONLN 2>/dev/null)",
    "s kernel $(uname -rm)",
    'if [ -x "$2" ]',
    'then s info $("$2" --version 2>&1 | head -n 1 | cut -d" " -f2)',
    '"$2" --files 2>/dev/null | while read -r m k f',
    'do c=-',
    '[ "$f" = none ] || c=$(cksum <"$f" 2>/dev/null | tr " " -)',
    's file $m $k $c $f',
    "done",
    "else s info none",
    "fi",
    "s done",
)).replace("then; ", "then ").replace("do; ", "do ").replace("else; ", "else ")

LINE = re.compile(r"@collopt (\S+) (\S+) ?(.*?) @")
LIBRARIES = {"openmpi": ["libmpi.so.40", "libmpi.so"],
             "mpich": ["libmpich.so.12", "libmpi.so.12", "libmpich.so"]}


class Options:
    def __init__(self):
        self.program, self.mpi, self.time, self.json = None, None, 60.0, False
        self.measure = 10.0         # seconds; 0: not
        self.speed = []             # (where, calls) of what was measured
        self.command, self.launcher = [], []

    def take(self, option, value):
        if option == "--program":
            self.program = value
        elif option == "--mpi":
            self.mpi = commandline.one_of(value, option, ("openmpi", "mpich"))
        elif option == "--time":
            self.time = commandline.duration(value, option)
        elif option == "--measure":
            self.measure = 0.0 if value == "off" else commandline.duration(value, option)
        elif option == "--json":
            self.json = True

    def check(self):
        """Where the program is among the words, it is cut off:
        the doctor starts something else in its place."""
        if not self.command:
            raise commandline.Wrong("no launcher; give what starts the ranks, as in collopt doctor "
                                    "mpirun -n 4")
        at = find_program(self.command)
        self.launcher = self.command[:at]
        if at:
            self.program = self.program or self.command[at]


def find_program(launcher):
    """Where the program begins among the launcher's words, by its name: the doctor must start
    something else in its place."""
    for i, word in enumerate(launcher[1:], 1):
        if "/" in word and os.path.isfile(word) and os.access(word, os.X_OK):
            return i
    return None


# ---- steps ---------------------------------------------------------------------------------------

class Node:
    def __init__(self, name):
        self.name = name
        self.facts = {}             # key: [values, in the order they came, each once]
        self.ranks = 0

    def note(self, key, value):
        values = self.facts.setdefault(key, [])
        if value not in values:
            values.append(value)

    def get(self, key, other=None):
        return self.facts[key][0] if key in self.facts else other


class Step:
    """A command of the launcher, and its outcome."""

    def __init__(self, name, run):
        self.name, self.run, self.nodes = name, run, {}
        self.reductions = []        # of each rank: how many, how many by collopt, how many wrong
        text = run.output.decode(errors="replace")
        for host, key, value in LINE.findall(text):
            node = self.nodes.setdefault(host, Node(host))
            if key in ("rank", "size"):
                node.ranks += 1
            if key == "reductions":
                self.reductions.append([int(number) for number in value.split()])
            else:
                node.note(key, value)
        self.rest = [line for line in text.splitlines() if line.strip() and not LINE.search(line)]

    def sum(self, index):
        return sum(numbers[index] for numbers in self.reductions)


def launch(place, options, name, with_collopt, command):
    line = ([place.collopt, "--"] if with_collopt else []) + options.launcher + command
    environment = jobs.plain(os.environ)
    if with_collopt and options.variables_right:
        environment = dict(os.environ)
    if with_collopt:            # few calls, which something of collopt's is to run
        environment.pop("COLLOPT_REPORT", None)
        environment.update(COLLOPT_AFTER="1", COLLOPT_ALLREDUCE="recursive_doubling")
    return Step(name, jobs.run(line, environment, limit=options.time))


def libraries(options, launcher_kind):
    """Which MPI libraries to try, best first: the program's own, what was asked for,
    what the launcher belongs to."""
    own = re.findall(r"\s(/\S*/libmp[a-z_]*\.so\S*)", options.ldd)
    first = options.mpi or launcher_kind
    names = LIBRARIES[first] if first else LIBRARIES["openmpi"] + LIBRARIES["mpich"]
    return ([] if options.mpi else own[:1]) + names


def kind_of(launcher):
    try:
        text = subprocess.run([launcher[0], "--version"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=10).stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired):
        return None
    if re.search("Open MPI|OpenRTE|PRRTE|prte", text):
        return "openmpi"
    return "mpich" if re.search("HYDRA|Intel.R. MPI", text) else None


# ---- what is wrong -------------------------------------------------------------------------------

class Findings:
    def __init__(self):
        self.list = []

    def wrong(self, what, fix=None, nodes=()):
        self.list.append({"grave": True, "what": what, "fix": fix, "nodes": list(nodes)})

    def note(self, what, fix=None, nodes=()):
        self.list.append({"grave": False, "what": what, "fix": fix, "nodes": list(nodes)})

    def grave(self):
        return any(finding["grave"] for finding in self.list)


def listed(names):
    """n1, n2, n3 and 5 more."""
    names = sorted(names)
    return ", ".join(names[:4]) + (" and %d more" % (len(names) - 4) if len(names) > 4 else "")


def answered(step):
    """The nodes that have said all they had to."""
    return [node for node in step.nodes.values() if "done" in node.facts or "size" in node.facts]


def where(step, test):
    return [node.name for node in answered(step) if test(node)]


def look_at_variables(place, options, found):
    done = subprocess.run([os.path.join(place.tools, "collopt-info"), "--check"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    options.variables_right = done.returncode == 0
    for line in done.stdout.decode(errors="replace").splitlines():
        found.wrong(line.replace("collopt: ", "", 1), "correct or unset the variable")
    if os.environ.get("COLLOPT", "on") in ("off", "0", "no", "false"):
        found.wrong("COLLOPT=%s is set: all calls go to the MPI library" % os.environ["COLLOPT"],
                    "unset COLLOPT")
    if os.environ.get("COLLOPT_GPU") == "native":
        found.wrong("COLLOPT_GPU=native is set: all calls go to the MPI library",
                    "unset COLLOPT_GPU")


def look_at_program(place, options, found):
    """Whether it can be preloaded at all, and with which MPI."""
    options.ldd = ""
    program = options.program
    if not program:
        return
    if not os.path.isfile(program):
        found.wrong("%s is no file" % program, "give the program's path by --program")
        return
    if os.stat(program).st_mode & 0o6000:
        found.wrong("%s has set-user-ID or set-group-ID bits: the loader preloads nothing into it"
                    % program, "chmod ug-s %s, or link it with -lcollopt" % program)
    with open(program, "rb") as stream:
        if stream.read(4) != b"\x7fELF":
            return                      # a script
    done = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    options.ldd = done.stdout.decode(errors="replace")
    if "not a dynamic executable" in options.ldd or "statically linked" in options.ldd:
        found.wrong("%s is linked statically: nothing can be preloaded into it" % program,
                    "link it with %s/libcollopt-openmpi.a or libcollopt-mpich.a before the MPI "
                    "library" % os.path.dirname(place.library))
    for line in options.ldd.splitlines():
        if "not found" in line:
            found.wrong("%s: %s" % (program, line.strip()),
                        "load the module that has this library, or set LD_LIBRARY_PATH")


def last_lines(step):
    return "".join("\n    " + line[:200] for line in step.rest[-6:])


def look_at_start(options, step, found):
    """The step without MPI."""
    command = " ".join(options.launcher)
    if step.run.timed_out:
        why = ("; %s answered" % listed(where(step, lambda node: True)) if answered(step)
               else ": it waits for nodes, for a password, or for input")
        found.wrong("%s did not end a shell script within %s%s%s"
                    % (command, seconds(options.time), why, last_lines(step)),
                    "try it alone: %s uname -n; or give it longer by --time" % command)
    elif step.run.status != 0:
        found.wrong("%s fails to start a shell script, with status %d%s"
                    % (command, step.run.status, last_lines(step)),
                    "try it alone: %s uname -n" % command)
    elif not step.nodes:
        found.wrong("%s started nothing that answered%s" % (command, last_lines(step)),
                    "give the launcher and its options, and the program by --program: the doctor "
                    "starts something else in its place")
    torn = [name for name in step.nodes if name not in where(step, lambda node: True)]
    if torn and not step.run.timed_out:
        found.wrong("%s: the answer is not complete" % listed(torn), nodes=torn)


def look_at_library(place, options, step, found):
    lacking = where(step, lambda node: node.get("library") == "no")
    if lacking:
        found.wrong("%s: %s is missing; a job with these nodes would hang in MPI_Init or fail"
                    % (listed(lacking), place.library),
                    "install collopt there, or in a folder that all nodes see: "
                    "./configure --prefix=/shared/collopt", lacking)
    there = [node for node in answered(step) if node.get("library") == "yes"]
    broken = [node for node in there if node.get("maps") != "yes"]
    if broken:
        why = ": %s" % broken[0].get("loader") if broken[0].get("loader") else ""
        found.wrong("%s: %s is there, but the loader does not take it%s"
                    % (listed(node.name for node in broken), place.library, why),
                    "build collopt on the oldest system and for the processor that these nodes "
                    "have", [node.name for node in broken])
    unset = [node.name for node in there if "libcollopt" not in node.get("preload", "")]
    if unset:
        found.wrong("%s: LD_PRELOAD does not reach the ranks" % listed(unset),
                    "have the launcher hand it on: srun --export=ALL,LD_PRELOAD=%s, "
                    "mpirun -x LD_PRELOAD=%s" % (place.library, place.library), unset)


def differ(step, found, key, what, fix):
    """Something that should be the same on all nodes."""
    values = {}
    for node in answered(step):
        values.setdefault(tuple(sorted(node.facts.get(key, []))), []).append(node.name)
    if len(values) > 1:
        parts = ["%s on %s" % (", ".join(value) or "none", listed(names))
                 for value, names in sorted(values.items())]
        found.wrong("%s: %s" % (what, "; ".join(parts)), fix, [])


def look_at_sameness(step, found):
    differ(step, found, "info", "the nodes have different versions of collopt",
           "install one version; ranks of different versions leave all reductions "
           "to the MPI library")
    differ(step, found, "file", "the nodes have different files of rules or machines",
           "copy one to all nodes, or set COLLOPT_RULES and COLLOPT_MACHINE to files that all see; "
           "ranks that differ leave all reductions to the MPI library")


SMALL_SHM = 64 << 10        # KiB


def look_at_limits(step, found):
    small = where(step, lambda node: node.get("shm", "none").isdigit()
                  and int(node.get("shm")) < SMALL_SHM)
    if small:
        found.note("%s: /dev/shm has less than 64 MiB free, which MPI libraries need "
                   "for messages on a node" % listed(small),
                   "in a container: --shm-size=1g or --ipc=host; else remove what lies in /dev/shm",
                   small)
    none = where(step, lambda node: node.get("shm") == "none")
    if none:
        found.note("%s: no /dev/shm" % listed(none), "mount -t tmpfs tmpfs /dev/shm", none)
    scope = where(step, lambda node: node.get("ptrace", "") not in ("", "0")
                  and "/dev/xpmem" not in node.facts.get("device", []))
    if scope:
        found.note("%s: kernel.yama.ptrace_scope forbids processes to read one another's memory, "
                   "so MPI libraries copy long messages of a node twice" % listed(scope),
                   "sysctl -w kernel.yama.ptrace_scope=0, or load xpmem", scope)
    locked = where(step, lambda node: node.get("memlock", "unlimited") != "unlimited"
                   and "/dev/infiniband" in node.facts.get("device", []))
    if locked:
        found.note("%s: memory that can be locked is limited, and there is InfiniBand"
                   % listed(locked),
                   "ulimit -l unlimited; in /etc/security/limits.conf: * - memlock unlimited",
                   locked)
    full = where(step, crowded)
    if full:
        found.note("%s: more ranks than processors: times say little, and MPICH waits without "
                   "yielding" % listed(full), "start fewer ranks on a node", full)


def alone(step):
    """Each rank is a world of its own: the launcher does not belong to the library."""
    sizes = [size for node in step.nodes.values() for size in node.facts.get("size", [])]
    ranks = sum(node.ranks for node in step.nodes.values())
    return ranks > 1 and bool(sizes) and all(size == "1" for size in sizes)


def failed(step):
    """Why an MPI step counts as failed; None: it does not."""
    errors = sorted({error for node in step.nodes.values()
                     for error in node.facts.get("error", [])})
    if step.run.timed_out:
        return "did not end within the time limit"
    if errors:
        return "; ".join(errors)
    if step.run.status != 0:
        return "ended with status %d" % step.run.status
    if not step.nodes:
        return "printed nothing"
    return None


def look_at_mpi(step, found):
    """The step with MPI and without collopt; False: no need to go on."""
    why = failed(step)
    if why:
        found.wrong("without collopt, a small MPI program %s%s" % (why, last_lines(step)),
                    "repair MPI under this launcher first; --mpi openmpi or mpich, or "
                    "--program FILE, says which library is meant")
        return False
    if alone(step):
        found.wrong("every rank is an MPI job of its own: the launcher does not start programs "
                    "of %s" % next(iter(step.nodes.values())).get("version", "this MPI library"),
                    "use that library's mpirun, or srun --mpi=pmix or pmi2; or say by --mpi or "
                    "--program which library is meant")
        return False
    if step.sum(2):
        found.wrong("without collopt, %d sums are wrong: the MPI library or the network is at fault"
                    % step.sum(2))
        return False
    return True


def look_at_collopt(place, options, step, found):
    why = failed(step)
    if why:
        found.wrong("with collopt, a small MPI program %s; without it did not%s"
                    % (why, last_lines(step)),
                    "COLLOPT_LOG=trace collopt %s PROGRAM shows how far it comes; please report it"
                    % " ".join(options.launcher))
        return
    if step.sum(2):
        found.wrong("with collopt, %d sums are wrong" % step.sum(2),
                    "run without collopt, and report this")
    for line in step.rest:
        if "the MPI library has " in line and "COLLOPT_OFFLOAD" in line:
            found.note(line.split("collopt: ", 1)[-1])
    unloaded = where(step, lambda node: "loaded" not in node.facts)
    if unloaded:
        found.wrong("%s: the library was not loaded into the MPI program" % listed(unloaded),
                    None, unloaded)
        return
    backless = [node for node in answered(step) if "backend" not in node.facts]
    if backless:
        found.wrong("%s: collopt has no backend for %s, or it cannot be opened: all calls go "
                    "to the MPI library"
                    % (listed(node.name for node in backless),
                       backless[0].get("version", "this MPI library")),
                    "collopt-info lists the backends; configure collopt again where mpicc of "
                    "that library is, --with-openmpi=mpicc or --with-mpich=mpicc",
                    [node.name for node in backless])
        return
    if (step.sum(1) == 0 and options.variables_right
            and not any(finding["grave"] for finding in found.list)):
        lines = [line for line in step.rest if "collopt" in line]
        found.wrong("collopt is loaded and has run no reduction%s"
                    % "".join("\n    " + line for line in lines[:4]),
                    "COLLOPT_LOG=decide collopt %s PROGRAM says why" % " ".join(options.launcher))


# ---- how fast it is ------------------------------------------------------------------------------

PART = 0.75         # of the time is for measuring; the rest for start and end
MUCH = 1.1          # so many times as fast is worth a word


def crowded(node):
    return (node.get("processors", "").isdigit()
            and node.ranks > int(node.get("processors")))


def much_slower(call):
    """Beyond the noise: the whole interval says so."""
    return call.high < 1 / MUCH and call.with_ - call.without > figures.FELT


def groups(step):
    """(where, words of collopt-bench) of what is worth measuring."""
    nodes = answered(step)
    if len(nodes) == 1:
        return [("on this node", ())]
    inside = [("inside nodes", ("--on", "nodes"))] if any(node.ranks > 1 for node in nodes) else []
    return [("between nodes", ())] + inside


def tuning(options, library):
    """The command after which the choice is made by measurements."""
    rules, launcher = os.environ.get("COLLOPT_RULES"), " ".join(options.launcher)
    if rules == "none":
        return ("collopt-tune -o collopt.rules %s, and COLLOPT_RULES=collopt.rules in place of none"
                % launcher)
    folder = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"),
                          "collopt")
    make = "" if rules or os.path.isdir(folder) else "mkdir -p %s && " % folder
    return "%scollopt-tune -o %s %s" % (
        make, rules or os.path.join(folder, library + ".rules"), launcher)


def fix_of(options, library, calls):
    forced = ["COLLOPT_" + name.upper() for name in sorted({call.collective for call in calls})]
    forced = [name for name in forced if os.environ.get(name, "auto") != "auto"]
    return "unset " + " ".join(forced) if forced else tuning(options, library)


def tell_slower(options, library, found):
    for where_, calls in options.speed:
        slow = [call for call in calls if much_slower(call)]
        if slow:
            found.note("%s the MPI library is more than 10%% faster than collopt: %s" % (
                where_, "; ".join("MPI_%s of %s, %.2f times (%.2f to %.2f)" % (
                    call.collective.capitalize(), size(call.bytes), 1 / call.ratio, 1 / call.high,
                    1 / call.low) for call in slow)), fix_of(options, library, slow))


def look_at_speed(place, options, steps, found):
    """In nodes and between them.  Where ranks outnumber processors figures say little."""
    library = library_of(answered(steps[2])[0])
    program = figures.example(place, library) if library else None
    if not program or any(crowded(node) for node in answered(steps[0])):
        return
    parts = groups(steps[2])
    for where_, words in parts:
        try:
            calls, _ = figures.measure(place, options.launcher, program,
                                       PART * options.measure / len(parts), words)
        except figures.Failed as error:
            found.note("the speed %s could not be measured: %s" % (where_, error))
            return
        options.speed.append((where_, calls))
    tell_slower(options, library, found)


# ---- what is said --------------------------------------------------------------------------------

def kib(text):
    if not text.isdigit():
        return text
    value = int(text)
    return ("%.0f GiB" % (value / (1 << 20)) if value >= 10 << 20
            else "%.0f MiB" % (value / (1 << 10)))


def devices(node, names):
    return [name for name in names if name in node.facts.get("device", [])]


def library_of(mpi):
    """openmpi or mpich, of a node in the MPI steps; None: not known."""
    version = mpi.get("version", "") if mpi else ""
    return "openmpi" if "Open MPI" in version else "mpich" if "MPICH" in version else None


def files_of(node, library):
    """Those that collopt-info --files has named there, for jobs with this MPI library."""
    lines = [(value + "   ").split(" ", 3) for value in node.facts.get("file", [])]
    used = ["%s: %s %s" % (name, kind.replace("_", " "), path.strip()) if not library
            else "%s %s" % (kind.replace("_", " "), path.strip())
            for name, kind, _, path in lines
            if path.strip() != "none" and library in (None, name)]
    return "; ".join(used) or ("none: the cost model decides" if lines else "not known")


def facts_of(node, mpi):
    """(heading, text) of a node, the same texts on nodes that are the same.
    MPI: the node in the MPI steps, or None."""
    copies = [name for path, name in (("/dev/xpmem", "xpmem"), ("/dev/knem", "knem"))
              if devices(node, (path,))]
    copies += ["CMA"] if node.get("ptrace", "") in ("", "0") else []
    gpus = [name for path, name in (("/dev/nvidia0", "NVIDIA"), ("/dev/kfd", "AMD"))
            if devices(node, (path,))]
    facts = [
        ("collopt", "%s, library %s%s" % (
            "tools missing" if node.get("info", "none") == "none" else node.get("info"),
            "readable" if node.get("library") == "yes" else "MISSING",
            "" if node.get("library") != "yes" else ", reaches the ranks by LD_PRELOAD"
            if "libcollopt" in node.get("preload", "") else ", NOT preloaded")),
        ("memory", "/dev/shm %s free; copies between processes: %s" % (
            kib(node.get("shm", "none")), ", ".join(copies) or "none but by shared memory")),
        ("GPU", (", ".join(gpus) or "none")
         + (", runtime %s" % mpi.get("gpu-runtime") if mpi and mpi.get("gpu-runtime") else "")),
        ("limits", "locked memory %s, open files %s, stack %s"
         % (kib(node.get("memlock", "?")), node.get("open-files", "?"),
            kib(node.get("stack", "?")))),
        ("files", files_of(node, library_of(mpi))),
        ("system", "%s processors, Linux %s"
         % (node.get("processors", "?"), node.get("kernel", "?"))),
    ]
    if mpi:
        version = re.sub(r" +", " ", mpi.get("version", "?").replace("Version:", "").split(",")[0])
        facts.insert(1, ("MPI", "%s, %s" % (version, mpi.get("mpi", "linked statically"))))
        hwloc = os.path.basename(mpi.get("hwloc", "none"))
        facts.insert(2, ("backend", "%s; hwloc %s" % (mpi.get("backend", "none"), hwloc)))
    return facts


def print_nodes(screen, first, last):
    """The facts of most nodes, then a line for each node that differs."""
    groups = {}
    for node in sorted(answered(first), key=lambda node: node.name):
        facts = tuple(facts_of(node, last.nodes.get(node.name) if last else None))
        groups.setdefault(facts, []).append(node.name)
    most = max(groups, key=lambda facts: len(groups[facts])) if groups else ()
    if most:
        screen.say()
        screen.heading("%s: %s" % (plural(len(groups[most]), "node"), listed(groups[most])), "  ")
    for heading, text in most:
        screen.sentence(text, "    %-9s " % heading)
    common = dict(most)
    for facts, names in groups.items():
        if facts == most:
            continue
        other = ["%s: %s" % (heading, text) for heading, text in facts
                 if common.get(heading) != text]
        other += ["no %s" % heading for heading in common if heading not in dict(facts)]
        for name in names:
            screen.sentence("differs: " + "; ".join(other), "  %s " % name, "      ")


def print_findings(screen, found):
    for finding in found.list:
        lines = finding["what"].split("\n")
        screen.sentence(lines[0], "  wrong: " if finding["grave"] else "  note: ", "      ",
                        "wrong" if finding["grave"] else "host")
        for line in lines[1:]:
            screen.say("  " + line)
        if finding["fix"]:
            screen.sentence(finding["fix"], "      fix: ")


def conclude(found, last):
    if found.grave():
        return "something is wrong"
    if last is None:
        return "nothing is wrong, but MPI was not tried"
    return ("nothing is wrong: collopt ran %d of %d reductions of a small program, all right"
            % (last.sum(1), last.sum(0)))


def report(options, steps, found):
    first = steps[0]
    last = steps[-1] if len(steps) == 3 else None
    ranks = sum(node.ranks for node in first.nodes.values())
    if options.json:
        print(json.dumps({
            "launcher": options.launcher, "program": options.program, "ranks": ranks,
            "right": not found.grave(), "findings": found.list, "summary": conclude(found, last),
            "speed": [{"where": where_, "collective": call.collective, "bytes": call.bytes,
                       "algorithm": call.algorithm, "seconds_without": call.without,
                       "seconds_with": call.with_, "ratio": call.ratio, "ratio_low": call.low,
                       "ratio_high": call.high, "much_slower": much_slower(call)}
                      for where_, calls in options.speed for call in calls],
            "nodes": [{"name": name, "ranks": node.ranks,
                       "facts": dict(facts_of(node, last.nodes.get(name) if last else None)),
                       "raw": node.facts} for name, node in sorted(first.nodes.items())],
        }, indent=2))
        return
    screen = Screen()
    screen.heading("collopt doctor: %s" % " ".join(options.launcher))
    program = "; %s is looked at and not run" % options.program if options.program else ""
    screen.sentence("%s on %s%s" % (plural(ranks, "rank"), plural(len(first.nodes), "node"),
                                    program))
    print_nodes(screen, first, last)
    screen.say()
    print_findings(screen, found)
    screen.sentence(conclude(found, last), colour="wrong" if found.grave() else "right")
    for where_, calls in options.speed:
        if not any(much_slower(call) for call in calls):
            screen.sentence("%s none of %d kinds of reductions is more than 10%% faster by the MPI "
                            "library" % (where_, len(calls)))


def examine(place, options, found):
    """The steps, as far as it makes sense to go."""
    progress = Progress("auto", "collopt doctor")
    steps = []
    look_at_variables(place, options, found)
    look_at_program(place, options, found)
    probe = ([os.path.join(place.helpers, "collopt-probe")]
             + libraries(options, kind_of(options.launcher)))
    try:
        progress.say("the nodes, without MPI")
        steps.append(launch(place, options, "nodes", True,
                            ["sh", "-c", SCRIPT, "sh", place.library,
                             os.path.join(place.tools, "collopt-info")]))
        before = len(found.list)
        look_at_start(options, steps[0], found)
        look_at_library(place, options, steps[0], found)
        look_at_sameness(steps[0], found)
        if any(finding["grave"] for finding in found.list[before:]):
            return steps
        progress.say("a small MPI program without collopt")
        steps.append(launch(place, options, "mpi", False, probe))
        if look_at_mpi(steps[1], found):
            progress.say("a small MPI program with collopt")
            steps.append(launch(place, options, "collopt", True, probe))
            look_at_collopt(place, options, steps[2], found)
        if len(steps) == 3 and options.measure and not found.grave():
            progress.say("reductions by the MPI library and by collopt, for about %s"
                         % seconds(options.measure))
            look_at_speed(place, options, steps, found)
        return steps
    finally:
        progress.clear()
        if steps:
            look_at_limits(steps[0], found)


def work(place, options):
    found = Findings()
    steps = examine(place, options, found)
    report(options, steps, found)
    return 1 if found.grave() else 0
