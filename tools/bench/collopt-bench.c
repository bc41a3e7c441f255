/* collopt-bench: the MPI library's own reductions beside collopt's, on this machine, under any
 * launcher.
 *
 *     mpirun -n 2 env LD_PRELOAD=libcollopt.so collopt-bench [OPTION]...       collopt-bench
 *                                                                              --help,
 *                                                                              collopt-bench(1)
 *
 * Cells (a collective, an operation, a type, a size, an algorithm) are measured in shuffled order,
 * in pairs (measure.h); the result of each is checked before and after it is measured
 * (problem.h). */
#include "config.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collopt.h"
#include "lib/clock.h"
#include "lib/options.h"
#include "bench/runner.h"
#include "bench/serve.h"
#include "shared/output.h"

extern char **environ;

static int rank;

/* On rank 0, a line on the standard error output. */
__attribute__((format(printf, 1, 2)))
static void say(const char *format, ...)
{
    va_list ap;

    if (rank != 0)
        return;
    fputs("collopt-bench: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
}

/* The VALUE of rank 0, on all ranks. */
static double told_by_0(double value)
{
    value = rank == 0 ? value : -1;
    bench_max(&value, 1);
    return value;
}

/* ---- algorithms ------------------------------------------------------------------------------ */

/* Each forced algorithm has a communicator of its own. */
struct runners {
    MPI_Comm of;                /* MPI_COMM_WORLD, or the ranks of this node */
    struct runner *list;
    int n;
};

static bool some_has(const struct options *o, const char *name)
{
    for (int c = 0; c < BENCH_COLLECTIVES; c++)
        if (o->collective[c] && bench_has(bench_collective_names[c], name))
            return true;
    return false;
}

static void add_runner(struct runners *all, const struct options *o, const char *expression)
{
    unsigned collectives = 0;

    for (int c = 0; c < BENCH_COLLECTIVES; c++)
        collectives |= (unsigned)o->collective[c] << c;
    runner_open(&all->list[all->n++], all->of, expression, collectives);
}

static bool is_in(const struct runners *all, const char *expression)
{
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->list[i].expression, expression) == 0)
            return true;
    return false;
}

static void add_all_algorithms(struct runners *all, const struct options *o)
{
    for (int c = 0; c < BENCH_COLLECTIVES; c++) {
        const char *collective = bench_collective_names[c], *name;

        for (int i = 0; o->collective[c] && (name = collopt_algorithm_name(collective, i)); i++)
            if (!is_in(all, name))
                add_runner(all, o, name);
    }
}

static bool known(const struct options *o, const char *expression)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(expression, ":"), expression);
    if (strcmp(name, "auto") == 0 || some_has(o, name))
        return true;
    say("--algorithms: none of the collectives asked for has \"%s\"; give auto, all, or names that "
        "collopt-info --algorithms lists",
        name);
    return false;
}

/* Before anything is measured or written. */
static bool algorithms_are_known(const struct options *o)
{
    bool forced = o->all_algorithms;

    for (int i = 0; i < o->algorithms; i++)
        forced = forced || strcmp(o->algorithm[i], "auto") != 0;
    if (forced && !bench_loaded()) {
        say("--algorithms: collopt is not loaded, so only auto can be measured; put "
            "LD_PRELOAD=libcollopt.so into the ranks' environment");
        return false;
    }
    for (int i = 0; i < o->algorithms; i++)
        if (!known(o, o->algorithm[i]))
            return false;
    return true;
}

static void make_runners(struct runners *all, const struct options *o)
{
    all->of = MPI_COMM_WORLD;
    if (o->on_nodes)
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &all->of);
    all->list = bench_new((OPTIONS_ALGORITHMS * 2) * sizeof *all->list);
    for (int i = 0; i < o->algorithms; i++)
        if (!is_in(all, o->algorithm[i]))
            add_runner(all, o, o->algorithm[i]);
    if (o->all_algorithms)
        add_all_algorithms(all, o);
}

static void free_runners(struct runners *all)
{
    for (int i = 0; i < all->n; i++)
        runner_close(&all->list[i]);
    if (all->of != MPI_COMM_WORLD)
        MPI_Comm_free(&all->of);
    free(all->list);
}

