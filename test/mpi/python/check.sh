# Finds a Python that has mpi4py, and the MPI that this mpi4py is for: sets $python, $host and
# $family.
# Sourced by preload.sh and profile.sh.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

family=$top/test/mpi/python/family.py
host=
for python in ${PYTHON-} python3 /usr/bin/python3; do
    # The version is known without MPI_Init.
    vendor=$($python -c 'import mpi4py; mpi4py.rc.initialize = False
from mpi4py import MPI; print(MPI.get_vendor()[0])' 2>/dev/null) || continue
    case $vendor in
    'Open MPI') host=openmpi ;;
    MPICH) host=mpich ;;
    esac
    [ -z "$host" ] || break
done
[ -n "$host" ] || skip "no Python with an mpi4py for Open MPI or MPICH"
built_for "$host" || skip "mpi4py is for $host, for which collopt is not built"
