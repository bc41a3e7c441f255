/* Do reductions of buffers in a GPU's memory come out right, and what does staging them cost?
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so device_memory [--short] RESULTS.csv STAGING.csv
 *
 * Every collective in every form, in place and not, with a commutative and a noncommutative
 * operation, with buffers in device memory, managed, pinned, and mixed: each rank then has its
 * input and its result in other kinds of memory.  Each call is made twice, and results are compared
 * with a fold of all inputs in rank order (problem.h); the input must not change.  The ranks share
 * the devices that there are.
 *
 * The second file compares, on all ranks at once, in us: an Allreduce of vectors in device memory,
 * the same in pinned memory, and the copies that the first needs: its input to pinned memory, its
 * result back.  share: the copies / what device memory adds to the Allreduce; 1: staging costs
 * nothing but the copies.  "-": device memory adds nothing that could be measured.
 *
 * --short: only vectors up to 64 KiB.
 *
 * CUDA's driver is loaded at run time.  Where there is none, "no GPU" is said, and the files have
 * their header only.  Exit status: 0; 1: a result is wrong, or was not collopt's; 2: wrong
 * arguments, or collopt is not loaded. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collopt.h"
#include "lib/cells.h"
#include "lib/clock.h"
#include "lib/cuda.h"
#include "lib/problem.h"
#include "lib/provenance.h"
#include "lib/statistics.h"

enum { ROUNDS = 11, SIDES = 2 };
enum { SIZES = 3, STAGED = 3, SHORT = 64 << 10 };
static const size_t sizes[SIZES] = { 8, 40000, 1 << 20 };
static const size_t staged_sizes[STAGED] = { 64 << 10, 1 << 20, 16 << 20 };
static size_t longest = 16 << 20;        /* --short makes it less */

static const char results_header[] =
    "peer,device,ranks,memory,collective,operation,type,form,in_place,bytes,algorithm,result\n";
static const char staging_header[] = "peer,device,ranks,bytes,device_us,host_us,copy_us,share\n";

static int rank, ranks;
static char mpi[80];
static FILE *results, *staging;
static void *buffer[SIDES][CUDA_MEMORIES];      /* of the longest vector; inputs, results */

