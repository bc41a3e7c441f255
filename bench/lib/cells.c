#include "base/json.h"
#include "base/numbers.h"
#include "lib/cells.h"
#include "shared/colours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A ratio below this is a loss; bench/summary says the same. */
static const double loss = 0.95;

const char *cell_result(const struct cell *c)
{
    return c->wrong_host || c->wrong_collopt ? "WRONG" : "correct";
}

/* ---- order ----------------------------------------------------------------------------------- */

/* 0: they differ in size only, and are one series. */
static int series_order(const struct cell *a, const struct cell *b)
{
    if (a->problem.collective != b->problem.collective)
        return (int)a->problem.collective - (int)b->problem.collective;
    if (a->problem.operation != b->problem.operation)
        return (int)a->problem.operation - (int)b->problem.operation;
    if (a->problem.type != b->problem.type)
        return (int)a->problem.type - (int)b->problem.type;
    return strcmp(a->algorithm, b->algorithm);
}

static int cell_order(const void *x, const void *y)
{
    const struct cell *a = x, *b = y;
    int order = series_order(a, b);

    return order ? order
                 : (a->problem.bytes > b->problem.bytes) - (a->problem.bytes < b->problem.bytes);
}

void cells_sort(struct cell *cells, int n)
{
    qsort(cells, (size_t)n, sizeof *cells, cell_order);
}

static const char *input_text(const struct bench_problem *p)
{
    return bench_problem_is_fresh(p) ? "fresh" : "same";
}

/* The suffix that names the form; "" for the usual one. */
static const char *form_text(const struct bench_problem *p)
{
    static const char *const texts[] = { "", ", persistent", ", nonblocking" };

    return texts[p->form];
}

/* ---- CSV ------------------------------------------------------------------------------------- */

void cells_csv_header(const struct provenance *p, FILE *to)
{
    provenance_lines(p, true, to);
    fputs("setting,collective,operation,type,ranks,bytes,algorithm,peer,peer_us,collopt_us,ratio,"
          "ratio_low,ratio_high,pairs,outliers,"
          "calls,in_place,input,form,asked,result\n",
          to);
}

void cells_csv_field(const char *text, FILE *to)
{
    fprintf(to, strchr(text, ',') ? "\"%s\"," : "%s,", text);
}

void cells_csv_line(const struct provenance *p, const struct cell *c, FILE *to)
{
    const struct bench_problem *q = &c->problem;
    const struct bench_figures *f = &c->figures;

    cells_csv_field(p->setting, to);
    fprintf(to, "%s,%s,%s,%d,%zu,", bench_collective_names[q->collective],
            bench_operation_names[q->operation], bench_problem_type(q), q->ranks, q->bytes);
    cells_csv_field(c->ran, to);
    cells_csv_field(p->mpi, to);
    fprintf(to, "%.4f,%.4f,%.4f,%.4f,%.4f,%d,%d,%ld,%s,%s,%s,", f->first_us, f->second_us,
            f->ratio, f->low, f->high, f->pairs, f->outliers, f->calls, q->in_place ? "yes" : "no",
            input_text(q), bench_form_names[q->form]);
    cells_csv_field(c->algorithm, to);
    fprintf(to, "%s\n", cell_result(c));
    fflush(to);
}

/* ---- table ----------------------------------------------------------------------------------- */

static void table_head(const struct provenance *p, const struct cell *c, FILE *to)
{
    const struct bench_problem *q = &c->problem;

    fprintf(to, "\n# %s, %s of %s%s%s%s%s%s (%s)\n", bench_collective_names[q->collective],
            bench_operation_names[q->operation], bench_problem_type(q), form_text(q),
            q->in_place ? ", in place" : "", q->same ? ", same input" : "",
            strcmp(c->algorithm, "auto") ? ", " : "",
            strcmp(c->algorithm, "auto") ? c->algorithm : "", p->setting);
    fprintf(to, "#%7s %12s %12s %8s  %-17s %6s %8s  %s\n", "bytes", "native us", "collopt us",
            "ratio", "95% interval", "pairs", "outliers", "algorithm");
}

static void table_line(const struct cell *c, FILE *to)
{
    const struct bench_figures *f = &c->figures;
    char size[24];

    fprintf(to, "%8s %12.3f %12.3f %8.2f  %7.2f - %-7.2f %6d %8d  %s%s\n",
            bench_size_text(c->problem.bytes, size, sizeof size), f->first_us, f->second_us,
            f->ratio, f->low, f->high, f->pairs, f->outliers, c->ran,
            c->wrong_collopt    ? "  WRONG"
                : c->wrong_host ? "  WRONG (the MPI library's own)"
                                : "");
}

