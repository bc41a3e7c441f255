/* Who advances a comparison of COLLOPT_CHECK, and who sees its end. */
#include "mpi/check/comparison.c"

static struct collopt_comparison *comparison;
static int looks;               /* of whoever has claimed it; the second one is the last */

int collopt_progress_test(MPI_Request *request, bool *done)
{
    (void)request;
    *done = ++looks == 2;
    return MPI_SUCCESS;
}

static void begin(void)
{
    comparison = explore_memory(sizeof *comparison);
    comparison->state = UNDER_WAY;
    comparison->gathered = true;
    comparison->since = collopt_now();
    comparison->rank = 1 << 30;                 /* so it is never overdue */
    looks = 0;
}

static void advance_to_end(void)
{
    explore_until(collopt_comparison_advance(comparison, true));
    explore_check(looks == 2, "the end is not the end");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "comparison", begin, { advance_to_end, advance_to_end }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
