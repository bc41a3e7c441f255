/* Nodes as groups of ranks; see groups.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "groups.h"
#include "model/model.h"

size_t collopt_preset_by(const struct collopt_problem *p)
{
    (void)p;
    return 0;
}

/* Nodes may have different numbers of ranks, where blocks are alike. */
enum collopt_collective collopt_between(const struct collopt_problem *p)
{
    return collopt_scatters(p->collective) ? COLLOPT_REDUCE_SCATTER
        : collopt_is_prefix(p->collective) ? COLLOPT_EXSCAN
                               : p->collective;
}

int collopt_node_of(const struct collopt_problem *p, int rank)
{
    return p->topology->nodes == 1 ? 0 : p->topology->node[rank];
}

int collopt_local_of(const struct collopt_groups *g, int node, int rank)
{
    const int *member = collopt_members(g, node);
    int i = 0;

    while (member[i] != rank)
        i++;
    return i;
}

int collopt_local_number(const struct collopt_problem *p, int rank)
{
    int n = 0;

    for (int r = 0; r < rank; r++)
        n += collopt_node_of(p, r) == collopt_node_of(p, rank);
    return n;
}

bool collopt_groups(struct collopt_schedule *s, const struct collopt_problem *p, int rank,
                    struct collopt_groups *g)
{
    int nodes = p->topology->nodes;

    *g = (struct collopt_groups){ .nodes = nodes, .node = collopt_node_of(p, rank) };
    g->member = collopt_workspace(s, (size_t)p->ranks * sizeof *g->member);
    g->start = collopt_workspace(s, ((size_t)nodes + 2) * sizeof *g->start);
    if (!g->member || !g->start) {
        collopt_groups_free(g);
        return false;
    }
    memset(g->start, 0, ((size_t)nodes + 2) * sizeof *g->start);
    for (int r = 0; r < p->ranks; r++)
        g->start[collopt_node_of(p, r) + 2]++;
    for (int k = 0; k < nodes; k++)
        g->start[k + 2] += g->start[k + 1];
    for (int r = 0; r < p->ranks; r++)
        g->member[g->start[collopt_node_of(p, r) + 1]++] = r;
    g->ranks = collopt_node_ranks(g, g->node);
    g->local = collopt_local_of(g, g->node, rank);
    return true;
}

void collopt_groups_free(struct collopt_groups *g)
{
    free(g->member);
    free(g->start);
    g->member = g->start = NULL;
}

/* ---- the algorithms inside ------------------------------------------------------------------- */

struct collopt_problem collopt_inner_problem(const struct collopt_problem *p,
                                             struct collopt_task task, int ranks)
{
    static const struct collopt_topology nodes = { .nodes = 1 },
                                         caches = { .nodes = 1, .inside = true };
    bool inside = p->topology->inside;

    if (task.all) {
        struct collopt_problem all = *p;

        all.collective = task.collective;
        all.counts = NULL;
        all.segments = 1;
        memset(all.value, 0, sizeof all.value);
        return all;
    }
    return (struct collopt_problem){
        .collective = task.collective, .ranks = ranks,
        .count = (p->count + (size_t)task.n - 1) / (size_t)task.n, .size = p->size,
        .commutative = p->commutative, .exact = p->exact, .segments = 1,
        .topology = inside ? &caches : &nodes, .machine = p->machine, .abreast = task.abreast,
        .beside = inside ? p->topology->nodes : 0,
    };
}

/* Can CHOICE, all of whose values are set, serve groups of every size? */
static bool serves(const struct collopt_problem *p, struct collopt_task task,
                   const struct collopt_choice *choice)
{
    for (int n = task.least; n <= task.most; n++) {
        struct collopt_problem inner = collopt_inner_problem(p, task, n);

        memcpy(inner.value, choice->value, sizeof inner.value);
        if (!collopt_usable(choice->algorithm, &inner, NULL))
            return false;
    }
    return true;
}

/* Sets what CHOICE leaves open, for the largest group. */
static struct collopt_problem complete(const struct collopt_problem *p,
                                       struct collopt_task task,
                                       struct collopt_choice *choice)
{
    struct collopt_problem inner = collopt_inner_problem(p, task, task.most);

    collopt_set_parameters(&inner, choice);
    memcpy(choice->value, inner.value, sizeof choice->value);
    return inner;
}

static struct collopt_choice cheapest(const struct collopt_problem *p,
                                      struct collopt_task task)
{
    struct collopt_choice best = { .algorithm = NULL };
    double least_time = 0;

    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        struct collopt_choice choice = { .algorithm = *a };
        struct collopt_problem inner;
        double time = 0;

