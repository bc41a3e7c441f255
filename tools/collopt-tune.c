/* collopt-tune: checks files of rules, without starting MPI.  It does not measure. */
#if HAVE_CONFIG_H
# include "config.h"
#endif

#include "collopt.h"
#include "select/rules.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

static void usage(FILE *to)
{
    fputs("Usage: collopt-tune --check FILE...\n"
          "Look for mistakes in files of rules (COLLOPT_RULES): what cannot be understood, lines\n"
          "that no call ever reaches, a missing last line.  It does not measure.\n"
          "\n"
          "      --check       check these files; exit status 1 if there is a mistake\n"
          "      --help        print this help\n"
          "      --version     print the version\n", to);
}

static void tell(void *file, int line, const char *sentence)
{
    if (line > 0)
        fprintf(stderr, "%s:%d: %s\n", (const char *)file, line, sentence);
    else
        fprintf(stderr, "%s: %s\n", (const char *)file, sentence);
}

static bool check(char *file)
{
    struct collopt_rules *rules = collopt_rules_read(file, tell, file);
    bool right = rules && collopt_rules_check(rules, tell, file) == 0;

    if (right)
        printf("%s: %d rule%s, no mistakes\n", file, rules->n, rules->n == 1 ? "" : "s");
    collopt_rules_free(rules);
    return right;
}

static int check_all(int n, char **file)
{
    bool right = true;

    for (int i = 0; i < n; i++)
        right = check(file[i]) && right;
    return fflush(stdout) == 0 && !ferror(stdout) && right ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "check", no_argument, NULL, 'c' }, { "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'v' },
        { NULL, 0, NULL, 0 },
    };
    bool checks = false;
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'c':
            checks = true;
            break;
        case 'h':
            usage(stdout);
            return 0;
        case 'v':
            printf("collopt-tune %d.%d.%d\n", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR, COLLOPT_VERSION_PATCH);
            return 0;
        default:
            usage(stderr);
            return 2;
        }
    if (!checks || optind == argc) {
        usage(stderr);
        return 2;
    }
    return check_all(argc - optind, argv + optind);
}
