/* Files of machines: taken or refused with a message; what is taken is the same when it was written
 * and read again. */
#include "config.h"

#include "parsers.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double number(const struct collopt_machine *m, int key)
{
    return *(const double *)((const char *)m + collopt_machine_keys[key].field);
}

/* Six digits are written. */
static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fabs(a);
}

static void is_read_again(const struct collopt_machine_file *f)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    struct told told = { .lines = 1000 };
    struct collopt_machine_file *again;

    if (!to || !collopt_machine_write(to, &f->machine, f->given, NULL) || fclose(to))
        exit(0);
    again = collopt_machine_parse("written", text, size, hear, &told);
    if (f->given && (!again || again->given != f->given))
        wrong("what was written is refused:\n%s", text);
    for (int key = 0; key < COLLOPT_MACHINE_KEYS && again; key++)
        if (f->given & 1u << key && !near(number(&f->machine, key), number(&again->machine, key)))
            wrong("%s is %g, and was %g", collopt_machine_keys[key].name,
                  number(&again->machine, key), number(&f->machine, key));
    if (again)
        collopt_machine_free(again);
    free(text);
}

static void look_up(const struct collopt_machine_file *f)
{
    const struct collopt_topology t = { .nodes = 2, .largest = 4, .least = 4, .grain = 4 };
    struct collopt_machine m;

    for (int network = 0; network < COLLOPT_NETWORKS; network++)
        collopt_machine_pick(&m, (enum collopt_network)network, network % 2, f);
    for (int c = 0; c < COLLOPT_COLLECTIVES && f->host_times; c++)
        for (size_t bytes = 1; bytes <= 1 << 20; bytes <<= 4) {
            const struct collopt_problem p = { .collective = (enum collopt_collective)c, .ranks = 8,
                                               .count = bytes, .size = 1, .commutative = true,
                                               .topology = &t };
            double seconds = collopt_host_measured(f->host_times, COLLOPT_OPENMPI, &p);

            if (!(seconds >= 0) || isinf(seconds))
                wrong("the MPI library takes %g s", seconds);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told told = nothing_told(data, size);
    char *bytes = bytes_of(data, size);
    struct collopt_machine_file *f = collopt_machine_parse("input", bytes, size, hear, &told);

    free(bytes);
    if (!f != (told.n > 0))
        wrong("%s with %d messages", f ? "taken" : "refused", told.n);
    if (!f)
        return 0;
    look_up(f);
    is_read_again(f);
    collopt_machine_free(f);
    return 0;
}
