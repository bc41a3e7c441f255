/* Predefined datatypes that few compilers and hosts have.  The host combines them, and so the
 * result of two ranks has the bits of its MPI_Reduce_local; what it refuses it refuses with
 * collopt. */
#include <stdio.h>
#include <string.h>

#include "common.h"

enum { MOST = 3000, SIZE = 32 };

static struct {
    const char *name;
    MPI_Datatype type;
    bool complex;
} types[] = {
#ifdef MPI_REAL2
    { "MPI_REAL2", MPI_REAL2, false },
#endif
#ifdef MPI_REAL16
    { "MPI_REAL16", MPI_REAL16, false },
#endif
#ifdef MPI_COMPLEX4
    { "MPI_COMPLEX4", MPI_COMPLEX4, true },
#endif
#ifdef MPI_COMPLEX32
    { "MPI_COMPLEX32", MPI_COMPLEX32, true },
#endif
#ifdef MPIX_BFLOAT16
    { "MPIX_BFLOAT16", MPIX_BFLOAT16, false },
#endif
    { "", MPI_DATATYPE_NULL, false }
};

static _Alignas(64) char in[2][MOST * SIZE], out[MOST * SIZE], right[2][MOST * SIZE];

/* Numbers between 1 and 2 as long double or of 16 bits; the bytes that a long double does not use
 * are zero. */
static void put(char *to, size_t bytes, size_t size, int rank, size_t i)
{
    long double x = 1 + (long double)((7 * i + (size_t)rank) % 64) / 64;
    size_t part = size % 16 ? 2 : 16;
    uint16_t half = (uint16_t)(0x3c00 + (i * 7 + (size_t)rank * 5) % 128);

    memset(to, 0, bytes);
    for (size_t at = 0; at < bytes; at += part)
        if (part == 2)
            memcpy(to + at, &half, sizeof half);
        else
            memcpy(to + at, &x, 10);
}

static void fill(size_t n, size_t size)
{
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < n; i++)
            put(in[r] + i * size, size, size, r, i);
    memset(out, 0, sizeof out);
}

/* OUT is one of the two orders of the host's combination; or nobody may combine them. */
static void compare(MPI_Datatype type, MPI_Op op, int n, int size, int err, const char *what)
{
    size_t bytes = (size_t)n * (size_t)size;
    int alone = 0, class = 0, of_alone = 0;

    for (int r = 0; r < 2; r++) {
        memcpy(right[r], in[1 - r], bytes);
        alone = PMPI_Reduce_local(in[r], right[r], n, type, op);
    }
    MPI_Error_class(err, &class);
    MPI_Error_class(alone, &of_alone);
    check((class != 0) == (of_alone != 0), "%s: error class %d, of MPI_Reduce_local %d", what,
          class, of_alone);
    check(class || memcmp(out, right[0], bytes) == 0 || memcmp(out, right[1], bytes) == 0,
          "%s: other bits than MPI_Reduce_local", what);
}

static void try(const char *name, MPI_Datatype type, bool complex)
{
    static const int lengths[] = { 1, 5, 200, MOST };
    MPI_Op ops[] = { MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND };
    int size;

    if (type == MPI_DATATYPE_NULL || PMPI_Type_size(type, &size) || size <= 0)
        return;
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            bool valid = o < (complex ? 2 : 4)
                && PMPI_Reduce_local(in[0], right[0], 0, type, ops[o]) == MPI_SUCCESS;
            uint64_t run = calls_run(NULL, NULL);
            int n = lengths[l], err;
            char what[100];
            MPI_Request request;

            snprintf(what, sizeof what, "%s, operation %d, %d elements", name, (int)o, n);
            at(what);
            fill((size_t)n, (size_t)size);
            err = MPI_Allreduce(in[world_rank], out, n, type, ops[o], MPI_COMM_WORLD);
            compare(type, ops[o], n, size, err, what);
            if (with_collopt())
                check((calls_run(NULL, NULL) > run) == valid, "%s: run by %s", what,
                      valid ? "the host" : "collopt");
            memset(out, 0, sizeof out);
            if (valid && !MPI_Iallreduce(in[world_rank], out, n, type, ops[o], MPI_COMM_WORLD,
                                         &request)) {
                MPI_Wait(&request, MPI_STATUS_IGNORE);
                compare(type, ops[o], n, size, 0, what);
            }
        }
}

int main(int argc, char **argv)
{
    begin(&argc, &argv, "test_rare");
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        try(types[i].name, types[i].type, types[i].complex);
    return end();
}
