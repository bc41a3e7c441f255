/* Formulas of rounds and bytes; see formula.h. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/algorithm.h"
#include "algorithms/formula.h"
#include "algorithms/groups.h"
#include "base/numbers.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "model/grid.h"
#include "model/traffic.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"
#include "topology/topology.h"

static const double rounding = 1e-9;    /* of logarithms */

struct reader {
    const struct collopt_algorithm *a;
    const struct collopt_problem *p;
    const char *at;
    const char *mistake;
    bool bytes, none, about;
    int element;                /* the I of d_i and f_i; -1: outside of sums */
    struct collopt_grid dims;
    struct collopt_levels factors;
};

static struct collopt_formula evaluate(const struct collopt_algorithm *a,
                                       const struct collopt_problem *p, const char *text,
                                       bool bytes);
static double factor(struct reader *r);
static double sum(struct reader *r);

/* ---- words ----------------------------------------------------------------------------------- */

static void skip_blanks(struct reader *r)
{
    r->at += strspn(r->at, " ");
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Goes behind TEXT, if that comes next and is no part of a longer word. */
static bool take(struct reader *r, const char *text)
{
    size_t n = strlen(text);

    skip_blanks(r);
    if (strncmp(r->at, text, n) != 0 || (is_letter(text[n - 1]) && is_letter(r->at[n])))
        return false;
    r->at += n;
    return true;
}

/* The same, where a letter may follow. */
static bool take_start(struct reader *r, const char *text)
{
    size_t n = strlen(text);

    skip_blanks(r);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static double mistaken(struct reader *r)
{
    if (!r->mistake)
        r->mistake = r->at;
    return 0;
}

static void expect(struct reader *r, const char *text)
{
    if (!take(r, text))
        mistaken(r);
}

/* ---- letters --------------------------------------------------------------------------------- */

/* A parameter's value; 0: it has none of that NAME. */
static double parameter(const struct collopt_algorithm *a, const struct collopt_problem *p,
                        const char *name)
{
    int i = collopt_parameter_named(a, name);

    return i < 0 ? 0 : (double)p->value[i];
}

/* The problem of the inner algorithm that parameter I names: among the ranks of the largest node,
 * or among the nodes.  Between nodes each lane gets one part of the vector. */
static struct collopt_problem inner_problem(const struct reader *r, int i,
                                            const struct collopt_choice *choice)
{
    static const struct collopt_topology flat = { .nodes = 1 };
    bool between = strcmp(r->a->parameter[i].name, "net") == 0;
    size_t lanes = (size_t)parameter(r->a, r->p, "count");
    struct collopt_problem p = *r->p;

    p.collective = r->a->parameter[i].of;
    p.topology = &flat;
    p.counts = NULL;
    p.root = 0;
    if (r->a->grouped)
        p.ranks = between ? r->p->topology->nodes : collopt_largest_node(r->p);
    if (between && lanes > 1)
        p.count = (p.count + lanes - 1) / lanes;
    memcpy(p.value, choice->value, sizeof p.value);
    p.segments = choice->algorithm->segments ? choice->algorithm->segments(&p) : 1;
    return p;
}

static double of_inner(struct reader *r, const struct collopt_choice *choice,
                       const struct collopt_problem *p)
{
    const struct collopt_algorithm *a = choice->algorithm;
    struct collopt_formula f = evaluate(a, p, r->bytes ? a->bytes : a->rounds, r->bytes);

    r->none |= f.none;
    r->about |= f.about;
    if (f.mistake)
        mistaken(r);
    return f.value;
}

/* Of a root that is not rank 0 nobody knows here whether it is the first of its group. */
static double inner(struct reader *r, int i)
{
    const struct collopt_choice *choice = collopt_choice_numbered(r->p->value[i]);
    struct collopt_problem p = inner_problem(r, i, choice);
    double first = of_inner(r, choice, &p);

    if (r->p->root == 0 || p.ranks < 3)
        return first;
    p.root = 1;
    return larger(first, of_inner(r, choice, &p));
}

/* The number of elements of one that is a list. */
static double parameter_value(struct reader *r, int i)
{
    const struct collopt_parameter *q = &r->a->parameter[i];

    if (q->algorithm)
        return inner(r, i);
    return q->list_bits ? collopt_list_length(q, r->p->value[i]) : (double)r->p->value[i];
}

static double letter(struct reader *r)
{
    const struct collopt_problem *p = r->p;
    bool in_sum = r->element >= 0;
    /* all ranks on one node */
    double lanes = p->topology->nodes == 1 ? p->ranks : parameter(r->a, p, "count");
    const struct {
        const char *name;
        double value;
    } letters[] = {
        { "m", vector_bytes(p) },
        { "p", p->ranks },
        { "q", log2_ceil(p->ranks) },
        { "F", log2_floor(p->ranks) },
        { "S", p->segments },
        { "k", parameter(r->a, p, "radix") },
        { "n", parameter(r->a, p, "blocks") },
        { "L", lanes },
        { "N", p->topology->nodes },
        { "r", collopt_largest_node(p) },
        { "D", r->dims.sides },
        { "d_i", in_sum ? r->dims.side[r->element] : 0 },
        { "f_i", in_sum ? r->factors.radix[r->element] : 0 },
    };

    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (take(r, letters[i].name))
            return letters[i].value;
    for (int i = 0; i < COLLOPT_PARAMETERS && r->a->parameter[i].name; i++)
        if (take(r, r->a->parameter[i].name))
            return parameter_value(r, i);
    return mistaken(r);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static double dims_so_far(const struct reader *r)
{
    double all = 1;

    for (int i = 0; i <= r->element; i++)
        all *= r->dims.side[i];
    return all;
}

static double parenthesized(struct reader *r)
{
    double value = sum(r);

    expect(r, ")");
    return value;
}

/* To a base that is a letter. */
static double logarithm(struct reader *r)
{
    double base = letter(r);

    return log(factor(r)) / log(base);
}

/* The factor that follows, once for each element; also read once where there is none. */
static double over_elements(struct reader *r)
{
    const char *start = r->at;
    int n = collopt_parameter_named(r->a, "dims") >= 0 ? r->dims.sides : r->factors.levels;
    double all = 0;

    for (r->element = 0; r->element == 0 || r->element < n; r->element++) {
        double one;

        r->at = start;
        one = factor(r);
        all += r->element < n ? one : 0;
    }
    r->element = -1;
    return all;
}

static double simple(struct reader *r)
{
    skip_blanks(r);
    if (*r->at >= '0' && *r->at <= '9') {
        double value;

        collopt_parse_decimal(r->at, &value, &r->at);
        return value;
    }
    if (take(r, "(d_1 ... d_i)"))
        return dims_so_far(r);
    if (take(r, "("))
        return parenthesized(r);
    if (take(r, "ceil"))
        return ceil(factor(r) - rounding);
    if (take(r, "floor"))
        return floor(factor(r) + rounding);
    if (take(r, "log2"))
        return log2(factor(r));
    if (take_start(r, "log_"))
        return logarithm(r);
    if (take(r, "sum"))
        return over_elements(r);
    return letter(r);
}

static double factor(struct reader *r)
{
    double value = simple(r);

    return take(r, "^") ? pow(value, simple(r)) : value;
}

static bool factor_follows(struct reader *r)
{
    skip_blanks(r);
    return *r->at == '(' || is_letter(*r->at);
}

static double product(struct reader *r)
{
    double value = factor(r);

    while (!r->mistake)
        if (take(r, "/"))
            value /= factor(r);
        else if (factor_follows(r))
            value *= factor(r);
        else
            break;
    return value;
}

static double sum(struct reader *r)
{
    double value = product(r);

    while (!r->mistake)
        if (take(r, "+"))
            value += product(r);
        else if (take(r, "-"))
            value -= product(r);
        else
            break;
    return value;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct collopt_formula bounded(struct reader *r)
{
    struct collopt_formula f = { .about = take(r, "about") };

    f.up_to = !f.about && take(r, "up to");
    f.value = sum(r);
    return f;
}

static bool condition(struct reader *r)
{
    const struct collopt_problem *p = r->p;
    bool holds = false;

    if (take(r, "p odd"))
        holds = p->ranks % 2;
    else if (take(r, "folded"))
        holds = p->ranks != 1 << log2_floor(p->ranks);
    else if (take(r, "in streams"))
        holds = larger(parameter(r->a, p, "chunks"), parameter(r->a, p, "strands")) > 1;
    else if (take(r, "all split"))
        holds = parameter(r->a, p, "splits") >= r->factors.levels;
    else if (take(r, "root inside"))
        holds = p->root > 0 && p->root < p->ranks - 1;
    else
        mistaken(r);
    expect(r, ":");
    return holds;
}

static struct collopt_levels factors_of(const struct collopt_algorithm *a,
                                        const struct collopt_problem *p)
{
    int listed = collopt_parameter_named(a, "radices"), one = collopt_parameter_named(a, "radix");

    if (listed >= 0 && p->value[listed])
        return collopt_listed_levels(p->value[listed]);
    return one >= 0 ? collopt_factors(p->ranks, (int)p->value[one])
                    : (struct collopt_levels){ .levels = 0 };
}

static struct collopt_formula evaluate(const struct collopt_algorithm *a,
                                       const struct collopt_problem *p, const char *text,
                                       bool bytes)
{
    struct reader r = { .a = a,
                        .p = p,
                        .at = text,
                        .bytes = bytes,
                        .element = -1,
                        .factors = factors_of(a, p) };
    int dims = collopt_parameter_named(a, "dims");
    struct collopt_formula f;

    if (take(&r, "no formula"))
        return (struct collopt_formula){ .none = true };
    if (dims >= 0)
        r.dims = collopt_grid_proper(p->value[dims]);
    f = bounded(&r);
    while (!r.mistake && take(&r, ",")) {
        bool holds = condition(&r);
        struct collopt_formula other = bounded(&r);

        f = holds ? other : f;
    }
    if (*r.at && !take(&r, ";"))
        mistaken(&r);
    f.value = p->ranks == 1 ? 0 : f.value;      /* one rank has nothing to send */
    f.mistake = r.mistake;
    f.none = r.none;
    f.about |= r.about;
    return f;
}

struct collopt_formula collopt_formula_rounds(const struct collopt_algorithm *a,
                                              const struct collopt_problem *p)
{
    return evaluate(a, p, a->rounds, false);
}

struct collopt_formula collopt_formula_bytes(const struct collopt_algorithm *a,
                                             const struct collopt_problem *p)
{
    return evaluate(a, p, a->bytes, true);
}
