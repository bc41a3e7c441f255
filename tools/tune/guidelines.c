/* --check: holds what a file of rules chooses against performance guidelines, by predicted times.
 *
 * A line is tried at the ends of its ranges, on one node, on nodes of 8 and on one rank of each, as
 * far as it allows them, for one kind of operation; on ranks and lengths that it leaves open, with
 * usual ones.  Predictions are right within tens of percent, on a machine that is like the one they
 * are of, so a line is only blamed for what would take more than twice as long as what stands
 * against it, whether or not there is a processor for each rank, and on a fast network as over TCP
 * where no file says what the machine is like.  What the host runs is not predicted, and not
 * compared; nor is a line whose comment tells what was measured, as collopt-tune and
 * COLLOPT_ADAPT_RULES write it: that is better than any prediction. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tune/guidelines.h"
#include "base/lines.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "model/choose.h"
#include "model/machine.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "shared/guidelines.h"
#include "settings/rules.h"
#include "topology/topology.h"

enum { POINTS = 3, MOST_RANKS = 256, ELEMENT = 8 };
static const double blamed = 2;
static const size_t most_bytes = (size_t)64 << 20;

struct hold {
    const struct collopt_rules *rules;
    const struct collopt_machine_file *machine;         /* NULL: the bundled one */
    const struct collopt_rule *rule;                    /* the line that is tried */
    double worst;                                       /* factor; 0: it holds */
    char sentence[512];
};

/* ---- where a line is tried ------------------------------------------------------------------- */

static bool is_in(const struct collopt_range *r, size_t n)
{
    return r->least <= n && n <= r->most;
}

static int add(size_t point[POINTS], int n, const struct collopt_range *r, size_t value)
{
    for (int i = 0; i < n; i++)
        if (point[i] == value)
            return n;
    if (n == POINTS || !is_in(r, value))
        return n;
    point[n] = value;
    return n + 1;
}

static int ranks_tried(const struct collopt_range *r, size_t point[POINTS])
{
    int n = 0;

    if (r->least >= 2 && r->least <= MOST_RANKS)
        n = add(point, n, r, r->least);
    if (r->most <= MOST_RANKS && r->most >= 2)
        n = add(point, n, r, r->most);
    n = add(point, n, r, 8);
    return add(point, n, r, 64);
}

static int bytes_tried(const struct collopt_range *r, size_t point[POINTS])
{
    size_t least = r->least < ELEMENT ? ELEMENT : r->least,
           most = r->most > most_bytes ? most_bytes : r->most;
    int n = least > most_bytes ? 0 : add(point, 0, r, least);

    if (most <= least)
        return n;
    n = add(point, n, r, (size_t)exp2(floor(log2(sqrt((double)least * (double)most)))));
    return add(point, n, r, most / ELEMENT * ELEMENT);
}

/* Of RANKS, all nodes but the last with as many. */
static int nodes_tried(const struct collopt_box *b, size_t ranks, size_t point[POINTS])
{
    const size_t usual[] = { 1, (ranks + 7) / 8, ranks, b->range[COLLOPT_BY_NODES].least };
    int n = 0;

    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (usual[i] >= 1 && usual[i] <= ranks
            && is_in(&b->range[COLLOPT_BY_PPN], (ranks + usual[i] - 1) / usual[i]))
            n = add(point, n, &b->range[COLLOPT_BY_NODES], usual[i]);
    return n;
}

/* ---- what is chosen there, and how long it takes --------------------------------------------- */

/* P as a call of collective C: a Reduce_scatter_block has as many elements for each rank, and so
 * some more. */
static struct collopt_problem call_of(struct collopt_problem p, enum collopt_collective c,
                                      size_t counts[MOST_RANKS])
{
    size_t ranks = (size_t)p.ranks;

    p.collective = c;
    if (c == COLLOPT_REDUCE_SCATTER_BLOCK)
        p.count = (p.count + ranks - 1) / ranks * ranks;
    if (c == COLLOPT_REDUCE_SCATTER) {
        collopt_even_counts(p.count, p.ranks, counts);
        p.counts = counts;
    }
    return p;
}

