/* How fast do the kernels combine, beside the MPI library's own MPI_Reduce_local and what memory
 * allows?
 *
 *     bench_kernels [option ...] [operation | type ...]       "bench_kernels sum double float"
 *
 *     --isa=NAME       kernels of this instruction set
 *     --bytes=N,...    lengths of an operand
 *     --csv=FILE       also write every figure there
 *     --rounds=N       repetitions of each figure
 *     --sorted         MINLOC, MAXLOC: the right operand always wins, rather than random data
 *     --forms=NAME,... only these, by default all
 *     --quiet          no table
 *
 * A figure is bytes of ONE operand per second, in GB/s, the median over rounds in which all forms
 * take turns, so that a disturbance hits them alike:
 *
 *     host              MPI_Reduce_local(a, d)
 *     ours              d = a op d by our kernel
 *     three             d = a op b, all apart
 *     fold4, fold8      d = a op b op ... in one pass (bytes of one operand)
 *     folded4, folded8  the same two by two
 *     times4, times8    fold against that
 *     copy, update, triad   memcpy(d, a), d[i] += a[i], d[i] = a[i] + 3 b[i], of doubles; for sums
 *                       of doubles, and wherever they are asked for
 *
 * Ratios are medians of the rounds' ratios; the file has them as "ours/host", "fold4/folded4",
 * "ours/update".
 *
 * MINLOC and MAXLOC get fresh operands for every call: a processor that has seen the same few
 * thousand pairs twice predicts all their branches. Those calls are timed one by one. */
#include "config.h"

#include <mpi.h>

#include <complex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/isa.h"
#include "kernels/kernels.h"

enum form { HOST, OURS, THREE, FOLD4, FOLDED4, FOLD8, FOLDED8, COPY, UPDATE, TRIAD, FORMS };

static const char *const form_names[] = {
    "host", "ours", "three", "fold4", "folded4", "fold8", "folded8", "copy", "update", "triad",
};

/* Pairs to compare: a form, and the one that it should beat. */
static const enum form ratio_forms[][2] = {
    { OURS, HOST }, { FOLD4, FOLDED4 }, { FOLD8, FOLDED8 }, { OURS, UPDATE }
};

enum ratio { TO_HOST, TIMES4, TIMES8, TO_UPDATE, RATIOS };
enum { OPERANDS = 8, LENGTHS_MAX = 16, ROUNDS_MAX = 101 };

/* The subject of a measurement: one combination at one length. */
struct subject {
    enum collopt_op op;
    enum collopt_type type;
    const struct collopt_kernel *kernel;
    MPI_Op mpi_op;
    MPI_Datatype mpi_type;
    size_t n, bytes;
    bool pairs, fresh;
};

static struct {
    const char *isa, *csv;
    size_t bytes[LENGTHS_MAX];
    int lengths, rounds;
    bool sorted, quiet;
    bool form[FORMS], some_forms;
    bool op[COLLOPT_OP_USER], type[COLLOPT_TYPE_NONE];
} asked = { .bytes = { 1 << 10, 256 << 10, 8 << 20, 128 << 20 }, .lengths = 4, .rounds = 7 };

static double *plain[3];                        /* of the memory's own forms */
/* pool: fresh values for two operands, many times if they are short */
static char *operand[OPERANDS], *dst, *pool;
static size_t pool_bytes;
static double clock_cost;

static MPI_Op mpi_op(enum collopt_op op)
{
    switch (op) {
    case COLLOPT_SUM:    return MPI_SUM;
    case COLLOPT_PROD:   return MPI_PROD;
    case COLLOPT_MIN:    return MPI_MIN;
    case COLLOPT_MAX:    return MPI_MAX;
    case COLLOPT_LAND:   return MPI_LAND;
    case COLLOPT_LOR:    return MPI_LOR;
    case COLLOPT_LXOR:   return MPI_LXOR;
    case COLLOPT_BAND:   return MPI_BAND;
    case COLLOPT_BOR:    return MPI_BOR;
    case COLLOPT_BXOR:   return MPI_BXOR;
    case COLLOPT_MINLOC: return MPI_MINLOC;
    case COLLOPT_MAXLOC: return MPI_MAXLOC;
    default:             return MPI_OP_NULL;
    }
}

