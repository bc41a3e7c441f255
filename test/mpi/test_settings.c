/* Does what it is told, checks the results, and says what collopt did of it.
 *
 *     test_settings [COMMAND[=N]]...
 *
 *     allreduce=5 reduce=3        so many calls on MPI_COMM_WORLD
 *     bytes=4096                  the length of the vectors from now on
 *     pcontrol=0                  MPI_Pcontrol
 *     dup                         from now on, on a new duplicate
 *
 * At the end each rank writes "rank 0: run 5 passed 3". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

struct state {
    MPI_Comm comm;
    int count;
};

static void allreduce(struct state *s, int n)
{
    while (n-- > 0)
        sum_all(s->comm, s->count, "allreduce");
}

static void reduce(struct state *s, int n)
{
    int ranks;

    MPI_Comm_size(s->comm, &ranks);
    while (n-- > 0)
        sum_to(s->comm, s->count, n % ranks, "reduce");
}

static void bytes(struct state *s, int n)
{
    s->count = n / (int)sizeof(int);
}

static void pcontrol(struct state *s, int n)
{
    (void)s;
    MPI_Pcontrol(n);
}

static void dup(struct state *s, int n)
{
    MPI_Comm made;

    (void)n;
    MPI_Comm_dup(s->comm, &made);
    if (s->comm != MPI_COMM_WORLD)
        MPI_Comm_free(&s->comm);
    s->comm = made;
}

static const struct command {
    const char *name;
    void (*run)(struct state *s, int n);
} commands[] = {
    { "allreduce", allreduce }, { "reduce", reduce }, { "bytes", bytes }, { "pcontrol", pcontrol }, { "dup", dup },
};

static void obey(struct state *s, const char *word)
{
    size_t n = strcspn(word, "=");

    at(word, 60);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strlen(commands[i].name) == n && memcmp(commands[i].name, word, n) == 0) {
            commands[i].run(s, word[n] ? atoi(word + n + 1) : 1);
            return;
        }
    fail("there is no command %s", word);
}

int main(int argc, char **argv)
{
    struct state s = { MPI_COMM_WORLD, 16 };

    begin(&argc, &argv, "test_settings");
    for (int i = 1; i < argc; i++)
        obey(&s, argv[i]);
    if (s.comm != MPI_COMM_WORLD)
        MPI_Comm_free(&s.comm);
    printf("rank %d: run %llu passed %llu\n", world_rank, (unsigned long long)calls_run(NULL, NULL),
           (unsigned long long)calls_passed(NULL));
    fflush(stdout);
    return end();
}