/* The rule for P, and seconds; NAN: the host's, or none. */
static double chosen(const struct hold *h, struct collopt_problem p, const struct collopt_rule **by,
                     char *name, size_t size)
{
    struct collopt_candidate best;

    for (*by = collopt_rules_next(h->rules, &p, NULL); *by;
         *by = collopt_rules_next(h->rules, &p, *by)) {
        if ((*by)->automatic)
            break;
        best.choice = (*by)->choice;
        if (!best.choice.algorithm)
            return NAN;
        if (!collopt_choice_usable(&best.choice, &p, NULL))
            continue;
        collopt_set_parameters(&p, &best.choice);
        snprintf(name, size, "%s", best.choice.algorithm->name);
        return collopt_model(best.choice.algorithm, &p);
    }
    if (!collopt_choose(&p, 1, &best) || !best.choice.algorithm)
        return NAN;
    snprintf(name, size, "%s", best.choice.algorithm->name);
    return best.seconds;
}

/* ---- one point ------------------------------------------------------------------------------- */

static void time_text(double seconds, char text[24])
{
    snprintf(text, 24, seconds < 1e-3 ? "%.3g us" : "%.3g ms",
             seconds * (seconds < 1e-3 ? 1e6 : 1e3));
}

/* The two sides that one guideline compares. */
struct sides {
    const struct collopt_rule *by, *other_by;
    char name[64], other[64];
    double seconds, limit;
};

/* The guideline G for P, whose left side the line decides; false: it holds, or there is nothing to
 * compare. */
static bool is_missed(const struct hold *h, enum collopt_guideline g,
                      const struct collopt_problem *p, struct sides *s)
{
    size_t counts[MOST_RANKS];
    enum collopt_collective right = collopt_guidelines[g].right;
    double seconds[COLLOPT_COLLECTIVES];

    s->seconds = chosen(h, call_of(*p, collopt_guidelines[g].left, counts), &s->by, s->name,
                        sizeof s->name);
    if (s->by != h->rule || isnan(s->seconds))
        return false;
    seconds[right] = chosen(h, call_of(*p, right, counts), &s->other_by, s->other, sizeof s->other);
    s->limit = collopt_guideline_limit(g, p, seconds);
    return s->seconds > blamed * s->limit;              /* not of NAN */
}

static void blame(struct hold *h, enum collopt_guideline g, const struct collopt_problem *p,
                  const struct sides *s)
{
    const struct collopt_rule *by = s->other_by;
    struct collopt_problem call = call_of(*p, collopt_guidelines[g].left,
                                          (size_t[MOST_RANKS]){ 0 });
    char bytes[24], mine[24], theirs[24], line[24] = "auto";

    collopt_size_text(call.count * call.size, bytes, sizeof bytes);
    time_text(s->seconds, mine);
    time_text(s->limit, theirs);
    if (by && !by->automatic)
        snprintf(line, sizeof line, "line %d", by->line);
    h->worst = s->seconds / s->limit;
    snprintf(h->sentence, sizeof h->sentence,
             "against the guideline %s: on %d ranks of %d node%s, %s bytes by %s are predicted to "
             "take %s, "
             "the other side %s (%s, %s)",
             collopt_guidelines[g].text, p->ranks, p->topology->nodes,
             p->topology->nodes == 1 ? "" : "s", bytes, s->name, mine, theirs, s->other, line);
}

/* The same holds with fewer processors than ranks, and, unless the machine is known, on another
 * network. */
static bool is_missed_anyway(const struct hold *h, enum collopt_guideline g,
                             struct collopt_problem p)
{
    struct collopt_topology topology = *p.topology;
    struct collopt_machine machine;
    struct sides s;

    topology.oversubscribed = true;
    p.topology = &topology;
    if (!is_missed(h, g, &p, &s))
        return false;
    topology.oversubscribed = false;
    collopt_machine_pick(&machine, collopt_network_of(&topology, false), false, h->machine);
    p.machine = &machine;
    return is_missed(h, g, &p, &s);
}

