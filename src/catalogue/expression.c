/* The grammar in which algorithms are named, everywhere the same:
 *
 *     expression = name [ ":" argument { "," argument } ]
 *     argument   = key "=" ( value | "(" expression ")" )
 *     name, key  = letters, digits and _
 *     value      = letters, digits, _ . -          a number, one of bytes (64K), or a list (4x4x2)
 *
 * The text is first cut into an expression's parts, with its nested expressions checked for form,
 * and then held against the descriptor of the algorithm it names. Both steps name what is wrong and
 * what would be right. */
#include "config.h"

#include "catalogue/expression.h"
#include "base/text.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "schedule/descriptor.h"
#include "schedule/parameters.h"
#include "schedule/problem.h"

#include <stdio.h>
#include <string.h>

enum { ARGUMENTS = 8, DEPTH = 8 };

struct span {
    const char *at;
    size_t n;
};

struct argument {
    struct span key, value;     /* a nested expression with its parentheses */
};

struct parsed {
    struct span name;
    int arguments;
    struct argument argument[ARGUMENTS];
};

enum { SHOWN = 60 };

#define complain collopt_add     /* false, so that a parser can return it */

/* The part of a span that a message shows, for "%.*s". */
#define SPAN(s) (int)((s).n < SHOWN ? (s).n : SHOWN), (s).at

/* ---- form ------------------------------------------------------------------------------------ */

static bool name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool value_character(char c)
{
    return name_character(c) || c == '.' || c == '-' || c == '+';
}

static struct span take(const char **at, bool (*belongs)(char c))
{
    struct span s = { *at, 0 };

    while (belongs(s.at[s.n]))
        s.n++;
    *at += s.n;
    return s;
}

static bool expected(struct collopt_text *m, const char *what, const char *at)
{
    if (*at)
        return complain(m, "%s expected at \"%.40s\"", what, at);
    return complain(m, "%s expected at the end", what);
}

static bool parse(const char **at, struct parsed *e, int depth, struct collopt_text *m);

static bool parse_argument(const char **at, struct argument *a, int depth, struct collopt_text *m)
{
    a->key = take(at, name_character);
    if (a->key.n == 0)
        return expected(m, "the name of a parameter", *at);
    if (**at != '=')
        return expected(m, "\"=\"", *at);
    ++*at;
    if (**at == '(') {
        struct parsed nested;
        const char *start = (*at)++;

        if (!parse(at, &nested, depth + 1, m))
            return false;
        if (**at != ')')
            return expected(m, "\")\"", *at);
        ++*at;
        a->value = (struct span){ start, (size_t)(*at - start) };
        return true;
    }
    a->value = take(at, value_character);
    return a->value.n > 0 || expected(m, "a value", *at);
}

/* One expression from *AT on; leaves *AT behind it. */
static bool parse(const char **at, struct parsed *e, int depth, struct collopt_text *m)
{
    if (depth > DEPTH)
        return complain(m, "more than %d nested parentheses", DEPTH);
    e->arguments = 0;
    e->name = take(at, name_character);
    if (e->name.n == 0)
        return expected(m, "the name of an algorithm", *at);
    if (**at != ':')
        return true;
    do {
        ++*at;
        if (e->arguments == ARGUMENTS)
            return complain(m, "more than %d parameters", ARGUMENTS);
        if (!parse_argument(at, &e->argument[e->arguments++], depth, m))
            return false;
    } while (**at == ',');
    return true;
}

/* ---- meaning --------------------------------------------------------------------------------- */

static bool is(struct span s, const char *word)
{
    return strlen(word) == s.n && memcmp(s.at, word, s.n) == 0;
}

/* The names with which an expression may start. */
struct offer {
    enum collopt_collective collective;
    bool inner;                 /* in parentheses: neither host nor auto, nor a second algorithm by
                                 * groups */
};

