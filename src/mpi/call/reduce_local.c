/* MPI_Reduce_local by our kernels, for predefined datatypes and operations; everything else goes to
 * the host.
 *
 * A call may take 10 ns, so what (operation, datatype) means is looked up in a table that is read
 * without a lock: its entries are written once, the operation last, and never change, as predefined
 * handles always mean the same. */
#include "config.h"

#include <pthread.h>

#include "mpi/call/entry.h"
#include "mpi/host/attributes.h"
#include "mpi/host/call.h"
#include "mpi/node/process.h"
#include "mpi/device/gpu.h"
#include "mpi/host/host.h"
#include "mpi/device/staging.h"
#include "report/counters.h"
#include "schedule/descriptor.h"

/* four times the combinations that there are */
enum { TABLE_BITS = 11, TABLE = 1 << TABLE_BITS };

struct known {
    _Atomic(MPI_Op) op;         /* 0: free; no handle is */
    MPI_Datatype type;
    /* NULL: the host's to do */
    void (*combine)(void *dst, const void *left, const void *right, size_t n);
    size_t size;                /* of an element, in bytes */
};

static struct known table[TABLE];
static int used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct known unknown;

/* The counters' entry for these calls: no collective, no choice. */
static const struct collopt_algorithm kernels = { .name = "kernels",
                                                  .collective = COLLOPT_COLLECTIVES };

/* The entry, or the free one where it belongs. */
static inline const struct known *find(MPI_Op op, MPI_Datatype type, bool *room)
{
    uint64_t h = ((uint64_t)(uintptr_t)op * 0x9e3779b97f4a7c15u ^ (uint64_t)(uintptr_t)type)
        * 0xff51afd7ed558ccdu;

    for (size_t i = h >> (64 - TABLE_BITS);; i = (i + 1) % TABLE) {
        const struct known *k = &table[i];
        MPI_Op known = atomic_load_explicit(&k->op, memory_order_acquire);

        if (known == op && k->type == type)
            return k;
        if (!known) {
            *room = true;
            return k;
        }
    }
}

static const struct known *learn(MPI_Op op, MPI_Datatype type)
{
    const struct known *found;
    struct collopt_facts f;
    bool room = false;

    if (!collopt_op_predefined(op))     /* user-defined operations are never in the table, so each
                                         * such call comes here */
        return &unknown;
    collopt_prepare();
    if (!collopt_facts(op, type, &f) || !f.predefined || !collopt_gpu_allows())
        return &unknown;
    pthread_mutex_lock(&lock);
    found = find(op, type, &room);
    if (room && ++used < TABLE / 2) {
        struct known *k = &table[found - table];

        k->type = type;
        k->combine = f.kernel ? f.kernel->combine : NULL;
        k->size = f.size;
        atomic_store_explicit(&k->op, op, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* There is no communicator, so errors are those of MPI_COMM_WORLD. */
static inline int raise(int err)
{
    if (err != MPI_SUCCESS)
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, err);
    return err;
}

/* The operands may not overlap; the hosts say so for equal ones and for MPI_IN_PLACE, and their
 * word is the user's. */
static inline enum collopt_outcome combine(const void *in, void *out, size_t count,
                                           MPI_Datatype type, MPI_Op op, int *err)
{
    bool room = false;
    const struct known *k;

    if (in == NULL || out == NULL || in == out || in == MPI_IN_PLACE || out == MPI_IN_PLACE
        || count > SIZE_MAX / 2
        || collopt_is_off())
        return COLLOPT_FALL_BACK;
    k = find(op, type, &room);
    if (__builtin_expect(room, 0))
        k = learn(op, type);
    if (!k->combine)
        return COLLOPT_FALL_BACK;
    collopt_count_call(&kernels, collopt_size_class(count * k->size), count * k->size);
    *err = MPI_SUCCESS;
    if (__builtin_expect(!collopt_plainly_host(in) || !collopt_plainly_host(out), 0))
        *err = raise(collopt_combine_anywhere(k->combine, in, out, count, type));
    else
        k->combine(out, in, out, count);
    return COLLOPT_RUN;
}

static void count_passed(const char *name)
{
    collopt_count_passed(name, collopt_is_off() ? COLLOPT_PASS_OFF : COLLOPT_PASS_ARGUMENTS, 1);
}

int collopt_entry_Reduce_local(const void *in, void *out, int count, host_type type, host_op op)
{
    int err;

    if (combine(in, out, (size_t)count, type, op, &err) == COLLOPT_RUN)
        return err;
    count_passed("Reduce_local");
    return collopt_host.Reduce_local(in, out, count, type, op);
}

int collopt_entry_Reduce_local_c(const void *in, void *out, host_count count, host_type type,
                                 host_op op)
{
    int err;

    if (combine(in, out, (size_t)count, type, op, &err) == COLLOPT_RUN)
        return err;
    count_passed("Reduce_local_c");
    return collopt_host.Reduce_local_c(in, out, count, type, op);
}