static void hold_at(struct hold *h, const struct collopt_problem *p)
{
    struct sides s;

    for (int i = 0; i < COLLOPT_GUIDELINES; i++) {
        enum collopt_guideline g = (enum collopt_guideline)i;

        if (collopt_guidelines[g].left == h->rule->choice.algorithm->collective
            && is_missed(h, g, p, &s) && s.seconds / s.limit > h->worst
            && is_missed_anyway(h, g, *p))
            blame(h, g, p, &s);
    }
}

/* ---- a line ---------------------------------------------------------------------------------- */

static void hold_on(struct hold *h, size_t ranks, size_t nodes)
{
    const struct collopt_box *b = &h->rule->box;
    size_t bytes[POINTS], each = (ranks + nodes - 1) / nodes;
    int node[MOST_RANKS], n = bytes_tried(&b->range[COLLOPT_BY_BYTES], bytes);
    struct collopt_topology topology = { .node = node };
    struct collopt_machine machine;

    for (size_t r = 0; r < ranks; r++)
        node[r] = (int)(r / each);
    topology.nodes = node[ranks - 1] + 1;
    if (!collopt_topology_measure(&topology, (int)ranks))
        return;
    collopt_machine_pick(&machine, collopt_network_of(&topology, true), false, h->machine);
    for (int i = 0; i < n; i++) {
        struct collopt_problem p = {
            .ranks = (int)ranks,
            .count = bytes[i] / ELEMENT,
            .size = ELEMENT,
            .segments = 1,
            .commutative = b->kinds & (COLLOPT_KIND_ROUNDING | COLLOPT_KIND_EXACT),
            .exact = !(b->kinds & COLLOPT_KIND_ROUNDING) && b->kinds & COLLOPT_KIND_EXACT,
            .topology = &topology,
            .machine = &machine
        };

        hold_at(h, &p);
    }
}

static void hold_line(struct hold *h)
{
    const struct collopt_box *b = &h->rule->box;
    size_t ranks[POINTS], nodes[POINTS];
    int n = ranks_tried(&b->range[COLLOPT_BY_RANKS], ranks);

    for (int i = 0; i < n; i++)
        for (int k = nodes_tried(b, ranks[i], nodes) - 1; k >= 0; k--)
            hold_on(h, ranks[i], nodes[k]);
}

/* Does a COMMENT, from # on, tell what was measured?  "1.42x (1.38-1.47) of the host at 4K", as
 * collopt-tune writes it; "12.3 us, host 15.1 us", as what is learnt (COLLOPT_ADAPT_RULES). */
static bool tells_measured(const char *comment)
{
    double time;
    int end = 0;

    return strstr(comment, " of the host at ")
        || (sscanf(comment, "# %lf us%n", &time, &end) == 1 && end > 0);
}

/* The next line of FILE up to number LINE, in which the reader is at *AT: was it measured? */
static bool is_measured(FILE *file, int *at, int line)
{
    char *text = NULL;
    const char *comment = NULL;
    size_t room = 0;
    bool found;

    while (*at < line && getline(&text, &room, file) >= 0)
        ++*at;
    if (text)
        comment = strchr(text, '#');
    found = *at == line && comment && tells_measured(comment);
    free(text);
    return found;
}

int tune_hold_rules(const struct collopt_rules *rules, const struct collopt_machine_file *machine,
                    collopt_tell_mistake *tell, void *data)
{
    FILE *file = fopen(rules->file, "r");
    int wrong = 0, at = 0;

    for (int i = 0; i < rules->n; i++) {
        struct hold h = { .rules = rules, .machine = machine, .rule = &rules->rule[i] };

        if (h.rule->automatic || !h.rule->choice.algorithm
            || (file && is_measured(file, &at, h.rule->line)))
            continue;
        hold_line(&h);
        if (h.worst > 0) {
            tell(data, h.rule->line, h.sentence);
            wrong++;
        }
    }
    if (file)
        fclose(file);
    return wrong;
}