/* The I-th name, for suggestions.  The callers handle "auto" before they parse an expression. */
static const char *nth_algorithm(int i, const void *data)
{
    static const char *const whole[] = { "host", "auto" };
    const struct offer *o = data;

    if (!o->inner && i < 2)
        return whole[i];
    i -= o->inner ? 0 : 2;
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        if ((*a)->collective == o->collective && !(o->inner && (*a)->grouped) && i-- == 0)
            return (*a)->name;
    return NULL;
}

static const char *nth_parameter(int i, const void *data)
{
    return ((const struct collopt_algorithm *)data)->parameter[i].name;
}

static int parameters(const struct collopt_algorithm *a)
{
    int n = 0;

    while (n < COLLOPT_PARAMETERS && a->parameter[n].name)
        n++;
    return n;
}

/* Lists the words ("; it has host, ring, binomial") where they are few, and suggests the two
 * nearest to WORD. */
static bool complain_list(struct collopt_text *m, struct span word, int n,
                          const char *(*nth)(int, const void *), const void *data)
{
    enum { FEW = 8 };
    char copy[64];
    int nearest, second;

    if (n > FEW)
        complain(m, " (collopt-info --algorithms lists all %d)", n);
    for (int i = 0; i < n && n <= FEW; i++)
        complain(m, "%s%s", i ? ", " : "; it has ", nth(i, data));
    snprintf(copy, sizeof copy, "%.*s", (int)(word.n < sizeof copy ? word.n : sizeof copy - 1),
             word.at);
    nearest = collopt_nearest(copy, n, nth, data);
    second = nearest < 0 || n <= FEW ? -1 : collopt_nearest_but(copy, n, nth, data, nearest);
    if (n > 1 && nearest >= 0)
        complain(m, "; did you mean %s%s%s%s?", nth(nearest, data), second < 0 ? "" : " (or ",
                 second < 0 ? "" : nth(second, data), second < 0 ? "" : ")");
    return false;
}

/* Names that rules and settings may still have, and the nearest algorithm that is there. */
static const struct removed {
    enum collopt_collective collective;
    const char *name, *since, *nearest;
} removed[] = {
    { COLLOPT_ALLREDUCE, "binary_blocks", "0.1.0", "rabenseifner" },
    { COLLOPT_ALLREDUCE, "binary_tree", "0.1.0", "two_tree" },
    { COLLOPT_ALLREDUCE, "census", "0.1.0", "recursive_multiplying" },
    { COLLOPT_ALLREDUCE, "circulant_pipeline", "0.1.0", "circulant" },
    { COLLOPT_ALLREDUCE, "dual_root", "0.1.0", "two_tree" },
    { COLLOPT_ALLREDUCE, "short_elimination", "0.1.0", "recursive_doubling" },
    { COLLOPT_ALLREDUCE, "swing_latency", "0.1.0", "recursive_doubling" },
    { COLLOPT_REDUCE, "bine_tree", "0.1.0", "knomial" },
    { COLLOPT_REDUCE, "torus", "0.1.0", "mesh" },
    { COLLOPT_SCAN, "binary_tree", "0.1.0", "two_tree" },
    { COLLOPT_EXSCAN, "binary_tree", "0.1.0", "two_tree" },
};

static bool no_algorithm(struct collopt_text *m, struct span name, const struct offer *o)
{
    int n = 0;

    for (size_t i = 0; i < sizeof removed / sizeof *removed; i++)
        if (removed[i].collective == o->collective && is(name, removed[i].name))
            return complain(m, "%s has no algorithm \"%s\" since collopt %s; the nearest is %s",
                            collopt_collective_names[o->collective], removed[i].name,
                            removed[i].since, removed[i].nearest);
    while (nth_algorithm(n, o))
        n++;
    complain(m, "%s has no algorithm \"%.*s\"", collopt_collective_names[o->collective],
             SPAN(name));
    return complain_list(m, name, n, nth_algorithm, o);
}

