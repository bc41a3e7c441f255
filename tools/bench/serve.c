#include "config.h"

#include "bench/serve.h"
#include "collopt.h"
#include "bench/machine.h"
#include "bench/runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 512, WORD = 200 };

static int rank, *leader;       /* of each rank the first that shares memory with it */

/* On rank 0, in one piece: MPICH makes stdout unbuffered where it finds its process alone, and
 * launchers put what comes in pieces between the lines of other such processes. */
__attribute__((format(printf, 1, 2)))
static void answer(const char *format, ...)
{
    static const char mark[] = "@collopt ";
    size_t head = sizeof mark - 1, n;
    va_list ap;
    char *line;

    if (rank != 0)
        return;
    va_start(ap, format);
    n = head + (size_t)vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    line = bench_new(n + 2);
    memcpy(line, mark, head);
    va_start(ap, format);
    vsnprintf(line + head, n + 1 - head, format, ap);
    va_end(ap);
    line[n] = '\n';
    fwrite(line, 1, n + 1, stdout);
    fflush(stdout);
    free(line);
}

/* ---- what is here ---------------------------------------------------------------------------- */

static void find_leaders(int ranks)
{
    MPI_Comm node;
    int mine = rank;

    leader = bench_new((size_t)ranks * sizeof *leader);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&mine, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&mine, 1, MPI_INT, leader, 1, MPI_INT, MPI_COMM_WORLD);
}

static void say_ready(const struct provenance *p)
{
    size_t size = (size_t)p->ranks * 12, n = 0;
    char *list = bench_new(size);

    find_leaders(p->ranks);
    for (int r = 0; r < p->ranks; r++)
        n += (size_t)snprintf(list + n, size - n, "%s%d", r ? "," : "", leader[r]);
    answer("ready %d.%d.%d %d %d %d %s", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
           COLLOPT_VERSION_PATCH, bench_loaded(), p->ranks, p->crowded, list);
    free(list);
}

static void introduce(int argc, char **argv)
{
    struct provenance p;

    provenance_gather(&p, NULL, argc, argv, 0);
    answer("about MPI: %s; collopt: %s", p.mpi, p.collopt);
    if (rank == 0)
        answer("about ranks: %d on %d host%s%s; %s, %d processors, on %s", p.ranks, p.hosts,
               p.hosts == 1 ? "" : "s", p.crowded ? ", more than processors" : "", p.rank[0].cpu,
               p.rank[0].processors, p.rank[0].host);
    say_ready(&p);
    provenance_free(&p);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Gives all ranks the line that rank 0 reads; false: there is no more.  Ranks that wait yield their
 * processors. */
static bool next_line(char line[LINE])
{
    double text[LINE] = { 0 };

    if (rank == 0 && fgets(line, LINE, stdin))
        for (int i = 0; i < LINE && line[i]; i++)
            text[i] = (unsigned char)line[i];
    bench_max(text, LINE);
    for (int i = 0; i < LINE; i++)
        line[i] = (char)(unsigned char)text[i];
    return line[0] != '\0';
}

static int number_of(const char *const *names, const char *word)
{
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return -1;
}

struct request {
    int collective, operation, type;
    size_t bytes;
    char algorithm[WORD];
    struct bench_effort effort;
};

/* "cell ..." or "verify ...". */
static bool understood(const char *line, const char *word, struct request *r)
{
    char first[32], collective[32], operation[32], type[32];
    int n;

    *r = (struct request){ .effort = { .precise = 0.02 } };
    n = sscanf(line, "%31s %31s %31s %31s %zu %199s %lf %lf", first, collective, operation, type,
               &r->bytes, r->algorithm, &r->effort.seconds, &r->effort.hopeless);
    if (n < 7 || strcmp(first, word) != 0 || (n < 8 && strcmp(word, "cell") == 0))
        return false;
    r->collective = number_of(bench_collective_names, collective);
    r->operation = number_of(bench_operation_names, operation);
    r->type = number_of(bench_type_names, type);
    return r->collective >= 0 && r->operation >= 0 && r->type >= 0 && r->bytes > 0;
}

static void tell(const struct request *r, const struct cell *c)
{
    const char *collective = bench_collective_names[r->collective],
               *operation = bench_operation_names[r->operation];
    const struct bench_figures *f = &c->figures;

    if (c->state != CELL_MEASURED)
        answer("none %s %s %zu %s", collective, operation, r->bytes, r->algorithm);
    else
        answer("cell %s %s %zu %s %s %.4f %.4f %.4f %.4f %.4f %d %s", collective, operation,
               r->bytes, r->algorithm, c->ran, f->first_us, f->second_us, f->ratio, f->low, f->high,
               f->pairs, c->wrong_host ? "WRONG-HOST" : cell_result(c));
}

static struct bench_problem problem_of(const struct request *r, MPI_Comm comm)
{
    return (struct bench_problem){
        .collective = (enum bench_collective)r->collective,
        .operation = (enum bench_operation)r->operation,
        .type = (enum bench_type)r->type,
        .seed = 1,
        .comm = comm,
        .bytes = r->bytes,
    };
}

static void measure(const struct request *r)
{
    struct runner runner;
    struct cell c = { .algorithm = r->algorithm };

    runner_open(&runner, MPI_COMM_WORLD, r->algorithm, 1u << r->collective);
    c.problem = problem_of(r, runner.comm);
    cell_measure(&c, &r->effort);
    runner_close(&runner);
    tell(r, &c);
}

static void tell_verified(const struct request *r, const struct cell *c)
{
    const char *collective = bench_collective_names[r->collective],
               *operation = bench_operation_names[r->operation];
    const struct bench_figures *f = &c->figures;

    if (c->state != CELL_MEASURED)
        answer("none %s %s %zu %s", collective, operation, r->bytes, r->algorithm);
    else
        answer("verify %s %s %zu %s %.4f %.4f %.4f %d %s", collective, operation, r->bytes,
               r->algorithm, f->ratio, f->low, f->high, f->pairs, cell_result(c));
}

static void verify(const struct request *r)
{
    bool host = strcmp(r->algorithm, "host") == 0;
    struct runner plain, forced;
    struct cell c = { .algorithm = r->algorithm }, before = { .algorithm = "auto" };

    runner_open(&plain, MPI_COMM_WORLD, "auto", 0);
    runner_open(&forced, MPI_COMM_WORLD, host ? "auto" : r->algorithm, 1u << r->collective);
    c.problem = problem_of(r, forced.comm);
    before.problem = problem_of(r, plain.comm);
    cell_measure_against(&c, &before, &r->effort);
    runner_close(&forced);
    runner_close(&plain);
    tell_verified(r, &c);
}

static void tell_machine(const char *key, double value, double low, double high)
{
    answer("machine %s %.6g %.6g %.6g", key, value, low, high);
}

void serve(int argc, char **argv)
{
    char line[LINE];
    struct request r;
    double seconds;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bench_find_host();
    bench_problems_begin();
    introduce(argc, argv);
    while (next_line(line) && strcmp(line, "end\n") != 0) {
        if (understood(line, "cell", &r)) {
            measure(&r);
        } else if (understood(line, "verify", &r)) {
            verify(&r);
        } else if (sscanf(line, "machine %lf", &seconds) == 1) {
            bench_machine(leader, seconds, tell_machine);
            answer("machine end");
        } else {
            answer("wrong %.*s", (int)strcspn(line, "\n"), line);
        }
    }
    bench_problems_end();
    free(leader);
}
