/* Reductions in a world where something goes wrong.
 *
 *     test_faults FAULT [MARK]     none; kill, abort: the last rank ends so; stop: it is stopped
 *                                  for two seconds
 *
 * MARK, of any content, tells these processes from others. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

enum { TURNS = 300, FAULTY = 100 };

static void stop_for_a_while(void)
{
    pid_t self = getpid();

    if (fork() == 0) {
        sleep(2);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

static void suffer(const char *fault)
{
    if (strcmp(fault, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(fault, "abort") == 0)
        abort();
    if (strcmp(fault, "stop") == 0)
        stop_for_a_while();
}

int main(int argc, char **argv)
{
    int mine = 1, sum = 0;
    MPI_Request request;

    begin(&argc, &argv, "test_faults");
    at("reductions", 60);
    for (int i = 0; i < TURNS; i++) {
        if (i == FAULTY && argc > 1 && world_rank == world_ranks - 1)
            suffer(argv[1]);
        sum_all(MPI_COMM_WORLD, 1 + i * 37 % 2000, "a sum beside a fault");
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(sum == world_ranks, "MPI_Iallreduce gives %d, should be %d", sum, world_ranks);
    }
    check(!with_collopt() || calls_run("allreduce", NULL) > TURNS / 2, "collopt ran %d calls",
          (int)calls_run("allreduce", NULL));
    return end();
}