static bool no_parameter(struct collopt_text *m, struct span key, const struct collopt_algorithm *a)
{
    int n = parameters(a);

    if (n == 0)
        return complain(m, "%s takes no parameters", a->name);
    complain(m, "%s has no parameter \"%.*s\"", a->name, SPAN(key));
    return complain_list(m, key, n, nth_parameter, a);
}

static void limit_text(const struct collopt_parameter *p, size_t value, char *text, size_t size)
{
    if (p->bytes)
        collopt_size_text(value, text, size);
    else
        snprintf(text, size, "%zu", value);
}

static bool in_range(struct collopt_text *m, const struct collopt_parameter *p, struct span text,
                     size_t value)
{
    char least[24], most[24];

    if (value >= p->least && value <= p->most)
        return true;
    limit_text(p, p->least, least, sizeof least);
    limit_text(p, p->most, most, sizeof most);
    return complain(m, "%s=%.*s is not from %s to %s", p->name, SPAN(text), least, most);
}

static bool set_number(struct collopt_text *m, const struct collopt_parameter *p, struct span text,
                       size_t *value)
{
    if (!collopt_parse_number(text.at, text.n, p->bytes, value))
        return complain(m, "%s=%.*s is not a number%s", p->name, SPAN(text),
                        p->bytes ? " of bytes (such as 512, 64K, 1M)" : "");
    return in_range(m, p, text, *value);
}

/* The piece of TEXT up to the next "x", which is taken off it. */
static struct span next_element(struct span *text)
{
    const char *cross = memchr(text->at, 'x', text->n);
    struct span element = { text->at, cross ? (size_t)(cross - text->at) : text->n };
    size_t used = element.n + (cross ? 1 : 0);

    text->at += used;
    text->n -= used;
    return element;
}

static bool set_list(struct collopt_text *m, const struct collopt_parameter *p, struct span text,
                     size_t *value)
{
    struct span left = text;
    int most = 8 * (int)sizeof *value / p->list_bits, n = 0;
    bool more = true;

    *value = 0;
    while (more) {
        struct span element = next_element(&left);
        size_t v;

        more = element.at + element.n < text.at + text.n;
        if (!collopt_parse_number(element.at, element.n, false, &v))
            return complain(m, "%s=%.*s is not a list of numbers (such as 4x4x2)", p->name,
                            SPAN(text));
        if (n == most)
            return complain(m, "%s=%.*s has more than %d numbers", p->name,
                            SPAN(text), most);
        if (!in_range(m, p, element, v))
            return false;
        *value |= v << n++ * p->list_bits;
    }
    return true;
}

static bool choose(struct collopt_text *m, const struct parsed *e, const struct offer *o,
                   struct collopt_choice *choice);

/* TEXT was parsed before, for its form. */
static bool set_algorithm(struct collopt_text *m, const struct collopt_parameter *p,
                          struct span text, size_t *value)
{
    struct collopt_choice inner;
    const char *at = text.at + 1;
    struct parsed e;

    if (*text.at != '(')
        return complain(m, "%s takes an algorithm in parentheses, such as %s=(%s)", p->name,
                        p->name, p->of == COLLOPT_REDUCE ? "binomial" : "recursive_doubling");
    if (!parse(&at, &e, 1, m))
        return false;
    if (is(e.name, "host"))
        return complain(m, "%s cannot be host: only whole calls can be left to the MPI library",
                        p->name);
    if (!choose(m, &e, &(struct offer){ p->of, true }, &inner))
        return false;
    *value = collopt_choice_number(&inner);
    return *value != 0 || complain(m, "no memory for the algorithm in parentheses");
}

static bool set_word(struct collopt_text *m, const struct collopt_parameter *p, struct span text,
                     size_t *value)
{
    int i = collopt_word_index(p->words, text.at, text.n);

    *value = (size_t)i + 1;
    return i >= 0 || complain(m, "%s=%.*s is none of %s", p->name, SPAN(text), p->words);
}

