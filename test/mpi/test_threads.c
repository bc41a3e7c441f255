/* Threads, each on a communicator of its own, with MPI_THREAD_MULTIPLE.  They begin in opposite orders on odd and even
 * ranks, so that first uses, and the agreements that belong to them, overlap. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "common.h"

enum { THREADS = 4, ROUNDS = 60 };

struct task {
    MPI_Comm comm;
    int number;
};

static void *work(void *data)
{
    static const int count[] = { 1, 100, 5000, 0, 17 };
    const struct task *t = data;
    int ranks;

    MPI_Comm_size(t->comm, &ranks);
    usleep((useconds_t)(world_rank % 2 ? t->number : THREADS - 1 - t->number) * 2000);
    for (int i = 0; i < ROUNDS; i++) {
        sum_all(t->comm, count[(i + t->number) % 5], "a thread's allreduce");
        sum_to(t->comm, count[i % 5], (i + t->number) % ranks, "a thread's reduce");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct task task[THREADS];
    pthread_t thread[THREADS];
    uint64_t run, passed;

    begin_with(&argc, &argv, "test_threads", MPI_THREAD_MULTIPLE);
    at("threads", 100);
    for (int i = 0; i < THREADS; i++) {
        task[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &task[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, work, &task[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    run = calls_run(NULL, NULL);
    passed = calls_passed(NULL);
    check(run + passed == THREADS * ROUNDS * 2, "collopt ran %llu calls and passed on %llu, not %d together",
          (unsigned long long)run, (unsigned long long)passed, THREADS * ROUNDS * 2);
    check(passed == 0 || getenv("COLLOPT_ADAPT"), "%llu calls were passed on", (unsigned long long)passed);   /* in trials */

    /* communicators come and go in threads */
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&task[i].comm);
    sum_all(MPI_COMM_WORLD, 10, "after the threads");
    return end();
}