static void table_sums(const struct cell *cells, int n, FILE *to)
{
    double logs = 0, least = 0;
    int measured = 0, losses = 0, wrong = 0, left_out = 0;

    for (int i = 0; i < n; i++) {
        double ratio = cells[i].figures.ratio;

        left_out += cells[i].state == CELL_LEFT_OUT;
        if (cells[i].state != CELL_MEASURED)
            continue;
        logs += log(ratio);
        least = measured++ == 0 || ratio < least ? ratio : least;
        losses += ratio < loss;
        wrong += cells[i].wrong_host || cells[i].wrong_collopt;
    }
    fprintf(to, "\n# geometric mean %.2f, minimum %.2f, %d cells, %d under %.2fx, %d wrong",
            measured ? exp(logs / measured) : 0, least, measured, losses, loss, wrong);
    if (left_out)
        fprintf(to, "; %d left out, where the algorithm cannot serve", left_out);
    fputc('\n', to);
}

void cells_table(const struct provenance *p, const struct cell *cells, int n, FILE *to)
{
    const struct cell *before = NULL;

    for (int i = 0; i < n; i++) {
        if (cells[i].state != CELL_MEASURED)
            continue;
        if (!before || series_order(before, &cells[i]) != 0)
            table_head(p, &cells[i], to);
        table_line(&cells[i], to);
        before = &cells[i];
    }
    table_sums(cells, n, to);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void json_cell(const struct provenance *p, const struct cell *c, struct collopt_json *j)
{
    const struct bench_problem *q = &c->problem;
    const struct bench_figures *f = &c->figures;

    collopt_json_object(j, NULL);
    collopt_json_text(j, "collective", bench_collective_names[q->collective]);
    collopt_json_text(j, "operation", bench_operation_names[q->operation]);
    collopt_json_text(j, "type", bench_problem_type(q));
    collopt_json_flag(j, "in_place", q->in_place);
    collopt_json_text(j, "input", input_text(q));
    collopt_json_text(j, "form", bench_form_names[q->form]);
    collopt_json_count(j, "ranks", (uint64_t)q->ranks);
    collopt_json_count(j, "bytes", q->bytes);
    collopt_json_text(j, "asked", c->algorithm);
    collopt_json_text(j, "algorithm", c->ran);
    collopt_json_text(j, "peer", p->mpi);
    collopt_json_real(j, "peer_us", f->first_us);
    collopt_json_real(j, "collopt_us", f->second_us);
    collopt_json_real(j, "ratio", f->ratio);
    collopt_json_real(j, "ratio_low", f->low);
    collopt_json_real(j, "ratio_high", f->high);
    collopt_json_count(j, "pairs", (uint64_t)f->pairs);
    collopt_json_count(j, "outliers", (uint64_t)f->outliers);
    collopt_json_count(j, "calls", (uint64_t)f->calls);
    collopt_json_text(j, "result", cell_result(c));
    collopt_json_end(j);
}

void cells_json(const struct provenance *p, const struct cell *cells, int n, FILE *to)
{
    struct collopt_json j = { .to = to };

    collopt_json_object(&j, NULL);
    provenance_json(p, &j);
    collopt_json_array(&j, "cells");
    for (int i = 0; i < n; i++)
        if (cells[i].state == CELL_MEASURED)
            json_cell(p, &cells[i], &j);
    collopt_json_end(&j);
    collopt_json_end(&j);
}

/* ---- picture --------------------------------------------------------------------------------- */

/* In single quotes gnuplot takes all but the quote as it is. */
static void quoted(const char *text, FILE *to)
{
    fputc('\'', to);
    for (; *text; text++)
        fprintf(to, *text == '\'' ? "''" : "%c", *text);
    fputc('\'', to);
}

/* A data block for each series; returns how many. */
static int picture_data(const struct cell *cells, int n, FILE *to)
{
    const struct cell *before = NULL;
    int series = 0;

    for (int i = 0; i < n; i++) {
        const struct cell *c = &cells[i];

        if (c->state != CELL_MEASURED)
            continue;
        if (!before || series_order(before, c) != 0)
            fprintf(to, "%s$s%d << END\n", before ? "END\n" : "", series++);
        fprintf(to, "%zu %g %g %g\n", c->problem.bytes, c->figures.ratio, c->figures.low,
                c->figures.high);
        before = c;
    }
    if (before)
        fputs("END\n", to);
    return series;
}

static void picture_curve(const struct cell *c, int series, FILE *to)
{
    char title[400];

    snprintf(title, sizeof title, "%s of %s%s%s", bench_operation_names[c->problem.operation],
             bench_problem_type(&c->problem), strcmp(c->algorithm, "auto") ? ", " : "",
             strcmp(c->algorithm, "auto") ? c->algorithm : "");
    fprintf(to, ", \\\n    $s%d using 1:2:3:4 with yerrorlines pointtype 7 pointsize 0.4 title ",
            series);
    quoted(title, to);
}

/* Along the x axis: 1 B, 8 B, 64 B ... 512 GiB, as far as there are figures. */
static void picture_sizes(FILE *to)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB" };

    fputs("set xtics (", to);
    for (int power = 0; power < 40; power += 3)
        fprintf(to, "%s'%d %s' %.0f", power ? ", " : "", 1 << power % 10, unit[power / 10],
                ldexp(1, power));
    fputs(")\n", to);
}