static void give_up(const char *what)
{
    fprintf(stderr, "device_memory: rank %d: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static bool on_any(bool here)
{
    double value = here;

    bench_max(&value, 1);
    return value > 0;
}

/* ---- buffers --------------------------------------------------------------------------------- */

static void make_buffers(void)
{
    for (int side = 0; side < SIDES; side++)
        for (enum cuda_memory m = 0; m < CUDA_MEMORIES; m++)
            if (!(buffer[side][m] = cuda_new(m, longest)))
                give_up("no memory for its buffers");
}

static void free_buffers(void)
{
    for (int side = 0; side < SIDES; side++)
        for (enum cuda_memory m = 0; m < CUDA_MEMORIES; m++)
            cuda_free(m, buffer[side][m]);
}

static void put(enum cuda_memory memory, void *p, const void *from, size_t bytes)
{
    if (!cuda_put(memory, p, from, bytes))
        give_up("CUDA's driver cannot write");
}

static void get(enum cuda_memory memory, void *to, const void *p, size_t bytes)
{
    if (!cuda_get(memory, to, p, bytes))
        give_up("CUDA's driver cannot read");
}

/* ---- results --------------------------------------------------------------------------------- */

/* Which memory a rank's input and result are in. */
struct places {
    const char *name;
    enum cuda_memory in, out;
};

/* Turn by turn each rank goes through the pairs of kinds. */
static struct places mixed(int turn)
{
    int number = turn + 5 * rank;

    return (struct places){ "mixed", (enum cuda_memory)(number % CUDA_MEMORIES),
                            (enum cuda_memory)(number / CUDA_MEMORIES % CUDA_MEMORIES) };
}

/* P has what must be there, Q is the same with buffers AT. */
static bool call_is_right(const struct bench_problem *p, const struct bench_problem *q,
                          const struct places *at)
{
    char *input = bench_new(p->bytes);
    bool right;

    bench_problem_prepare_out(p);
    put(at->in, q->in, p->in, p->bytes);
    put(at->out, q->out, p->out, p->bytes);
    bench_barrier();
    bench_problem_call(&bench_mpi, q);
    get(at->out, p->out, q->out, p->bytes);
    get(at->in, input, q->in, p->bytes);
    right = bench_problem_result_is_right(p) && memcmp(input, p->in, p->bytes) == 0;
    free(input);
    return right;
}

static void write_result(const struct bench_problem *p, const struct places *at, const char *ran,
                         bool wrong)
{
    cells_csv_field(mpi, results);
    cells_csv_field(cuda_device(), results);
    fprintf(results, "%d,%s,%s,%s,%s,%s,%s,%zu,", ranks, at->name,
            bench_collective_names[p->collective], bench_operation_names[p->operation],
            bench_problem_type(p), bench_form_names[p->form], p->in_place ? "yes" : "no",
            p->bytes);
    cells_csv_field(ran, results);
    fprintf(results, "%s\n", wrong ? "WRONG" : "correct");
    fflush(results);
}

static bool is_right(struct bench_problem p, const struct places *at)
{
    struct bench_algorithm counted;
    struct bench_problem q;
    bool wrong = false;
    const char *ran;

    if (!bench_problem_open(&p))
        give_up("more elements than an int can count");
    q = p;
    q.in = buffer[0][at->in];
    q.out = buffer[1][at->out];
    bench_algorithm_start(&counted, bench_collective_names[p.collective]);
    bench_problem_make_request(&bench_mpi, &q);
    for (int call = 0; call < 2; call++)
        wrong = !call_is_right(&p, &q, at) || wrong;
    bench_problem_free_request(&bench_mpi, &q);
    ran = bench_algorithm_ran(&counted);
    wrong = on_any(wrong || strcmp(ran, "host") == 0);
    if (rank == 0)
        write_result(&p, at, ran, wrong);
    if (rank == 0 && wrong)
        fprintf(stderr,
                "device_memory: WRONG result of %s, %s, %s%s, %zu bytes, memory %s, by %s\n",
                bench_collective_names[p.collective], bench_operation_names[p.operation],
                bench_form_names[p.form], p.in_place ? ", in place" : "", p.bytes, at->name, ran);
    bench_problem_close(&p);
    return !wrong;
}

static bool all_memories_are_right(const struct bench_problem *p)
{
    static int turn;
    struct places at = mixed(turn++);
    bool right = is_right(*p, &at);

    for (enum cuda_memory m = 0; m < CUDA_HOST; m++) {
        at = (struct places){ cuda_memory_names[m], m, m };
        right = is_right(*p, &at) && right;
    }
    return right;
}

static bool all_sizes_are_right(struct bench_problem *p)
{
    bool right = true;

    for (size_t i = 0; i < SIZES && sizes[i] <= longest; i++) {
        p->bytes = sizes[i];
        right = all_memories_are_right(p) && right;
    }
    return right;
}

static bool all_forms_are_right(struct bench_problem *p)
{
    bool right = true;

    for (p->form = BENCH_BLOCKING; p->form <= BENCH_NONBLOCKING; p->form++)
        for (int in_place = 0; in_place < 2; in_place++) {
            p->in_place = in_place;
            if (p->form != BENCH_PERSISTENT || BENCH_HAVE_PERSISTENT)
                right = all_sizes_are_right(p) && right;
        }
    return right;
}

static bool all_is_right(void)
{
    static const enum bench_operation operations[] = { BENCH_SUM, BENCH_NONCOMMUTATIVE };
    struct bench_problem p = { .comm = MPI_COMM_WORLD, .type = BENCH_DOUBLE, .seed = 1 };
    bool right = true;

    for (p.collective = BENCH_ALLREDUCE; p.collective <= BENCH_EXSCAN; p.collective++)
        for (int i = 0; i < 2; i++) {
            p.operation = operations[i];
            right = all_forms_are_right(&p) && right;
        }
    return right;
}

/* ---- the cost of staging --------------------------------------------------------------------- */

static double us_of_allreduce(const struct bench_problem *p, enum cuda_memory memory)
{
    struct bench_problem q = *p;
    double start, time;

    q.in = buffer[0][memory];
    q.out = buffer[1][memory];
    put(memory, q.in, p->in, p->bytes);
    bench_barrier();
    start = bench_now();
    bench_problem_call(&bench_mpi, &q);
    time = 1e6 * (bench_now() - start);
    bench_max(&time, 1);
    return time;
}

static double us_of_copies(size_t bytes)
{
    double start, time;

    bench_barrier();
    start = bench_now();
    get(CUDA_DEVICE, buffer[0][CUDA_PINNED], buffer[0][CUDA_DEVICE], bytes);
    put(CUDA_DEVICE, buffer[1][CUDA_DEVICE], buffer[1][CUDA_PINNED], bytes);
    time = 1e6 * (bench_now() - start);
    bench_max(&time, 1);
    return time;
}

static void write_staging(size_t bytes, double on_device, double on_host, double copies)
{
    cells_csv_field(mpi, staging);
    cells_csv_field(cuda_device(), staging);
    fprintf(staging, "%d,%zu,%.1f,%.1f,%.1f,", ranks, bytes, on_device, on_host, copies);
    if (on_device > on_host)
        fprintf(staging, "%.3f\n", copies / (on_device - on_host));
    else
        fputs("-\n", staging);
    fflush(staging);
}

static void measure_staging(size_t bytes)
{
    struct bench_problem p = { .comm = MPI_COMM_WORLD, .collective = BENCH_ALLREDUCE,
                               .operation = BENCH_SUM, .type = BENCH_DOUBLE, .bytes = bytes,
                               .seed = 1 };
    double on_device[ROUNDS], on_host[ROUNDS], copies[ROUNDS];

    if (!bench_problem_open(&p))
        give_up("more elements than an int can count");
    us_of_allreduce(&p, CUDA_DEVICE);           /* plans and pinned memory are made once */
    us_of_allreduce(&p, CUDA_PINNED);
    for (int i = 0; i < ROUNDS; i++) {
        on_device[i] = us_of_allreduce(&p, CUDA_DEVICE);
        on_host[i] = us_of_allreduce(&p, CUDA_PINNED);
        copies[i] = us_of_copies(bytes);
    }
    if (rank == 0)
        write_staging(bytes, bench_quantile(on_device, ROUNDS, 0.5),
                      bench_quantile(on_host, ROUNDS, 0.5), bench_quantile(copies, ROUNDS, 0.5));
    bench_problem_close(&p);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static FILE *open_file(const char *name, const char *header)
{
    FILE *file = fopen(name, "w");

    if (!file) {
        perror(name);
        give_up("a file cannot be written");
    }
    fputs(header, file);
    return file;
}

static int measure(void)
{
    int status;

    make_buffers();
    bench_problems_begin();
    for (size_t i = 0; i < STAGED && staged_sizes[i] <= longest; i++)
        measure_staging(staged_sizes[i]);
    status = all_is_right() ? 0 : 1;
    bench_problems_end();
    free_buffers();
    cuda_end();
    return status;
}

/* The lowest rank without a device says so. */
static bool no_device(void)
{
    const char *lacking = cuda_begin(rank);
    double lowest = lacking ? -rank : -ranks;

    bench_max(&lowest, 1);
    if (lacking && lowest == -rank)
        fprintf(stderr, "device_memory: no GPU: %s\n", lacking);
    return lowest > -ranks;
}

static int refuse(const char *why)
{
    if (rank == 0)
        fprintf(stderr, "device_memory: %s\n", why);
    return 2;
}

static int run(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--short") == 0) {
        longest = SHORT;
        argc--;
        argv++;
    }
    if (argc != 3)
        return refuse("two files are wanted: device_memory [--short] RESULTS.csv STAGING.csv");
    if (!collopt_version)
        return refuse("collopt is not loaded, so nothing can reach device memory; put "
                      "LD_PRELOAD=libcollopt.so into the ranks' environment");
    if (rank == 0) {
        results = open_file(argv[1], results_header);
        staging = open_file(argv[2], staging_header);
    }
    return no_device() ? 0 : measure();
}

int main(int argc, char **argv)
{
    int status;

    setenv("COLLOPT_AFTER", "1", 0);    /* every call is to be collopt's */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    provenance_mpi(mpi, sizeof mpi);
    status = run(argc, argv);
    MPI_Finalize();
    return status;
}
