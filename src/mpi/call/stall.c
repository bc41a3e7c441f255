/* Starts the thread of COLLOPT_STALL; see stall.h. */
#include "config.h"

#include "mpi/call/stall.h"
#include "base/log.h"
#include "mpi/host/host.h"
#include "recorder/recorder.h"
#include "recorder/stall.h"
#include "settings/settings.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void (*before_end)(void);

static void tell(const char *line)
{
    collopt_warn_here("%s", line);
}

static void *end_process(void *unused)
{
    enum { PATIENCE = 10 };             /* seconds */

    sleep(PATIENCE);
    kill(getpid(), SIGKILL);
    return unused;
}

/* The launcher ends the others.  MPI_Abort beside another call is more than MPI allows without
 * MPI_THREAD_MULTIPLE, and may not return, so the process ends anyhow. */
static void end_job(void)
{
    pthread_t other;

    collopt_warn_here("COLLOPT_STALL_ABORT=on: the job is ended");
    if (pthread_create(&other, NULL, end_process, NULL))
        kill(getpid(), SIGKILL);
    before_end();
    /* MPICH's launcher may end before it has passed on what was written */
    sleep(1);
    collopt_host.Abort(MPI_COMM_WORLD, 1);
}

void collopt_stall_watch(void (*before)(void))
{
    const struct collopt_settings *s = collopt_settings();
    const struct collopt_stall stall = { .seconds = s->stall, .tell = tell,
                                         .end_job = s->stall_abort ? end_job : NULL };

    if (s->stall_abort && s->stall == 0)
        collopt_warn("COLLOPT_STALL_ABORT=on: it needs COLLOPT_STALL=SECONDS; no job is ended");
    if (s->stall == 0)
        return;
    before_end = before;
    if (!collopt_recording)
        collopt_warn_once("COLLOPT_STALL=%d: calls are not recorded (COLLOPT_RECORD=off, or no "
                          "shared memory); nobody is watched", s->stall);
    else if (!collopt_stall_begin(&stall))
        collopt_warn_once("COLLOPT_STALL=%d: no thread could be made; this rank is not watched",
                          s->stall);
}
