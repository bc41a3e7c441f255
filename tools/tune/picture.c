/* A heat map of what was chosen: a row for each collective and kind of operation, a column for each
 * size, the ratio as colour. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tune/picture.h"
#include "base/text.h"
#include "schedule/problem.h"
#include "shared/colours.h"
#include "tune/cells.h"
#include "tune/job.h"
#include "tune/options.h"
#include "tune/series.h"
#include "tune/text.h"

extern char **environ;

/* In single quotes gnuplot takes all but the quote as it is. */
static void quoted(const char *text, FILE *to)
{
    fputc('\'', to);
    for (; *text; text++)
        fprintf(to, *text == '\'' ? "\'\'" : "%c", *text);
    fputc('\'', to);
}

static int column(const struct tune_options *o, size_t bytes)
{
    int i = 0;

    while (o->size[i] != bytes)
        i++;
    return i;
}

/* Column, row, log2 of the ratio, and what is written there. */
static void cells(const struct tune_series *list, int n, const struct tune_options *o, FILE *to)
{
    fputs("$cells << END\n", to);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < list[i].points; k++) {
            const struct tune_point *p = &list[i].point[k];
            bool host = strcmp(p->chosen.name, "host") == 0;

            fprintf(to, "%d %d %.4f ", column(o, p->bytes), n - 1 - i, log2(p->chosen.ratio));
            fprintf(to, host ? "host\n" : "%.2f\n", p->chosen.ratio);
        }
    fputs("END\n", to);
}

static void axes(const struct tune_series *list, int n, const struct tune_options *o, FILE *to)
{
    char size[24];

    fprintf(to, "set xrange [-0.5:%d.5]\nset yrange [-0.5:%d.5]\nset xtics (", o->sizes - 1, n - 1);
    for (int i = 0; i < o->sizes; i++) {
        collopt_size_text(o->size[i], size, sizeof size);
        fprintf(to, "%s'%s' %d", i ? ", " : "", size, i);
    }
    fputs(")\nset ytics (", to);
    for (int i = 0; i < n; i++)
        fprintf(to, "%s'%s, %s' %d", i ? ", " : "", collopt_collective_names[list[i].collective],
                list[i].kind, n - 1 - i);
    fputs(") noenhanced\n", to);
}

enum { LETTER = 7 };        /* pixels of one of the title, in a wide font */

static void script(const struct tune_cells *all, const struct tune_options *o, FILE *to)
{
    const struct tune_machine *m = &all->machine;
    struct tune_series *list;
    char title[400];
    int n, width = 330 + 60 * o->sizes, least;

    list = tune_series(all, o, &n);
    snprintf(title, sizeof title,
             "time of the MPI library / time of collopt: %d ranks on %d node%s; %s", m->ranks,
             m->nodes, m->nodes == 1 ? "" : "s", m->abouts ? m->about[0] : "");
    least = LETTER * (int)strlen(title) + 2 * LETTER;
    fprintf(to,
            "# made by collopt-tune\nset terminal %s size %d,%d font 'DejaVu Sans,12' "
            "background '" COLOUR_CARD "'\nset output ",
            strcmp(strrchr(o->picture, '.'), ".svg") == 0 ? "svg" : "pngcairo",
            width > least ? width : least, 130 + 30 * n);
    quoted(o->picture, to);
    fputs("\nset title ", to);
    quoted(title, to);
    fputs(
        " noenhanced font ',10'\nset xlabel 'bytes'\nunset key\nset tics scale 0\n"
        "set object rectangle from graph 0,0 to graph 1,1 behind fillcolor '#ffffff' linewidth 0\n"
        "set palette defined (-1 '" COLOUR_SLOWER "', 0 '" COLOUR_SAME "', 3 '" COLOUR_FASTER "')\n"
        "set cbrange [-1:3]\nset cbtics ('0.5' -1, '1' 0, '2' 1, '4' 2, '8' 3)\n",
        to);
    cells(list, n, o, to);
    axes(list, n, o, to);
    if (n > 0)
        fputs("plot $cells using 1:2:(0.5):(0.5):3 with boxxyerror fillstyle solid noborder "
              "linecolor palette, \\\n"
              "    $cells using 1:($3 > -0.5 && $3 < 1.5 ? $2 : NaN):4 with labels font ',8', \\\n"
              "    $cells using 1:($3 > -0.5 && $3 < 1.5 ? NaN : $2):4 with labels font ',8' "
              "textcolor rgb '#ffffff'\n",
              to);
    free(list);
}

/* Its instructions stay where they are still wanted. */
static bool run_gnuplot(const char *name, const char *picture)
{
    char *arguments[] = { (char *)"gnuplot", (char *)name, NULL };
    int status = -1;
    pid_t child;

    if (posix_spawnp(&child, "gnuplot", NULL, NULL, arguments, environ) != 0) {
        tune_say("gnuplot is not installed here, so there is no picture yet: gnuplot %s makes %s",
                 name, picture);
        return true;
    }
    if (waitpid(child, &status, 0) != child || status != 0) {
        tune_say("gnuplot %s failed", name);
        return false;
    }
    unlink(name);
    return true;
}

bool tune_draw(const struct tune_cells *all, const struct tune_options *o)
{
    char name[TUNE_PATH];
    FILE *to;
    bool well;

    if (!o->picture)
        return true;
    while (all->next)
        all = all->next;
    snprintf(name, sizeof name, "%.*s.gp", (int)(strrchr(o->picture, '.') - o->picture),
             o->picture);
    to = fopen(name, "w");
    if (to) {
        script(all, o, to);
        well = !ferror(to);
        well = fclose(to) == 0 && well;
    }
    if (!to || !well) {
        tune_say("%s cannot be written: %s", name, strerror(errno));
        return false;
    }
    return run_gnuplot(name, o->picture);
}
