/* Reads collopt's settings and writes a report, as a process of an MPI job does.
 *
 *     privileged           says which files it would use; status 77: it has no privileges, although
 *                          its file would give it some
 *     privileged report    writes the report twice, and says nothing */

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "report/report.h"
#include "settings/settings.h"

static const char *word(const char *file)
{
    return file ? file : "none";
}

static const struct collopt_report_by *by(const char *mpi, int ranks, int rank)
{
    static struct collopt_report_by one;

    one = (struct collopt_report_by){ .mpi = mpi, .ranks = ranks, .rank = rank };
    return &one;
}

int main(int argc, char **argv)
{
    const struct collopt_settings *s = collopt_settings();

    if (argc > 1 && strcmp(argv[1], "report") == 0) {
        struct collopt_report *r = collopt_report_gather(0);
        bool done = r && collopt_report_write(r, s->report, by("MPI", 1, -1))
            && collopt_report_write(r, s->report, by("MPI", 1, -1));

        collopt_report_free(r);
        return !done;
    }
    printf("report %s, learnt %s, rules %s, machine %s, topology %s, after %d\n", word(s->report),
           word(s->adapt_rules), word(s->rules_file), word(s->machine_file), word(s->topology),
           s->after);
    return getauxval(AT_SECURE) ? 0 : 77;
}
