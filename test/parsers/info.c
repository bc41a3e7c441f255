/* Info keys of communicators: a line for each, KEY=VALUE.  The MPI library and the communicators
 * are stand-ins: an info object is the list of these lines. */
#include "config.h"

#include "parsers.h"
#include "base/hash.h"
#include "base/log.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/greatest.h"
#include "mpi/comm/hints.h"
#include "mpi/comm/peers.h"
#include "mpi/node/agree.h"
#include "select/decision.h"
#include "topology/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 16 };

static struct {
    char *key, *value;
} keys[KEYS];
static int n;
static struct collopt_comm comm;

/* ---- the stand-ins --------------------------------------------------------------------------- */

_Atomic unsigned collopt_host_quirks;

unsigned collopt_know_quirks(void)
{
    return 0;
}

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    (void)info;
    *nkeys = n;
    return MPI_SUCCESS;
}

int PMPI_Info_get_nthkey(MPI_Info info, int i, char *key)
{
    (void)info;
    strcpy(key, keys[i].key);           /* MPI_Info_set refuses longer ones than MPI_MAX_INFO_KEY */
    return MPI_SUCCESS;
}

int PMPI_Info_get(MPI_Info info, const char *key, int length, char *value, int *flag)
{
    (void)info;
    *flag = 0;
    for (int i = 0; i < n && !*flag; i++)
        if ((*flag = strcmp(keys[i].key, key) == 0))
            snprintf(value, (size_t)length + 1, "%s", keys[i].value);
    return MPI_SUCCESS;
}

bool collopt_world_agreed(void)
{
    return true;
}

struct collopt_comm *collopt_comm_find(MPI_Comm handle)
{
    (void)handle;
    return &comm;
}

bool collopt_comm_inside(struct collopt_comm *c)
{
    (void)c;
    return true;
}

int collopt_greatest(struct collopt_comm *c, const long long *mine, long long *greatest, int count)
{
    (void)c;
    memcpy(greatest, mine, (size_t)count * sizeof *mine);
    return MPI_SUCCESS;
}

void collopt_comm_hints_changed(struct collopt_comm *c)
{
    (void)c;
}

/* ---- the keys -------------------------------------------------------------------------------- */

static void read_keys(char *rest)
{
    for (n = 0; rest && n < KEYS;) {
        char *line = strsep(&rest, "\n"), *value = strchr(line, '=');

        if (!value || value - line > MPI_MAX_INFO_KEY - 1)
            continue;
        *value++ = '\0';
        keys[n].key = line;
        keys[n++].value = value;
    }
}

/* What was given last counts, so the same keys once more change nothing. */
static void give(void)
{
    uint64_t once;

    collopt_hints_take(MPI_COMM_WORLD, MPI_INFO_ENV);
    once = collopt_hints_waiting(&comm);
    collopt_hints_take(MPI_COMM_WORLD, MPI_INFO_ENV);
    if (collopt_hints_waiting(&comm) != once)
        wrong("the same keys are not the same");
    if (comm.hints_due && collopt_hints_compare(&comm))
        wrong("they are not compared");
    if (comm.hints_due || collopt_hints_waiting(&comm) != COLLOPT_HASH_START)
        wrong("keys wait that were compared");
}

static void use(void)
{
    const struct collopt_topology t = { .nodes = 1 };
    struct collopt_decision d;
    bool host;

    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        const struct collopt_problem p = { .collective = (enum collopt_collective)c, .ranks = 8,
                                           .count = 800, .size = 8, .commutative = true,
                                           .segments = 1, .topology = &t };

        collopt_hints_force(&comm, p.collective, &host);
        if (collopt_hints_select(&comm, &p, &d) && d.choice.algorithm
            && d.choice.algorithm->collective != p.collective)
            wrong("an algorithm of %s", collopt_collective_names[d.choice.algorithm->collective]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = text_of(data, size);
    struct collopt_part_of *part = &comm.part[COLLOPT_PART_HINTS];

    collopt_speak_as(1);        /* what was said once is kept, to be said no more */
    comm = (struct collopt_comm){ .status = COLLOPT_TAKEN_OVER, .rank = size % 2, .ranks = 8 };
    read_keys(text);
    give();
    use();
    if (part->data)
        part->ops->end(&comm);
    free(text);
    return 0;
}
