/* Communicators in the recording, whose places are used again, and a reader of another process. */
#include "recorder/recorder.c"

static struct collopt_recorded_comm *first;

static struct collopt_recorded_comm *add(int rank)
{
    struct collopt_recorded_comm about = { .id = (uint64_t)rank, .flags = (uint32_t)rank,
                                           .rank = rank, .ranks = rank };

    return collopt_recorder_add_comm(&about, NULL);
}

static void begin(void)
{
    collopt_recording = explore_memory(sizeof *collopt_recording);
    made = living = 0;
    first = add(1);
}

static void replace(void)
{
    collopt_recorder_remove_comm(first);
    explore_check(add(2) == first, "its place is not used again");
}

/* As layout.h tells readers to do. */
static void read_it(void)
{
    struct collopt_recorded_comm *c = collopt_recording->comm;
    uint64_t generation = atomic_load_explicit(&c->generation, memory_order_acquire);
    int rank = atomic_load_explicit(&c->rank, memory_order_relaxed),
        ranks = atomic_load_explicit(&c->ranks, memory_order_relaxed);
    uint64_t id = atomic_load_explicit(&c->id, memory_order_relaxed);

    atomic_thread_fence(memory_order_acquire);
    if (id != 0 && generation % 2 == 0
        && atomic_load_explicit(&c->generation, memory_order_relaxed) == generation)
        explore_check(rank == ranks && id == (uint64_t)rank, "a communicator is not whole");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "recorded communicator", begin, { replace, read_it }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
