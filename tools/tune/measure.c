/* Asks the job for one cell after the other, keeps the answers in FILE.part, shows how far it is,
 * and ends in time. */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tune/measure.h"
#include "collopt.h"
#include "schedule/problem.h"
#include "settings/settings.h"
#include "topology/topology.h"
#include "tune/cells.h"
#include "tune/costs.h"
#include "tune/job.h"
#include "tune/options.h"
#include "tune/text.h"

/* Characters; seconds between lines, where there is no terminal; seconds without an answer after
 * which it is over. */
enum { BAR = 30, EVERY = 10, SILENCE = 600 };

static const double few_seconds = 4;     /* at most for what messages cost */
/* at most for the pairs of one algorithm: more would not say much more */
static const double one_second = 1;
static const double most_seconds = 4;    /* where it would */

static volatile sig_atomic_t interrupted, silent;

/* ---- signals --------------------------------------------------------------------------------- */

static void on_signal(int signal)
{
    if (signal == SIGALRM)
        silent = 1;
    else
        interrupted = 1;
}

/* A read that waits comes back. */
static void catch_signals(void)
{
    struct sigaction caught = { .sa_handler = on_signal }, ignored = { .sa_handler = SIG_IGN };

    sigaction(SIGINT, &caught, NULL);
    sigaction(SIGTERM, &caught, NULL);
    sigaction(SIGALRM, &caught, NULL);
    sigaction(SIGPIPE, &ignored, NULL);
}

/* ---- FILE.part ------------------------------------------------------------------------------- */

struct part {
    char name[TUNE_PATH];
    FILE *file;
};

static const char part_head[] = "# collopt-tune: ";

/* The answers to the same command before, as far as there are cells for them; false, after a
 * message: they are of another one. */
static bool read_part(const struct part *part, struct tune_cells *all, const char *key)
{
    FILE *file = fopen(part->name, "r");
    char *line = NULL;
    size_t room = 0;
    bool same = true;
    int n = 0;

    if (!file)
        return true;
    while (same && getline(&line, &room, file) > 0) {
        if (!strchr(line, '\n'))
            break;              /* cut short */
        line[strcspn(line, "\n")] = '\0';
        if (n++ == 0)
            same = strncmp(line, part_head, sizeof part_head - 1) == 0
                && strcmp(line + sizeof part_head - 1, key) == 0;
        else
            tune_take_answer(all, line);
    }
    if (!same)
        tune_say(
            "%s is of another command: %s; give that again, or remove the file", part->name,
            line
                + (strncmp(line, part_head, sizeof part_head - 1) == 0 ? sizeof part_head - 1 : 0));
    free(line);
    fclose(file);
    return same;
}

static bool open_part(struct part *part)
{
    part->file = fopen(part->name, "a");
    if (!part->file)
        tune_say("%s cannot be written: %s", part->name, strerror(errno));
    return part->file != NULL;
}

static void begin_part(struct part *part, const char *key)
{
    fseek(part->file, 0, SEEK_END);
    if (ftell(part->file) == 0)
        fprintf(part->file, "%s%s", part_head, key);
    fputc('\n', part->file);            /* the last line may have been cut short */
    fflush(part->file);
}

/* A file without any answer is of no use. */
static void close_part(struct part *part)
{
    fseek(part->file, 0, SEEK_END);
    if (ftell(part->file) == 0)
        unlink(part->name);
    fclose(part->file);
}

/* ---- the job begins -------------------------------------------------------------------------- */

static void *number_nodes(const char *leaders, int ranks, int *nodes)
{
    int *node = tune_must(calloc((size_t)ranks, sizeof *node));

    *nodes = 0;
    for (int r = 0; r < ranks; r++) {
        char *end;
        long leader = strtol(leaders, &end, 10);

        node[r] = leader >= 0 && leader < r ? node[leader] : (*nodes)++;
        leaders = *end ? end + 1 : end;
    }
    return node;
}

