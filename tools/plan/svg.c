/* A plan as a drawing: ranks down, rounds across, an arrow for every message.
 *
 * Where an arrow begins, a small picture of the vector shows which part of it is sent, in the
 * colours of its blocks, and above it stands whose operands are summed up in it.  Pictures and
 * arrows have zones of their own in each round, so that they keep clear of each other. */
#include "config.h"

#include "catalogue/expression.h"
#include "plan/svg.h"
#include "plan/plan.h"
#include "schedule/problem.h"
#include "shared/colours.h"

#include <math.h>
#include <string.h>

enum {
    MOST_RANKS = 128, MOST_ROUNDS = 400,        /* in one drawing */
    LEFT = 56, TOP = 96, RESULT = 124, LEGEND = 102, NARROWEST = 760,
    MARGIN = 20, TITLE = 22, LEAST_TITLE = 12, TEXT = 13,
    BAR = 42, BAR_HIGH = 10,                    /* the picture of the vector */
    LABEL = 8,                                  /* letters that fit above it */
    /* the vector in the legend, with numbers of so many blocks */
    KEY = 320, KEY_HIGH = 16, KEY_BLOCKS = 16
};

/* Of a letter, in the widest common font (Verdana, DejaVu Sans), by the size of the letters. */
static const double wide_letter = 0.64, wide_bold = 0.74;

static const char legend_message[] =
    "a message: the part of the vector that it has, and the ranks whose operands are summed up in "
    "it";

struct drawing {
    const struct plan *plan;
    FILE *to;
    int row, column;            /* high and wide */
    int rank;                   /* the one that is not pale; -1: all */
};

/* ---- colours --------------------------------------------------------------------------------- */

#define INK     "fill=\"" COLOUR_INK "\""
#define SOFT    "fill=\"" COLOUR_SOFT "\""

static int channel(double hue, double light, double shift)
{
    double k = fmod(shift + hue / 30, 12), a = 0.62 * (light < 0.5 ? light : 1 - light);

    return (int)(255 * (light - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1))) + 0.5);
}

/* Around the circle of hues once, from blue on; neighbours differ in lightness too. */
static void colour(const struct plan *plan, size_t block, double light, char text[8])
{
    double n = plan->blocks > 1 ? (double)plan->blocks : 1,
           hue = fmod(215 + 360 * (double)block / n, 360);

    light += plan->blocks > 6 && block % 2 ? 0.1 : 0;
    snprintf(text, 8, "#%02x%02x%02x", channel(hue, light, 0), channel(hue, light, 8),
             channel(hue, light, 4));
}

/* ---- pieces of the drawing ------------------------------------------------------------------- */

static double y_of(const struct drawing *d, int rank)
{
    return TOP + d->row * (rank + 0.5);
}

static double x_of(const struct drawing *d, int round)
{
    return LEFT + d->column * (round - 1);
}

static void put_text(const struct drawing *d, double x, double y, int size, const char *more,
                     const char *text)
{
    fprintf(d->to, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%d\" %s>%s</text>\n", x, y, size, more,
            text);
}

/* The picture of the vector, WIDE, with WHAT filled in. */
static void put_bar(const struct drawing *d, double x, double y, double wide, double high,
                    const struct plan_pieces *what)
{
    const struct plan *plan = d->plan;
    double scale = plan->problem.count ? wide / (double)plan->problem.count : 0;

    fprintf(d->to, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#fff\"/>\n",
            x, y, wide, high);
    for (size_t i = 0; i < what->n; i++) {
        size_t first, n = plan_blocks(plan, &what->list[i], &first);

        for (size_t b = first; b < first + n; b++) {
            char fill[8];

            colour(plan, b, 0.5, fill);
            fprintf(d->to,
                    "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" "
                    "stroke=\"#fff\" "
                    "stroke-width=\"%.1f\"/>\n",
                    x + scale * (double)plan->start[b], y,
                    scale * (double)(plan->start[b + 1] - plan->start[b]), high, fill,
                    wide > 4 * (double)plan->blocks ? 0.4 : 0);
        }
    }
    fprintf(d->to,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
            "stroke=\"" COLOUR_SOFT "\" stroke-width=\"0.8\"/>\n",
            x, y, wide, high);
}

