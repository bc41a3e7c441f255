/* When preparing pays; see rental.h. */
#include "rental.h"

enum { EARNED = UINT32_MAX };

static unsigned rounds(int ranks)
{
    return ranks <= 1 ? 0 : 32u - (unsigned)__builtin_clz((unsigned)ranks - 1);
}

/* Measured on two ranks of one processor: 100 to 200 ns of a short reduction, and a sixteenth of a nanosecond per byte; on
 * eight ranks of two processors 8 us of Open MPI's 16, and milliseconds of MPICH's, which does not yield. */
uint32_t collopt_saving(enum collopt_surroundings where, int ranks, size_t bytes)
{
    static const size_t of_round[] = { [COLLOPT_ON_NODE] = 120, [COLLOPT_ON_NETWORK] = 500, [COLLOPT_CROWDED] = 3000 };
    size_t saved = of_round[where] * rounds(ranks) + bytes / 16;

    return saved < EARNED / 2 ? (uint32_t)saved : EARNED / 2;
}

/* An allgather of two numbers, and tables of the ranks. */
uint32_t collopt_price_of_communicator(int ranks)
{
    return 10000 + 2000 * rounds(ranks) + 100 * (uint32_t)(ranks < 1 << 20 ? ranks : 1 << 20);
}

/* A choice, a schedule, and its binding. */
uint32_t collopt_price_of_plan(int ranks)
{
    return 20000 + 10000 * rounds(ranks);
}

/* Where all of a set have earned theirs nothing is changed: ranks ask only for problems that they have no plan for, and
 * which these are may differ. */
static struct collopt_rented *place_of(struct collopt_rental *r, uint32_t hash)
{
    struct collopt_rented *set = r->met[(hash >> 1) % COLLOPT_RENTAL_SETS];

    for (int i = 0; i < COLLOPT_RENTAL_WAYS; i++)
        if (set[i].problem == hash)
            return &set[i];
    for (unsigned i = 0; i < COLLOPT_RENTAL_WAYS; i++) {
        struct collopt_rented *next = &set[(r->turn + i) % COLLOPT_RENTAL_WAYS];

        if (next->earned != EARNED) {
            r->turn += i + 1;
            return next;
        }
    }
    return NULL;
}

bool collopt_earned(struct collopt_rental *r, uint64_t problem, uint32_t saving, uint32_t price)
{
    uint32_t hash = (uint32_t)(problem ^ problem >> 32) | 1;
    struct collopt_rented *p = place_of(r, hash);

    if (!p || p->earned == EARNED)
        return true;
    if (p->problem != hash)
        *p = (struct collopt_rented){ .problem = hash };
    p->earned += saving;
    if (p->earned >= price)
        p->earned = EARNED;
    return p->earned == EARNED;
}
