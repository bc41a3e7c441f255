/* Datatypes and operations, in each form of a call: handles that come back as others, absolute
 * addresses, types of Fortran's kinds, elements longer than a message, operations that use all of
 * an element, or rely on its alignment. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "zones.h"

enum { COUNT = 40 };

static uint64_t ours;           /* calls that collopt must have run by the end */

static void served(int err, const char *what)
{
    size_t beyond = zones_overwritten();

    check(beyond == 0, "%s: %zu bytes behind the scratch were overwritten", what, beyond);
    check(err == MPI_SUCCESS, "%s: error %d", what, err);
    if (err == MPI_SUCCESS)
        ours++;
}

static int of(int rank, int i)
{
    return rank * 100 + i;
}

static int sum_of(int ranks, int i)
{
    return ranks * (ranks - 1) / 2 * 100 + ranks * i;
}

/* ---- forms ----------------------------------------------------------------------------------- */

static enum form form;
static MPI_Request handle = MPI_REQUEST_NULL, *request = &handle;

/* A call was made: what is left of it. */
static int complete(int err)
{
    if (err || handle == MPI_REQUEST_NULL)
        return err;
    if (form == PERSISTENT && (err = MPI_Start(request)))
        return err;
    err = MPI_Wait(request, MPI_STATUS_IGNORE);
    return form == PERSISTENT && !err ? MPI_Request_free(request) : err;
}

/* MPI_NAME(...) in the form of the moment, from beginning to end. */
#define CALL(name, nonblocking, ...) \
    complete(form == BLOCKING ? CALL_BLOCKING(name, nonblocking, __VA_ARGS__) \
             : form == PERSISTENT ? CALL_INIT(name, nonblocking, __VA_ARGS__) \
             : CALL_NONBLOCKING(name, nonblocking, __VA_ARGS__))

/* ---- operations ------------------------------------------------------------------------------ */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void highest(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        if (((int *)inout)[i] < ((int *)in)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void first(void *in, void *inout, int *n, MPI_Datatype *type)    /* does not commute */
{
    (void)type;
    memcpy(inout, in, (size_t)*n * sizeof(int));
}

static void one_operation(int which)
{
    MPI_User_function *const function[] = { add, highest, first };
    int in[3] = { world_rank, 1, 0 }, out[3] = { -1, -1, -1 }, right = 0;
    MPI_Op op;

    MPI_Op_create(function[which], which != 2, &op);
    served(CALL(Allreduce, allreduce, in, out, 2, MPI_INT, op, MPI_COMM_WORLD),
           "an operation of many");
    if (which == 0)
        right = world_ranks * (world_ranks - 1) / 2;
    else if (which == 1)
        right = world_ranks - 1;
    check(out[0] == right, "operation %d of a reused handle gives %d, should be %d", which, out[0],
          right);
    MPI_Op_free(&op);
}

/* The same handle means one operation after the other; nothing grows. */
static void operations(int n)
{
    long before = 0, after;

    at("operations made and freed");
    for (int i = 0; i < n; i++) {
        if (i == n / 4)
            before = resident();
        one_operation(i % 3);
    }
    after = resident();
    check(n < 1000 || after - before < 1024, "%d operations later, %ld KiB more are resident (%s)",
          n - n / 4, after - before, form_name("Allreduce", form, (char[64]){ "" }));
}

/* Long vectors: an operation that commutes, and by the same handle one that does not, which needs
 * another algorithm. */
static void another_order(int length)
{
    int *in = malloc((size_t)length * sizeof *in), *out = malloc((size_t)length * sizeof *out);

    at("an operation that commutes, then one that does not");
    for (int n = 0; n < 4; n++) {
        bool commutes = n % 2 == 0;
        int wrong = 0;
        MPI_Op op;

        for (int i = 0; i < length; i++)
            in[i] = of(world_rank, i);
        MPI_Op_create(commutes ? add : first, commutes, &op);
        served(CALL(Allreduce, allreduce, in, out, length, MPI_INT, op, MPI_COMM_WORLD),
               "a long vector");
        for (int i = 0; i < length; i++)
            wrong += out[i] != (commutes ? sum_of(world_ranks, i) : of(0, i));
        check(wrong == 0, "%d elements are wrong by an operation that %s", wrong,
              commutes ? "commutes" : "does not commute");
        MPI_Op_free(&op);
    }
    free(in);
    free(out);
}

/* ---- datatypes ------------------------------------------------------------------------------- */

/* Adds integers that lie STRIDE apart; the layout of the moment is known to the operation. */
static int stride;

static void add_strided(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[(size_t)i * stride] += ((int *)in)[(size_t)i * stride];
}

/* An int in every WORDS words.  The handle that a layout had comes back with the next one. */
static void one_layout(int words, MPI_Op op)
{
    int in[COUNT * 4], out[COUNT * 4];
    MPI_Datatype type;

    stride = words;
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)(words * sizeof(int)), &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < COUNT * words; i++) {
        in[i] = i % words ? -7 : of(world_rank, i / words);
        out[i] = -9;
    }
    served(CALL(Allreduce, allreduce, in, out, COUNT, type, op, MPI_COMM_WORLD),
           "a layout of many");
    served(CALL(Scan, scan, in, out, COUNT, type, op, MPI_COMM_WORLD), "a layout of many");
    for (int i = 0; i < COUNT * words; i++) {
        int right = i % words ? -9 : sum_of(world_rank + 1, i / words);

        if (out[i] != right) {
            fail("an int in every %d words: word %d is %d, should be %d", words, i, out[i], right);
            break;
        }
    }
    MPI_Type_free(&type);
}

