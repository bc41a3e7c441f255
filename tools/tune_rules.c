/* From measured cells to a file of rules.
 *
 * Every size that was asked for stands for the sizes around it, as far as the geometric middle to its neighbours.
 * At each size some choices are as good as any: the fastest algorithm, and those that are hardly slower and whose intervals overlap with
 * its; or the host's own collective alone, where no interval is above 1.  Sizes go into one range as long as one choice is good for all of them,
 * from the smallest on, which gives as few ranges as there can be. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "tune.h"

#include "select/rules.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double hardly = 0.95;      /* of the best ratio */
static const size_t tiny = 64;          /* a smallest size up to this stands for all that are smaller */

/* ---- a series: what was measured for one collective and one kind of operation ------------------------------------------ */

struct choice {
    const char *name;                   /* "host" */
    double ratio, low, high;
};

struct point {
    size_t bytes, least, most;          /* measured; for which it stands */
    int choices, good;                  /* the good ones come first */
    struct choice choice[TUNE_CANDIDATES], best;        /* best: of the algorithms, "" where there is none */
};

struct series {
    enum collopt_collective collective;
    const char *name, *kind;
    struct point point[TUNE_SIZES];
    int points;
};

static const struct tune_cell *cell_at(const struct tune_cells *all, const struct series *s, size_t bytes, int operation)
{
    for (int i = 0; i < all->n; i++)
        if (all->cell[i].collective == s->collective && all->cell[i].operation == operation && all->cell[i].bytes == bytes)
            return &all->cell[i];
    return NULL;
}

/* Geometric means over the operations of the kind; false: NAME was not measured with one of them. */
static bool mean(const struct tune_cells *all, const struct series *s, size_t bytes, const char *name, struct choice *sum)
{
    double logs[3] = { 0 };
    int n = 0;

    for (int o = 0; o < TUNE_OPERATIONS; o++) {
        const struct tune_cell *c = strcmp(tune_operations[o].kind, s->kind) == 0 ? cell_at(all, s, bytes, o) : NULL;
        const struct tune_candidate *k = NULL;

        for (int i = 0; c && i < c->candidates; i++)
            if (c->candidate[i].state == TUNE_MEASURED && strcmp(c->candidate[i].name, name) == 0)
                k = &c->candidate[i];
        if (!c)
            continue;
        if (!k)
            return false;
        logs[0] += log(k->ratio);
        logs[1] += log(k->low);
        logs[2] += log(k->high);
        n++;
    }
    if (n == 0)
        return false;
    *sum = (struct choice){ name, exp(logs[0] / n), exp(logs[1] / n), exp(logs[2] / n) };
    return true;
}

static int by_ratio(const void *x, const void *y)
{
    const struct choice *a = x, *b = y;

    return (a->ratio < b->ratio) - (a->ratio > b->ratio);
}

static void find_good_ones(struct point *p)
{
    qsort(p->choice, (size_t)p->choices, sizeof *p->choice, by_ratio);
    p->best = p->choices ? p->choice[0] : (struct choice){ .name = "" };
    if (p->choices == 0 || p->best.low <= 1) {
        p->choice[0] = (struct choice){ "host", 1, 1, 1 };
        p->choices = p->good = 1;
        return;
    }
    for (p->good = 1; p->good < p->choices; p->good++) {
        const struct choice *c = &p->choice[p->good];

        if (c->low <= 1 || c->high < p->best.low || c->ratio < hardly * p->best.ratio)
            break;
    }
}

static bool is_cell(const struct tune_cells *all, const struct series *s, size_t bytes)
{
    for (int o = 0; o < TUNE_OPERATIONS; o++)
        if (strcmp(tune_operations[o].kind, s->kind) == 0 && cell_at(all, s, bytes, o))
            return true;
    return false;
}

/* False: nothing was measured there, or not all. */
static bool take_point(const struct tune_cells *all, const struct series *s, size_t bytes, struct point *p)
{
    const struct tune_cell *first = NULL;

    p->bytes = bytes;
    p->choices = p->good = 0;
    for (int o = 0; o < TUNE_OPERATIONS; o++) {
        const struct tune_cell *c = strcmp(tune_operations[o].kind, s->kind) == 0 ? cell_at(all, s, bytes, o) : NULL;

        if (c && tune_cell_open(c))
            return false;
        first = first ? first : c;
    }
    for (int i = 0; first && i < first->candidates; i++)
        p->choices += mean(all, s, bytes, first->candidate[i].name, &p->choice[p->choices]);
    find_good_ones(p);
    return first != NULL;
}