static void put_arrow(const struct drawing *d, double x1, double y1, double x2, double y2,
                      const char *stroke)
{
    double length = hypot(x2 - x1, y2 - y1), dx = (x2 - x1) / length, dy = (y2 - y1) / length;

    fprintf(d->to,
            "<path class=\"arrow\" pathLength=\"1\" d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" "
            "stroke-width=\"%.1f\" fill=\"none\"/>"
            "<path d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\" fill=\"%s\"/>\n",
            x1, y1, x2 - 6 * dx, y2 - 6 * dy, stroke, d->row < 36 ? 1.2 : 1.8, x2, y2,
            x2 - 9 * dx - 3.6 * dy, y2 - 9 * dy + 3.6 * dx, x2 - 9 * dx + 3.6 * dy,
            y2 - 9 * dy - 3.6 * dx, stroke);
}

static void put_plus(const struct drawing *d, double x, double y)
{
    fprintf(d->to,
            "<g stroke=\"" COLOUR_INK "\" stroke-width=\"1.3\">"
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5.5\" fill=\"#fff\"/>"
            "<path d=\"M%.1f %.1fh7M%.1f %.1fv7\"/></g>\n",
            x, y, x - 3.5, y, x, y - 3.5);
}

/* "0-3"; where the ranks are scattered how many, where they differ from block to block "2 each". */
static void label(const struct plan *plan, const struct plan_pieces *what, char *text, size_t size)
{
    int least = plan->problem.ranks, most = 0;
    bool same = true;

    *text = '\0';
    for (size_t i = 0; i < what->n; i++) {
        int n = plan_size(plan, what->list[i].set);

        same &= what->list[i].set == what->list[0].set;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    if (what->n && same) {
        plan_set_text(plan, what->list[0].set, text, size);
        if (strlen(text) > LABEL)
            snprintf(text, size, "%d ranks", most);
    } else if (what->n) {
        snprintf(text, size, least == most ? "%d each" : "%d..%d each", least, most);
    }
}

/* ---- the drawing ----------------------------------------------------------------------------- */

static bool is_pale(const struct drawing *d, int a, int b)
{
    return d->rank >= 0 && d->rank != a && d->rank != b;
}

static void put_grid(const struct drawing *d)
{
    int rounds = d->plan->totals.rounds, ranks = d->plan->problem.ranks;
    double end = x_of(d, rounds + 1), low = TOP + d->row * ranks;
    char text[32];

    for (int round = 1; round <= rounds; round++) {
        if (round % 2)
            fprintf(d->to,
                    "<rect x=\"%.1f\" y=\"%d\" width=\"%d\" height=\"%.1f\" "
                    "fill=\"" COLOUR_TRACK "\"/>\n",
                    x_of(d, round), TOP - 22, d->column, low - TOP + 22);
        snprintf(text, sizeof text, round == 1 ? "round %d" : "%d", round);
        put_text(d, x_of(d, round) + d->column / 2.0, TOP - 7, 13,
                 "text-anchor=\"middle\" " SOFT, text);
    }
    put_text(d, end + 14, TOP - 7, 13, SOFT, "result");
    put_text(d, LEFT - 14, TOP - 7, 13, "text-anchor=\"end\" " SOFT, "rank");
    for (int k = 0; k < ranks; k++) {
        fprintf(d->to, "<path d=\"M%d %.1fH%.1f\" stroke=\"" COLOUR_REST "\"/>\n", LEFT - 6,
                y_of(d, k), end + 8);
        snprintf(text, sizeof text, "%d", k);
        put_text(d, LEFT - 14, y_of(d, k) + 5, 14, "text-anchor=\"end\" font-weight=\"bold\"",
                 text);
    }
}

static void put_transfers(const struct drawing *d)
{
    for (size_t i = 0; i < d->plan->transfers; i++) {
        const struct plan_transfer *t = &d->plan->transfer[i];
        double x = x_of(d, t->round), y = y_of(d, t->from);
        size_t first, blocks = t->what.n == 1 ? plan_blocks(d->plan, t->what.list, &first) : 0;
        char stroke[8] = COLOUR_SOFT, text[64];

        if (blocks == 1)
            colour(d->plan, first, 0.4, stroke);
        label(d->plan, &t->what, text, sizeof text);
        fprintf(d->to, "<g class=\"message\" data-round=\"%d\"%s>", t->round,
                is_pale(d, t->from, t->to) ? " opacity=\"0.13\"" : "");
        put_arrow(d, x + BAR + 9, y, x + d->column - 8, y_of(d, t->to), stroke);
        put_bar(d, x + 6, y - BAR_HIGH / 2.0, BAR, BAR_HIGH, &t->what);
        put_text(d, x + 6, y - BAR_HIGH / 2.0 - 3, d->row < 26 ? 9 : 11, INK, text);
        fprintf(d->to, "</g>\n");
    }
}

/* Marks lie on the border to the next round, once for all that is combined there. */
static void put_works(const struct drawing *d)
{
    int round = -1;
    bool done[MOST_RANKS] = { false };

    for (size_t i = 0; i < d->plan->works; i++) {
        const struct plan_work *w = &d->plan->work[i];

        if (w->round != round)
            memset(done, 0, sizeof done);
        round = w->round;
        if (w->operands < 2 || done[w->rank] || is_pale(d, w->rank, w->rank))
            continue;
        done[w->rank] = true;
        fprintf(d->to, "<g data-round=\"%d\">", round);
        put_plus(d, x_of(d, round + 1) - 1, y_of(d, w->rank));
        fprintf(d->to, "</g>\n");
    }
}

static void put_results(const struct drawing *d)
{
    double x = x_of(d, d->plan->totals.rounds + 1) + 14;

    fprintf(d->to, "<g data-round=\"%d\">\n", d->plan->totals.rounds + 1);
    for (int k = 0; k < d->plan->problem.ranks; k++) {
        const struct plan_pieces *what = &d->plan->result[k];
        char text[64];

        if (what->n == 0)
            continue;
        label(d->plan, what, text, sizeof text);
        put_bar(d, x, y_of(d, k) - BAR_HIGH / 2.0, BAR, BAR_HIGH, what);
        put_text(d, x + BAR + 6, y_of(d, k) + 4, 11, INK, text);
    }
    fprintf(d->to, "</g>\n");
}

/* The vector with its blocks' numbers. */
static void put_key(const struct drawing *d, double y)
{
    const struct plan *plan = d->plan;
    struct plan_piece whole = { 0, plan->problem.count, 0 };
    double scale = plan->problem.count ? KEY / (double)plan->problem.count : 0;
    char text[64];

    put_bar(d, LEFT, y - KEY_HIGH / 2.0, KEY, KEY_HIGH,
            &(struct plan_pieces){ &whole, plan->problem.count > 0, 1 });
    for (size_t b = 0; b < plan->blocks && plan->blocks > 1 && plan->blocks <= KEY_BLOCKS; b++) {
        snprintf(text, sizeof text, "%zu", b);
        put_text(d, LEFT + scale * (double)(plan->start[b] + plan->start[b + 1]) / 2, y + 4, 11,
                 "text-anchor=\"middle\" fill=\"#fff\" font-weight=\"bold\"", text);
    }
    snprintf(text, sizeof text, plan->blocks > 1 ? "the vector, in %zu blocks" : "the vector",
             plan->blocks);
    put_text(d, LEFT + KEY + 10, y + 4, 13, INK, text);
}

static void put_legend(const struct drawing *d)
{
    double y = TOP + d->row * d->plan->problem.ranks + 34;

    put_key(d, y);
    put_arrow(d, LEFT, y + 30, LEFT + 38, y + 30, COLOUR_SOFT);
    put_text(d, LEFT + 46, y + 34, 13, INK,
             legend_message);
    put_plus(d, LEFT + 20, y + 54);
    put_text(d, LEFT + 46, y + 58, 13, INK, "what was received is combined");
}

struct titles {
    char first[640], second[640];
    int size;                   /* of the letters of the first */
    double wide;                /* what both take */
};

/* A long first line gets smaller letters, and a drawing as wide as it takes. */
static void find_titles(const struct plan *plan, struct titles *t)
{
    const char *c = collopt_collective_names[plan->problem.collective];
    char choice[400], seconds[32];
    double first, second;

    collopt_choice_text(&plan->choice, choice, sizeof choice);
    snprintf(t->first, sizeof t->first, "%c%s by %s", c[0] - 'a' + 'A', c + 1, choice);
    plan_seconds_text(plan->totals.seconds, seconds, sizeof seconds);
    snprintf(t->second, sizeof t->second,
             "%d ranks, %zu elements of %zu bytes: %d rounds, %zu messages, "
             "%zu bytes at the busiest rank, predicted %s",
             plan->problem.ranks, plan->problem.count, plan->problem.size, plan->totals.rounds,
             plan->totals.messages, plan->totals.moved * plan->problem.size, seconds);
    t->size = (int)((NARROWEST - 2 * MARGIN) / (wide_bold * (double)strlen(t->first)));
    t->size = t->size > TITLE ? TITLE : t->size < LEAST_TITLE ? LEAST_TITLE : t->size;
    first = wide_bold * t->size * (double)strlen(t->first);
    second = wide_letter * TEXT * (double)strlen(t->second);
    t->wide = 2 * MARGIN + (first > second ? first : second);
}

static void put_titles(const struct drawing *d, const struct titles *t)
{
    put_text(d, MARGIN, 34, t->size, "font-weight=\"bold\" " INK, t->first);
    put_text(d, MARGIN, 56, TEXT, SOFT, t->second);
}

/* Few rounds are drawn wide, and so are many ranks, whose arrows would be steep. */
static int column(int ranks, int rounds)
{
    int least = ranks > 16 ? 136 : 104,
        room = (NARROWEST - LEFT - RESULT) / (rounds > 0 ? rounds : 1);

    return room < least ? least : room > 200 ? 200 : room;
}

bool plan_can_be_drawn(const struct plan *plan)
{
    int ranks = plan->problem.ranks, rounds = plan->totals.rounds;

    if (ranks <= MOST_RANKS && rounds <= MOST_ROUNDS)
        return true;
    fprintf(stderr,
            "collopt-plan: %d ranks and %d rounds are too many for a drawing, which takes %d and "
            "%d; the formats text and json take any\n",
            ranks, rounds, MOST_RANKS, MOST_ROUNDS);
    return false;
}

bool plan_svg(const struct plan *plan, int rank, FILE *to)
{
    int ranks = plan->problem.ranks, rounds = plan->totals.rounds;
    struct drawing drawing = {
        .plan = plan, .to = to, .row = ranks <= 8 ? 48 : ranks <= 16 ? 38 : ranks <= 32 ? 30 : 24,
        .column = column(ranks, rounds), .rank = rank,
    };
    const struct drawing *d = &drawing;
    double wide = x_of(d, rounds + 1) + RESULT, high = TOP + d->row * ranks + LEGEND,
           legend = LEFT + 46 + wide_letter * TEXT * (double)(sizeof legend_message - 1) + MARGIN;
    struct titles titles;
    char title[600];

    if (!plan_can_be_drawn(plan))
        return false;
    find_titles(plan, &titles);
    wide = fmax(fmax(wide, NARROWEST), fmax(titles.wide, legend));
    plan_title(plan, title, sizeof title);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
            "0 %.0f %.0f\" "
            "font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n<title>%s</title>\n"
            "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
            wide, high, wide, high, title, wide, high);
    put_titles(d, &titles);
    put_grid(d);
    put_transfers(d);
    put_works(d);
    put_results(d);
    put_legend(d);
    fprintf(to, "</svg>\n");
    return true;
}