static bool set_value(struct collopt_text *m, const struct collopt_parameter *p, struct span text,
                      size_t *value)
{
    if (p->algorithm)
        return set_algorithm(m, p, text, value);
    if (p->words)
        return set_word(m, p, text, value);
    return p->list_bits ? set_list(m, p, text, value) : set_number(m, p, text, value);
}

static bool set_argument(struct collopt_text *m, const struct argument *a,
                         struct collopt_choice *choice, unsigned *given)
{
    for (int i = 0; i < parameters(choice->algorithm); i++) {
        const struct collopt_parameter *p = &choice->algorithm->parameter[i];

        if (!is(a->key, p->name))
            continue;
        if (*given & 1u << i)
            return complain(m, "%s is given twice", p->name);
        *given |= 1u << i;
        return set_value(m, p, a->value, &choice->value[i]);
    }
    return no_parameter(m, a->key, choice->algorithm);
}

/* The choice that E stands for, if O offers it. */
static bool choose(struct collopt_text *m, const struct parsed *e, const struct offer *o,
                   struct collopt_choice *choice)
{
    struct collopt_choice result = { .algorithm = NULL };
    bool host = is(e->name, "host");
    unsigned given = 0;

    if (e->arguments && (host || (!o->inner && is(e->name, "auto"))))
        return complain(m, "%s takes no parameters", host ? "host" : "auto");
    if (!host) {
        result.algorithm = collopt_algorithm_named(o->collective, e->name.at, e->name.n);
        if (!result.algorithm)
            return no_algorithm(m, e->name, o);
        if (o->inner && result.algorithm->grouped)
            return complain(m,
                            "%s goes by groups of ranks, which is not offered inside parentheses",
                            result.algorithm->name);
        for (int i = 0; i < e->arguments; i++)
            if (!set_argument(m, &e->argument[i], &result, &given))
                return false;
    }
    *choice = result;
    return true;
}

bool collopt_parse_choice(const char *text, enum collopt_collective c,
                          struct collopt_choice *choice, char *message, size_t size)
{
    struct collopt_text m = { message, size, 0 };
    struct parsed e;

    if (size)
        *message = '\0';
    if (!parse(&text, &e, 0, &m))
        return false;
    if (*text)
        return expected(&m, e.arguments ? "\",\" or the end" : "\":\" or the end", text);
    return choose(&m, &e, &(struct offer){ c, false }, choice);
}

enum { VALUE_TEXT = 400 };      /* bytes for any value */

static void value_text(const struct collopt_parameter *p, size_t value, char *text, size_t size)
{
    int n = 0;

    if (p->words) {
        size_t length;
        const char *word = collopt_word(p->words, (int)value - 1, &length);

        snprintf(text, size, "%.*s", (int)length, word ? word : "");
    } else if (p->algorithm) {
        const struct collopt_choice *inner = collopt_choice_numbered(value);

        n = snprintf(text, size, "(");
        n += inner ? collopt_choice_text(inner, text + n, size - (size_t)n) : 0;
        if ((size_t)n < size)
            snprintf(text + n, size - (size_t)n, ")");
    } else if (p->list_bits) {
        for (int i = 0; collopt_list_at(p, value, i) && (size_t)n < size; i++)
            n += snprintf(text + n, size - (size_t)n, "%s%zu", i ? "x" : "",
                          collopt_list_at(p, value, i));
    } else {
        limit_text(p, value, text, size);
    }
}

int collopt_choice_text(const struct collopt_choice *choice, char *text, size_t size)
{
    const struct collopt_algorithm *a = choice->algorithm;
    int n = snprintf(text, size, "%s", a ? a->name : "host");
    char separator = ':';

    for (int i = 0; a && i < parameters(a); i++) {
        char value[VALUE_TEXT];

        if (!choice->value[i])
            continue;
        value_text(&a->parameter[i], choice->value[i], value, sizeof value);
        n += snprintf((size_t)n < size ? text + n : NULL, (size_t)n < size ? size - (size_t)n : 0,
                      "%c%s=%s", separator, a->parameter[i].name, value);
        separator = ',';
    }
    return n;
}