/* As a communicator of these ranks would be seen: the user's word goes before what was found. */
static void *stated_nodes(const char *text, int ranks, int *nodes)
{
    int *node = tune_must(calloc((size_t)ranks, sizeof *node));

    for (int r = 0; r < ranks; r++) {
        node[r] = collopt_stated_node(text, r);
        *nodes = node[r] >= *nodes ? node[r] + 1 : *nodes;
    }
    return node;
}

static void set_topology(struct tune_machine *m, const char *leaders, bool crowded)
{
    struct collopt_shape shape;
    char message[256];

    collopt_parse_shape(collopt_settings()->topology, &shape, message, sizeof message);
    m->topology = (struct collopt_topology){ .oversubscribed = crowded };
    m->topology.node = shape.nodes ? stated_nodes(shape.nodes, m->ranks, &m->topology.nodes)
                                   : number_nodes(leaders, m->ranks, &m->topology.nodes);
    collopt_topology_measure(&m->topology, m->ranks);
    if (shape.kind == COLLOPT_GRID && collopt_shape_ranks(&shape) == m->ranks) {
        collopt_topology_grid(&m->topology, shape.sides, shape.side, shape.rings ? ~0u : 0);
        m->topology.wired = true;
    }
    m->nodes = m->topology.nodes;
    m->largest = m->nodes == 1 ? m->ranks : m->topology.largest;
    m->least = m->most = (size_t)m->ranks;
}

/* The job's first answers; false: there were none. */
static bool hear(struct tune_job *job, struct tune_machine *m, char version[32], int *loaded)
{
    const char *answer;

    *m = (struct tune_machine){ .ranks = 0 };
    while ((answer = tune_job_answer(job))) {
        int crowded, n = 0;

        if (strncmp(answer, "about MPI: ", 11) == 0)
            m->mpi = collopt_mpi_of(answer + 11);
        if (strncmp(answer, "about ", 6) == 0
            && m->abouts < (int)(sizeof m->about / sizeof *m->about))
            snprintf(m->about[m->abouts++], sizeof m->about[0], "%s", answer + 6);
        if (sscanf(answer, "ready %31s %d %d %d %n", version, loaded, &m->ranks, &crowded, &n) == 4
            && n > 0 && m->ranks > 0) {
            set_topology(m, answer + n, crowded);
            return true;
        }
    }
    return false;
}

static bool as_it_should_be(const struct tune_machine *m, const char *version, int loaded,
                            const char *program, const char *launcher)
{
    if (strcmp(version, VERSION) != 0)
        tune_say("%s is of collopt %s, and this is %s", program, version, VERSION);
    else if (m->ranks == 1)
        tune_say("every rank finds itself alone: %s starts one only, or belongs to another MPI "
                 "than %s; --mpi openmpi or "
                 "--mpi mpich says which it is",
                 launcher, program);
    else if (!loaded)
        tune_say("collopt is not loaded in the ranks: %s does not start them by \"env "
                 "LD_PRELOAD=...\" as it should",
                 launcher);
    else
        return true;
    return false;
}

/* Starts the job by the first program whose ranks find each other. */
int tune_begin(struct tune_job *job, struct tune_machine *m, const struct tune_options *o)
{
    char program[TUNE_PROGRAMS][TUNE_PATH], version[32];
    int n = tune_programs(o, program), loaded, status;

    for (int i = 0; i < n; i++) {
        *job = (struct tune_job){ .pid = 0 };
        if (!tune_job_start(job, o, program[i]))
            return TUNE_FAILED;
        if (hear(job, m, version, &loaded)) {
            bool last = i + 1 == n;

            if ((m->ranks > 1 || last)
                && as_it_should_be(m, version, loaded, program[i], o->word[0]))
                return 0;
            tune_job_end(job, true);
            if (m->ranks > 1 || last)
                return TUNE_FAILED;
        } else {
            status = tune_job_end(job, interrupted);
            if (interrupted || i + 1 == n) {
                if (!interrupted)
                    tune_say("the job ended before it measured anything, with status %d: %s ... %s",
                             status, o->word[0], program[i]);
                return interrupted ? TUNE_INTERRUPTED : TUNE_FAILED;
            }
        }
    }
    return TUNE_FAILED;
}

