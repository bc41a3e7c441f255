"""python -m collopt, and the commands that pip makes: see usage()."""

import os
import sys

from . import LIBRARY, PREFIX

# What mpi4py calls an MPI library, and the part of collopt that serves it. The derivatives of MPICH
# have its ABI.
PARTS = {"Open MPI": "openmpi", "MPICH": "mpich", "Intel MPI": "mpich", "MVAPICH2": "mpich",
         "MVAPICH": "mpich"}


def usage():
    return """Usage: LAUNCHER python -m collopt run SCRIPT|-m MODULE [ARGUMENT]...
       python -m collopt COMMAND [ARGUMENT]...
run       in each rank: runs SCRIPT or MODULE, which uses mpi4py, by this
          Python, with collopt preloaded
COMMAND   as collopt COMMAND: a launcher and what it starts, or compare,
          profile, doctor, ps, demo; python -m collopt --help lists all"""


class Wrong(Exception):
    """What cannot be done, in words for the user."""


def environment():
    """With this folder's library first, and its measurements of machines before the system's."""
    found = dict(os.environ)
    folders = found.get("XDG_DATA_DIRS") or "/usr/local/share:/usr/share"
    found["XDG_DATA_DIRS"] = os.path.join(PREFIX, "share") + ":" + folders
    return found


def check_mpi():
    """Ends where this Python's mpi4py is for an MPI library that this build of collopt does not
    serve. Which it is, mpi4py knows without MPI_Init."""
    try:
        import mpi4py
        mpi4py.rc.initialize = False
        from mpi4py import MPI
    except (ImportError, RuntimeError) as why:
        raise Wrong("run is for programs that use mpi4py, which %s cannot load: %s"
                    % (sys.executable, why))
    vendor = MPI.get_vendor()[0]
    parts = os.path.join(PREFIX, "lib", "collopt")
    have = sorted(name[len("libcollopt-"):-len(".so")] for name in os.listdir(parts))
    if "abi" not in have and PARTS.get(vendor) not in have:
        raise Wrong("mpi4py is for %s; this build of collopt serves %s"
                    % (vendor, " and ".join(have)))


def run(words):
    if not words or words[0] in ("-h", "--help"):
        print(usage(), file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words else 2)
    check_mpi()
    found = environment()
    others = [each for each in found.get("LD_PRELOAD", "").split(":")
              if each and "libcollopt.so" not in each]
    found["LD_PRELOAD"] = ":".join([LIBRARY] + others)
    os.execve(sys.executable, [sys.executable] + words, found)


def command(name, words):
    path = os.path.join(PREFIX, "bin", name)
    if not os.path.exists(path):
        raise Wrong("this wheel has no %s" % name)
    os.execve(path, [path] + words, environment())


def ended(action, *words):
    try:
        action(*words)
    except Wrong as why:
        sys.exit("collopt: %s" % why)


def script():
    """Of the commands that pip makes: that of their own name."""
    ended(command, os.path.basename(sys.argv[0]), sys.argv[1:])


def main():
    if sys.argv[1:2] == ["run"]:
        ended(run, sys.argv[2:])
    ended(command, "collopt", sys.argv[1:])


if __name__ == "__main__":
    main()
