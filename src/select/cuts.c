/* Where long messages are cut: what was measured of the hosts' ways of sending them.
 *
 * Short messages are eager: the host copies them to where the receiver finds them, and their sender goes on.  Longer
 * ones wait for the receiver, who copies them out of the sender's memory; this takes a system call, and a message there
 * and back.  Some that are a little longer are faster in eager pieces, the more so if each is combined while the next
 * one is under way.  And of very long messages the caches still hold what has just been received if it is combined
 * piece by piece (piecewise.c).
 *
 * All ranks of a communicator come to the same cuts, since these depend on nothing but what they agree on. */
#include "config.h"

#include "select/choose.h"
#include "select/machine.h"

#define K   * (size_t)1024
#define M   * (size_t)1048576

#define ANY     COLLOPT_OTHER_MPI
#define OPEN    COLLOPT_OPENMPI
#define MPICH   COLLOPT_MPICH

/* On one node, with inputs that are written before each call, as in measured.c; us. */
static const struct row {
    enum collopt_collective collective;
    enum collopt_mpi mpi;       /* ANY, or of this host alone */
    int ranks;                  /* up to so many */
    size_t above, most;         /* messages of more bytes, and no more */
    size_t piece;
    bool in_turn;
} rows[] = {
    /* Open MPI has a shorter way for up to 256 bytes, of which a rank may send 3 million in a second, and one million
     * that are longer.  Where one rank only sends: Reduce of 512 bytes 1.1 and 0.5; there and back, one way, 0.86 and
     * 0.75, of 384 bytes 0.72 and 0.86.  8 ranks on 2 processors, 512 bytes: Reduce 27 and 6, Scan by a chain 17 and
     * 10. */
    { COLLOPT_REDUCE,               OPEN,  16,  256,  512,  256, true },
    { COLLOPT_SCAN,                 OPEN,  16,  256,  512,  256, true },
    { COLLOPT_EXSCAN,               OPEN,  16,  256,  512,  256, true },
    /* Open MPI, eager up to 4 KiB with its header.  Two ranks: Allreduce of 4 KiB 3.8 and 2.6, 12 KiB 6.2 and 5.6;
     * Reduce_scatter of 8 KiB 3.4 and 2.8; Scan of 4 KiB 2.5 and 1.9, 16 KiB 5.5 and 4.4, 64 KiB 15.8 and 16.1; Reduce
     * of 4 KiB 3.1 and 2.6, 32 KiB 10.9 and 9.1, Exscan 3.4 and 2.4, 10.1 and 8.4.  8 ranks on 2 processors: Allreduce
     * of 8 KiB 37 and 31, Scan 22 and 29. */
    { COLLOPT_ALLREDUCE,            OPEN,  16, 4000, 12 K, 4000, false },
    { COLLOPT_REDUCE_SCATTER,       OPEN,  16, 4000,  8 K, 4000, false },
    { COLLOPT_REDUCE_SCATTER_BLOCK, OPEN,  16, 4000,  8 K, 4000, false },
    { COLLOPT_SCAN,                 OPEN,   2, 4000, 32 K, 4000, true },
    { COLLOPT_REDUCE,               OPEN,   2, 4000, 32 K, 4000, true },
    { COLLOPT_EXSCAN,               OPEN,   2, 4000, 32 K, 4000, true },
    /* MPICH, eager up to 8 KiB, where a handshake takes longer.  Two ranks: Reduce of 16 KiB 6.1 and 1.6, of 64 KiB 17
     * and 7, of 1 MiB 182 and 121; Scan likewise; Reduce_scatter of 64 KiB 8.2 and 7.3, of 256 KiB 21 and 29.  8 ranks
     * on 2 processors: Reduce of 64 KiB 2640 and 820, Scan 3030 and 700. */
    { COLLOPT_ALLREDUCE,            MPICH,  2, 8 K, 48 K, 8 K, false },
    { COLLOPT_REDUCE_SCATTER,       MPICH,  2, 8 K, 48 K, 8 K, false },
    { COLLOPT_REDUCE_SCATTER_BLOCK, MPICH,  2, 8 K, 48 K, 8 K, false },
    { COLLOPT_REDUCE,               MPICH, 16, 8 K,  1 M, 8 K, true },
    { COLLOPT_SCAN,                 MPICH, 16, 8 K,  1 M, 8 K, true },
    { COLLOPT_EXSCAN,               MPICH, 16, 8 K,  1 M, 8 K, true },
    /* 2 MiB of cache for each processor.  Open MPI: Allreduce of 4 MiB 628 and 587, Reduce 710 and 659, Reduce_scatter
     * 390 and 339, Scan 845 and 675, of 1 MiB 187 and 179, of 512 KiB 76 and 84.  MPICH: 8 MiB of Reduce_scatter 875
     * and 700. */
    { COLLOPT_ALLREDUCE,            ANY,    2, 512 K, 0, 256 K, true },
    { COLLOPT_REDUCE,               ANY,    2,   1 M, 0, 256 K, true },
    { COLLOPT_REDUCE_SCATTER,       ANY,    2, 512 K, 0, 256 K, true },
    { COLLOPT_REDUCE_SCATTER_BLOCK, ANY,    2, 512 K, 0, 256 K, true },
    { COLLOPT_SCAN,                 ANY,    2,   1 M, 0, 256 K, true },
};

bool collopt_over_tcp(const struct collopt_problem *p)
{
    const double slow = 1e-9;           /* seconds per byte */
    bool between = p->abreast > 0 || (p->topology->nodes > 1 && !p->topology->wired);

    return between && p->machine && p->machine->way[COLLOPT_BETWEEN].byte > slow;
}

/* Over TCP, Open MPI sends what needs a handshake by a protocol that waits again and again.  8 hosts at 200 Mbit/s,
 * whole messages and pieces that are just eager: Reduce_scatter of 512 KiB by ring 53 and 34 ms, of 4 MiB 243 and 185;
 * of 4 MiB by elimination 349 and 237.  Pieces may be copied on their way, so not those of very long vectors. */
static size_t eager_over_tcp(const struct collopt_problem *p)
{
    double eager = collopt_over_tcp(p) && p->machine->mpi == COLLOPT_OPENMPI ? p->machine->way[COLLOPT_BETWEEN].eager : 0;

    return eager >= 16 K && p->count * p->size <= 16 M ? (size_t)(eager * 15 / 16) : 0;      /* the header takes some */
}

static bool holds(const struct row *r, const struct collopt_problem *p)
{
    return r->collective == p->collective && p->ranks <= r->ranks && p->topology->nodes == 1 && !p->topology->wired
        && p->machine && !p->machine->shm && (r->mpi == p->machine->mpi || r->mpi == ANY);
}

void collopt_cuts(const struct collopt_problem *p, struct collopt_cut cut[COLLOPT_CUTS])
{
    size_t eager = eager_over_tcp(p);
    int n = 0;

    if (eager > 0)
        cut[n++] = (struct collopt_cut){ .above = eager, .piece = eager };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && n + 2 < COLLOPT_CUTS; i++)
        if (holds(&rows[i], p)) {
            cut[n++] = (struct collopt_cut){ rows[i].above, rows[i].piece, rows[i].in_turn };
            if (rows[i].most > 0)
                cut[n++] = (struct collopt_cut){ rows[i].most, SIZE_MAX, false };
        }
    cut[n] = (struct collopt_cut){ 0 };
}
