/* Handles that differ from rank to rank.
 *
 * A datatype, an operation and a duplicate of MPI_COMM_SELF are this rank's alone: a rank that
 * writes the log has one more.  From then on what the ranks make together has other handles on it,
 * and a handle that was freed comes back as something else on some ranks only. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

enum { STRAYS = 12 };

OWN struct stray {
    bool is;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
} strays[STRAYS];

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const unsigned *from = in;
    unsigned *to = inout;
    int bytes;

    MPI_Type_size(*type, &bytes);
    for (int i = 0; i < *n * bytes / (int)sizeof *to; i++)
        to[i] += from[i];
}

static void leave(struct stray *s)
{
    if (!s->is)
        return;
    s->is = false;
    if (s->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&s->type);
    if (s->op != MPI_OP_NULL)
        MPI_Op_free(&s->op);
    if (s->comm != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm);
}

static void arrive(struct stray *s, struct fuzz_random *mine)
{
    *s = (struct stray){ true, MPI_DATATYPE_NULL, MPI_OP_NULL, MPI_COMM_NULL };
    if (fuzz_chance(mine, 2)) {
        MPI_Type_contiguous(1 + (int)fuzz_below(mine, 100), MPI_CHAR, &s->type);
        MPI_Type_commit(&s->type);
    }
    if (fuzz_chance(mine, 2))
        MPI_Op_create(add, (int)fuzz_below(mine, 2), &s->op);
#ifndef TEST_SIMULATED
    if (job.threads == 1 && fuzz_chance(mine, 4))
        MPI_Comm_dup(MPI_COMM_SELF, &s->comm);
#endif
}

static void move(struct fuzz_random *mine)
{
    struct stray *s = &strays[fuzz_below(mine, STRAYS)];

    if (s->is)
        leave(s);
    else
        arrive(s, mine);
}

void strays_move(uint64_t number)
{
    struct fuzz_random mine = fuzz_draw(number, 7000 + (uint64_t)world_rank);

    for (size_t n = fuzz_below(&mine, 4); n > 0; n--)
        move(&mine);
}

void strays_end(void)
{
    for (int i = 0; i < STRAYS; i++)
        leave(&strays[i]);
}

/* ---- made for each call ---------------------------------------------------------------------- */

enum { LENGTH = 64 };

static unsigned value(uint64_t number, int rank, int i)
{
    return (unsigned)mix(number * 8191 + (uint64_t)rank * 127 + (uint64_t)i);
}

/* N elements of SIZE ints each; what is made is freed as soon as MPI allows. */
static void sum(const struct group *g, uint64_t number, int size, int n, bool derived)
{
    unsigned in[LENGTH], out[LENGTH] = { 0 };
    char words[FUZZ_WORDS];
    MPI_Datatype type;
    MPI_Op op;
    int err;

    snprintf(words, sizeof words, "%s: %d elements of %d ints", fuzz_step_name(), n, size);
    watch_at(words);
    for (int i = 0; i < size * n; i++)
        in[i] = value(number, g->rank, i);
    MPI_Type_contiguous(size, MPI_UNSIGNED, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    err = MPI_Allreduce(in, out, derived ? n : n * size, derived ? type : MPI_UNSIGNED, op,
                        g->comm);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    check(err == MPI_SUCCESS, "%s: error %d", words, err);
    for (int i = 0; i < size * n; i++) {
        unsigned right = 0;

        for (int r = 0; r < g->ranks; r++)
            right += value(number, r, i);
        if (out[i] != right) {
            fail("%s: int %d of %d with a datatype of %d for this call alone is %u, not %u",
                 fuzz_step_name(), i, n * size, size, out[i], right);
            return;
        }
    }
}

/* One size until a plan has paid for itself, then another, as strays come and go. */
void strays_reuse(uint64_t number)
{
    struct fuzz_random random = fuzz_draw(number, 17), *r = &random,
                       mine = fuzz_draw(number, 8000 + (uint64_t)world_rank);
    const struct group *g = group_of(fuzz_below(r, GROUPS));
    int n = 1 + (int)fuzz_below(r, 4);

    for (int sizes = 2 + (int)fuzz_below(r, 3); sizes > 0; sizes--) {
        int size = 1 + (int)fuzz_below(r, 8), calls = 1 + (int)fuzz_below(r, 40);
        bool derived = !fuzz_chance(r, 4);

        if (fuzz_chance(r, 8))
            calls += 300;
        for (int i = 0; i < calls && g->comm != MPI_COMM_NULL; i++) {
            if (fuzz_chance(&mine, (size_t)calls))
                move(&mine);
            sum(g, number + (uint64_t)(sizes * 1000 + i), size, n, derived);
        }
    }
}
