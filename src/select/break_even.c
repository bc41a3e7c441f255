/* When preparing pays; see break_even.h. */
#include "config.h"

#include "select/break_even.h"

#include <stdlib.h>

enum { EARNED = UINT32_MAX };

static unsigned rounds(int ranks)
{
    return ranks <= 1 ? 0 : 32u - (unsigned)__builtin_clz((unsigned)ranks - 1);
}

/* Measured on two ranks of one processor: 100 to 200 ns of a short reduction, and a sixteenth of a
 * nanosecond per byte; on eight ranks of two processors 8 us of Open MPI's 16, and milliseconds of
 * MPICH's, which does not yield; on eight hosts 50 us of Open MPI's 200, where a message takes
 * 39. */
static size_t of_round(enum collopt_surroundings where, uint64_t message)
{
    static const size_t least[] = { [COLLOPT_ON_NODE] = 120, [COLLOPT_ON_NETWORK] = 500,
                                    [COLLOPT_CROWDED] = 3000 };
    const uint64_t longest = 1000000;
    uint64_t quarter = where == COLLOPT_ON_NODE ? 0 : message / 4;

    quarter = quarter > longest ? longest : quarter;
    return quarter > least[where] ? (size_t)quarter : least[where];
}

uint32_t collopt_saving(enum collopt_surroundings where, uint64_t message, int ranks, size_t bytes)
{
    size_t saved = of_round(where, message) * rounds(ranks) + bytes / 16;

    return saved < EARNED / 2 ? (uint32_t)saved : EARNED / 2;
}

/* An allgather of two numbers, and tables of the ranks. */
uint32_t collopt_price_of_communicator(int ranks)
{
    return 10000 + 2000 * rounds(ranks) + 100 * (uint32_t)(ranks < 1 << 20 ? ranks : 1 << 20);
}

/* A choice, a schedule, and its binding.  Where there are several nodes, compositions are chosen
 * among too: predicting all takes 20 to 50 us there, and 4 to 12 on a node. */
uint32_t collopt_price_of_plan(enum collopt_surroundings where, int ranks)
{
    return where == COLLOPT_ON_NETWORK ? 20000 + 10000 * rounds(ranks)
                                       : 8000 + 5000 * rounds(ranks);
}

enum { PLACES = 128, PLACES_PER_RANK = 4, WINDOW = 32 };

bool collopt_break_even_begin(struct collopt_break_even *r, int ranks)
{
    uint32_t places = PLACES;

    while (places / PLACES_PER_RANK < (uint32_t)ranks && places < EARNED / 2)
        places *= 2;
    *r = (struct collopt_break_even){ .met = calloc(places, sizeof *r->met), .places = places };
    return r->met != NULL;
}

void collopt_break_even_end(struct collopt_break_even *r)
{
    free(r->met);
    *r = (struct collopt_break_even){ 0 };
}

static struct collopt_break_even_entry *place(const struct collopt_break_even *r, uint32_t hash,
                                              uint32_t i)
{
    return &r->met[((hash >> 1) + i % WINDOW) % r->places];
}

/* A problem is in one of the WINDOW places from that of its hash on.  Where the problems in all of
 * these have reached break-even, nothing is changed: ranks look up only problems that they have no
 * plan for, and these may differ between ranks. */
static struct collopt_break_even_entry *place_of(struct collopt_break_even *r, uint32_t hash)
{
    for (uint32_t i = 0; i < WINDOW; i++) {
        struct collopt_break_even_entry *next = place(r, hash, i);

        if (next->problem == hash || next->problem == 0)
            return next;
    }
    for (uint32_t i = 0; i < WINDOW; i++) {
        struct collopt_break_even_entry *next = place(r, hash, r->turn + i);

        if (next->earned != EARNED) {
            r->turn += i + 1;
            return next;
        }
    }
    return NULL;
}

bool collopt_break_even_reached(struct collopt_break_even *r, uint64_t problem, uint32_t saving,
                                uint32_t price)
{
    uint32_t hash = (uint32_t)(problem ^ problem >> 32) | 1;
    struct collopt_break_even_entry *p = place_of(r, hash);

    if (!p || p->earned == EARNED)
        return true;
    if (p->problem != hash)
        *p = (struct collopt_break_even_entry){ .problem = hash };
    p->earned += saving;
    if (p->earned >= price)
        p->earned = EARNED;
    return p->earned == EARNED;
}
