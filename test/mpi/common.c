#include "common.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PRINTED = 12 };

int world_rank = -1, world_ranks = 0;

static const char *name = "test";
static int failed;
static const char *doing = "nothing yet";
static char library[MPI_MAX_LIBRARY_VERSION_STRING];

void fail(const char *format, ...)
{
    char text[900];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    if (__atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED) > PRINTED)
        return;
    fprintf(stderr, "FAIL: %s rank %d of %d: %s\n", name, world_rank, world_ranks, text);
    fflush(stderr);
}

int failures(void)
{
    return failed;
}

/* ---- against hanging ------------------------------------------------------------------------- */

#ifndef TEST_SIMULATED
static void stuck(int signal)
{
    char text[900];
    int n = snprintf(text, sizeof text, "FAIL: %s rank %d of %d: stuck in: %s\n", name, world_rank,
                     world_ranks, doing);

    (void)signal;
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(3);
    _exit(2);
}
#endif

void at_for(const char *words, unsigned seconds)
{
    doing = words;
#ifndef TEST_SIMULATED          /* all ranks are one process there, and time is not ours */
    alarm(seconds);
#else
    (void)seconds;
#endif
}

void at(const char *words)
{
    at_for(words, 300);
}

/* ---- beginning and ending -------------------------------------------------------------------- */

static void get_ready(const char *program)
{
    int length;

    name = program;
    MPI_Get_library_version(library, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
#ifndef TEST_SIMULATED
    signal(SIGALRM, stuck);
#endif
    at("the beginning");
}

void begin(int *argc, char ***argv, const char *program)
{
    MPI_Init(argc, argv);
    get_ready(program);
}

void begin_with(int *argc, char ***argv, const char *program, int level)
{
    int provided;

    MPI_Init_thread(argc, argv, level, &provided);
    get_ready(program);
    check(provided >= level, "the MPI library provides thread level %d, not %d", provided, level);
}

int end(void)
{
    at("MPI_Finalize");
    if (failed > PRINTED)
        fprintf(stderr, "FAIL: %s rank %d: %d failures in all\n", name, world_rank, failed);
    MPI_Finalize();
    return failed != 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int input(int rank, int i)
{
    return (int)(mix((uint64_t)rank * 7919 + (uint64_t)i) & 0xffffff);
}

static void sum(MPI_Comm comm, int count, int root, const char *what)
{
    int rank, ranks, *in = malloc(((size_t)count + 1) * sizeof *in),
                     *out = malloc(((size_t)count + 1) * sizeof *out), err;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    for (int i = 0; i < count; i++) {
        in[i] = input(rank, i);
        out[i] = -1;
    }
    err = root < 0 ? MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm)
                   : MPI_Reduce(in, out, count, MPI_INT, MPI_SUM, root, comm);
    check(err == MPI_SUCCESS, "%s: error %d", what, err);
    for (int i = 0; i < count && (root < 0 || root == rank); i++) {
        int right = 0;

        for (int r = 0; r < ranks; r++)
            right += input(r, i);
        if (out[i] != right) {
            fail("%s: element %d of %d is %d, should be %d", what, i, count, out[i], right);
            break;
        }
    }
    free(in);
    free(out);
}

void sum_all(MPI_Comm comm, int count, const char *what)
{
    sum(comm, count, -1, what);
}

void sum_to(MPI_Comm comm, int count, int root, const char *what)
{
    sum(comm, count, root, what);
}

bool on_mpich(void)
{
    return strstr(library, "MPICH") || strstr(library, "MVAPICH")
        || strstr(library, "Intel(R) MPI");
}

bool on_openmpi(void)
{
    return strstr(library, "Open MPI") != NULL;
}

/* ---- what collopt did ------------------------------------------------------------------------ */

bool with_collopt(void)
{
    return collopt_version && collopt_algorithm_count("allreduce") > 0;
}

uint64_t calls_run(const char *collective, const char *algorithm)
{
    return collopt_calls ? collopt_calls(collective, algorithm) : 0;
}

uint64_t calls_passed(const char *mpi_name)
{
    return collopt_calls_passed ? collopt_calls_passed(mpi_name) : 0;
}

static const char *const form_names[FORMS] = { "blocking", "persistent", "nonblocking" };

const char *algorithm_of_form(enum form form)
{
    return form == BLOCKING ? NULL : form_names[form];
}

enum form form_named(const char *name)
{
    for (int f = 0; name && f < FORMS; f++)
        if (strcmp(name, form_names[f]) == 0)
            return (enum form)f;
    check(!name, "TEST_FORM=%s is neither blocking nor persistent nor nonblocking", name);
    return BLOCKING;
}

#if COLLOPT_HAVE_PERSISTENT
# define INIT_NAME "%s_init"
#else
# define INIT_NAME "X_%s_init"          /* Open MPI's MPIX_Allreduce_init and its like */
#endif

const char *form_name(const char *collective, enum form form, char name[64])
{
    if (form == NONBLOCKING)
        snprintf(name, 64, "I%c%s", collective[0] - 'A' + 'a', collective + 1);
    else
        snprintf(name, 64, form == PERSISTENT ? INIT_NAME : "%s", collective);
    return name;
}

long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long all = 0, pages = 0;

    if (f && fscanf(f, "%ld %ld", &all, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
