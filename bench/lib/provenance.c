#include "lib/provenance.h"
#include "lib/bench_mpi.h"
#include "collopt.h"
#include "lib/measure.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* ---- this rank ------------------------------------------------------------------------------- */

static void read_cpu(char *cpu, size_t size)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char line[400];

    snprintf(cpu, size, "unknown");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');

        if (colon && (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8))) {
            snprintf(cpu, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
            break;
        }
    }
    if (f)
        fclose(f);
}

/* "0-3,8": the processors of SET. */
static int processors_text(const cpu_set_t *set, size_t bytes, char *text, size_t size)
{
    int n = 0, most = (int)bytes * 8;

    *text = '\0';
    for (int i = 0; i < most; i++) {
        int first = i;

        if (!CPU_ISSET_S((size_t)i, bytes, set))
            continue;
        while (i + 1 < most && CPU_ISSET_S((size_t)i + 1, bytes, set))
            i++;
        n += i - first + 1;
        snprintf(text + strlen(text), size - strlen(text), i > first ? "%s%d-%d" : "%s%d",
                 *text ? "," : "", first, i);
    }
    return n;
}

static void describe(struct provenance_rank *r)
{
    enum { PROCESSORS = 4096 };
    size_t bytes = CPU_ALLOC_SIZE(PROCESSORS);
    cpu_set_t *set = CPU_ALLOC(PROCESSORS);

    memset(r, 0, sizeof *r);
    gethostname(r->host, sizeof r->host - 1);
    read_cpu(r->cpu, sizeof r->cpu);
    getloadavg(r->load, 3);
    r->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    r->usable = r->processors;
    snprintf(r->bound, sizeof r->bound, "unknown");
    if (set && sched_getaffinity(0, bytes, set) == 0)
        r->usable = processors_text(set, bytes, r->bound, sizeof r->bound);
    CPU_FREE(set);
}

/* ---- all ranks ------------------------------------------------------------------------------- */

static bool same_host(const struct provenance_rank *a, const struct provenance_rank *b)
{
    return strcmp(a->host, b->host) == 0;
}

/* Is R the first rank on its host? */
static bool first_on_host(const struct provenance *p, int r)
{
    for (int s = 0; s < r; s++)
        if (same_host(&p->rank[s], &p->rank[r]))
            return false;
    return true;
}

/* Ranks bound to the same processors, or together on a host, must not be more than there are
 * processors. */
static bool crowded_at(const struct provenance *p, int r)
{
    int on_host = 0, bound_alike = 0;

    for (int s = 0; s < p->ranks; s++)
        if (same_host(&p->rank[s], &p->rank[r])) {
            on_host++;
            bound_alike += strcmp(p->rank[s].bound, p->rank[r].bound) == 0;
        }
    return on_host > p->rank[r].processors || bound_alike > p->rank[r].usable;
}

static void look_at_hosts(struct provenance *p)
{
    for (int r = 0; r < p->ranks; r++)
        if (first_on_host(p, r))
            p->hosts++;
    for (int r = 0; r < p->ranks && !p->crowded; r++)
        p->crowded = crowded_at(p, r);
}

/* "Open MPI v4.1.4, package: ..." and "MPICH Version:\t4.0.2\n..." are what the hosts say. */
void provenance_mpi(char *name, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", *number;
    int length;

    MPI_Get_library_version(version, &length);
    number = version + strcspn(version, "0123456789");
    number[strcspn(number, ", \t\r\n")] = '\0';
    if (strncmp(version, "Open MPI", 8) == 0)
        snprintf(name, size, "Open MPI %.40s", number);
    else if (strncmp(version, "MPICH", 5) == 0)
        snprintf(name, size, "MPICH %.40s", number);
    else
        snprintf(name, size, "%.60s", version);
    name[strcspn(name, ",\"\r\n")] = '\0';
}

static void name_date(char *date, size_t size)
{
    time_t now = time(NULL);
    struct tm t;

    gmtime_r(&now, &t);
    strftime(date, size, "%Y-%m-%dT%H:%M:%SZ", &t);
}

