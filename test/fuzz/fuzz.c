/* Programs drawn at random: reductions and whatever else a program does, from a seed that all ranks
 * share.
 *
 *     mpirun -n 3 env LD_PRELOAD=libcollopt.so $(fuzz job 17 3) fuzz 17 [NAME=VALUE]...
 *     fuzz job SEED RANKS         arguments and settings of collopt that go with the seed
 *     fuzz rules SEED RANKS       a file of rules; COLLOPT_RULES=@SEED stands for it
 *
 * test/fuzz/run does all that, and makes short what fails.  The fuzz of SMPI is a shared object:
 * smpirun runs it, also to print.  The arguments, which are alike on all ranks:
 *
 *     threads=1           each with communicators, datatypes, operations and buffers of its own
 *     steps=400           of each thread: one to four reductions in a row, or something else that a
 *                         program does
 *     only=0:0-99,1:7     nothing but these steps of these threads
 *     without=attribute   none of these sorts of steps, which are the rows of a table below
 *     churn=1             so many times as many communicators are made and freed
 *     most=4194304        bytes of a vector
 *     burst=0             rows of short calls that follow one another without anything else, at
 *                         most; a program of some hundred thousand calls has burst=4000
 *     tricks=0            so many times as many steps that few programs take: reductions by the
 *                         dozen under way at once, handles that differ from rank to rank
 *     apart=0             1: ranks wait outside MPI until others have returned from the same call
 *     trusted=0           1: the MPI library's own collectives may run, so calls are only what they
 *                         can do
 *     patience=60         seconds that a step may take
 *     say=0               1: each rank says what it does
 *
 * The other tests make one call at a time, and know what to expect of it.  This is about what one
 * thing may do to another, and nobody would notice:
 *
 *     a message of one call is taken by another   tags come round, ranks run ahead, a communicator
 *                                                 is freed while messages of it are under way; so
 *                                                 inputs are others in every call and on every
 *                                                 communicator, and calls follow one another
 *                                                 without a barrier
 *     a message of ours is taken by the user      wildcards are posted meanwhile, and probes look
 *     a plan or a schedule serves another call    favourite calls come again, on each communicator
 *                                                 others, with another root or shares, with handles
 *                                                 that mean something else by now
 *     scratch is used again too early             long calls between short ones, scratch kept or
 *                                                 not
 *     a message is cut at the wrong place         lengths around all thresholds, in elements of all
 *                                                 sizes
 *     ranks choose differently                    layouts, alignment and what is in place differ by
 *                                                 rank
 *     operands change places                      operations that do not commute
 *     what is not ours is written                 everything around results is poison, which is
 *                                                 looked at; and inputs
 *     a rank waits for a message that nobody sends
 *                                                 others wait outside MPI, or in the host, or look
 *                                                 at some requests only
 *     threads wait for each other                 their communicators have members in common, and
 *                                                 are made and freed at once
 *     a call is never ours, and so always right   how many were is counted */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

struct fuzz_job job = {
    .threads = 1, .steps = 400, .churn = 1, .most = (size_t)4 << 20, .patience = 60
};

OWN int thread_number;
OWN uint64_t step_number;

int fuzz_thread(void)
{
    return thread_number;
}

