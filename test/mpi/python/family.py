"""The family of reductions from mpi4py, which loads its MPI library itself,
out of sight of the program (RTLD_LOCAL).

    family.py [LIBRARY]

With collopt preloaded, or with LIBRARY loaded by mpi4py.profile().  Every result is compared with a
serial fold in rank order; every call must have been counted by collopt exactly once.
"""
import array
import ctypes
import functools
import sys

import mpi4py

if len(sys.argv) > 1:
    mpi4py.profile(sys.argv[1])
from mpi4py import MPI  # noqa: E402  (profile() comes first)

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size
MODULUS = 9973
wrong = 0
checks = 0

try:
    collopt = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else None)
    calls, passed = collopt.collopt_calls, collopt.collopt_calls_passed
    calls.restype = passed.restype = ctypes.c_uint64
except AttributeError:
    calls = None


def counted():
    """What collopt ran, and what it left to the MPI library."""
    return (calls(None, None), passed(None)) if calls else (0, 0)


def element(rank, i):
    return [(rank * 31 + i * 17) % 97 + 2, (rank * 7 + i) % 89]


def add(a, b):
    return [a[0] + b[0], a[1] + b[1]]


def compose(a, b):
    """Affine maps x -> a[0] x + a[1], one after the other: associative, not commutative."""
    return [a[0] * b[0] % MODULUS, (a[1] * b[0] + b[1]) % MODULUS]


def compose_user(a, b, datatype):
    a, b = memoryview(a).cast("B").cast("i"), memoryview(b).cast("B").cast("i")
    for i in range(0, len(b), 2):
        b[i], b[i + 1] = compose(a[i:i + 2], b[i:i + 2])


def fold(combine, width, first, last, elements):
    """The elements (a range), WIDTH values each, combined over ranks first..last, as one list."""
    result = []
    for i in elements:
        result += functools.reduce(combine, (element(r, i) for r in range(first, last + 1)))[:width]
    return result


def check(what, call, buffer, expected, local=False):
    """Makes a call that fills BUFFER and compares its beginning with EXPECTED (None: nothing to
    compare).

    Collopt must have run it, unless there is one rank; a local one need not be counted.
    """
    global wrong, checks
    before = counted()
    call()
    ran, left = (now - then for now, then in zip(counted(), before))
    checks += 1
    if expected is not None and list(buffer[:len(expected)]) != expected:
        wrong += 1
        print(f"mpi4py: {what}: wrong result on rank {RANK} of {RANKS}", flush=True)
    if calls and not local and (ran + left != 1 or RANKS > 1 and ran != 1):
        wrong += 1
        print(f"mpi4py: {what}: {ran} calls counted, {left} passed through on rank {RANK} of "
              f"{RANKS}", flush=True)


def family(name, combine, op, datatype, code, width, n):
    total = range(n * RANKS)
    counts = [(r + 1) % 3 * n // 3 for r in range(RANKS)]      # unequal, some are 0
    root = RANKS - 1 if calls else 0
    start = sum(counts[:RANK])
    own = range(start, start + counts[RANK])
    everything = fold(combine, width, 0, RANKS - 1, range(n))
    prefix = fold(combine, width, 0, RANK, range(n))
    before = fold(combine, width, 0, RANK - 1, range(n)) if RANK else None

    def mine():
        return array.array(code, fold(combine, width, RANK, RANK, total))

    for in_place in False, True:
        where = f"{name}, {'in place' if in_place else 'separate'}"
        send = [MPI.IN_PLACE if in_place else [mine(), size, datatype] for size in (n, sum(counts))]
        out = array.array(code, [0] * (width * n * RANKS))
        receive = [out, n, datatype]

        def reset():
            out[:] = mine() if in_place else array.array(code, [-77] * len(out))

        reset()
        check(f"Allreduce, {where}", lambda: COMM.Allreduce(send[0], receive, op), out, everything)
        reset()
        if in_place and RANK != root:
            check(f"Reduce, {where}", lambda: COMM.Reduce([out, n, datatype], None, op, root), out,
                  list(mine()))
        else:
            check(f"Reduce, {where}",
                  lambda: COMM.Reduce(send[0], receive if RANK == root else None, op, root), out,
                  everything if RANK == root else [-77] * n)
        reset()
        room = sum(counts) if in_place else counts[RANK]
        check(f"Reduce_scatter, {where}",
              lambda: COMM.Reduce_scatter(send[1], [out, room, datatype], counts, op),
              out, fold(combine, width, 0, RANKS - 1, own))
        reset()
        check(f"Reduce_scatter_block, {where}",
              lambda: COMM.Reduce_scatter_block(send[0], receive, op),
              out, fold(combine, width, 0, RANKS - 1, range(RANK * n, RANK * n + n)))
        reset()
        check(f"Scan, {where}", lambda: COMM.Scan(send[0], receive, op), out, prefix)
        reset()
        check(f"Exscan, {where}", lambda: COMM.Exscan(send[0], receive, op), out, before)
        for method, result in (("Iallreduce", everything), ("Iscan", prefix), ("Iexscan", before)):
            reset()
            check(f"{method}, {where}", lambda: getattr(COMM, method)(send[0], receive, op).Wait(),
                  out, result)
    if RANK:
        out = mine()
        left = array.array(code, before)
        check(f"Reduce_local, {name}",
              lambda: op.Reduce_local([left, n, datatype], [out, n, datatype]), out, prefix,
              local=True)


def objects():
    """The lowercase methods combine Python objects by messages; no reduction of MPI is called."""
    global wrong
    before = counted()
    sums = [method(RANK + 1) for method in (COMM.allreduce, COMM.scan, COMM.reduce, COMM.exscan)]
    if sums[:2] != [RANKS * (RANKS + 1) // 2, (RANK + 1) * (RANK + 2) // 2] or counted() != before:
        wrong += 1
        print(f"mpi4py: objects: {sums}, calls {before}, then {counted()} on rank {RANK} of "
              f"{RANKS}", flush=True)


def main():
    pair = MPI.INT.Create_contiguous(2).Commit()
    composition = MPI.Op.Create(compose_user, commute=False)

    family("sum of doubles", add, MPI.SUM, MPI.DOUBLE, "d", 1, 7)
    family("sum of doubles, long", add, MPI.SUM, MPI.DOUBLE, "d", 1, 3001)
    family("composition", compose, composition, pair, "i", 2, 5)
    family("composition, long", compose, composition, pair, "i", 2, 700)
    composition.Free()
    pair.Free()
    objects()
    if RANK == 0:
        print(f"mpi4py: {checks} checks on {RANKS} ranks{', counted by collopt' if calls else ''}")
    sys.exit(wrong > 0)


main()
