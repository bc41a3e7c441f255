/* Failed calls that two threads write down, and another process looks for. */
#include "shm/failures.c"

enum { CONTEXT = 5 };

static struct collopt_failures *failures;

static void begin(void)
{
    failures = explore_memory(sizeof *failures);
}

static void fail_first(void)
{
    collopt_failures_add(failures, CONTEXT, 1);
}

static void fail_second(void)
{
    collopt_failures_add(failures, CONTEXT, 2);
}

static void find_second(void)
{
    explore_until(collopt_failures_has(failures, CONTEXT, 2));
}

static void end(void)
{
    explore_check(collopt_failures_has(failures, CONTEXT, 1)
                  && collopt_failures_has(failures, CONTEXT, 2)
                  && !collopt_failures_has(failures, CONTEXT, 3), "other calls have failed");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "failures", begin, { fail_first, fail_second, find_second }, end },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