const char *tune_ask(struct tune_job *job, const char *question)
{
    const char *answer;

    fprintf(job->to, "%s\n", question);
    fflush(job->to);
    alarm(SILENCE);
    answer = tune_job_answer(job);
    alarm(0);
    return answer;
}

bool tune_interrupted(void)
{
    return interrupted != 0;
}

/* ---- progress -------------------------------------------------------------------------------- */

struct course {
    const char *what;           /* is counted: cells, looks */
    int cells, open;            /* all of them; those without all answers when it began */
    int done;                   /* of these */
    double start, end;
    double shown;
};

static void show(struct course *c, enum tune_progress how, bool last)
{
    double now = tune_now(),
           left = c->done ? (now - c->start) / c->done * (c->open - c->done) : c->end - now;
    bool bar = how == TUNE_BAR || (how == TUNE_AUTO && isatty(STDERR_FILENO));
    int all = c->cells, done = all - c->open + c->done;
    char line[BAR + 1];

    left = left > c->end - now ? c->end - now : left;
    left = left < 0 ? 0 : left;
    if (how == TUNE_QUIET || (!bar && (now - c->shown < EVERY || last)))
        return;
    c->shown = now;
    for (int i = 0; i < BAR; i++)
        line[i] = i < done * BAR / (all ? all : 1) ? '#' : '.';
    line[BAR] = '\0';
    if (bar)
        fprintf(stderr, "\r[%s] %d of %d %s, %.0f s left   %s", line, done, all, c->what, left,
                last ? "\n" : "");
    else
        fprintf(stderr, "collopt-tune: %d of %d %s, %.0f s left\n", done, all, c->what, left);
    tune_bar(bar && !last);
    fflush(stderr);
}

/* ---- what messages cost ---------------------------------------------------------------------- */

static void keep(struct part *part, const char *answer)
{
    fprintf(part->file, "%s\n", answer);
    fflush(part->file);
}

/* Where ranks have to wait for processors messages cost anything.  False: the job ended. */
static bool measure_machine(struct tune_job *job, struct tune_cells *all, double seconds,
                            struct part *part)
{
    struct tune_machine *m = &all->machine;
    const char *answer;