/* ---- cells ----------------------------------------------------------------------------------- */

struct cells {
    struct cell *list;
    int n;
};

/* The noncommutative operation has a type of its own, so it is measured with one TYPE only. */
static bool wanted(const struct options *o, enum bench_operation operation, int type)
{
    for (int t = 0; operation == BENCH_NONCOMMUTATIVE && t < type; t++)
        if (o->type[t])
            return false;
    return o->operation[operation] && o->type[type];
}

static bool serves(const struct runner *r, enum bench_collective c)
{
    return strcmp(r->name, "auto") == 0 || bench_has(bench_collective_names[c], r->name);
}

static void add_sizes(struct cells *cells, const struct options *o, const struct runner *r,
                      struct bench_problem problem)
{
    for (int i = 0; i < o->sizes; i++) {
        problem.bytes = o->size[i];
        problem.comm = r->comm;
        problem.in_place = o->in_place && problem.collective != BENCH_REDUCE_LOCAL;
        problem.same = o->same_input;
        problem.form = o->form;
        cells->list[cells->n++] = (struct cell){ .problem = problem, .algorithm = r->expression };
    }
}

static void make_cells(struct cells *cells, const struct options *o, const struct runners *all,
                       double seed)
{
    size_t most = (size_t)BENCH_COLLECTIVES * BENCH_OPERATIONS * BENCH_TYPES
        * (size_t)(all->n * o->sizes);

    cells->list = bench_new(most * sizeof *cells->list);
    for (int c = 0; c < BENCH_COLLECTIVES; c++)
        for (int operation = 0; o->collective[c] && operation < BENCH_OPERATIONS; operation++)
            for (int type = 0; type < BENCH_TYPES; type++)
                for (int i = 0; wanted(o, (enum bench_operation)operation, type) && i < all->n; i++)
                    if (serves(&all->list[i], (enum bench_collective)c))
                        add_sizes(
                            cells, o, &all->list[i],
                            (struct bench_problem){ .collective = (enum bench_collective)c,
                                                    .operation = (enum bench_operation)operation,
                                                    .type = (enum bench_type)type,
                                                    .seed = (uint64_t)seed });
}

/* Fisher and Yates. */
static void shuffle(struct cells *cells, double seed)
{
    uint64_t state = (uint64_t)seed * 6364136223846793005u + 1442695040888963407u;

    for (int i = cells->n - 1; i > 0; i--) {
        struct cell spare = cells->list[i];
        int k;

        state = state * 6364136223846793005u + 1442695040888963407u;
        k = (int)((state >> 33) % (uint64_t)(i + 1));
        cells->list[i] = cells->list[k];
        cells->list[k] = spare;
    }
}

/* ---- one cell -------------------------------------------------------------------------------- */

static void run_cell(struct cell *c, const struct bench_effort *effort)
{
    if (!cell_measure(c, effort))
        say("%s of %zu bytes: more elements than an int can count; left out",
            bench_collective_names[c->problem.collective], c->problem.bytes);
    if (c->state == CELL_MEASURED && (c->wrong_collopt || c->wrong_host))
        say("WRONG result %s: %s, %s of %s, %zu bytes, algorithm %s",
            c->wrong_collopt ? "with collopt" : "of the MPI library alone",
            bench_collective_names[c->problem.collective],
            bench_operation_names[c->problem.operation], bench_problem_type(&c->problem),
            c->problem.bytes, c->ran);
}

/* ---- progress -------------------------------------------------------------------------------- */

enum { BAR = 30, EVERY = 10 };      /* BAR: characters; EVERY: seconds between lines, where there is
                                     * no terminal */