static void name_command(char *command, size_t size, int argc, char **argv)
{
    *command = '\0';
    for (int i = 0; i < argc; i++)
        snprintf(command + strlen(command), size - strlen(command),
                 strchr(argv[i], ' ') ? "%s'%s'" : "%s%s", i ? " " : "", argv[i]);
    for (char *c = command; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

static void name_setting(struct provenance *p, const char *setting)
{
    char processors[48] = "";

    if (p->rank && p->crowded)
        snprintf(processors, sizeof processors, " of %d processors", p->rank[0].processors);
    snprintf(p->setting, sizeof p->setting, "%s; %d rank%s on %d host%s%s", p->mpi, p->ranks,
             p->ranks == 1 ? "" : "s", p->hosts, p->hosts == 1 ? "" : "s", processors);
    if (setting)
        snprintf(p->setting, sizeof p->setting, "%s", setting);
}

void provenance_gather(struct provenance *p, const char *setting, int argc, char **argv,
                       double seed)
{
    struct provenance_rank mine;
    int rank;

    *p = (struct provenance){ .seed = seed, .turn = bench_turn_text(), .collopt = "not loaded" };
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p->ranks);
    p->rank = rank == 0 ? bench_new((size_t)p->ranks * sizeof *p->rank) : NULL;
    describe(&mine);
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, p->rank, (int)sizeof mine, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (p->rank)
        look_at_hosts(p);
    if (collopt_version)
        snprintf(p->collopt, sizeof p->collopt, "%u.%u.%u", collopt_version() >> 16,
                 collopt_version() >> 8 & 0xff, collopt_version() & 0xff);
    provenance_mpi(p->mpi, sizeof p->mpi);
    name_date(p->date, sizeof p->date);
    name_command(p->command, sizeof p->command, argc, argv);
    name_setting(p, setting);
}

void provenance_free(struct provenance *p)
{
    free(p->rank);
}

/* ---- said ------------------------------------------------------------------------------------ */

/* True for variables that may change the figures, but not for names of sockets and jobs that
 * launchers leave. */
static bool matters(const char *variable)
{
    static const char *const prefix[] = { "COLLOPT",      "LD_PRELOAD=",   "OMPI_MCA_mpi_",
                                          "OMPI_MCA_btl", "OMPI_MCA_coll", "OMPI_MCA_mtl",
                                          "OMPI_MCA_pml", "MPIR_CVAR_",    "MPICH_",
                                          "UCX_",         "FI_",           "OMP_" };

    for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
        if (strncmp(variable, prefix[i], strlen(prefix[i])) == 0)
            return !strchr(variable, '\n');
    return false;
}

void provenance_lines(const struct provenance *p, bool every_rank, FILE *to)
{
    fprintf(to,
            "# collopt-bench %d.%d.%d\n# command: %s\n# setting: %s\n# date: %s\n# MPI: %s\n# "
            "collopt: %s\n# seed: %.0f\n",
            COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR, COLLOPT_VERSION_PATCH, p->command,
            p->setting, p->date, p->mpi, p->collopt, p->seed);
    fprintf(to, "# host and collopt switched by: %s\n# ranks: %d on %d host%s%s\n", p->turn,
            p->ranks, p->hosts, p->hosts == 1 ? "" : "s",
            p->crowded ? ", more than processors" : "");
    for (int r = 0; r < p->ranks; r++) {
        const struct provenance_rank *k = &p->rank[r];

        if (first_on_host(p, r))
            fprintf(to, "# host %s: %s, %d processors, load %.2f %.2f %.2f\n", k->host, k->cpu,
                    k->processors, k->load[0], k->load[1], k->load[2]);
    }
    for (int r = 0; every_rank && r < p->ranks; r++)
        fprintf(to, "# rank %d: %s, processors %s\n", r, p->rank[r].host, p->rank[r].bound);
    for (char **e = environ; *e; e++)
        if (matters(*e))
            fprintf(to, "# environment: %s\n", *e);
}

static void json_host(const struct provenance_rank *k, struct collopt_json *j)
{
    collopt_json_object(j, NULL);
    collopt_json_text(j, "name", k->host);
    collopt_json_text(j, "cpu", k->cpu);
    collopt_json_count(j, "processors", (uint64_t)k->processors);
    collopt_json_array(j, "load");
    for (int i = 0; i < 3; i++)
        collopt_json_real(j, NULL, k->load[i]);
    collopt_json_end(j);
    collopt_json_end(j);
}

static void json_machines(const struct provenance *p, struct collopt_json *j)
{
    collopt_json_array(j, "hosts");
    for (int r = 0; r < p->ranks; r++)
        if (first_on_host(p, r))
            json_host(&p->rank[r], j);
    collopt_json_end(j);
    collopt_json_array(j, "binding");
    for (int r = 0; r < p->ranks; r++) {
        collopt_json_object(j, NULL);
        collopt_json_count(j, "rank", (uint64_t)r);
        collopt_json_text(j, "host", p->rank[r].host);
        collopt_json_text(j, "processors", p->rank[r].bound);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

void provenance_json(const struct provenance *p, struct collopt_json *j)
{
    collopt_json_text(j, "setting", p->setting);
    collopt_json_text(j, "command", p->command);
    collopt_json_text(j, "date", p->date);
    collopt_json_text(j, "mpi", p->mpi);
    collopt_json_text(j, "collopt", p->collopt);
    collopt_json_count(j, "seed", (uint64_t)p->seed);
    collopt_json_text(j, "switched_by", p->turn);
    collopt_json_count(j, "ranks", (uint64_t)p->ranks);
    collopt_json_flag(j, "more_ranks_than_processors", p->crowded);
    json_machines(p, j);
    collopt_json_array(j, "environment");
    for (char **e = environ; *e; e++)
        if (matters(*e))
            collopt_json_text(j, NULL, *e);
    collopt_json_end(j);
}