    if (!m->costs.complete && !m->topology.oversubscribed) {
        fprintf(job->to, "machine %.3f\n", seconds);
        fflush(job->to);
        alarm(SILENCE);
        while (!m->costs.complete && (answer = tune_job_answer(job)))
            if (tune_take_answer(all, answer))
                keep(part, answer);
        alarm(0);
        if (!m->costs.complete) {
            if (!interrupted)
                tune_say("the job %s while it measured what messages cost",
                         silent ? "gave no answer for ten minutes" : "ended");
            return false;
        }
    }
    tune_complete_costs(&m->costs, &m->topology);
    return true;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* The lower end of the best interval so far, the host's being 1: what stays below it is given
 * up. */
static double to_beat(const struct tune_cell *c)
{
    double most = 1;

    for (int i = 0; i < c->candidates; i++)
        if (c->candidate[i].state == TUNE_MEASURED && c->candidate[i].low > most)
            most = c->candidate[i].low;
    return most;
}

static void tell_wrong(const struct tune_cell *c, const char *name, const char *answer)
{
    bool host = strstr(answer, " WRONG-HOST");

    if (strstr(answer, " WRONG"))
        tune_say("WRONG result %s: %s, %s, %zu bytes, algorithm %s%s",
                 host ? "of the MPI library alone" : "with collopt",
                 collopt_collective_names[c->collective], tune_operations[c->operation].name,
                 c->bytes, name, host ? "" : "; no rule will name it here");
}

/* False: there was no answer. */
static bool measure_one(struct tune_job *job, struct tune_cells *all, const struct tune_cell *c,
                        const char *name, double seconds, struct part *part)
{
    const char *answer;
    char question[512];

    snprintf(question, sizeof question, "cell %s %s double %zu %s %.6f %.4f",
             collopt_collective_names[c->collective], tune_operations[c->operation].name, c->bytes,
             name, seconds, to_beat(c));
    answer = tune_ask(job, question);
    if (!answer || !tune_take_answer(all, answer))
        return false;
    keep(part, answer);
    tell_wrong(c, name, answer);
    return true;
}

/* Whatever was wrong, it shall not stop the same command again at the same place. */
static void give_up(const struct tune_cell *c, const char *name, struct part *part)
{
    const char *collective = collopt_collective_names[c->collective],
               *operation = tune_operations[c->operation].name;

    fprintf(part->file, "none %s %s %zu %s\n", collective, operation, c->bytes, name);
    tune_say("the job %s while it measured %s, %s, %zu bytes, algorithm %s; the same command goes "
             "on with the rest, without that",
             silent ? "gave no answer for ten minutes" : "ended", collective, operation, c->bytes,
             name);
}

static bool measure_open(struct tune_job *job, struct tune_cells *all, struct tune_cell *c,
                         double each, struct part *part)
{
    for (int i = 0; i < c->candidates; i++) {
        if (c->candidate[i].state != TUNE_OPEN)
            continue;
        if (!measure_one(job, all, c, c->candidate[i].name, each < one_second ? each : one_second,
                         part)) {
            if (!interrupted)
                give_up(c, c->candidate[i].name, part);
            return false;
        }
        if (interrupted)
            return false;
    }
    return true;
}

/* The cells that are left share the time that is left, and a cell's candidates the cell's share.
 * Half of it is for the pairs: slow ones take more, and there are the first calls. */
static bool measure_cell(struct tune_job *job, struct tune_cells *all, struct tune_cell *c,
                         const struct tune_options *o, struct course *course, struct part *part)
{
    enum { VARIANTS = 2 };
    double share = (course->end - tune_now()) / (course->open - course->done),
           each = share / (c->candidates + VARIANTS) / 2;

    tune_add_winners(all, c, o);
    if (!measure_open(job, all, c, each, part))
        return false;
    tune_add_variants(c, &all->machine);
    return measure_open(job, all, c, each, part);
}

/* In an order in which collectives and sizes are mixed, always the same one: should the time not
 * suffice, all get their part. */
static int *mixed(int n)
{
    int *order = tune_must(calloc((size_t)n + 1, sizeof *order));
    uint64_t state = 1442695040888963407u;

    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int spare = order[i], k;

        state = state * 6364136223846793005u + 1442695040888963407u;
        k = (int)((state >> 33) % (uint64_t)(i + 1));
        order[i] = order[k];
        order[k] = spare;
    }
    return order;
}

/* A longer look at cells of which one cannot tell yet whether the host is beaten; once at each. */
static bool look_again(struct tune_job *job, struct tune_cells *all, const int *order, double end,
                       struct part *part)
{
    int doubtful = 0;
    bool well = true;

    for (int i = 0; i < all->n; i++)
        doubtful += tune_doubtful(&all->cell[i]) != NULL;
    for (int i = 0; i < all->n && well && !interrupted; i++) {
        struct tune_cell *c = &all->cell[order[i]];
        const struct tune_candidate *k = tune_doubtful(c);
        double each = (end - tune_now()) / (doubtful ? doubtful : 1);

        if (!k || each <= 0)
            continue;
        well = measure_one(job, all, c, k->name, each < most_seconds ? each : most_seconds, part);
        doubtful--;
    }
    return well;
}