static void show_progress(enum progress how, int done, int all, double start)
{
    static double shown;
    double now = bench_now(), left = done ? (now - start) / done * (all - done) : 0;
    bool bar = how == PROGRESS_ON || isatty(STDERR_FILENO);
    char line[BAR + 1], when[40] = "";

    if (rank != 0 || how == PROGRESS_OFF
        || (!bar && (now - (shown > 0 ? shown : start) < EVERY || done == all)))
        return;
    shown = now;
    for (int i = 0; i < BAR; i++)
        line[i] = i < done * BAR / all ? '#' : '.';
    line[BAR] = '\0';
    if (done)
        snprintf(when, sizeof when, ", %.0f s left", left);
    if (bar)
        fprintf(stderr, "\r[%s] %d of %d cells%s   %s", line, done, all, when,
                done == all ? "\n" : "");
    else
        fprintf(stderr, "collopt-bench: %d of %d cells%s\n", done, all, when);
    fflush(stderr);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct files {
    FILE *csv, *script;
    char script_name[4096];     /* of gnuplot's instructions */
};

static bool open_file(FILE **file, const char *option, const char *name)
{
    if (!name)
        return true;
    *file = fopen(name, "w");
    if (!*file)
        say("%s: \"%s\" cannot be written: %s", option, name, strerror(errno));
    return *file != NULL;
}

/* On rank 0, before anything is measured. */
static bool open_files(struct files *f, const struct options *o)
{
    if (rank != 0)
        return true;
    if (o->picture)
        snprintf(f->script_name, sizeof f->script_name, "%.*s.gp",
                 (int)(strrchr(o->picture, '.') - o->picture), o->picture);
    return open_file(&f->csv, "--csv", o->csv)
        && open_file(&f->script, "--picture", o->picture ? f->script_name : NULL);
}

static bool close_file(FILE *file, const char *name)
{
    bool failed;

    if (!file)
        return true;
    failed = ferror(file);
    failed = fclose(file) != 0 || failed;
    if (failed)
        say("\"%s\" could not be written: %s", name, strerror(errno));
    return !failed;
}

/* After MPI_Finalize: not every MPI lets its processes fork.  The instructions stay where they are
 * still wanted. */
static bool draw(const struct files *f, const char *picture)
{
    char *arguments[] = { (char *)"gnuplot", (char *)f->script_name, NULL };
    int status = -1;
    pid_t child;

    unsetenv("LD_PRELOAD");
    if (posix_spawnp(&child, "gnuplot", NULL, NULL, arguments, environ) != 0) {
        say("gnuplot is not installed here, so there is no picture yet: gnuplot %s makes %s",
            f->script_name, picture);
        return true;
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        say("gnuplot %s failed", f->script_name);
        return false;
    }
    remove(f->script_name);
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A launcher of another MPI library starts each rank as a job of its own; what such jobs measure is
 * nonsense.  The first launcher whose word is there is the one that started us.  WORLD and NUMBER
 * are its words before MPI_Init, which may write some. */
struct launcher {
    const char *name, *world, *number;
};

static struct launcher find_launcher(void)
{
    static const struct { const char *world, *number;
    } known[] = {
        { "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK" },
        { "PMI_SIZE", "PMI_RANK" },
        { "SLURM_STEP_NUM_TASKS", "SLURM_PROCID" },
    };
    struct launcher l = { NULL, NULL, NULL };

    for (size_t i = 0; i < sizeof known / sizeof *known && !l.world; i++) {
        l.name = known[i].world;
        l.world = getenv(known[i].world) ? strdup(getenv(known[i].world)) : NULL;
        l.number = l.world && getenv(known[i].number) ? strdup(getenv(known[i].number)) : NULL;
    }
    return l;
}

static bool started_by_another_mpi(const struct launcher *l)
{
    char mpi[80];
    int ranks;

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 || !l->world || atoi(l->world) <= 1)
        return false;
    provenance_mpi(mpi, sizeof mpi);
    if (!l->number || atoi(l->number) == 0)     /* one of these jobs is enough to say it */
        say("%s is %s, and every rank finds itself alone: the launcher belongs to another MPI "
            "library than this program, which has %s; "
            "take the launcher of that, or the collopt-bench of the launcher's MPI library",
            l->name, l->world, mpi);
    return true;
}

static void warn(const struct provenance *p)
{
    if (!bench_loaded())
        say("collopt is not loaded: the MPI library is compared with itself, and every ratio is "
            "about 1; "
            "put LD_PRELOAD=libcollopt.so into the ranks' environment");
    if (rank == 0 && p->crowded)
        say("ranks outnumber processors: waiting ranks disturb those that work, and figures say "
            "little about a machine that has enough");
}

static void measure_all(struct cells *cells, const struct options *o, const struct provenance *p,
                        FILE *csv)
{
    double start = bench_now();
    bool ours = false;

    show_progress(o->progress, 0, cells->n, start);
    for (int i = 0; i < cells->n; i++) {
        struct cell *c = &cells->list[i];

        run_cell(c, &o->effort);
        ours = ours || strcmp(c->ran, "host") != 0;
        if (csv && c->state == CELL_MEASURED)
            cells_csv_line(p, c, csv);
        show_progress(o->progress, i + 1, cells->n, start);
    }
    if (bench_loaded() && !ours)
        say("collopt is loaded but left every call to the MPI library: is it switched off "
            "(COLLOPT=off), or not alike on all ranks?");
}

/* Cells that an algorithm cannot serve are left out, which may be all, as where its parameters are
 * not understood. */
static bool nothing_measured(const struct cells *cells)
{
    for (int i = 0; i < cells->n; i++)
        if (cells->list[i].state == CELL_MEASURED)
            return false;
    say("nothing was measured: what was asked for could serve none of %d cells", cells->n);
    return true;
}

static bool wrong_result(const struct cells *cells)
{
    for (int i = 0; i < cells->n; i++)
        if (cells->list[i].wrong_host || cells->list[i].wrong_collopt)
            return true;
    return false;
}

/* False: a file could not be written. */
static bool tell(struct cells *cells, const struct options *o, const struct provenance *p,
                 const struct files *f)
{
    bool well;

    if (rank != 0)
        return true;
    cells_sort(cells->list, cells->n);
    if (o->json)
        cells_json(p, cells->list, cells->n, stdout);
    else
        cells_table(p, cells->list, cells->n, stdout);
    if (f->script)
        cells_picture(p, cells->list, cells->n, o->picture, f->script);
    well = close_file(f->csv, o->csv);
    return close_file(f->script, f->script_name) && well;
}

/* The exit status. */
static int bench(const struct options *o, int argc, char **argv, struct files *files)
{
    double seed = told_by_0(o->seed >= 0 ? o->seed : (double)((long)(bench_now() * 1e6) % 1000000));
    struct provenance p;
    struct runners all = { 0 };
    struct cells cells = { 0 };
    int status;

    bench_find_host();
    if (bench_any(!algorithms_are_known(o)) || bench_any(!open_files(files, o)))
        return 2;
    bench_problems_begin();
    provenance_gather(&p, o->setting, argc, argv, seed);
    warn(&p);
    make_runners(&all, o);
    make_cells(&cells, o, &all, seed);
    shuffle(&cells, seed);
    if (rank == 0 && !o->json)
        provenance_lines(&p, p.ranks <= 8, stdout);
    if (files->csv)
        cells_csv_header(&p, files->csv);
    measure_all(&cells, o, &p, files->csv);
    status = wrong_result(&cells);
    status |= !tell(&cells, o, &p, files);
    status |= nothing_measured(&cells);
    free_runners(&all);
    bench_problems_end();
    provenance_free(&p);
    free(cells.list);
    return status;
}

int main(int argc, char **argv)
{
    char message[OPTIONS_MESSAGE] = "";
    struct options o;
    struct files files = { 0 };
    const struct launcher launcher = find_launcher();
    int status = 0;

    output_guard("collopt-bench", 1);
    /* launchers put what comes in pieces between the lines of others, those of stdout too */
    setvbuf(stderr, NULL, _IOLBF, 0);
    setenv("COLLOPT_AFTER", "1", 0);    /* what is measured are calls like those before */
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!options_read(&o, argc, argv, message)) {
        say("%s", message);
        status = 2;
    } else if (o.help) {
        if (rank == 0)
            options_help(stdout);
    } else if (o.version) {
        if (rank == 0)
            printf("collopt-bench %d.%d.%d\n", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
                   COLLOPT_VERSION_PATCH);
    } else if (o.serve) {
        serve(argc, argv);
    } else if (started_by_another_mpi(&launcher)) {
        status = 2;
    } else {
        status = bench(&o, argc, argv, &files);
    }
    MPI_Finalize();
    if (rank == 0 && files.script && status != 2 && !draw(&files, o.picture))
        status = 1;
    return status;
}
