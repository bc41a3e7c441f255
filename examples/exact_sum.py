"""An exact sum of arrays that are divided among the ranks, by collopt_exact_sum of collopt.h.

    mpirun -n 4 env LD_PRELOAD=libcollopt.so python3 exact_sum.py

The same bits on any number of ranks.  The arrays are numpy's, or of the module array.  Needs
mpi4py, and collopt in the process.
"""
import array
import ctypes
import fractions
import sys

from mpi4py import MPI

SUM, SQUARES, DOT = 0, 1, 2                     # COLLOPT_EXACT_...
TYPES = {'f': 0, 'd': 1, 'Zf': 2, 'Zd': 3}      # by the format of a buffer
RESULTS = [ctypes.c_float, ctypes.c_double, ctypes.c_float * 2, ctypes.c_double * 2]

try:
    collopt_exact_sum = ctypes.CDLL(None).collopt_exact_sum
except AttributeError:
    sys.exit('exact_sum.py: collopt is not in this process; start it with LD_PRELOAD=libcollopt.so')
collopt_exact_sum.argtypes = [
    ctypes.c_int, ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_void_p,
    ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_int]


def where(x):
    """Address and stride of an array of one dimension, the stride in elements."""
    address = x.buffer_info()[0] if isinstance(x, array.array) else x.ctypes.data
    return address, memoryview(x).strides[0] // x.itemsize


def exact_sum(x, y=None, comm=MPI.COMM_WORLD):
    """The sum of x over all ranks of comm, or of x * y, correctly rounded; a pair if complex."""
    kind = TYPES[memoryview(x).format]
    result = RESULTS[kind]()
    error = collopt_exact_sum(SUM if y is None else DOT, kind, len(x), *where(x),
                              *(where(y) if y is not None else (None, 0)), ctypes.byref(result),
                              comm.py2f())
    if error:
        raise RuntimeError(f'collopt_exact_sum: error {error}')
    return result.value if kind < 2 else tuple(result)


def main():
    """Every rank compares with the exact sum of the whole array, by fractions."""
    comm = MPI.COMM_WORLD
    whole = [(-1) ** i * 1e10 / (i * i + 1) for i in range(1000)]
    mine = array.array('d', whole[comm.rank::comm.size])
    right = (float(sum(map(fractions.Fraction, whole))),
             float(sum(fractions.Fraction(x) ** 2 for x in whole)))
    found = exact_sum(mine), exact_sum(mine, mine)
    if comm.rank == 0:
        print('exact_sum.py:', *(x.hex() for x in found))
    return 0 if found == right else 1


if __name__ == '__main__':
    sys.exit(main())
