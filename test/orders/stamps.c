/* Stamps: may what was learnt of a handle be trusted after another thread has freed it?  The host
 * gives the handle to what is made next, and says what it means under a lock of its own. */
#include "mpi/host/handles.c"

static int meaning;              /* of one handle, in the host */
/* It is used for the last time, it is freed, it is another's. */
static atomic_bool used, is_free, is_new;

static void begin(void)
{
    meaning = 1;
    used = is_free = is_new = false;
    begun = ended = 0;
}

static void set(atomic_bool *flag)
{
    atomic_store_explicit(flag, true, memory_order_release);
}

static void wait_for(const atomic_bool *flag)
{
    explore_until(atomic_load_explicit(flag, memory_order_acquire));
}

/* Learns what it means, and uses it again when it may mean something else. */
static void learn_and_use(const atomic_bool *from_then)
{
    uint64_t stamp = collopt_handles_stamp();
    int known = meaning;

    set(&used);
    wait_for(from_then);
    if (stamp != COLLOPT_UNSTAMPED && collopt_handles_stamp() == stamp)
        explore_check(known == 2, "a handle is taken for what it was");
}

static void free_it(void)
{
    wait_for(&used);
    collopt_free_begins();
    set(&is_free);
    collopt_free_ends();
}

static void free_and_make(void)
{
    free_it();
    meaning = 2;
    set(&is_new);
}

/* The host gives it away before MPI_Op_free has returned. */
static void make_at_once(void)
{
    wait_for(&is_free);
    meaning = 2;
    set(&is_new);
}

static void use_new(void)
{
    learn_and_use(&is_new);
}

/* Another thread frees something else meanwhile. */
static void free_another(void)
{
    collopt_free_begins();
    collopt_free_ends();
}

int main(void)
{
    static const struct explore_model models[] = {
        { "stamps", begin, { free_and_make, use_new, free_another }, NULL },
        { "stamps during a free", begin, { free_it, make_at_once, use_new }, NULL },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
