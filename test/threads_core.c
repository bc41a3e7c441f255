/* What several threads may enter at once and needs no MPI: settings, messages, numbered choices,
 * selection, schedules, kernels, counters, tuning results, reports, the public header.  For
 * threads_sanitized.sh, which looks for races; results are compared as well.
 *
 * Twice: first all threads are in the same part, so that first uses overlap, then each is in
 * another one. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/log.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "model/machine.h"
#include "report/counters.h"
#include "report/public.h"
#include "report/report.h"
#include "report/traced.h"
#include "schedule/bind.h"
#include "schedule/bound.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "schedule/schedule.h"
#include "select/candidates.h"
#include "select/decide.h"
#include "select/fragment_length.h"
#include "select/tuning_results.h"
#include "settings/settings.h"
#include "topology/intranode.h"
#include "topology/topology.h"

enum { THREADS = 8, RANKS = 8, CALLS = 300 };

static int failed;
static int node[RANKS] = { 0, 0, 0, 1, 1, 1, 2, 2 };
static struct collopt_topology one_node = { .nodes = 1 }, nodes = { .nodes = 3, .node = node };

static void expect(bool right, const char *what)
{
    if (right)
        return;
    __atomic_add_fetch(&failed, 1, __ATOMIC_RELAXED);
    fprintf(stderr, "FAIL: %s\n", what);
}

static struct collopt_problem problem(int collective, size_t count, bool exact,
                                      const struct collopt_topology *topology)
{
    return (struct collopt_problem){ .collective = (enum collopt_collective)collective,
                                     .ranks = RANKS,
                                     .count = count * RANKS,
                                     .size = 8,
                                     .commutative = true,
                                     .exact = exact,
                                     .segments = 1,
                                     .topology = topology,
                                     .machine = &collopt_bundled_machines[COLLOPT_TCP] };
}

/* ---- parts: each returns what all threads must find alike ------------------------------------ */

static uint64_t settings(int thread)
{
    (void)thread;
    return collopt_settings()->hash;
}

static uint64_t messages(int thread)
{
    (void)thread;
    collopt_warn_once("%d threads say this once", THREADS);
    collopt_explain_once("%d threads decide this once", THREADS);
    return 0;
}

static uint64_t choices(int thread)
{
    uint64_t h = COLLOPT_HASH_START;

    (void)thread;
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        for (size_t value = 1; value < 4; value++) {
            struct collopt_choice choice = { .algorithm = *a, .value = { value } };
            size_t number = collopt_choice_number(&choice);
            const struct collopt_choice *found = collopt_choice_numbered(number);

            expect(found && found->algorithm == *a && found->value[0] == value,
                   "a numbered choice is another one");
            h = collopt_hash_bytes(h, &number, sizeof number);
        }
    return h;
}

static uint64_t selected(uint64_t h, const struct collopt_problem *p)
{
    struct collopt_choice candidate[3];
    struct collopt_decision d;
    char text[COLLOPT_CHOICE_TEXT];
    int n = collopt_candidates(p, candidate, 3);

    collopt_select(p, &d);
    collopt_choice_text(&d.choice, text, sizeof text);
    return collopt_hash_bytes(collopt_hash_text(collopt_hash_text(h, text), d.why), &n, sizeof n);
}

static uint64_t selection(int thread)
{
    uint64_t h = COLLOPT_HASH_START;

    (void)thread;
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (size_t count = 1; count <= 1 << 20; count <<= 10) {
            struct collopt_problem p = problem(c, count, count == 1, &one_node);

            h = selected(h, &p);
            p.topology = &nodes;
            h = selected(h, &p);
            p.topology = &one_node;
            p.anywhere = !p.exact;
            h = selected(h, &p);
        }
    return h;
}