/* At all that may be the fastest, at other times than before, until each had so many LOOKS. */
static bool look_anew(struct tune_job *job, struct tune_cells *all, const int *order,
                      const struct tune_options *o, int looks, double end, struct part *part)
{
    double start = tune_now();
    int open = tune_looks_open(all, looks);
    struct course course = { .what = "further looks",
                             .cells = open,
                             .open = open,
                             .start = start,
                             .end = end,
                             .shown = start };
    const struct tune_candidate *k;
    bool well = true;

    for (int i = 0; i < all->n; i++)
        while (well && !interrupted && tune_now() < end
               && (k = tune_contender(&all->cell[order[i]], looks))) {
            double each = (end - tune_now()) / (open > course.done ? open - course.done : 1);

            show(&course, o->progress, false);
            well = measure_one(job, all, &all->cell[order[i]], k->name,
                               each < one_second ? each : one_second, part);
            course.done++;
        }
    if (open)
        show(&course, o->progress, true);
    return well;
}

/* All that is open, as far as the time goes; one cell at least. */
static bool measure_cells(struct tune_job *job, struct tune_cells *all, const int *order,
                          const struct tune_options *o, double end, struct part *part)
{
    double start = tune_now();
    struct course course = { .what = "cells",
                             .cells = all->n,
                             .start = start,
                             .end = end,
                             .shown = start };
    bool well = true;

    for (int i = 0; i < all->n; i++)
        course.open += tune_cell_open(&all->cell[i]);
    for (int i = 0; i < all->n && well && (course.done == 0 || tune_now() < course.end); i++) {
        struct tune_cell *c = &all->cell[order[i]];

        if (!tune_cell_open(c))
            continue;
        show(&course, o->progress, false);
        well = measure_cell(job, all, c, o, &course, part);
        course.done += well;
    }
    show(&course, o->progress, true);
    return well;
}

static bool any_open(const struct tune_cells *all)
{
    for (int i = 0; i < all->n; i++)
        if (tune_cell_open(&all->cell[i]))
            return true;
    return false;
}

/* Measures winners of neighbouring cells and more algorithms, then repeats measurements.  If the
 * job ends meanwhile, the measurements so far count. */
static void use_time_left(struct tune_job *job, struct tune_cells *all, const int *order,
                          const struct tune_options *o, double end, struct part *part)
{
    bool well = true;

    for (int i = 0; i < all->n; i++)
        tune_add_winners(all, &all->cell[i], o);
    tune_turn(all, TUNE_SPARE, TUNE_OPEN);
    if (tune_now() < end && any_open(all))
        well = measure_cells(job, all, order, o, end, part);
    tune_turn(all, TUNE_OPEN, TUNE_SPARE);
    well = well && look_again(job, all, order, end, part);
    for (int looks = 2; looks <= TUNE_LOOKS && well; looks++)
        well = look_anew(job, all, order, o, looks, end, part);
}

static bool measure_all(struct tune_job *job, struct tune_cells *all, const struct tune_options *o,
                        struct part *part, double end)
{
    int *order = mixed(all->n);
    bool well = measure_cells(job, all, order, o, end, part);

    if (well && !any_open(all))
        use_time_left(job, all, order, o, end, part);
    free(order);
    return well;
}

int tune_measure(struct tune_cells *all, const struct tune_options *o, const char *key)
{
    struct part part;
    struct tune_job job;
    double end;
    int status;
    bool well;

    catch_signals();
    snprintf(part.name, sizeof part.name, "%s", o->part);
    if (!read_part(&part, all, key))
        return TUNE_USAGE;
    if (!open_part(&part))
        return TUNE_FAILED;
    status = tune_begin(&job, &all->machine, o);
    if (!status) {
        end = tune_now() + o->seconds;
        read_part(&part, all, key);
        begin_part(&part, key);
        well = measure_machine(
            &job, all, o->seconds / 10 < few_seconds ? o->seconds / 10 : few_seconds, &part);
        if (well) {
            tune_make_cells(all, o);
            read_part(&part, all, key);
            well = measure_all(&job, all, o, &part, end);
        }
        tune_job_end(&job, !well || interrupted || silent);
        status = interrupted ? TUNE_INTERRUPTED : well ? 0 : TUNE_FAILED;
    }
    close_part(&part);
    return status;
}
