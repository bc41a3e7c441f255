/* The recording of calls, whose places are used again, and the thread that looks there for a call
 * that has not returned. */
#include <stdint.h>
#include <time.h>

static int stand_in_clock(clockid_t clock, struct timespec *t);
#define clock_gettime stand_in_clock
#include "recorder/stall.c"

enum { NOW = 1000, LATE = 10 }; /* seconds */
static time_t now;
struct collopt_recording_parts *collopt_recording;
bool collopt_recorder_threads;

static int stand_in_clock(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){ .tv_sec = now };
    return 0;
}

static uint64_t of_late_call;

static uint64_t enter(void)
{
    struct collopt_recorded_comm *c = collopt_recording->comm;

    collopt_recorder_enter(c, (struct collopt_recorded_what){ .root = -1, .count = 1 });
    return atomic_load_explicit(&c->latest, memory_order_relaxed);
}

/* One call is late, and the next one gets its place. */
static void begin(void)
{
    collopt_recording = explore_memory(sizeof *collopt_recording);
    stall.seconds = LATE;
    now = NOW - 2 * LATE;
    of_late_call = enter();
    now = NOW;
    collopt_recording->head.recorded = COLLOPT_RECORDED_CALLS;
}

/* It returns, and its place is another call's, which is not late. */
static void return_and_enter(void)
{
    collopt_recorder_leave(of_late_call);
    enter();
}

static void enter_another(void)
{
    enter();
}

static void look(void)
{
    uint64_t sequence = late_call();

    explore_check(sequence == 0 || sequence == of_late_call, "a call is told of that is not late");
}

/* The place of a call that was late, and has returned long ago. */
static void begin_returned(void)
{
    begin();
    collopt_recorder_leave(of_late_call);
}

static void look_for_none(void)
{
    explore_check(late_call() == 0, "a call is told of that is not late");
}

/* Threads number their calls. */
static void begin_threads(void)
{
    begin();
    collopt_recorder_threads = true;
}

static void end_threads(void)
{
    explore_check(collopt_recording->head.recorded == COLLOPT_RECORDED_CALLS + 2,
                  "two calls have one number");
    collopt_recorder_threads = false;
}

int main(void)
{
    static const struct explore_model models[] = {
        { "late call", begin, { return_and_enter, look }, NULL },
        { "no late call", begin_returned, { enter_another, look_for_none }, NULL },
        { "calls of threads", begin_threads, { enter_another, enter_another }, end_threads },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