static void layouts(int n)
{
    long before = 0, after;
    MPI_Op op;

    at("layouts made and freed");
    MPI_Op_create(add_strided, 1, &op);
    for (int i = 0; i < n; i++) {
        if (i == n / 4)
            before = resident();
        one_layout(i % 3 + 1, op);
    }
    after = resident();
    check(n < 1000 || after - before < 1024, "%d layouts later, %ld KiB more are resident (%s)",
          n - n / 4, after - before, form_name("Allreduce", form, (char[64]){ "" }));
    MPI_Op_free(&op);
}

/* Words 0, MIDDLE and 3 of each four; the other one is nobody's. */
static int middle;

static void add_three(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < 4 * *n; i++)
        if (i % 4 == 0 || i % 4 == middle || i % 4 == 3)
            ((int *)inout)[i] += ((int *)in)[i];
}

/* Layouts one after the other with the same size, extent and bounds, the vector so long that
 * messages are lists of parts. */
static void same_measures(int length)
{
    int *in = malloc((size_t)length * 4 * sizeof *in),
        *out = malloc((size_t)length * 4 * sizeof *out);
    MPI_Op op;

    at("layouts with the same measures");
    MPI_Op_create(add_three, 1, &op);
    for (int n = 0; n < 4; n++) {
        int wrong = 0, at_word[3] = { 0, middle = 1 + n % 2, 3 };
        MPI_Datatype type;

        MPI_Type_create_indexed_block(3, 1, at_word, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < 4 * length; i++) {
            in[i] = of(world_rank, i);
            out[i] = -9;
        }
        served(CALL(Allreduce, allreduce, in, out, length, type, op, MPI_COMM_WORLD),
               "a layout with the same measures");
        for (int i = 0; i < 4 * length; i++)
            wrong += out[i] != (i % 4 == 3 - middle ? -9 : sum_of(world_ranks, i));
        check(wrong == 0, "%d words are wrong where word %d is used", wrong, middle);
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
    free(in);
    free(out);
}

/* Of two words in a row each rank's datatype says which is the first; the first words are added, of
 * the second the highest wins. */
static int first_word;

static void two_words(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int *from = in, *to = inout;

    (void)type;
    for (int i = 0; i < 2 * *n; i += 2) {
        int second = i + 1 - first_word;

        to[i + first_word] += from[i + first_word];
        if (to[second] < from[second])
            to[second] = from[second];
    }
}

/* No gaps, and the same measures: on odd ranks, now and then, the data lie in memory in the order
 * in which they are not sent. */
static void other_order(void)
{
    int in[2 * COUNT], out[2 * COUNT], length[2] = { 1, 1 };
    MPI_Op op;

    at("layouts in another order");
    MPI_Op_create(two_words, 1, &op);
    for (int n = 0; n < 6; n++) {
        int wrong = 0, word = first_word = world_rank % 2 && n % 2;
        MPI_Aint where[2] = { word * (MPI_Aint)sizeof(int), (1 - word) * (MPI_Aint)sizeof(int) };
        MPI_Datatype type;

        MPI_Type_create_hindexed(2, length, where, MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < COUNT; i++) {
            in[2 * i + word] = of(world_rank, i);
            in[2 * i + 1 - word] = -of(world_rank, i);
        }
        served(CALL(Allreduce, allreduce, in, out, COUNT, type, op, MPI_COMM_WORLD),
               "a layout in another order");
        for (int i = 0; i < COUNT; i++)
            wrong += out[2 * i + word] != sum_of(world_ranks, i)
                || out[2 * i + 1 - word] != -of(0, i);
        check(wrong == 0, "%d elements are wrong, call %d, the first word in place %d", wrong, n,
              word);
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
}

/* ---- absolute addresses ---------------------------------------------------------------------- */

/* A datatype for one int at each of N absolute addresses; with MPI_BOTTOM, address 0, for a
 * buffer. */
static MPI_Datatype absolute(int *at_address, int n)
{
    int *length = malloc((size_t)n * sizeof *length);
    MPI_Aint *where = malloc((size_t)n * sizeof *where);
    MPI_Datatype type;

    for (int i = 0; i < n; i++) {
        length[i] = 1;
        MPI_Get_address(&at_address[2 * i], &where[i]);
    }
    MPI_Type_create_hindexed(n, length, where, MPI_INT, &type);
    MPI_Type_commit(&type);
    free(length);
    free(where);
    return type;
}

static void bottom_operation(void *in, void *inout, int *n, MPI_Datatype *type)
{
    MPI_Aint low, extent;

    MPI_Type_get_true_extent(*type, &low, &extent);
    for (int k = 0; k < *n; k++)
        for (int i = 0; i < COUNT; i++)
            ((int *)((char *)inout + low))[2 * i] += ((int *)((char *)in + low))[2 * i];
}

/* Only MPI_IN_PLACE lets one datatype with absolute addresses stand for input and result. */
static void bottom(void)
{
    static int data[2 * COUNT];
    MPI_Datatype type = absolute(data, COUNT);
    MPI_Op op;

    MPI_Op_create(bottom_operation, 1, &op);
    for (int round = 0; round < 3; round++) {
        at("MPI_BOTTOM");
        for (int i = 0; i < COUNT; i++) {
            data[2 * i] = of(world_rank, i);
            data[2 * i + 1] = -7;
        }
        if (round == 0)
            served(
                CALL(Allreduce, allreduce, MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD),
                "allreduce at MPI_BOTTOM");
        else if (round == 1)
            served(CALL(Reduce, reduce, world_rank == 0 ? MPI_IN_PLACE : MPI_BOTTOM, MPI_BOTTOM, 1,
                        type, op, 0, MPI_COMM_WORLD),
                   "reduce at MPI_BOTTOM");
        else
            served(CALL(Scan, scan, MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, MPI_COMM_WORLD),
                   "scan at MPI_BOTTOM");
        for (int i = 0; i < COUNT; i++) {
            int ranks = round == 2 ? world_rank + 1 : world_ranks;
            int right = round == 1 && world_rank > 0 ? of(world_rank, i) : sum_of(ranks, i);

            if (data[2 * i] != right || data[2 * i + 1] != -7) {
                fail("MPI_BOTTOM, form %d, round %d: element %d is %d %d, should be %d -7", form,
                     round, i, data[2 * i], data[2 * i + 1], right);
                break;
            }
        }
    }
    MPI_Type_free(&type);
    MPI_Op_free(&op);
}

/* ---- kinds of Fortran, duplicates ------------------------------------------------------------ */

static void f90(void)
{
    MPI_Datatype real, integer;
    double in[COUNT], out[COUNT];
    int in_i[COUNT], out_i[COUNT], size;

    at("types of Fortran's kinds");
    if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real) == MPI_SUCCESS
        && MPI_Type_size(real, &size) == MPI_SUCCESS && size == sizeof(double)) {
        for (int i = 0; i < COUNT; i++)
            in[i] = of(world_rank, i);
        served(CALL(Allreduce, allreduce, in, out, COUNT, real, MPI_SUM, MPI_COMM_WORLD),
               "sum of a Fortran real");
        for (int i = 0; i < COUNT; i++)
            check(out[i] == sum_of(world_ranks, i), "sum of a Fortran real: %g", out[i]);
    }
    if (MPI_Type_create_f90_integer(9, &integer) == MPI_SUCCESS
        && MPI_Type_size(integer, &size) == MPI_SUCCESS && size == sizeof(int)) {
        for (int i = 0; i < COUNT; i++)
            in_i[i] = of(world_rank, i);
        served(CALL(Allreduce, allreduce, in_i, out_i, COUNT, integer, MPI_MAX, MPI_COMM_WORLD),
               "maximum of a Fortran integer");
        for (int i = 0; i < COUNT; i++)
            check(out_i[i] == of(world_ranks - 1, i), "maximum of a Fortran integer: %d", out_i[i]);
    }
}

