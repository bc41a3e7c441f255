/* Ranks wait for each other by words in shared memory, outside MPI.
 *
 * A program may do anything after a call has returned: compute for an hour, or wait until another
 * rank has written a file.  If that rank is still in the same call, and needs a message of this one
 * that leaves only in a later call of MPI, both wait for ever. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#ifdef TEST_SIMULATED           /* all ranks are one process there, and time is not ours */
void apart_begin(void)
{
}

void apart_wait(const struct group *g, uint64_t serial)
{
    (void)g, (void)serial;
}
#else
enum { MOST = 128 };

static struct {
    _Atomic uint64_t serial[FUZZ_THREADS][MOST];
} *words;

/* Rank 0 makes the file, and nobody needs its name any more when all have opened it. */
void apart_begin(void)
{
    char name[] = "/tmp/fuzz-XXXXXX";
    int fd = -1;

    if (world_rank == 0 && ((fd = mkstemp(name)) < 0 || ftruncate(fd, sizeof *words)))
        perror(name);
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (world_rank != 0)
        fd = open(name, O_RDWR);
    words = mmap(NULL, sizeof *words, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (words == MAP_FAILED) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 99);
    }
    close(fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0)
        unlink(name);
}

void apart_wait(const struct group *g, uint64_t serial)
{
    _Atomic uint64_t *reached = words->serial[fuzz_thread()];
    char text[FUZZ_WORDS];

    if (world_ranks > MOST)
        return;
    reached[world_rank] = serial;
    for (int i = 0; i < g->ranks; i++) {
        if (reached[g->world[i]] >= serial)
            continue;
        snprintf(text, sizeof text, "%s: waits outside MPI until rank %d has returned, too",
                 fuzz_step_name(), g->world[i]);
        watch_at(text);
        while (reached[g->world[i]] < serial)
            nanosleep(&(struct timespec){ 0, 20000 }, NULL);
    }
}
#endif
