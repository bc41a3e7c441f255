/* Communicators that end, or begin, while something else goes on; messages of the program that have
 * to go on.
 *
 *     test_lives SUBJECT
 *
 * The subjects are the rows at the end of this file; three ranks. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { ROUNDS = 40, SUMS = 4 };

/* All ranks but FIRST, or no communicator. */
static MPI_Comm without(MPI_Comm of, int first)
{
    MPI_Comm made;

    MPI_Comm_split(of, world_rank == first ? MPI_UNDEFINED : 0, world_rank, &made);
    return made;
}

static void sums(MPI_Comm comm, const char *what)
{
    for (int i = 0; i < SUMS && comm != MPI_COMM_NULL; i++)
        sum_all(comm, 1 + 7 * i, what);
}

/* ---- two threads ----------------------------------------------------------------------------- */

struct side {
    MPI_Comm world;
    /* reduces among all ranks but 0, and then makes a communicator of all */
    bool some;
};

static void *use(void *data)
{
    const struct side *s = data;

    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm a, c;

        if (!s->some) {
            MPI_Comm_dup(s->world, &a);
            sums(a, "one thread reduces");
            MPI_Comm_free(&a);
            continue;
        }
        a = without(s->world, 0);
        sums(a, "another thread reduces, on some of the ranks");
        MPI_Comm_dup(s->world, &c);
        if (a != MPI_COMM_NULL)
            MPI_Comm_free(&a);
        MPI_Comm_free(&c);
    }
    return NULL;
}

/* One thread reduces on a communicator of all ranks, while the other does on one without rank 0,
 * which is then already waiting where all of them make a third. */
static void threads(void)
{
    struct side side[2] = { { .some = false }, { .some = true } };
    pthread_t thread;

    at("two threads");
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &side[i].world);
    pthread_create(&thread, NULL, use, &side[1]);
    use(&side[0]);
    pthread_join(thread, NULL);
    for (int i = 0; i < 2; i++)
        MPI_Comm_free(&side[i].world);
}

/* ---- freed while a receive is pending -------------------------------------------------------- */

/* One rank, in turn, still waits for a message on a communicator that all have freed; all but rank
 * 0 make new ones. */
static void pending(void)
{
    for (int i = 0; i < ROUNDS / 2; i++) {
        bool waits = world_rank == i % world_ranks;
        MPI_Comm freed, some;
        MPI_Request request = MPI_REQUEST_NULL;
        int x;

        at("a communicator that is freed while a receive is pending");
        MPI_Comm_dup(MPI_COMM_WORLD, &freed);
        sums(freed, "before it is freed");
        if (waits)
            MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, freed, &request);
        MPI_Comm_free(&freed);
        some = without(MPI_COMM_WORLD, 0);
        sums(some, "while a receive is pending on one that was freed");
        if (some != MPI_COMM_NULL)
            MPI_Comm_free(&some);
        sums(MPI_COMM_WORLD, "the world, meanwhile");
        if (waits) {
            MPI_Cancel(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
}

/* ---- a delete callback that reduces ---------------------------------------------------------- */

static int goodbye(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)key, (void)value, (void)extra;
    sums(comm, "in a delete callback");
    return MPI_SUCCESS;
}

/* The handle of the communicator that is freed comes back as one of others, more of them or
 * fewer. */
static void callbacks(void)
{
    int key;

    at("delete callbacks");
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, goodbye, &key, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm ends = i % 2 ? without(MPI_COMM_WORLD, i % world_ranks) : MPI_COMM_NULL, next;

        if (i % 2 == 0)
            MPI_Comm_dup(MPI_COMM_WORLD, &ends);
        if (ends != MPI_COMM_NULL) {
            sums(ends, "with a delete callback");
            MPI_Comm_set_attr(ends, key, NULL);
            MPI_Comm_free(&ends);
        }
        MPI_Comm_split(MPI_COMM_WORLD, i % 3 == 0 ? world_rank % 2 : 0, -world_rank, &next);
        sums(next, "after a delete callback has reduced");
        MPI_Comm_free(&next);
    }
    MPI_Comm_free_keyval(&key);
}

/* ---- the program's own messages -------------------------------------------------------------- */

/* One rank reduces while a long message of its own is under way, which its receiver waits for
 * before it reduces: a rank that waits in a reduction has to make the MPI library go on. */
static void progress(void)
{
    enum { LONG = 1 << 20 };
    int *data = calloc(LONG, sizeof *data);

    for (int i = 0; data && i < ROUNDS / 2; i++) {
        int from = i % world_ranks, to = (i + 1) % world_ranks;
        MPI_Request request = MPI_REQUEST_NULL;

        at("a message that is under way while its sender reduces");
        data[LONG - 1] = world_rank == from ? i : -1;
        if (world_rank == from)
            MPI_Isend(data, LONG, MPI_INT, to, 1, MPI_COMM_WORLD, &request);
        if (world_rank == to)
            MPI_Recv(data, LONG, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sums(MPI_COMM_WORLD, "while a message is under way");
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(world_rank != to || data[LONG - 1] == i, "the message of round %d came wrong", i);
    }
    free(data);
}

static const struct subject {
    const char *name;
    int level;
    void (*run)(void);
} subjects[] = {
    { "threads", MPI_THREAD_MULTIPLE, threads },
    { "pending", MPI_THREAD_SINGLE, pending },
    { "callbacks", MPI_THREAD_SINGLE, callbacks },
    { "progress", MPI_THREAD_SINGLE, progress },
};

int main(int argc, char **argv)
{
    enum { SUBJECTS = sizeof subjects / sizeof *subjects };
    int i = 0;

    while (i < SUBJECTS && strcmp(subjects[i].name, argc > 1 ? argv[1] : "") != 0)
        i++;
    if (i == SUBJECTS) {
        fprintf(stderr, "test_lives: threads, pending, callbacks or progress\n");
        return 99;
    }
    begin_with(&argc, &argv, "test_lives", subjects[i].level);
    subjects[i].run();
    check(!with_collopt() || calls_run(NULL, NULL) > 0, "collopt ran nothing");
    return end();
}