const char *fuzz_step_name(void)
{
    OWN char text[64];

    snprintf(text, sizeof text, "seed %llu step %d:%llu", (unsigned long long)job.seed,
             thread_number, (unsigned long long)step_number);
    return text;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Switches collopt off for a while; by the setting, or this does nothing.  It counts for the whole
 * process. */
OWN bool off;

static void switch_over(uint64_t number)
{
    struct fuzz_random r = fuzz_draw(number, 7);

    if (job.threads > 1)
        return;
    off = off ? false : fuzz_chance(&r, 2);
    MPI_Pcontrol(off ? 0 : 1);
}

static void reduce(uint64_t number)
{
    calls_make(number, off || job.trusted);
}

static void burst(uint64_t number)
{
    calls_burst(number, off || job.trusted);
}

static void requests(uint64_t number)
{
    requests_make(number, off || job.trusted);
}

/* Ranks do not come at the same time. */
static void dawdle(uint64_t number)
{
#ifndef TEST_SIMULATED
    struct fuzz_random mine = fuzz_draw(number, 4000 + (uint64_t)world_rank);
    struct timespec t = { 0, (long)fuzz_below(&mine, 1500000) };

    if (fuzz_chance(&mine, 3))
        nanosleep(&t, NULL);
#else
    (void)number;
#endif
}

static const struct sort_of_step {
    size_t weight;
    const char *word, *name;
    void (*take)(uint64_t number);
} sorts[] = {
    { 66, "reductions", "reductions", reduce },
    { 4, "burst", "a burst of short reductions", burst },
    { 5, "remade", "a communicator is freed, another is made", groups_renew },
    { 3, "orphan", "a communicator is freed while a receive is pending, or that is ended",
      groups_orphan },
    { 2, "attribute", "an attribute", groups_attach },
    { 2, "key", "a key", groups_inform },
    { 6, "kinds", "datatypes and operations", kinds_renew },
    { 6, "message", "a message", traffic_exchange },
    { 5, "nonblocking", "a nonblocking or persistent collective", traffic_collective },
    { 2, "probe", "a probe", traffic_probe },
    { 1, "pcontrol", "MPI_Pcontrol", switch_over },
    { 2, "pause", "a pause", dawdle },
    { 6, "requests", "many reductions at once", requests },
    { 5, "strays", "handles of some ranks only", strays_move },
    { 3, "reuse", "handles for one call each", strays_reuse },
};

static size_t weight_of(const struct sort_of_step *s)
{
    bool trick = s->take == requests || s->take == strays_move || s->take == strays_reuse;

    return s->weight
        * (trick                                                    ? job.tricks
               : s->take == groups_renew || s->take == groups_orphan ? job.churn
                                                                     : 1);
}

static const struct sort_of_step *draw_sort(uint64_t number)
{
    enum { SORTS = sizeof sorts / sizeof *sorts };
    struct fuzz_random r = fuzz_draw(number, 14);
    size_t all = 0, at;

    for (int i = 0; i < SORTS; i++)
        all += weight_of(&sorts[i]);
    at = fuzz_below(&r, all);
    for (int i = 0; i < SORTS; i++)
        if (at < weight_of(&sorts[i]))
            return &sorts[i];
        else
            at -= weight_of(&sorts[i]);
    return &sorts[0];
}

static const char *without;     /* "attribute,orphan" */

static bool is_left_out(const char *word)
{
    for (const char *s = without; s && *s; s += strcspn(s, ","), s += *s == ',')
        if (strcspn(s, ",") == strlen(word) && strncmp(s, word, strlen(word)) == 0)
            return true;
    return false;
}

static void step(uint64_t number)
{
    const struct sort_of_step *s = draw_sort(number);
    char words[FUZZ_WORDS];

    step_number = number;
    snprintf(words, sizeof words, "%s: %s", fuzz_step_name(), s->name);
    watch_at(words);
    if (!is_left_out(s->word))
        s->take(number);
}

/* ---- which of them --------------------------------------------------------------------------- */

static const char *only;        /* "0:0-99,1:7"; NULL: all */

static bool wanted(int thread, uint64_t number)
{
    for (const char *s = only; s && *s; s += strcspn(s, ","), s += *s == ',') {
        unsigned long long of, from, to;
        int n = sscanf(s, "%llu:%llu-%llu", &of, &from, &to);

        to = n == 2 ? from : to;
        if (n >= 2 && of == (unsigned long long)thread && number >= from && number <= to)
            return true;
    }
    return !only;
}

/* Others may be in calls that this rank does not make any more. */
static void give_up(void)
{
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void say(const char *what)
{
    char words[FUZZ_WORDS];

    snprintf(words, sizeof words, "%s: %s", fuzz_step_name(), what);
    watch_at(words);
}

struct thread {
    pthread_t thread;
    int number;
    MPI_Comm world;
};

static void *run(void *data)
{
    const struct thread *t = data;

    thread_number = t->number;
    say("the beginning");
    calls_begin();
    buffers_begin();
    groups_begin(t->world);
    kinds_begin();
    for (uint64_t i = 0; i < job.steps; i++) {
        if (wanted(t->number, i))
            step(i);
        if (failures() > 0)
            give_up();
    }
    say("the end");
    traffic_end();
    strays_end();
    groups_end();
    kinds_end();
#ifndef TEST_SIMULATED          /* where others may still read what this rank has sent */
    buffers_end();
#endif
    if (failures() > 0)
        give_up();
    watch_done();
    return NULL;
}

/* The first is the process's own, whose world is MPI_COMM_WORLD. */
static void run_threads(void)
{
    struct thread t[FUZZ_THREADS] = { { .number = 0, .world = MPI_COMM_WORLD } };

    for (int i = 1; i < job.threads; i++) {
        t[i].number = i;
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].world);
    }
    for (int i = 1; i < job.threads; i++)
        pthread_create(&t[i].thread, NULL, run, &t[i]);
    run(&t[0]);
    for (int i = 1; i < job.threads; i++) {
        pthread_join(t[i].thread, NULL);
        MPI_Comm_free(&t[i].world);
    }
}

