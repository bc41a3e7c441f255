/* The locks of nonblocking reductions' journals. */
#include "mpi/request/nonblocking.c"

static atomic_bool flag;
static int count;

static void begin(void)
{
    flag = false;
    count = 0;
}

static void add_one(void)
{
    explore_until(take_flag(&flag));
    count++;
    leave_flag(&flag);
}

static void end_all(void)
{
    explore_check(count == 3, "two threads have taken a lock");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "locks", begin, { add_one, add_one, add_one }, end_all },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
