/* Who hangs, and where everybody was when the job came to its end.
 *
 * Each thread says what it is about to do.  A thread more looks whether they get on; if one does
 * not, this rank says where all its threads are, gives other ranks the time to find out the same,
 * and ends the job.  A rank that the launcher ends, since another one has failed, or that crashes
 * says the same. */
#include <stdio.h>

#include "fuzz.h"

#ifdef TEST_SIMULATED           /* all ranks are one process there, and time is not ours */
void watch_begin(void)
{
}

void watch_at(const char *words)
{
    if (job.say)
        fprintf(stderr, "%d: %s\n", world_rank, words);
}

void watch_done(void)
{
}
#else
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static struct place {
    char words[FUZZ_WORDS];
    unsigned volatile moves;    /* 0: the thread is not there */
} places[FUZZ_THREADS];

/* By a handler of signals too. */
static void say(const char *what)
{
    for (int i = 0; i < FUZZ_THREADS; i++) {
        char text[FUZZ_WORDS + 100];
        int n;

        if (places[i].moves == 0)
            continue;
        n = snprintf(text, sizeof text, "%s: rank %d of %d, thread %d: %s\n", what, world_rank,
                     world_ranks, i, places[i].words);
        if (write(STDERR_FILENO, text, (size_t)n) < 0)
            _exit(3);
    }
}

static void ended(int signal)
{
    void *frame[40];

    say(signal == SIGTERM       ? "THEN"
            : signal == SIGABRT ? "CRASH (abort)"
            : signal == SIGBUS  ? "CRASH (bus)"
                                : "CRASH (segment)");
    if (signal != SIGTERM)
        backtrace_symbols_fd(frame, backtrace(frame, sizeof frame / sizeof *frame), STDERR_FILENO);
    _exit(signal == SIGTERM ? 4 : 5);
}

void watch_at(const char *words)
{
    struct place *p = &places[fuzz_thread()];

    snprintf(p->words, sizeof p->words, "%s", words);
    p->moves += p->moves == -1u ? 2 : 1;
    if (job.say)
        fprintf(stderr, "%d: %s\n", world_rank, words);
}

void watch_done(void)
{
    places[fuzz_thread()].moves = 0;
}

static void *look(void *unused)
{
    unsigned seen[FUZZ_THREADS] = { 0 }, still[FUZZ_THREADS] = { 0 };

    for (;; sleep(1))
        for (int i = 0; i < FUZZ_THREADS; i++) {
            bool moves = places[i].moves != seen[i];

            seen[i] = places[i].moves;
            still[i] = moves || seen[i] == 0 ? 0 : still[i] + 1;
            if (still[i] < job.patience)
                continue;
            say("STUCK");
            sleep(2 + job.patience / 8);
            _exit(2);
        }
    return unused;
}

void watch_begin(void)
{
    static const int signals[] = { SIGTERM, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
    struct sigaction action = { .sa_handler = ended };
    pthread_t thread;

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
    backtrace((void *[1]){ NULL }, 1);          /* it loads a library the first time */
    pthread_create(&thread, NULL, look, NULL);
    pthread_detach(thread);
}
#endif