/* A panel for each collective: the line of 1, and its series. */
static void picture_panels(const struct cell *cells, int n, FILE *to)
{
    const struct cell *before = NULL;
    int series = 0;

    for (int i = 0; i < n; i++) {
        const struct cell *c = &cells[i];

        if (c->state != CELL_MEASURED || (before && series_order(before, c) == 0))
            continue;
        if (!before || before->problem.collective != c->problem.collective)
            fprintf(to, "\nset title '%s'\nplot 1 with lines notitle",
                    bench_collective_names[c->problem.collective]);
        picture_curve(c, series++, to);
        before = c;
    }
    fputc('\n', to);
}

static int panels(const struct cell *cells, int n)
{
    bool seen[BENCH_COLLECTIVES] = { false };
    int count = 0;

    for (int i = 0; i < n; i++)
        if (cells[i].state == CELL_MEASURED && !seen[cells[i].problem.collective]) {
            seen[cells[i].problem.collective] = true;
            count++;
        }
    return count;
}

/* The most series that a panel has. */
static int most_series(const struct cell *cells, int n)
{
    const struct cell *before = NULL;
    int count = 0, most = 0;

    for (int i = 0; i < n; i++) {
        const struct cell *c = &cells[i];

        if (c->state != CELL_MEASURED || (before && series_order(before, c) == 0))
            continue;
        count = before && before->problem.collective == c->problem.collective ? count + 1 : 1;
        most = count > most ? count : most;
        before = c;
    }
    return most;
}

/* Names of a few series stand below a panel, of more beside it, where it has to be high enough for
 * them. */
void cells_picture(const struct provenance *p, const struct cell *cells, int n, const char *file,
                   FILE *to)
{
    enum {
        WIDTH = 420,
        HEIGHT = 340,
        NAMES = 320,
        NAME = 16,
        REST = 120,
        FEW = 4,
        LEAST_WIDTH = 640
    };
    int count = panels(cells, n), columns = count < 3 ? count : 3,
        rows = columns ? (count + columns - 1) / columns : 1;
    int series = most_series(cells, n), width = columns * (WIDTH + (series > FEW ? NAMES : 0));
    int height = series * NAME + REST > HEIGHT ? series * NAME + REST : HEIGHT;
    bool svg = strcmp(strrchr(file, '.'), ".svg") == 0;
    char title[400];

    fprintf(
        to,
        "# made by collopt-bench\nset terminal %s size %d,%d font 'DejaVu Sans,12' "
        "background '" COLOUR_CARD "'\nset output ",
        svg ? "svg" : "pngcairo", width > LEAST_WIDTH ? width : LEAST_WIDTH, height * rows + 40);
    quoted(file, to);
    fprintf(to, "\n");
    picture_data(cells, n, to);
    picture_sizes(to);
    fprintf(to,
            "set linetype 1 linecolor '" COLOUR_SOFT "'\n"
            "set linetype 2 linecolor '" COLOUR_CURVE1 "'\n"
            "set linetype 3 linecolor '" COLOUR_CURVE2 "'\n"
            "set linetype 4 linecolor '" COLOUR_CURVE3 "'\n"
            "set linetype 5 linecolor '" COLOUR_CURVE4 "'\n"
            "set linetype 6 linecolor '" COLOUR_CURVE5 "'\n"
            "set linetype 7 linecolor '" COLOUR_CURVE6 "'\n"
            "set linetype cycle 7\n"
            "set border 3 linecolor '" COLOUR_SOFT "'\n"
            "set tics nomirror textcolor '" COLOUR_INK "'\n"
            "set grid linecolor '" COLOUR_LINE "'\n"
            "set logscale x 2\nset logscale y\n"
            "set ylabel 'times as fast'\n"
            "set key noenhanced %s font ',9'\nset title noenhanced\nset multiplot layout "
            "%d,%d title ",
            series > FEW ? "rmargin top vertical maxcols 1" : "below", rows, columns ? columns : 1);
    snprintf(title, sizeof title, "%s%s: time of the MPI library / time of collopt", p->setting,
             n ? form_text(&cells[0].problem) : "");
    quoted(title, to);
    fputs(" noenhanced\n", to);
    if (count)
        picture_panels(cells, n, to);
    fputs("unset multiplot\n", to);
}
