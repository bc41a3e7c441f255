/* The kernels' cases without a test framework, for processors that are only emulated.
 *
 *     kernels_plain [--brief | --thorough] [isa ...]        all that this processor has, by default
 *
 * Says which instruction sets ran and which did not. Exit status 1 if a case was wrong or a named
 * one did not run. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "exact_cases.h"
#include "kernels/isa.h"
#include "kernels/kernels.h"
#include "kernels_cases.h"
#include "total_cases.h"

static long run(enum depth depth)
{
    long wrong = 0;

    for (enum collopt_op op = 0; op < COLLOPT_OP_USER; op++)
        for (enum collopt_type type = 0; type < COLLOPT_TYPE_NONE; type++) {
            char message[256];
            long bad = collopt_kernel(op, type)
                ? kernel_cases_run(op, type, depth, message, sizeof message)
                : 0;

            if (bad)
                printf("WRONG (%ld): %s\n", bad, message);
            wrong += bad;
        }
    for (enum collopt_type type = 0; type < COLLOPT_TYPE_NONE; type++) {
        char message[512];
        long bad =
            collopt_exact_kernel(type) ? exact_cases_run(type, 12, message, sizeof message) : 0;

        if (!bad && collopt_exact_kernel(type))
            bad = exact_rows_run(type, message, sizeof message);
        if (bad)
            printf("WRONG (%ld): %s\n", bad, message);
        wrong += bad;
    }

    char message[512];
    long bad = total_cases_run(message, sizeof message);

    if (bad)
        printf("WRONG (%ld): %s\n", bad, message);
    return wrong + bad;
}

static bool asked_for(const char *isa, int names, char **name)
{
    for (int i = 0; i < names; i++)
        if (strcmp(name[i], isa) == 0)
            return true;
    return names == 0;
}

int main(int argc, char **argv)
{
    enum depth depth = argc > 1 && strcmp(argv[1], "--thorough") == 0 ? THOROUGH
                     : argc > 1 && strcmp(argv[1], "--brief") == 0 ? BRIEF : USUAL;
    int options = depth != USUAL, names = argc - 1 - options, bad = 0;

    for (const struct collopt_isa *isa = collopt_isas; isa->name; isa++) {
        char message[256];

        if (!asked_for(isa->name, names, argv + 1 + options))
            continue;
        if (collopt_kernels_init(isa->name, message, sizeof message)) {
            printf("%s did not run: %s\n", isa->name, message);
            bad |= names > 0;
            continue;
        }

        long wrong = run(depth);

        printf("%s: %ld wrong\n", isa->name, wrong);
        fflush(stdout);
        bad |= wrong > 0;
    }
    return bad;
}