static uint64_t schedule(uint64_t h, const struct collopt_algorithm *a,
                         const struct collopt_problem *p, int rank)
{
    struct collopt_cut cut[COLLOPT_CUTS + 1];
    struct collopt_schedule *s = collopt_schedule_new(a, p, rank, 0);
    struct collopt_bound *b;

    collopt_cuts(p, cut);
    b = s ? collopt_bind(s, p, cut) : NULL;
    expect(b != NULL, "no memory for a schedule");
    h = b ? collopt_hash_bytes(h, &b->steps, sizeof b->steps) : h;
    collopt_bound_free(b);
    collopt_schedule_free(s);
    return h;
}

static uint64_t schedules(int thread)
{
    uint64_t h = COLLOPT_HASH_START;

    (void)thread;
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++) {
        struct collopt_problem p = problem((int)(*a)->collective, 100, true,
                                           (*a)->grouped ? &nodes : &one_node);

        collopt_set_parameters(&p, &(struct collopt_choice){ .algorithm = *a });
        for (int rank = 0; rank < RANKS && collopt_usable(*a, &p, NULL); rank += RANKS - 1)
            h = schedule(h, *a, &p, rank);
    }
    return h;
}

/* Threads have neighbouring parts of one vector: a kernel that writes more than its own elements,
 * or what lies between, writes what another thread has. */
enum { ELEMENTS = 37, LONGEST = 32 };

static char result[COLLOPT_TYPE_NONE][THREADS * ELEMENTS * LONGEST];
static const char operand[ELEMENTS * LONGEST];

static void combine(const struct collopt_kernel *k, enum collopt_type type, int thread)
{
    char *out = result[type] + (size_t)thread * ELEMENTS * collopt_type_size(type);
    const void *const all[] = { operand, out, operand };

    if (k->combine)
        k->combine(out, out, operand, ELEMENTS);
    if (k->fold)
        k->fold(out, all, 3, ELEMENTS);
}

static uint64_t kernels(int thread)
{
    struct collopt_processor processor;

    collopt_processor_detect(&processor);
    for (const struct collopt_isa *isa = collopt_isas; isa->name; isa++)
        for (enum collopt_type type = 0; isa->usable(&processor) && type < COLLOPT_TYPE_NONE;
             type++) {
            combine(&(*isa->exact_sums)[type], type, thread);
            for (enum collopt_op op = 0; op < COLLOPT_OP_USER; op++)
                combine(&(*isa->kernels)[op][type], type, thread);
        }
    return 0;
}

static void *count(void *unused)
{
    for (int i = 0; i < CALLS; i++) {
        collopt_count_call(collopt_algorithms[i % 3], i % 40, 8);
        collopt_count_timed(collopt_algorithms[i % 5], i % 30,
                            &(struct collopt_timed_call){ .bytes = 8, .time = 5 });
        collopt_count_passed("Iallreduce", (enum collopt_reason)(i % COLLOPT_REASONS), 1);
    }
    return unused;
}

/* The sums of threads that have ended, too. */
static uint64_t counters(int thread)
{
    pthread_t brief;

    (void)thread;
    pthread_create(&brief, NULL, count, NULL);
    count(NULL);
    expect(collopt_public.calls(NULL, NULL) >= CALLS * 2, "calls are missing");
    pthread_join(brief, NULL);
    return 0;
}

static uint64_t lessons(int thread)
{
    struct collopt_tuning_result one = { .collective = COLLOPT_ALLREDUCE,
                                         .ranks = RANKS,
                                         .nodes = 1,
                                         .ppn = RANKS,
                                         .size_class = thread,
                                         .algorithm = "ring",
                                         .samples = 1,
                                         .chosen = 1,
                                         .time = 500000000 };
    struct collopt_tuning_results all = { 0 };

    collopt_tuning_result_add(&one);
    expect(collopt_tuning_results_copy(&all) && all.n > 0, "a lesson is missing");
    free(all.list);
    return 0;
}

