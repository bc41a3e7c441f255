/* Mistakes in rules that can be read: lines that can match nothing, that nothing reaches, whose
 * ranges overlap with those of a line above, or whose algorithm can serve nothing of what they
 * match; and a file that does not end with a line for all the rest, as one that was cut short.
 *
 * A line is a box of problems.  It is reached if something of its box is left when the boxes of
 * the lines above are taken away, of those lines that serve all that they match: below an
 * algorithm that may be passed over, a line for the same problems is what runs instead. */
#include "config.h"

#include "base/lines.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "shared/rules_check.h"
#include "topology/topology.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

struct check {
    const struct collopt_rules *rules;
    int to;                     /* the rule that is looked at */
    long steps;
    int mistakes;
    collopt_tell_mistake *tell;
    void *data;
};

__attribute__((format(printf, 3, 4)))
static void complain(struct check *c, int line, const char *format, ...)
{
    char sentence[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(sentence, sizeof sentence, format, ap);
    va_end(ap);
    c->mistakes++;
    if (c->tell)
        c->tell(c->data, line, sentence);
}

/* ---- which operations an algorithm serves ---------------------------------------------------- */

static unsigned kinds_served(const struct collopt_rule *r)
{
    const struct collopt_algorithm *a = r->automatic ? NULL : r->choice.algorithm;
    bool any = !a || a->order != COLLOPT_COMMUTATIVE;

    return any ? COLLOPT_KINDS : COLLOPT_KINDS & ~(unsigned)COLLOPT_KIND_ORDERED;
}

static bool serves_all(const struct collopt_rule *r)
{
    const struct collopt_algorithm *a = r->automatic ? NULL : r->choice.algorithm;

    return !a || (!a->usable && !(r->box.kinds & ~kinds_served(r)));
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* Without what does not exist. */
static struct collopt_box clipped(struct collopt_box b)
{
    static const struct collopt_range exists[COLLOPT_MEASURES] = {
        [COLLOPT_BY_RANKS] = { 1, INT_MAX }, [COLLOPT_BY_NODES] = { 1, INT_MAX },
        [COLLOPT_BY_PPN] = { 1, INT_MAX },   [COLLOPT_BY_BYTES] = { 0, SIZE_MAX },
        [COLLOPT_BY_EXCESS] = { 0, 1 },
    };

    for (int m = 0; m < COLLOPT_MEASURES; m++) {
        if (b.range[m].least < exists[m].least)
            b.range[m].least = exists[m].least;
        if (b.range[m].most > exists[m].most)
            b.range[m].most = exists[m].most;
    }
    return b;
}

static bool meet(const struct collopt_box *a, const struct collopt_box *b)
{
    for (int m = 0; m < COLLOPT_MEASURES; m++)
        if (a->range[m].least > b->range[m].most || b->range[m].least > a->range[m].most)
            return false;
    return (a->collectives & b->collectives) && (a->kinds & b->kinds);
}

static bool inside(const struct collopt_box *a, const struct collopt_box *b)
{
    for (int m = 0; m < COLLOPT_MEASURES; m++)
        if (a->range[m].least < b->range[m].least || a->range[m].most > b->range[m].most)
            return false;
    return !(a->collectives & ~b->collectives) && !(a->kinds & ~b->kinds);
}

static bool is_left(struct check *c, struct collopt_box b, int from);

/* Is anything left of B outside TAKEN?  It falls into pieces on both sides of TAKEN, one measure
 * after the other. */
static bool is_left_outside(struct check *c, struct collopt_box b, const struct collopt_box *taken,
                            int from)
{
    struct collopt_box piece = b;

    piece.collectives = b.collectives & ~taken->collectives;
    if (piece.collectives && is_left(c, piece, from))
        return true;
    piece = b;
    piece.kinds = b.kinds & ~taken->kinds;
    if (piece.kinds && is_left(c, piece, from))
        return true;
    for (int m = 0; m < COLLOPT_MEASURES; m++) {
        struct collopt_range *mine = &b.range[m];
        const struct collopt_range *theirs = &taken->range[m];

        piece = b;
        piece.range[m].most = theirs->least - 1;
        if (mine->least < theirs->least && is_left(c, piece, from))
            return true;
        piece = b;
        piece.range[m].least = theirs->most + 1;
        if (mine->most > theirs->most && is_left(c, piece, from))
            return true;
        mine->least = mine->least > theirs->least ? mine->least : theirs->least;
        mine->most = mine->most < theirs->most ? mine->most : theirs->most;
    }
    return false;
}

/* Is anything left of B when the rules FROM and those behind it, up to the one looked at, have
 * taken theirs? Where that would take too long the answer is yes, and nothing is reported. */
static bool is_left(struct check *c, struct collopt_box b, int from)
{
    enum { STEPS = 2000000 };

    for (int i = from; i < c->to; i++) {
        const struct collopt_rule *r = &c->rules->rule[i];

        if (++c->steps > STEPS)
            return true;
        if (serves_all(r) && meet(&r->box, &b))
            return is_left_outside(c, b, &r->box, i + 1);
    }
    return true;
}

/* ---- a line ---------------------------------------------------------------------------------- */

static bool matches_nothing(struct check *c, const struct collopt_rule *r)
{
    struct collopt_box b = clipped(r->box);
    const struct collopt_range *ranks = &b.range[COLLOPT_BY_RANKS],
                               *nodes = &b.range[COLLOPT_BY_NODES];
    const struct collopt_range *ppn = &b.range[COLLOPT_BY_PPN];

    for (int m = 0; m < COLLOPT_MEASURES; m++)
        if (b.range[m].least > b.range[m].most) {
            complain(c, r->line, "no communicator has these %s", collopt_measure_names[m]);
            return true;
        }
    /* most ranks that so many nodes hold; and as many ranks at least as on all of them, if every
     * other node has one */
    if (nodes->most * ppn->most < ranks->least || nodes->least + ppn->least - 1 > ranks->most) {
        complain(c, r->line, "no communicator has these ranks, nodes and ppn together");
        return true;
    }
    return false;
}

/* Does B begin in A and go on behind it, or the other way round?  One value in common is how one
 * writes 8K-64K and 64K-1M. */
static bool overlap(const struct collopt_range *a, const struct collopt_range *b)
{
    const struct collopt_range *first = a->least < b->least ? a : b, *second = first == a ? b : a;

    return first->least < second->least && second->least < first->most
        && first->most < second->most;
}

/* The set of measures in which A and B differ, if their ranges overlap in each of them; else
 * nothing. */
static unsigned overlapping(const struct collopt_box *a, const struct collopt_box *b)
{
    unsigned found = 0;

    if (a->collectives != b->collectives || a->kinds != b->kinds)
        return 0;
    for (int m = 0; m < COLLOPT_MEASURES; m++) {
        if (a->range[m].least == b->range[m].least && a->range[m].most == b->range[m].most)
            continue;
        if (!overlap(&a->range[m], &b->range[m]))
            return 0;
        found |= 1u << m;
    }
    return found;
}

static void range_text(const struct collopt_range *r, char *text, size_t size)
{
    char least[24], most[24] = "";

    collopt_size_text(r->least, least, sizeof least);
    if (r->most < SIZE_MAX)
        collopt_size_text(r->most, most, sizeof most);
    snprintf(text, size, "%s-%s", least, most);
}

/* B's ranges of the MEASURES, "4-16 and 2K-8K", with their names if NAMED. */
static void ranges_text(const struct collopt_box *b, unsigned measures, bool named, char *text,
                        size_t size)
{
    size_t n = 0;

    *text = '\0';
    for (int m = 0; m < COLLOPT_MEASURES && n < size; m++) {
        char range[64];

        if (!(measures & 1u << m))
            continue;
        range_text(&b->range[m], range, sizeof range);
        n += (size_t)snprintf(text + n, size - n, "%s%s%s%s", n ? " and " : "",
                              named ? collopt_measure_names[m] : "", named ? " " : "", range);
    }
}

/* A range inside another one is an exception from it, or the rest; two that overlap are a slip,
 * whichever was meant. */
static void check_overlap(struct check *c, const struct collopt_rule *r)
{
    for (int i = 0; i < c->to; i++) {
        const struct collopt_rule *above = &c->rules->rule[i];
        unsigned measures = serves_all(above) ? overlapping(&above->box, &r->box) : 0;
        char mine[240], theirs[240];

        if (!measures)
            continue;
        ranges_text(&r->box, measures, true, mine, sizeof mine);
        ranges_text(&above->box, measures, false, theirs, sizeof theirs);
        complain(c, r->line,
                 "%s overlap%s with %s of line %d, which goes first; ranges that follow one "
                 "another have one end "
                 "in common at most",
                 mine, measures & (measures - 1) ? "" : "s", theirs, above->line);
        return;
    }
}

static bool taken_by_one(struct check *c, const struct collopt_rule *r)
{
    struct collopt_box b = clipped(r->box);

    for (int i = 0; i < c->to; i++)
        if (serves_all(&c->rules->rule[i]) && inside(&b, &c->rules->rule[i].box)) {
            complain(c, r->line, "is never reached: line %d takes all that it matches",
                     c->rules->rule[i].line);
            return true;
        }
    return false;
}

/* The LAST line, for all the rest, has to be there also where the lines above leave nothing, but
 * not twice. */
static void check_reached(struct check *c, const struct collopt_rule *r, bool last)
{
    c->steps = 0;
    if (taken_by_one(c, r) || last)
        return;
    if (!is_left(c, clipped(r->box), 0))
        complain(c, r->line, "is never reached: the lines above take all that it matches");
    else
        check_overlap(c, r);
}

/* Those that look at nodes may find any; and a grid whose sides are not given may be any that the
 * machine has. */
static bool goes_by_ranks(const struct collopt_rule *r)
{
    const struct collopt_algorithm *a = r->automatic ? NULL : r->choice.algorithm;
    int dims = a ? collopt_parameter_named(a, "dims") : -1;

    return a && a->usable && !a->grouped && (dims < 0 || r->choice.value[dims] != 0);
}

/* Tries each of a few numbers of ranks; longer ranges are not reported. */
static bool serves_no_ranks(struct check *c, const struct collopt_rule *r)
{
    enum { TRIED = 64 };
    static const struct collopt_topology flat = { .nodes = 1 };
    struct collopt_range ranks = clipped(r->box).range[COLLOPT_BY_RANKS];
    const char *why = NULL;

    if (!goes_by_ranks(r) || ranks.most - ranks.least >= TRIED)
        return false;
    for (size_t n = ranks.least; n <= ranks.most; n++) {
        struct collopt_problem p = { .collective = r->choice.algorithm->collective,
                                     .ranks = (int)n,
                                     .count = n * 1024,
                                     .size = 8,
                                     .commutative = (r->box.kinds & ~(unsigned)COLLOPT_KIND_ORDERED)
                                         != 0,
                                     .exact = true,
                                     .segments = 1,
                                     .topology = &flat };

        if (collopt_choice_usable(&r->choice, &p, &why))
            return false;
    }
    if (ranks.least == ranks.most)
        complain(c, r->line, "%s cannot serve %zu ranks: %s", r->choice.algorithm->name,
                 ranks.least, why);
    else
        complain(c, r->line, "%s cannot serve %zu to %zu ranks: %s", r->choice.algorithm->name,
                 ranks.least, ranks.most, why);
    return true;
}

static void check_rule(struct check *c, const struct collopt_rule *r, bool last)
{
    if (matches_nothing(c, r))
        return;
    if (!(kinds_served(r) & r->box.kinds))
        complain(c, r->line, "%s does not serve these operations; op may be %s",
                 r->choice.algorithm->name,
                 kinds_served(r) == COLLOPT_KIND_EXACT ? "exact" : "commutative");
    else if (!serves_no_ranks(c, r))
        check_reached(c, r, last);
}

static bool for_all_the_rest(const struct collopt_rule *r)
{
    struct collopt_box all = { (1u << COLLOPT_COLLECTIVES) - 1, COLLOPT_KINDS, { { 0, 0 } } };

    for (int m = 0; m < COLLOPT_MEASURES; m++)
        all.range[m] = (struct collopt_range){ 0, SIZE_MAX };
    return inside(&all, &r->box) && serves_all(r);
}

int collopt_rules_check(const struct collopt_rules *rules, collopt_tell_mistake *tell, void *data)
{
    struct check c = { .rules = rules, .tell = tell, .data = data };
    bool ends = rules->n > 0 && for_all_the_rest(&rules->rule[rules->n - 1]);

    for (c.to = 0; c.to < rules->n; c.to++)
        check_rule(&c, &rules->rule[c.to], ends && c.to == rules->n - 1);
    if (!ends)
        complain(&c, 0,
                 "the last line is missing, by which one knows a file that was cut short: * * * * "
                 "* * auto (or host)");
    return c.mistakes;
}
