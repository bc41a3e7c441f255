/* Choices that do not follow from predictions; see measured.h. */
#include "config.h"

#include "select/measured.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "settings/settings.h"
#include "settings/bundled.h"
#include "topology/topology.h"

void collopt_machine_as_set(struct collopt_machine *m, enum collopt_network network, bool shm,
                            bool bundled)
{
    static const struct collopt_bundled none;
    const struct collopt_machine_file *users = collopt_settings()->machine;
    const struct collopt_bundled *more =
        bundled && network != COLLOPT_TORUS ? collopt_bundled() : &none;

    collopt_machine_pick(m, network, shm, users ? users : more->machine);
    m->measured = more->rules;
}

static bool serves(const char *algorithm, const struct collopt_problem *p,
                   struct collopt_choice *choice)
{
    char message[256];

    return collopt_parse_choice(algorithm, p->collective, choice, message, sizeof message)
        && collopt_choice_usable(choice, p, NULL);
}

/* A TCP connection that has rested restarts with a window of about 15 KB (RFC 5681, 6928): long
 * parts are faster round a ring, whose neighbours never change, than in fewer rounds with ever new
 * ones. 8 hosts at 200 Mbit/s, 4 MiB: Allreduce 374 ms by ring, 627 by rabenseifner;
 * Reduce_scatter 182, and 351 by recursive_halving; 256 KiB: Allreduce 32, 46 to 52 by swing.
 * Rings of one rank of each node send less through the nodes' ports than one of all ranks: 4 such
 * hosts of 2 ranks, 4 MiB: Allreduce 311 and 371 ms, Reduce_scatter 177 and 195; by lanes with
 * swing 462 and 225. */
bool collopt_long_over_tcp(const struct collopt_problem *p, struct collopt_choice *choice)
{
    const size_t part = 32 << 10;
    bool shared_out = p->collective == COLLOPT_ALLREDUCE || collopt_scatters(p->collective);

    if (!shared_out || !collopt_over_tcp(p) || p->count * p->size / (size_t)p->ranks < part)
        return false;
    return (p->topology->nodes < p->ranks && serves("lanes:net=(ring)", p, choice))
        || serves("ring", p, choice);
}