/* All threads together: more than there is room for. */
static uint64_t traces(int thread)
{
    struct collopt_traced_comm about = { .name = "solver", .id = 5, .ranks = RANKS };
    struct collopt_traced_comm *c;
    const struct collopt_traced **list;
    size_t n;

    (void)thread;
    c = collopt_traced_comm(&about);
    for (int i = 0; i < CALLS; i++)
        collopt_traced_end(collopt_traced_add(&(struct collopt_traced){
            .comm = c, .name = "Allreduce", .entered = 1 + (uint64_t)i,
            .took = COLLOPT_NOT_ENDED }));
    list = collopt_traced_sorted(&n);
    expect(list && n > 0, "no traced calls");
    for (size_t i = 1; i < n; i++)
        expect(list[i - 1]->entered <= list[i]->entered, "traced calls are not in order");
    free(list);
    if (c)
        collopt_traced_leave_comm(c);
    return 0;
}

static uint64_t reports(int thread)
{
    struct collopt_report *r = collopt_report_gather(1);

    (void)thread;
    expect(r && collopt_report_pack(r, NULL, 0) > 0, "no report");
    collopt_report_free(r);
    return 0;
}

static uint64_t answers(int thread)
{
    uint64_t h = COLLOPT_HASH_START;
    char text[256];

    (void)thread;
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        expect(
            collopt_public.explain(collopt_collective_names[c], RANKS, 4096, 1, text, sizeof text)
                > 0,
            "no explanation");
        h = collopt_hash_text(collopt_hash_text(h, text),
                              collopt_public.algorithm_name(collopt_collective_names[c], 0));
    }
    return h;
}

static uint64_t spots(int thread)
{
    const unsigned long long mask[COLLOPT_MASK_WORDS] = { 1 };

    (void)thread;
    return (uint64_t)collopt_pack_spot(collopt_spot(mask));
}

static const struct part {
    const char *name;
    uint64_t (*run)(int thread);
} parts[] = {
    { "settings", settings },   { "messages", messages },   { "choices", choices },
    { "selection", selection }, { "schedules", schedules }, { "kernels", kernels },
    { "counters", counters },   { "lessons", lessons },     { "reports", reports },
    { "answers", answers },     { "spots", spots },         { "traces", traces },
};

enum { PARTS = sizeof parts / sizeof *parts };

/* ---- threads --------------------------------------------------------------------------------- */

static pthread_barrier_t together;

struct task {
    int number;
    bool apart;                 /* from the other threads, in another part */
    uint64_t found[PARTS];
};

static void *work(void *data)
{
    struct task *t = data;

    for (int i = 0; i < PARTS; i++) {
        int part = (i + (t->apart ? t->number : 0)) % PARTS;

        if (!t->apart)
            pthread_barrier_wait(&together);
        t->found[part] = parts[part].run(t->number);
    }
    return NULL;
}

static void in_threads(bool apart)
{
    static struct task task[THREADS];
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++) {
        task[i] = (struct task){ .number = i, .apart = apart };
        pthread_create(&thread[i], NULL, work, &task[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int part = 0; part < PARTS; part++)
        for (int i = 1; i < THREADS; i++)
            expect(task[i].found[part] == task[0].found[part], parts[part].name);
}

int main(void)
{
    collopt_topology_measure(&nodes, RANKS);
    collopt_traced_begin(CALLS * sizeof(struct collopt_traced));
    pthread_barrier_init(&together, NULL, THREADS);
    in_threads(false);
    in_threads(true);
    expect(collopt_public.calls(NULL, NULL) == 2 * THREADS * 2 * CALLS * 2, "calls counted");
    expect(collopt_public.calls_passed(NULL) == 2 * THREADS * 2 * CALLS, "calls passed on counted");
    expect(collopt_traced_dropped() > 0, "traced calls beyond what there is room for");
    collopt_reset_sums();
    expect(collopt_public.calls(NULL, NULL) == 0, "sums after a reset");
    return failed != 0;
}
