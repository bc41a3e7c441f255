"""k-means on all ranks by mpi4py: a program of the bench/apps.

    kmeans.py [POINTS [CLUSTERS [ITERATIONS]]]

points of each rank (2000), clusters (64), iterations (20).

Every rank has points of its own on a grid, with whole coordinates; an iteration assigns each to the
nearest centre and needs the sums and the numbers of the points of all ranks for each cluster: one
Allreduce of 3 x CLUSTERS doubles.  Sums of whole numbers are exact, so the centres do not depend on
the order of summation.
"""
import array
import sys
import time

from mpi4py import MPI

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.rank, COMM.size
SIDE = 1024


def points(n):
    """N pairs of whole coordinates, other ones on each rank (a linear congruential generator)."""
    state, made = RANK + 1, []
    for _ in range(n):
        state = (state * 1103515245 + 12345) % 2**31
        made.append((state // 64 % SIDE, state // 64 // SIDE % SIDE))
    return made


def assign(mine, centres):
    """Sums of x and of y, and numbers, of the points nearest to each centre."""
    sums = array.array("d", [0.0]) * (3 * len(centres))
    for x, y in mine:
        best = min(range(len(centres)),
                   key=lambda c: (centres[c][0] - x) ** 2 + (centres[c][1] - y) ** 2)
        sums[3 * best] += x
        sums[3 * best + 1] += y
        sums[3 * best + 2] += 1
    return sums


def main():
    try:
        given = [int(word) for word in sys.argv[1:]]
        n, clusters, iterations = given + [2000, 64, 20][len(given):]
    except ValueError:
        sys.exit("usage: kmeans.py [POINTS [CLUSTERS [ITERATIONS]]], all of them whole numbers")
    mine = points(n)
    centres = [(SIDE * (c % 8) / 8, SIDE * (c // 8) / 8) for c in range(clusters)]
    reducing = 0.0
    start = time.perf_counter()
    for _ in range(iterations):
        sums = assign(mine, centres)
        total = array.array("d", sums)
        before = time.perf_counter()
        COMM.Allreduce([sums, MPI.DOUBLE], [total, MPI.DOUBLE], MPI.SUM)
        reducing += time.perf_counter() - before
        centres = [(total[3 * c] / total[3 * c + 2], total[3 * c + 1] / total[3 * c + 2])
                   if total[3 * c + 2] else centres[c]
                   for c in range(clusters)]
    seconds = time.perf_counter() - start
    alike = COMM.allgather(centres)
    wrong = sum(other != centres for other in alike)
    if RANK == 0:
        print(f"kmeans: {n * RANKS} points, {clusters} clusters, {iterations} iterations, "
              f"centres add up to {sum(x + y for x, y in centres):.9f}, {wrong} ranks differ")
        print(f"time: {seconds:.6f} s, {reducing:.6f} s of it in reductions")
    sys.exit(wrong > 0)


main()