/* ---- arguments ------------------------------------------------------------------------------- */

static size_t bytes_of(const char *text)
{
    char *end;
    size_t value = strtoull(text, &end, 10);

    return *end == 'K' ? value * 1024 : *end == 'M' ? value << 20 : value;
}

/* The smallest "segment=" of a choice of algorithms, 0: none. */
static size_t segment_of(const char *choice)
{
    static const char name[] = "segment=";
    size_t least = 0;

    while ((choice = strstr(choice, name))) {
        choice += sizeof name - 1;
        if (least == 0 || bytes_of(choice) < least)
            least = bytes_of(choice);
    }
    return least;
}

/* Very many messages take very long: a vector goes in at most so many pieces. */
static size_t most_by_pieces(void)
{
    enum { PIECES = 2000 };
    size_t most = SIZE_MAX;

    for (char **e = environ; *e; e++) {
        size_t piece = strncmp(*e, "COLLOPT_CUT=", 12) == 0 ? bytes_of(*e + 12)
            : strncmp(*e, "COLLOPT_", 8) == 0               ? segment_of(*e)
                                                            : 0;

        if (piece > 0 && piece < most / PIECES)
            most = piece * PIECES;
    }
    return most;
}

static bool read_argument(const char *text)
{
    const char *equals = strchr(text, '=');
    size_t n = equals ? (size_t)(equals - text) : 0;
    unsigned long long value = equals ? strtoull(equals + 1, NULL, 10) : 0;

#define IS(name) (n == strlen(name) && strncmp(text, name, n) == 0)
    if (IS("threads"))
        job.threads = value < 1 ? 1 : value > FUZZ_THREADS ? FUZZ_THREADS : (int)value;
    else if (IS("steps"))
        job.steps = value;
    else if (IS("only"))
        only = equals + 1;
    else if (IS("churn"))
        job.churn = value;
    else if (IS("without"))
        without = equals + 1;
    else if (IS("most"))
        job.most = value;
    else if (IS("burst"))
        job.burst = value < FUZZ_LONGEST_BURST ? value : FUZZ_LONGEST_BURST;
    else if (IS("tricks"))
        job.tricks = value;
    else if (IS("apart"))
        job.apart = value;
    else if (IS("trusted"))
        job.trusted = value;
    else if (IS("say"))
        job.say = value;
    else if (IS("patience"))
        job.patience = (unsigned)value;
    else
        return false;
    return true;
#undef IS
}

static void read_job(int argc, char **argv)
{
    job.seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    for (int i = 2; i < argc; i++)
        if (!read_argument(argv[i])) {
            fprintf(stderr,
                    "fuzz: %s is none of threads=, steps=, only=, without=, churn=, most=, burst=, "
                    "tricks=, apart=, trusted=, patience=, say=\n",
                    argv[i]);
            exit(99);
        }
    job.pieces = most_by_pieces();
    if (job.most > job.pieces)
        job.most = job.pieces;
}

int main(int argc, char **argv)
{
    struct calls_count count;
    int n, own;

    if (argc == 4 && (strcmp(argv[1], "job") == 0 || strcmp(argv[1], "rules") == 0)) {
        job.seed = strtoull(argv[2], NULL, 10);
        (strcmp(argv[1], "job") == 0 ? job_print : job_rules)(atoi(argv[3]));
        return 0;
    }
    read_job(argc, argv);
    if (job.threads > 1)
        begin_with(&argc, &argv, "fuzz", MPI_THREAD_MULTIPLE);
    else
        begin(&argc, &argv, "fuzz");
    at("steps");             /* watch.c does it for each step */
    watch_begin();
    kinds(&n, &own);            /* before there are threads */
    groups_create();
    apart_begin();
    run_threads();
    MPI_Pcontrol(1);
    kinds_free();
    count = calls_count();
    if (world_rank == 0)
        printf("fuzz: seed %llu: %llu calls of rank 0, %llu of them by the MPI library\n",
               (unsigned long long)job.seed, (unsigned long long)count.made,
               (unsigned long long)count.by_host);
    fflush(stdout);
    return end();
}
