/* Slices of a persistent reduction, which the ranks that wait claim and combine. */
#include "mpi/request/shared.c"

enum { RANKS = 2, ELEMENTS = 4, SLICES = 2 };
static struct collopt_shared *rank[RANKS];
static unsigned char input[RANKS][ELEMENTS];    /* published before, and read by all */
static unsigned char *sum;

static const char *data_of(const struct collopt_shared *s, int r)
{
    (void)s;
    return (const char *)input[r];
}

void collopt_fold_here(const struct collopt_facts *f, char *to, int operands,
                       const void *const *operand, size_t n)
{
    (void)f;
    for (size_t i = 0; i < n; i++) {
        to[i] = 0;
        for (int r = 0; r < operands; r++)
            to[i] = (char)(to[i] + ((const char *)operand[r])[i]);
    }
}

static void begin(void)
{
    static const struct collopt_kernel kernel;
    struct collopt_work *work = explore_memory(sizeof *work);

    sum = explore_memory(ELEMENTS);
    for (int r = 0; r < RANKS; r++) {
        struct collopt_shared *s = explore_memory(sizeof *s);

        memset(input[r], r + 1, ELEMENTS);
        s->r.facts = (struct collopt_facts){ .size = 1, .extent = 1, .high = 1, .dense = true,
                                             .kernel = &kernel };
        s->rank = r;
        s->ranks = RANKS;
        s->data = data_of;
        s->buffers.inputs = ELEMENTS;
        s->slice = ELEMENTS / SLICES;
        s->slices = SLICES;
        s->work = work;
        s->result = (char *)sum;
        s->operand = explore_memory(RANKS * sizeof *s->operand);
        rank[r] = s;
    }
}

static void run(struct collopt_shared *s)
{
    work_on_slices(s);
    explore_until(all_finished(s));
    for (int i = 0; i < ELEMENTS; i++)
        explore_check(sum[i] == 3, "a slice is not combined");
}

static void run_first(void) { run(rank[0]); }
static void run_second(void) { run(rank[1]); }

static void end(void)
{
    explore_check(rank[0]->work->claimed == SLICES && rank[0]->work->finished == SLICES,
                  "a slice is combined twice");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "slices", begin, { run_first, run_second }, end },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