/* Not MPIX_C_FLOAT16: MPI_Reduce_local of MPICH 4.0 aborts on it. */
static MPI_Datatype mpi_type(enum collopt_type type)
{
    switch (type) {
    case COLLOPT_INT8:                return MPI_INT8_T;
    case COLLOPT_INT16:               return MPI_INT16_T;
    case COLLOPT_INT32:               return MPI_INT32_T;
    case COLLOPT_INT64:               return MPI_INT64_T;
    case COLLOPT_UINT8:               return MPI_UINT8_T;
    case COLLOPT_UINT16:              return MPI_UINT16_T;
    case COLLOPT_UINT32:              return MPI_UINT32_T;
    case COLLOPT_UINT64:              return MPI_UINT64_T;
    case COLLOPT_FLOAT:               return MPI_FLOAT;
    case COLLOPT_DOUBLE:              return MPI_DOUBLE;
    case COLLOPT_LONG_DOUBLE:         return MPI_LONG_DOUBLE;
    case COLLOPT_COMPLEX_FLOAT:       return MPI_C_FLOAT_COMPLEX;
    case COLLOPT_COMPLEX_DOUBLE:      return MPI_C_DOUBLE_COMPLEX;
    case COLLOPT_COMPLEX_LONG_DOUBLE: return MPI_C_LONG_DOUBLE_COMPLEX;
    case COLLOPT_BOOL:                return MPI_C_BOOL;
    case COLLOPT_LOGICAL4:            return MPI_LOGICAL;
    case COLLOPT_BYTE:                return MPI_BYTE;
    case COLLOPT_FLOAT_INT:           return MPI_FLOAT_INT;
    case COLLOPT_DOUBLE_INT:          return MPI_DOUBLE_INT;
    case COLLOPT_LONG_INT:            return MPI_LONG_INT;
    case COLLOPT_SHORT_INT:           return MPI_SHORT_INT;
    case COLLOPT_2INT:                return MPI_2INT;
    case COLLOPT_LONG_DOUBLE_INT:     return MPI_LONG_DOUBLE_INT;
    case COLLOPT_2REAL:               return MPI_2REAL;
    case COLLOPT_2DOUBLE:             return MPI_2DOUBLE_PRECISION;
    default:                          return MPI_DATATYPE_NULL;
    }
}

/* ---- operands ---- */