        if ((*a)->collective != task.collective || (*a)->grouped || (*a)->parameter[0].algorithm
            || collopt_parameter_named(*a, "dims") >= 0)
            continue;           /* what is made of others is too much here, and groups are no
                                 * grids */
        inner = complete(p, task, &choice);
        if (!serves(p, task, &choice))
            continue;
        if (task.most > 1)             /* one rank has nothing to do: the first that comes */
            time = collopt_model(*a, &inner);
        if (!best.algorithm || time < least_time) {
            best = choice;
            least_time = time;
        }
    }
    return best;
}

size_t collopt_inner_value(const struct collopt_problem *p, struct collopt_task task,
                           struct collopt_choice choice)
{
    complete(p, task, &choice);
    return collopt_choice_number(&choice);
}

static const struct collopt_choice *choice_for(const struct collopt_problem *p,
                                               struct collopt_task task)
{
    return collopt_choice_numbered(p->value[task.parameter]);
}

size_t collopt_inner_preset(const struct collopt_problem *p, struct collopt_task task)
{
    const struct collopt_choice *said = choice_for(p, task);

    return collopt_inner_value(p, task, said ? *said : cheapest(p, task));
}

int collopt_inner_segments(const struct collopt_problem *p, struct collopt_task task)
{
    const struct collopt_choice *choice = choice_for(p, task);
    struct collopt_problem inner = collopt_inner_problem(p, task, task.most);

    if (!choice || !choice->algorithm->segments)
        return 1;
    memcpy(inner.value, choice->value, sizeof inner.value);
    return choice->algorithm->segments(&inner);
}

bool collopt_inner_usable(const struct collopt_problem *p, struct collopt_task task)
{
    const struct collopt_choice *choice = choice_for(p, task);

    return choice && !choice->algorithm->grouped && serves(p, task, choice);
}

double collopt_inner_time(const struct collopt_problem *p, struct collopt_task task)
{
    const struct collopt_choice *choice = choice_for(p, task);
    struct collopt_problem inner = collopt_inner_problem(p, task, task.most);

    if (!choice || task.most == 1)
        return 0;
    memcpy(inner.value, choice->value, sizeof inner.value);
    inner.segments = collopt_packed_segments(p->segments, task.which);
    inner.root = least(task.root, task.most - 1);
    return collopt_model(choice->algorithm, &inner);
}

void collopt_inner_traffic(const struct collopt_problem *p, struct collopt_task task,
                           struct collopt_traffic *t)
{
    collopt_inner_seconds(t, collopt_inner_time(p, task));
}

struct collopt_inner collopt_inner(const struct collopt_problem *p, struct collopt_task task)
{
    const struct collopt_choice *choice = choice_for(p, task);
    struct collopt_inner inner = { .algorithm = choice->algorithm,
                                   .segments = collopt_packed_segments(p->segments, task.which) };

    memcpy(inner.value, choice->value, sizeof inner.value);
    return inner;
}

/* ---- moving data inside a node --------------------------------------------------------------- */

void collopt_broadcast(struct collopt_schedule *s, const int *member, int ranks, int index,
                       int root, struct collopt_region what)
{
    int v = modulo(index - root, ranks), width = 1;

    while (width < ranks && !(v & width))
        width *= 2;
    if (v > 0) {
        collopt_round(s);
        collopt_receive(s, member[modulo(v - width + root, ranks)], what);
    }
    for (int w = width / 2; w >= 1; w /= 2)
        if (v + w < ranks) {
            collopt_round(s);
            collopt_send(s, member[(v + w + root) % ranks], what);
        }
}

void collopt_hand_out(struct collopt_schedule *s, const struct collopt_groups *g, int n, int parts,
                      int place)
{
    const int *mate = collopt_mates(g);
    struct collopt_block own = block(parts, mate[g->local], 1);

    collopt_round(s);
    if (g->local >= n) {
        collopt_receive(s, mate[g->local % n], out(own));
        return;
    }
    for (int i = g->local + n; i < g->ranks; i += n)
        collopt_send(s, mate[i], at(place, block(parts, mate[i], 1)));
    if (place != COLLOPT_OUT)
        collopt_copy(s, out(own), at(place, own));
}

int collopt_place_before(struct collopt_schedule *s, const struct collopt_problem *p,
                         const struct collopt_groups *g)
{
    bool more = p->collective == COLLOPT_SCAN || g->local > 0;

    return g->node > 0 && more ? collopt_vector_slot(s, whole()) : COLLOPT_OUT;
}

void collopt_add_before(struct collopt_schedule *s, const struct collopt_problem *p,
                        const struct collopt_groups *g, int place)
{
    if (place != COLLOPT_OUT)
        collopt_combine(s, out(whole()), at(place, whole()),
                        g->ranks > 1 ? out(whole()) : in(whole()));
    else if (g->ranks == 1 && g->node == 0 && p->collective == COLLOPT_SCAN)
        collopt_copy(s, out(whole()), in(whole()));
}