/* Between two sizes in the geometric sense, a power of two if there is one: LEAST or more, but less than MOST. */
static size_t middle(double least, double most)
{
    double power = 1;

    while (2 * power * power < least * most)            /* to the nearest power, by ratio */
        power *= 2;
    return power < least ? (size_t)least : power >= most ? (size_t)most - 1 : (size_t)power;
}

/* Size I of those asked for; outside of them, as far from the last one as that from its neighbour. */
static double size_at(const struct tune_options *o, int i)
{
    int last = o->sizes - 1;

    if (i >= 0 && i <= last)
        return (double)o->size[i];
    if (last == 0)
        return i < 0 ? (double)o->size[0] / 4 : (double)o->size[0] * 4;
    return i < 0 ? (double)o->size[0] * (double)o->size[0] / (double)o->size[1]
        : (double)o->size[last] * (double)o->size[last] / (double)o->size[last - 1];
}

static void take_series(const struct tune_cells *all, const struct tune_options *o, struct series *s)
{
    bool first = true;                  /* nothing shorter is a cell */

    s->points = 0;
    for (int i = 0; i < o->sizes; i++) {
        struct point *p = &s->point[s->points];
        bool cell = is_cell(all, s, o->size[i]);

        p->least = first && (i > 0 || o->size[0] <= tiny) ? 0 : middle(size_at(o, i - 1), size_at(o, i));
        p->most = middle(size_at(o, i), size_at(o, i + 1));
        s->points += cell && take_point(all, s, o->size[i], p);
        first = first && !cell;
    }
}

/* ---- ranges ------------------------------------------------------------------------------------------------------------- */

static const struct choice *good_at(const struct point *p, const char *name)
{
    for (int i = 0; i < p->good; i++)
        if (strcmp(p->choice[i].name, name) == 0)
            return &p->choice[i];
    return NULL;
}

/* The number of points from FROM on for which NAME is good, and how good. */
static int reach(const struct series *s, int from, const char *name, double *logs)
{
    int n = 0;
    const struct choice *c;

    *logs = 0;
    while (from + n < s->points && (n == 0 || s->point[from + n].least == s->point[from + n - 1].most)
           && (c = good_at(&s->point[from + n], name))) {
        *logs += log(c->ratio);
        n++;
    }
    return n;
}

/* The choice that is good for most points from FROM on; *POINTS: how many. */
static const char *farthest(const struct series *s, int from, int *points)
{
    const struct point *p = &s->point[from];
    const char *best = p->choice[0].name;
    double most = 0, logs;

    *points = 1;
    for (int i = 0; i < p->good; i++) {
        int n = reach(s, from, p->choice[i].name, &logs);

        if (n > *points || (n == *points && logs > most)) {
            *points = n;
            most = logs;
            best = p->choice[i].name;
        }
    }
    return best;
}

/* ---- lines -------------------------------------------------------------------------------------------------------------- */

static void remark(const struct point *p, const char *name, bool first, FILE *to)
{
    const struct choice *c = strcmp(name, "host") ? good_at(p, name) : &p->best;
    char size[24];

    collopt_size_text(p->bytes, size, sizeof size);
    if (!*c->name)
        fprintf(to, "%s nothing to choose from at %s", first ? "  #" : ",", size);
    else
        fprintf(to, "%s %s%s%.2fx (%.2f-%.2f)%s at %s", first ? "  #" : ",", c->name == p->best.name && !strcmp(name, "host") ? c->name : "",
                strcmp(name, "host") ? "" : " ", c->ratio, c->low, c->high, first ? " of the host" : "", size);
}

static void write_series(const struct series *s, const struct tune_machine *m, FILE *to)
{
    for (int from = 0, points; from < s->points; from += points) {
        const char *name = farthest(s, from, &points);
        char least[24], most[24], range[64];

        collopt_size_text(s->point[from].least, least, sizeof least);
        collopt_size_text(s->point[from + points - 1].most, most, sizeof most);
        snprintf(range, sizeof range, "%s-%s", least, most);
        fprintf(to, "%-20s %6d %6d %5d %-10s %-14s %-20s", s->name, m->ranks, m->nodes, m->largest, range, s->kind, name);
        for (int i = from; i < from + points; i++)
            remark(&s->point[i], name, i == from, to);
        fputc('\n', to);
    }
}