/* An operation of the user's takes duplicated and nested types. */
static void duplicates(void)
{
    int in[COUNT], out[COUNT];
    MPI_Datatype type, again;
    MPI_Op op;

    at("duplicated types");
    MPI_Op_create(add, 1, &op);
    MPI_Type_dup(MPI_INT, &type);
    MPI_Type_dup(type, &again);
    for (int i = 0; i < COUNT; i++)
        in[i] = of(world_rank, i);
    served(CALL(Allreduce, allreduce, in, out, COUNT, again, op, MPI_COMM_WORLD),
           "a duplicated type");
    for (int i = 0; i < COUNT; i++)
        check(out[i] == sum_of(world_ranks, i), "a duplicated type: element %d is %d", i, out[i]);
    MPI_Type_free(&type);
    MPI_Type_free(&again);
    MPI_Op_free(&op);
}

/* ---- long elements --------------------------------------------------------------------------- */

enum { LONG = 17500 };          /* ints in an element: 70000 bytes, more than COLLOPT_CUT may be */

static void add_long(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n * LONG; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void long_elements(void)
{
    enum { ELEMENTS = 3 };
    int *in = malloc(ELEMENTS * LONG * sizeof *in), *out = malloc(ELEMENTS * LONG * sizeof *out);
    MPI_Datatype type;
    MPI_Op op;

    at("long elements");
    MPI_Type_contiguous(LONG, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_long, 1, &op);
    for (int i = 0; i < ELEMENTS * LONG; i++)
        in[i] = of(world_rank, i);
    served(CALL(Allreduce, allreduce, in, out, ELEMENTS, type, op, MPI_COMM_WORLD),
           "long elements");
    for (int i = 0; i < ELEMENTS * LONG; i++)
        if (out[i] != sum_of(world_ranks, i)) {
            fail("long elements: int %d is %d, should be %d", i, out[i], sum_of(world_ranks, i));
            break;
        }
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    free(in);
    free(out);
}

/* ---- operations that use the whole extent ---------------------------------------------------- */

enum { WIDE = 100 };            /* ints in the extent of an element with data in the first only */

/* Writes the gaps as well, as far as the extent goes: wherever there is no room for that,
 * somebody's data is lost. */
static void add_wide(void *in, void *inout, int *n, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout;

    (void)type;
    for (int i = 0; i < *n; i++, from += WIDE, to += WIDE) {
        to[0] += from[0];
        for (int k = 1; k < WIDE; k++)
            to[k] = 0x5a5a5a5a;
    }
}

static void wide_elements(void)
{
    int *in = calloc(COUNT * WIDE, sizeof *in), *out = calloc(COUNT * WIDE, sizeof *out);
    MPI_Datatype type;
    MPI_Op op;

    at("wide elements");
    MPI_Type_create_resized(MPI_INT, 0, WIDE * sizeof(int), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_wide, 0, &op);
    for (int i = 0; i < COUNT; i++)
        in[i * WIDE] = of(world_rank, i);
    served(CALL(Allreduce, allreduce, in, out, COUNT, type, op, MPI_COMM_WORLD), "wide elements");
    for (int i = 0; i < COUNT; i++)
        check(out[i * WIDE] == sum_of(world_ranks, i), "wide elements: element %d is %d", i,
              out[i * WIDE]);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    free(in);
    free(out);
}

/* ---- alignment ------------------------------------------------------------------------------- */

/* bytes; the longest vectors of processors, and what a compiler may rely on */
enum { LINE = 64 };

static int odd_addresses;

static void add_aligned(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    odd_addresses += (uintptr_t)in % LINE != 0 || (uintptr_t)inout % LINE != 0;
    for (int i = 0; i < *n; i++)
        *(int *)((char *)inout + i * LINE) += *(int *)((char *)in + i * LINE);
}

/* Elements of LINE bytes at addresses that LINE divides, with a lower bound before them or behind:
 * an operation finds them at such addresses wherever they are. */
static void aligned_elements(void)
{
    static const int low[] = { 0, -8, 24, -LINE - 4, 0 };       /* the last one without gaps */
    char *in = aligned_alloc(LINE, (COUNT + 2) * LINE),
         *out = aligned_alloc(LINE, (COUNT + 2) * LINE);
    MPI_Op op;

    at("aligned elements");
    MPI_Op_create(add_aligned, 0, &op);
    for (int k = 0; k <= 4; k++) {
        MPI_Datatype type;

        if (k < 4)
            MPI_Type_create_resized(MPI_INT, low[k], LINE, &type);
        else
            MPI_Type_contiguous(LINE / (int)sizeof(int), MPI_INT, &type);
        MPI_Type_commit(&type);
        for (int i = 0; i < COUNT; i++)
            *(int *)(in + (i + 1) * LINE) = of(world_rank, i);
        served(CALL(Allreduce, allreduce, in + LINE, out + LINE, COUNT, type, op, MPI_COMM_WORLD),
               "aligned elements");
        for (int i = 0; i < COUNT; i++)
            check(*(int *)(out + (i + 1) * LINE) == sum_of(world_ranks, i),
                  "aligned elements, lower bound %d: element %d is %d", low[k], i,
                  *(int *)(out + (i + 1) * LINE));
        served(CALL(Scan, scan, in + LINE, out + LINE, COUNT, type, op, MPI_COMM_WORLD),
               "aligned elements");
        served(CALL(Allreduce, allreduce, in + LINE, out + LINE, 1, type, op, MPI_COMM_WORLD),
               "an aligned element");
        check(odd_addresses == 0 || !with_collopt(),
              "lower bound %d: %d operations had operands at odd addresses", low[k], odd_addresses);
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
    free(in);
    free(out);
}

static void all_handles(int n)
{
    operations(n);
    another_order(n < 100 ? 300 : 30000);      /* messages are cut, perhaps into single elements */
    layouts(n);
    same_measures(n < 100 ? 100 : 2000);
    other_order();
    bottom();
    f90();
    duplicates();
    long_elements();
    if (with_collopt())         /* Open MPI 4.1 has no room for that itself (open-mpi/ompi #1462) */
        wide_elements();
    aligned_elements();
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 300;

    begin(&argc, &argv, "test_handles");
    for (form = BLOCKING; form < (with_collopt() ? FORMS : BLOCKING + 1); form++)
        all_handles(form == BLOCKING ? n : n / 4);
    check(zones_made() > 0 || world_ranks == 1 || !with_collopt(),
          "collopt's scratch was not watched");
    check(calls_run(NULL, NULL) == ours || !with_collopt(), "collopt ran %llu of %llu calls",
          (unsigned long long)calls_run(NULL, NULL), (unsigned long long)ours);
    return end();
}
