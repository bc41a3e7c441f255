/* Reductions in a world where something goes wrong.
 *
 *     test_faults FAULT [MARK]     none; kill, abort: the last rank ends so; memory: it writes to
 *                                  1 GiB, of which a control group has less; stop=SECONDS: it is
 *                                  stopped for so long
 *
 * MARK, of any content, tells these processes from others. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"

enum { TURNS = 300, FAULTY = 100 };

static void stop_for(unsigned seconds)
{
    pid_t self = getpid();

    if (fork() == 0) {
        sleep(seconds);
        kill(self, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
}

/* The kernel ends the process in here. */
static void take_memory(void)
{
    enum { PAGE = 4096 };
    size_t n = (size_t)1 << 30;
    volatile char *taken = malloc(n);

    for (size_t i = 0; taken && i < n; i += PAGE)
        taken[i] = 1;
    fail("the control group has memory left");
}

static unsigned seconds_stopped(const char *fault)
{
    return strncmp(fault, "stop=", 5) == 0 ? (unsigned)atoi(fault + 5) : 0;
}

static void suffer(const char *fault)
{
    if (strcmp(fault, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(fault, "abort") == 0)
        abort();
    if (strcmp(fault, "memory") == 0)
        take_memory();
    if (seconds_stopped(fault))
        stop_for(seconds_stopped(fault));
}

int main(int argc, char **argv)
{
    int mine = 1, sum = 0;
    MPI_Request request;

    begin(&argc, &argv, "test_faults");
    at_for("reductions", 240 + (argc > 1 ? seconds_stopped(argv[1]) : 0));
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