static uint64_t random_bits(void)
{
    static uint64_t state = 88172645463325252;

    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

/* A pair with this value, in the layout of its type. */
static void put_pair(char *at, enum collopt_type type, int value)
{
    int index = random_bits() % 1000;

#define PUT(ctype) *(ctype *) at = (ctype) { .value = value, .index = index }
    switch (type) {
    case COLLOPT_FLOAT_INT:       PUT(struct collopt_float_int); break;
    case COLLOPT_DOUBLE_INT:      PUT(struct collopt_double_int); break;
    case COLLOPT_LONG_INT:        PUT(struct collopt_long_int); break;
    case COLLOPT_SHORT_INT:       PUT(struct collopt_short_int); break;
    case COLLOPT_2INT:            PUT(struct collopt_2int); break;
    case COLLOPT_LONG_DOUBLE_INT: PUT(struct collopt_long_double_int); break;
    case COLLOPT_2REAL:           PUT(struct collopt_2real); break;
    case COLLOPT_2DOUBLE:         PUT(struct collopt_2double); break;
    default:                      break;
    }
#undef PUT
}

/* Values that a million repetitions leave finite and normal: zeros and ones, or anything for MIN
 * and MAX. */
static void put_plain(char *at, enum collopt_op op, enum collopt_type type, int which)
{
    bool any = op == COLLOPT_MIN || op == COLLOPT_MAX;
    int one = any ? 1 + random_bits() % 1000 : op == COLLOPT_PROD || which > 0;

    switch (type) {
    case COLLOPT_FLOAT16:
        *(uint16_t *)at = any ? random_bits() % 0x7c00 : one ? 0x3c00 : 0;
        break;
    case COLLOPT_BFLOAT16:
        *(uint16_t *)at = any ? random_bits() % 0x7f80 : one ? 0x3f80 : 0;
        break;
    case COLLOPT_FLOAT:               *(float *) at = one; break;
    case COLLOPT_DOUBLE:              *(double *) at = one; break;
    case COLLOPT_LONG_DOUBLE:         *(long double *) at = one; break;
    case COLLOPT_COMPLEX_FLOAT:       *(float _Complex *) at = one; break;
    case COLLOPT_COMPLEX_DOUBLE:      *(double _Complex *) at = one; break;
    case COLLOPT_COMPLEX_LONG_DOUBLE: *(long double _Complex *) at = one; break;
    default:
        memset(at, 0, collopt_type_size(type));
        *at = random_bits() & 1;
    }
}

static void fill(char *buffer, const struct subject *s, int which, size_t n)
{
    size_t size = collopt_type_size(s->type), period = n < 4096 ? n : 4096;

    /* pairs never repeat; plain values may, and are faster to make */
    if (s->pairs)
        for (size_t i = 0; i < n; i++)
            put_pair(buffer + i * size, s->type,
                     asked.sorted ? -which : (int)(random_bits() % 32768));
    else {
        for (size_t i = 0; i < period; i++)
            put_plain(buffer + i * size, s->op, s->type, which);
        for (size_t i = period; i < n; i++)
            memcpy(buffer + i * size, buffer + (i - period) * size, size);
    }
}

static void prepare(const struct subject *s)
{
    for (int k = 0; k < OPERANDS; k++)
        fill(operand[k], s, k, s->n);
    fill(dst, s, OPERANDS, s->n);
    if (s->fresh)
        fill(pool, s, 0, pool_bytes / collopt_type_size(s->type));
}

/* ---- the forms ---- */

static void run(const struct subject *s, enum form form)
{
    const void *operands[OPERANDS];

    for (int k = 0; k < OPERANDS; k++)
        operands[k] = operand[k];

    switch (form) {
    case HOST:
        MPI_Reduce_local(operand[0], dst, s->n, s->mpi_type, s->mpi_op);
        break;
    case OURS:
        s->kernel->combine(dst, operand[0], dst, s->n);
        break;
    case THREE:
        s->kernel->combine(dst, operand[0], operand[1], s->n);
        break;
    case FOLD4:
    case FOLD8:
        s->kernel->fold(dst, operands, form == FOLD4 ? 4 : 8, s->n);
        break;
    case FOLDED4:
    case FOLDED8:
        s->kernel->combine(dst, operand[0], operand[1], s->n);
        for (int k = 2; k < (form == FOLDED4 ? 4 : 8); k++)
            s->kernel->combine(dst, dst, operand[k], s->n);
        break;
    case COPY:
        memcpy(plain[0], plain[1], s->bytes);
        break;
    case UPDATE:
        for (size_t i = 0; i < s->bytes / sizeof(double); i++)
            plain[0][i] += plain[1][i];
        break;
    case TRIAD:
        for (size_t i = 0; i < s->bytes / sizeof(double); i++)
            plain[0][i] = plain[1][i] + 3 * plain[2][i];
        break;
    default:
        break;
    }
    __asm__ volatile ("" : : : "memory");
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double busy(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Seconds of processor time per call, of CALLS in a row: other processes may run in between. */
static double timed(const struct subject *s, enum form form, int calls)
{
    double start = busy();

    for (int i = 0; i < calls; i++)
        run(s, form);
    return (busy() - start) / calls;
}

/* The same, each call on operands that were not seen before. */
static double timed_fresh(const struct subject *s, enum form form, int calls)
{
    static size_t at;
    double total = 0;

    for (int i = 0; i < calls; i++) {
        if (at + 2 * s->bytes > pool_bytes)
            at = random_bits() % 61 * collopt_type_size(s->type);
        if (at + 2 * s->bytes > pool_bytes)
            at = 0;
        memcpy(operand[0], pool + at, s->bytes);
        memcpy(dst, pool + at + s->bytes, s->bytes);
        at += 2 * s->bytes;

        /* the latter takes longer to ask */
        double (*clock)(void) = s->bytes < 64 << 10 ? now : busy;
        double start = clock();

        run(s, form);
        total += clock() - start - (clock == now ? clock_cost : 0);
    }
    return total / calls;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static double median(double *values, int n)
{
    qsort(values, n, sizeof *values, ascending);
    return values[n / 2];
}

static bool applies(const struct subject *s, enum form form)
{
    if (asked.some_forms && !asked.form[form])
        return false;
    if (form == HOST)
        return s->mpi_type != MPI_DATATYPE_NULL;
    return form < COPY || asked.some_forms || (s->type == COLLOPT_DOUBLE && s->op == COLLOPT_SUM);
}

struct figures {
    double rate[FORMS], ratio[RATIOS];    /* 0: not measured */
};

static void measure(const struct subject *s, struct figures *f)
{
    static double seconds[FORMS][ROUNDS_MAX], quotient[ROUNDS_MAX];
    int calls = 1 + (s->fresh ? 256 << 10 : 2 << 20) / s->bytes;

    for (int round = -1; round < asked.rounds; round++)    /* the first warms up */
        for (int i = 0; i < FORMS; i++) {
            /* in turn, since the first form finds other data in the caches than the second */
            enum form form = round % 2 ? FORMS - 1 - i : i;
            double t = !applies(s, form)  ? 0
                : s->fresh && form < COPY ? timed_fresh(s, form, calls)
                                          : timed(s, form, calls);

            if (round >= 0)
                seconds[form][round] = t;
        }
    for (enum ratio r = 0; r < RATIOS; r++) {
        const double *ours = seconds[ratio_forms[r][0]], *other = seconds[ratio_forms[r][1]];

        for (int i = 0; i < asked.rounds; i++)
            quotient[i] = ours[i] > 0 ? other[i] / ours[i] : 0;
        f->ratio[r] = median(quotient, asked.rounds);
    }
    for (enum form form = 0; form < FORMS; form++) {
        double t = median(seconds[form], asked.rounds);

        f->rate[form] = t > 0 ? 1e-9 * s->bytes / t : 0;
    }
}

/* ---- reports ---- */

static void print(const struct subject *s, const struct figures *f)
{
    char name[64];

    snprintf(name, sizeof name, "%s %s", collopt_op_name(s->op), collopt_type_name(s->type));
    printf("%-24s %9zu | %6.1f %6.1f x%5.2f | %6.1f | %6.1f x%5.2f | %6.1f x%5.2f\n", name,
           s->bytes, f->rate[HOST], f->rate[OURS], f->ratio[TO_HOST], f->rate[THREE],
           f->rate[FOLD4], f->ratio[TIMES4], f->rate[FOLD8], f->ratio[TIMES8]);
    if (f->rate[UPDATE] > 0)
        printf("%-24s %9zu | copy %.1f   update %.1f   triad %.1f   ours/update %.2f\n", "  memory",
               s->bytes, f->rate[COPY], f->rate[UPDATE], f->rate[TRIAD], f->ratio[TO_UPDATE]);
    fflush(stdout);
}

static void save(const struct subject *s, const struct figures *f, FILE *csv, const char *mpi)
{
    char what[256];

    snprintf(what, sizeof what, "%.80s,%s,%s,%s,%zu", mpi, collopt_kernels_isa(),
             collopt_op_name(s->op), collopt_type_name(s->type), s->bytes);
    for (enum form form = 0; form < FORMS; form++)
        if (f->rate[form] > 0)
            fprintf(csv, "%s,%s,%.3f\n", what, form_names[form], f->rate[form]);
    for (enum ratio r = 0; r < RATIOS; r++)
        if (f->ratio[r] > 0)
            fprintf(csv, "%s,%s/%s,%.3f\n", what, form_names[ratio_forms[r][0]],
                    form_names[ratio_forms[r][1]], f->ratio[r]);
}

static void bench(FILE *csv, const char *mpi)
{
    if (!asked.quiet)
        printf("%-24s %9s | %6s %6s %6s | %6s | %6s %6s | %6s %6s   GB/s, %s, %s\n", "", "bytes",
               "host", "ours", "", "three", "fold4", "times4", "fold8", "times8",
               collopt_kernels_isa(), mpi);
    for (enum collopt_op op = 0; op < COLLOPT_OP_USER; op++)
        for (enum collopt_type type = 0; type < COLLOPT_TYPE_NONE; type++) {
            const struct collopt_kernel *kernel = collopt_kernel(op, type);
            bool pairs = collopt_type_layout(type) == COLLOPT_LAYOUT_PAIR;

            if (!kernel || mpi_op(op) == MPI_OP_NULL || !asked.op[op] || !asked.type[type])
                continue;
            for (int i = 0; i < asked.lengths; i++) {
                size_t n = asked.bytes[i] / collopt_type_size(type),
                       bytes = n * collopt_type_size(type);
                struct subject s = { op,         type,           kernel,
                                     mpi_op(op), mpi_type(type), n,
                                     bytes,      pairs,          pairs && !asked.sorted };
                struct figures figures;

                if (n == 0)
                    continue;
                prepare(&s);
                measure(&s, &figures);
                if (!asked.quiet)
                    print(&s, &figures);
                if (csv)
                    save(&s, &figures, csv, mpi);
            }
        }
}

/* ---- the start ---- */

static int usage(const char *word)
{
    fprintf(stderr,
            "bench_kernels: \"%s\" is no option (--isa= --bytes= --csv= --forms= --rounds= "
            "--sorted --quiet), operation or type\n",
            word);
    return 2;
}

static bool parse_forms(char *list)
{
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        enum form form = 0;

        while (form < FORMS && strcmp(word, form_names[form]) != 0)
            form++;
        if (form == FORMS)
            return false;
        asked.some_forms = asked.form[form] = true;
    }
    return true;
}

static int parse(int argc, char **argv)
{
    bool ops = false, types = false;

    for (int i = 1; i < argc; i++) {
        char *word = argv[i], *value = strchr(word, '=');
        enum collopt_op op = collopt_op_named(word);
        enum collopt_type type = collopt_type_named(word);

        if (strcmp(word, "--sorted") == 0)
            asked.sorted = true;
        else if (strcmp(word, "--quiet") == 0)
            asked.quiet = true;
        else if (strncmp(word, "--forms=", 8) == 0) {
            if (!parse_forms(value + 1))
                return usage(word);
        } else if (strncmp(word, "--isa=", 6) == 0)
            asked.isa = value + 1;
        else if (strncmp(word, "--csv=", 6) == 0)
            asked.csv = value + 1;
        else if (strncmp(word, "--rounds=", 9) == 0)
            asked.rounds = atoi(value + 1);
        else if (strncmp(word, "--bytes=", 8) == 0) {
            asked.lengths = 0;
            for (char *at = value; *at && asked.lengths < LENGTHS_MAX; )
                asked.bytes[asked.lengths++] = strtoull(at + 1, &at, 0);
        } else if (op != COLLOPT_OP_USER)
            ops = asked.op[op] = true;
        else if (type != COLLOPT_TYPE_NONE)
            types = asked.type[type] = true;
        else
            return usage(word);
    }
    if (!ops)
        memset(asked.op, true, sizeof asked.op);
    if (!types)
        memset(asked.type, true, sizeof asked.type);
    if (asked.rounds < 1 || asked.rounds > ROUNDS_MAX)
        asked.rounds = ROUNDS_MAX;
    return 0;
}

static char *touched(size_t bytes)
{
    char *memory = aligned_alloc(4096, (bytes + 8191) / 4096 * 4096);

    if (!memory) {
        fprintf(stderr, "bench_kernels: no memory for operands of %zu bytes\n", bytes);
        exit(1);
    }
    memset(memory, 0, bytes);
    return memory;
}

int main(int argc, char **argv)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING], message[256];
    int length, bad = parse(argc, argv);
    size_t most = 0;

    if (bad)
        return bad;
    MPI_Init(&argc, &argv);
    MPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, ",\n")] = '\0';
    for (char *c = mpi; *c; c++)
        *c = *c == '\t' ? ' ' : *c;
    if (collopt_kernels_init(asked.isa, message, sizeof message))
        fprintf(stderr, "bench_kernels: %s\n", message);

    for (int i = 0; i < asked.lengths; i++)
        most = asked.bytes[i] > most ? asked.bytes[i] : most;
    for (int k = 0; k < OPERANDS; k++)
        operand[k] = touched(most);
    dst = touched(most);
    for (int i = 0; i < 3; i++)
        plain[i] = (double *) touched(most);
    pool_bytes = 2 * most > 16 << 20 ? 2 * most : 16 << 20;
    pool = touched(pool_bytes);

    double start = now();

    for (int i = 0; i < 1000; i++)
        now();
    clock_cost = (now() - start) / 1000;

    FILE *csv = asked.csv ? fopen(asked.csv, "w") : NULL;

    if (csv)
        fprintf(csv, "mpi,isa,op,type,bytes,form,GB/s\n");
    bench(csv, mpi);
    if (csv)
        fclose(csv);
    MPI_Finalize();
    return 0;
}