static int not_measured(const struct tune_cells *all)
{
    int n = 0;

    for (int i = 0; i < all->n; i++)
        n += tune_cell_open(&all->cell[i]);
    return n;
}

void tune_write_origin(const struct tune_machine *m, const struct tune_command *command, FILE *to)
{
    time_t now = time(NULL);
    char date[32] = "";

    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fprintf(to, "made by collopt-tune %s, %s.\n# command:", VERSION, date);
    for (int i = 0; i < command->argc; i++)
        fprintf(to, " %s", command->argv[i]);
    fputc('\n', to);
    for (int i = 0; i < m->abouts; i++)
        fprintf(to, "# %s\n", m->about[i]);
}

static void write_head(const struct tune_cells *all, const struct tune_options *o, const struct tune_command *command, FILE *to)
{
    fprintf(to, "# Rules for collopt, COLLOPT_RULES=%s; ", o->output);
    tune_write_origin(&all->machine, command, to);
    if (not_measured(all))
        fprintf(to, "# %d of %d cells were not measured: the time was up\n", not_measured(all), all->n);
    fputs("# 1.42x (1.38-1.47) of the host: so many times as fast as the MPI library's own, with the 95% interval.\n"
          "# host stands where nothing is faster by more than the noise, with the best that there was.\n"
          "# collective          ranks  nodes   ppn bytes      op             algorithm\n", to);
}

static void write_all(const struct tune_cells *all, const struct tune_options *o, const struct tune_command *command, FILE *to)
{
    static const char *const kinds[] = { "exact", "commutative", "noncommutative" };    /* the narrower one first */
    struct series *s = tune_must(malloc(sizeof *s));

    write_head(all, o, command, to);
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            s->collective = (enum collopt_collective)c;
            s->name = collopt_collective_names[c];
            s->kind = kinds[k];
            take_series(all, o, s);
            write_series(s, &all->machine, to);
        }
    fputs("*                         *      *     * *          *              auto\n", to);
    free(s);
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static void tell(void *file, int line, const char *sentence)
{
    tune_say("%s:%d: %s", (const char *)file, line, sentence);
}

/* What has been written must be understood when it is read. */
static bool check(char *file)
{
    struct collopt_rules *rules = collopt_rules_read(file, tell, file);
    bool right = rules && collopt_rules_check(rules, tell, file) == 0;

    collopt_rules_free(rules);
    return right;
}

static void sum_up(const struct tune_cells *all, const struct tune_options *o)
{
    int measured = 0, better = 0, open = not_measured(all);
    double logs = 0;

    for (int i = 0; i < all->n; i++) {
        const struct tune_candidate *best = tune_cell_open(&all->cell[i]) ? NULL : tune_best(&all->cell[i]);

        measured += best != NULL;
        better += best && best->low > 1;
        logs += best && best->low > 1 ? log(best->ratio) : 0;
    }
    printf("%s: %d of %d cells measured; collopt is faster in %d", o->output, all->n - open, all->n, better);
    printf(", all in all %.2f times (geometric mean)\n", measured ? exp(logs / measured) : 1);
    if (open)
        printf("The time was not enough; the same command goes on with the rest.\n");
}

bool tune_write_rules(const struct tune_cells *all, const struct tune_options *o, const struct tune_command *command)
{
    char fresh[TUNE_PATH];
    FILE *to;
    bool well;

    snprintf(fresh, sizeof fresh, "%s.new", o->output);
    to = fopen(fresh, "w");
    if (to) {
        write_all(all, o, command, to);
        well = !ferror(to);
        well = fclose(to) == 0 && well;
    }
    if (!to || !well) {
        tune_say("%s cannot be written: %s", fresh, strerror(errno));
        return false;
    }
    if (!check(fresh))
        return false;
    if (rename(fresh, o->output) != 0) {
        tune_say("%s cannot be written: %s", o->output, strerror(errno));
        return false;
    }
    sum_up(all, o);
    return true;
}
