/* collopt-info: what this installation of collopt has and how it is set, without starting MPI. */
#include "config.h"

#include "base/json.h"
#include "info/catalogue.h"
#include "catalogue/catalogue.h"
#include "collopt.h"
#include "info/explain.h"
#include "info/files.h"
#include "info/installation.h"
#include "kernels/isa.h"
#include "model/host_times.h"
#include "model/machine.h"
#include "model/offload.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "settings/search_path.h"
#include "settings/settings.h"
#include "shared/output.h"
#include "topology/host_file.h"
#include "topology/intranode.h"
#include "topology/topology.h"
#include "info/variables.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef COLLOPT_HAVE_HWLOC
# include <hwloc.h>
#endif

extern char **environ;

/* ---- the machine ----------------------------------------------------------------------------- */

struct machine {
    char host[256];
    const char *isa;
    int usable, processors, cores, packages, numa;      /* 0: not known */
    struct collopt_spot spot;   /* of this process */
};

static void look_at_machine(struct machine *m)
{
    cpu_set_t set;

    memset(m, 0, sizeof *m);
    gethostname(m->host, sizeof m->host - 1);
    m->isa = collopt_kernels_isa();
    m->processors = (int)sysconf(_SC_NPROCESSORS_ONLN);
    m->usable = m->processors;
    m->spot = collopt_packed_spot(0);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        unsigned long long mask[COLLOPT_MASK_WORDS] = { 0 };

        for (int i = 0; i < CPU_SETSIZE; i++)
            if (CPU_ISSET(i, &set))
                mask[i / 64] |= 1ull << i % 64;
        m->usable = CPU_COUNT(&set);
        m->spot = collopt_spot(mask);
    }
#ifdef COLLOPT_HAVE_HWLOC
    {
        hwloc_topology_t topology;

        if (hwloc_topology_init(&topology))
            return;
        if (hwloc_topology_load(topology) == 0) {
            m->processors = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
            m->cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
            m->packages = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE);
            m->numa = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
        }
        hwloc_topology_destroy(topology);
    }
#endif
}

/* ---- as text --------------------------------------------------------------------------------- */

static void version_text(char *text, size_t size)
{
    snprintf(text, size, "%d.%d.%d", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
             COLLOPT_VERSION_PATCH);
}

static void print_installation(const struct installation *in)
{
    char name[32], version[32], mpi[96], text[32];

    version_text(text, sizeof text);
    printf("collopt %s\n", text);
    printf("  library     %s\n", in->library[0] ? in->library : "not found");
    for (int i = 0; i < in->backends; i++) {
        const struct backend *b = &in->backend[i];

        built_part(b, BUILT_NAME, name, sizeof name);
        built_part(b, BUILT_VERSION, version, sizeof version);
        built_part(b, BUILT_WITH, mpi, sizeof mpi);
        printf("  %-11s built with %s%s%s, %s\n", name, mpi,
               strcmp(version, text) ? "; of version " : "", strcmp(version, text) ? version : "",
               b->path);
    }
    if (in->backends == 0)
        printf("  no backends: no MPI will be made faster\n");
}

static void print_part(int n, const char *one, const char *many)
{
    if (n > 0)
        printf(", %d %s", n, n == 1 ? one : many);
}

/* The parts of the node that ranks bound like this process share, for leader:by=numa and its
 * like. */
static void print_spot(struct collopt_spot s)
{
    const int number[] = { s.numa, s.cache, s.core };
    static const char *const name[] = { "NUMA domain", "last-level cache", "core" };
    const char *before = "  runs on     ";

    for (int i = 0; i < 3; i++)
        if (number[i] >= 0) {
            printf("%s%s %d", before, name[i], number[i]);
            before = ", ";
        }
    if (*before == ',')
        putchar('\n');
}

static void print_machine(const struct machine *m)
{
    printf("\nMachine %s\n  processors  %d usable of %d", m->host, m->usable, m->processors);
    print_part(m->cores, "core", "cores");
    print_part(m->packages, "package", "packages");
    print_part(m->numa, "NUMA node", "NUMA nodes");
    printf("\n  instructions %s\n", m->isa);
    print_spot(m->spot);
}

/* By the file of COLLOPT_TOPOLOGY. */
static void print_host(const struct collopt_hosts *h, const char *name)
{
    int host = h ? collopt_host_named(h, name) : -1,
        places = h ? collopt_shape_ranks(&h->shape) : 0;

    if (!h)
        return;
    printf("  %-11s ", "in its file");
    if (host < 0)
        printf("not there");
    else if (h->host[host].path)
        printf("below %s", h->host[host].path);
    for (int d = 0, place = host < 0 ? 0 : h->host[host].place; host >= 0 && d < h->shape.sides;
         d++) {
        places /= h->shape.side[d];
        printf("%s%d", d ? " " : "at ", place / places);
        place %= places;
    }
    printf(", %s\n", h->file);
}

/* HOST: "openmpi" or "openmpi-4.1", of which the version goes out; unless given, it is that of the
 * MPI library that the backend was built with. */
static void name_host(const char **host)
{
    static char name[64];
    const char *dash = strchr(*host, '-');

    if (dash
        && snprintf(name, sizeof name, "%.*s", (int)(dash - *host), *host) < (int)sizeof name) {
        collopt_host_version = dash + 1;
        *host = name;
    } else {
        collopt_host_version = built_with(*host);
    }
    collopt_host_name = *host;
}

/* The files that jobs with each MPI library read here. */
static void print_used(void)
{
    for (int i = COLLOPT_OTHER_MPI + 1; i < COLLOPT_MPIS; i++) {
        const struct files_used *f = files_used(i);
        const char *label = collopt_mpi_names[i];

        for (int kind = 0; kind < FILE_KINDS; kind++)
            if (f->file[kind]) {
                printf("  %-11s %-15s %s\n", label, file_kinds[kind], f->file[kind]);
                label = "";
            }
        if (*label)
            printf("  %-11s none: the cost model decides\n", label);
    }
}

/* A line for each, for scripts.  HOST: of this MPI library only, in this version; NULL: of all, in
 * the versions that the backends were built with. */
static int print_files(const char *host)
{
    for (int i = COLLOPT_OTHER_MPI + 1; i < COLLOPT_MPIS; i++) {
        const struct files_used *f;

        if (host && strcmp(host, collopt_mpi_names[i]) != 0)
            continue;
        f = files_used(i);
        for (int kind = 0; kind < FILE_KINDS; kind++)
            printf("%s %s %s\n", collopt_mpi_names[i], file_kinds[kind],
                   f->file[kind] ? f->file[kind] : "none");
    }
    return 0;
}

/* Where files of rules and machines are looked for, how they would be called for this processor,
 * and what is there. */
static void print_places(void)
{
    char directory[4096], processor[200];

    collopt_processor(processor, sizeof processor);
    printf("\nFiles, unless COLLOPT_RULES and COLLOPT_MACHINE are set\n");
    if (collopt_users_directory(environ, directory, sizeof directory))
        printf("  yours       %s\n", directory);
    printf("  all users'  %s\n  collopt's   %s\n"
           "  names       MPI-VERSION-%s (also collopt's), MPI-%s, MPI, site;\n"
           "              with .rules or .machine behind them; MPI is openmpi or mpich, VERSION "
           "such as 4.1\n",
           collopt_system_directory(), collopt_data_directory(), processor, processor);
}

static void print_algorithm(const struct collopt_algorithm *a)
{
    printf("    %-22s %s%s\n", a->name, a->summary,
           a->order == COLLOPT_COMMUTATIVE ? " (commutative operations)" : "");
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        printf("    %22s   %s=%s  %s\n", "", a->parameter[i].name,
               catalogue_values(&a->parameter[i]),
               a->parameter[i].help ? a->parameter[i].help : "");
}

static void print_algorithms(void)
{
    printf("\nAlgorithms, as in COLLOPT_ALLREDUCE=NAME[:KEY=VALUE,...]\n");
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        printf("  %s\n    %-22s the MPI library's own\n", collopt_collective_names[c], "host");
        for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
            if ((int)(*a)->collective == c)
                print_algorithm(*a);
    }
}

/* Which of them a job has, it says itself. */
static void print_offloads(void)
{
    printf("\nReductions in the network: left to an MPI library that uses them, COLLOPT_OFFLOAD\n");
    for (const struct collopt_offload *o = collopt_offloads; o->name; o++)
        printf("  %-10s %-16s %s\n", o->name, o->library, o->enable ? o->enable : o->priority);
}

/* Set to something else than the default? */
static bool is_set(const struct collopt_setting_row *row, const char *value)
{
    return strcmp(value, row->preset) != 0;
}

/* The variable by which no call is run by collopt, or NULL. */
static const char *kept_from_running(const struct collopt_settings *s)
{
    return !s->on ? "COLLOPT=off" : s->gpu == COLLOPT_GPU_NATIVE ? "COLLOPT_GPU=native"
           : s->communicators == 0 ? "COLLOPT_COMMUNICATORS=0" : NULL;
}

static void print_kept(const struct collopt_settings *s)
{
    const char *kept = kept_from_running(s);

    if (kept)
        printf("\nWith %s all communicators of several ranks keep the MPI library's own "
               "collectives.\n",
               kept);
}

/* Only those that are set. */
static void print_set(const struct collopt_settings *s)
{
    bool any = false;
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    printf("\nEnvironment variables that are set\n");
    for (int i = 0; i < n; i++) {
        char value[512];

        collopt_setting_value_text(s, &rows[i], value, sizeof value);
        if (is_set(&rows[i], value))
            printf("  %s=%s\n", rows[i].name, value);
        any = any || is_set(&rows[i], value);
    }
    if (!any)
        printf("  none of %d: collopt is on, with its defaults\n", n);
}

static void print_settings(const struct collopt_settings *s)
{
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    printf("\nEnvironment variables, see collopt(7); * is set here\n");
    for (int i = 0; i < n; i++) {
        char value[512];

        collopt_setting_value_text(s, &rows[i], value, sizeof value);
        printf("%c %s=%s\n", is_set(&rows[i], value) ? '*' : ' ', rows[i].name, value);
        printf("      %s: %s%s%s%s\n", rows[i].values, rows[i].help,
               *rows[i].preset ? " (default " : "", rows[i].preset, *rows[i].preset ? ")" : "");
    }
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static void json_installation(struct collopt_json *j, const struct installation *in)
{
    char text[128];

    version_text(text, sizeof text);
    collopt_json_text(j, "version", text);
    collopt_json_text(j, "library", in->library[0] ? in->library : NULL);
    collopt_json_array(j, "backends");
    for (int i = 0; i < in->backends; i++) {
        collopt_json_object(j, NULL);
        built_part(&in->backend[i], BUILT_NAME, text, sizeof text);
        collopt_json_text(j, "name", text);
        built_part(&in->backend[i], BUILT_VERSION, text, sizeof text);
        collopt_json_text(j, "version", text);
        built_part(&in->backend[i], BUILT_WITH, text, sizeof text);
        collopt_json_text(j, "built_with", text);
        collopt_json_text(j, "path", in->backend[i].path);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void json_machine(struct collopt_json *j, const struct machine *m)
{
    char processor[200];

    collopt_json_object(j, "machine");
    collopt_json_text(j, "host", m->host);
    collopt_json_text(j, "isa", m->isa);
    collopt_processor(processor, sizeof processor);
    collopt_json_text(j, "processor", processor);
    collopt_json_count(j, "usable_processors", (uint64_t)m->usable);
    collopt_json_count(j, "processors", (uint64_t)m->processors);
    if (m->cores > 0)
        collopt_json_count(j, "cores", (uint64_t)m->cores);
    if (m->packages > 0)
        collopt_json_count(j, "packages", (uint64_t)m->packages);
    if (m->numa > 0)
        collopt_json_count(j, "numa_nodes", (uint64_t)m->numa);
    collopt_json_end(j);
}

static void json_files(struct collopt_json *j)
{
    collopt_json_array(j, "files");
    for (int i = COLLOPT_OTHER_MPI + 1; i < COLLOPT_MPIS; i++) {
        const struct files_used *f = files_used(i);

        collopt_json_object(j, NULL);
        collopt_json_text(j, "mpi", collopt_mpi_names[i]);
        for (int kind = 0; kind < FILE_KINDS; kind++)
            collopt_json_text(j, file_kinds[kind], f->file[kind]);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void json_settings(struct collopt_json *j, const struct collopt_settings *s)
{
    static const char *const scope_word[] = {
        [COLLOPT_LOCAL] = "rank", [COLLOPT_AGREED] = "all", [COLLOPT_SET_AGREED] = "set",
    };
    int n;
    const struct collopt_setting_row *rows = collopt_setting_rows(&n);

    collopt_json_array(j, "variables");
    for (int i = 0; i < n; i++) {
        char value[512];

        collopt_setting_value_text(s, &rows[i], value, sizeof value);
        collopt_json_object(j, NULL);
        collopt_json_text(j, "name", rows[i].name);
        collopt_json_text(j, "value", *value ? value : NULL);
        collopt_json_text(j, "default", *rows[i].preset ? rows[i].preset : NULL);
        collopt_json_flag(j, "set", is_set(&rows[i], value));
        collopt_json_text(j, "values", rows[i].values);
        collopt_json_text(j, "meaning", rows[i].help);
        collopt_json_text(j, "ranks", scope_word[rows[i].scope]);
        collopt_json_end(j);
    }
    collopt_json_end(j);
}

static void write_json(const struct installation *in, const struct machine *m,
                       const struct collopt_settings *s)
{
    struct collopt_json j = { .to = stdout };

    collopt_json_object(&j, NULL);
    json_installation(&j, in);
    json_machine(&j, m);
    collopt_json_array(&j, "algorithms");
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        catalogue_json(&j, *a);
    collopt_json_end(&j);
    json_files(&j);
    json_settings(&j, s);
    collopt_json_text(&j, "kept_from_running_by", kept_from_running(s));
    collopt_json_end(&j);
}

/* On one screen. */
static void write_short(const struct installation *installation, const struct machine *machine,
                        const struct collopt_settings *settings)
{
    print_installation(installation);
    print_machine(machine);
    print_host(settings->hosts, machine->host);
    printf("\nFiles that jobs read here\n");
    print_used();
    print_set(settings);
    print_kept(settings);
    printf("\ncollopt-info --all also shows the algorithms, and all variables.\n");
}

static void write_all(bool as_json, bool all, const struct collopt_settings *settings)
{
    static struct installation installation;
    struct machine machine;

    find_installation(&installation);
    look_at_machine(&machine);
    if (as_json) {
        write_json(&installation, &machine, settings);
        return;
    }
    if (!all) {
        write_short(&installation, &machine, settings);
        return;
    }
    print_installation(&installation);
    print_machine(&machine);
    print_host(settings->hosts, machine.host);
    print_places();
    print_used();
    print_algorithms();
    print_offloads();
    print_settings(settings);
    print_kept(settings);
}

/* The algorithms alone, with all that is said of them. */
static void write_algorithms(bool as_json)
{
    struct collopt_json j = { .to = stdout };
    char version[32];

    if (!as_json) {
        catalogue_print(stdout);
        return;
    }
    version_text(version, sizeof version);
    collopt_json_object(&j, NULL);
    collopt_json_text(&j, "version", version);
    collopt_json_array(&j, "algorithms");
    for (const struct collopt_algorithm *const *a = collopt_algorithms; *a; a++)
        catalogue_json(&j, *a);
    collopt_json_end(&j);
    collopt_json_end(&j);
}

/* ---- files of hosts -------------------------------------------------------------------------- */

static void tell_mistake(void *data, int line, const char *sentence)
{
    if (line > 0)
        printf("%s:%d: %s\n", (const char *)data, line, sentence);
    else
        printf("%s: %s\n", (const char *)data, sentence);
}

/* How many hosts, and on what; every mistake has been told else. */
static int check_topology(char *file)
{
    struct collopt_hosts *h = collopt_hosts_read(file, tell_mistake, file);

    if (!h)
        return 1;
    printf("%s: %d host%s ", file, h->n, h->n == 1 ? "" : "s");
    if (h->shape.kind == COLLOPT_GRID) {
        printf("of the %d on a %s of ", collopt_shape_ranks(&h->shape),
               h->shape.rings ? "torus" : "mesh");
        for (int d = 0; d < h->shape.sides; d++)
            printf("%s%d", d ? "x" : "", h->shape.side[d]);
        putchar('\n');
    } else {
        printf("below %d switch%s\n", h->switches, h->switches == 1 ? "" : "es");
    }
    collopt_hosts_free(h);
    return 0;
}

/* ---- files of machines ----------------------------------------------------------------------- */

static int check_machine(char *file)
{
    struct collopt_machine_file *m = collopt_machine_read(file, tell_mistake, file);
    int numbers, times;

    if (!m)
        return 1;
    numbers = __builtin_popcount(m->given);
    times = m->host_times ? m->host_times->n : 0;
    printf("%s: %d number%s and %d time%s of the MPI library's\n", file, numbers,
           numbers == 1 ? "" : "s", times, times == 1 ? "" : "s");
    collopt_machine_free(m);
    return 0;
}

/* ---- main ------------------------------------------------------------------------------------ */

static void usage(FILE *to)
{
    fputs(
        "Usage: collopt-info [OPTION]...\n"
        "Show this installation of collopt, this machine, the files that jobs read here and\n"
        "the environment variables that are set.\n"
        "\n"
        "      --all         also the algorithms, and all variables with their values\n"
        "      --algorithms  only the algorithms, with what they cost, when to use them and\n"
        "                      who published them\n"
        "      --json        as JSON, also with --algorithms and --explain\n"
        "      --variable VARIABLE  what collopt(7) says of an environment variable\n"
        "      --files       only the files of rules and of the machine that jobs read here,\n"
        "                      with --host those of jobs with that MPI library\n"
        "      --check       only look for mistakes in the COLLOPT_ variables; exit status 1\n"
        "                      if there are any\n"
        "      --check-topology FILE  look for mistakes in a file for COLLOPT_TOPOLOGY=file:FILE\n"
        "                      and say what it has; exit status 1 if there are any\n"
        "      --check-machine FILE  the same for COLLOPT_MACHINE=FILE\n"
        "      --explain COLLECTIVE  what would be chosen, and the predicted times, for\n"
        "                      --ranks N (2)  --nodes N (1)  --bytes BYTES (8)  --root N (0)\n"
        "                      --op sum|exact|noncommutative (sum)  --network fast|tcp (fast)\n"
        "                      --topology torus:NxN...|mesh:NxN...  --host openmpi|mpich  "
        "--crowded\n"
        "                      --caches N (1), last-level caches that the ranks of one node use\n"
        "                      without --host only files count that COLLOPT_RULES and\n"
        "                      COLLOPT_MACHINE name\n"
        "      --help        print this help\n"
        "      --version     print the version\n",
        to);
}

static void warn(const char *sentence)
{
    fprintf(stderr, "collopt: %s\n", sentence);
}

/* Reads the settings as a job started here would; returns how many mistakes there are. */
static int read_settings(struct collopt_settings *s)
{
    int wrong = collopt_settings_from(s, environ, warn);
    char message[256], sentence[300];

    if (collopt_kernels_init(s->isa, message, sizeof message)) {
        snprintf(sentence, sizeof sentence, "COLLOPT_ISA: %s", message);
        warn(sentence);
        wrong++;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "all", no_argument, NULL, 'A' },
        { "algorithms", no_argument, NULL, 'a' },
        { "json", no_argument, NULL, 'j' },
        { "check", no_argument, NULL, 'c' },
        { "files", no_argument, NULL, 'f' },
        { "check-topology", required_argument, NULL, 'F' },
        { "check-machine", required_argument, NULL, 'M' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'v' },
        { "explain", required_argument, NULL, 'e' },
        { "ranks", required_argument, NULL, 'R' },
        { "nodes", required_argument, NULL, 'N' },
        { "bytes", required_argument, NULL, 'B' },
        { "op", required_argument, NULL, 'O' },
        { "root", required_argument, NULL, 'P' },
        { "topology", required_argument, NULL, 'T' },
        { "network", required_argument, NULL, 'W' },
        { "host", required_argument, NULL, 'H' },
        { "crowded", no_argument, NULL, 'C' },
        { "caches", required_argument, NULL, 'L' },
        { "variable", required_argument, NULL, 'V' },
        { NULL, 0, NULL, 0 },
    };
    struct explain problem = { .collective = NULL };
    struct collopt_settings settings;
    bool all = false, algorithms = false, json = false, check = false, files = false;
    char *topology = NULL, *machine = NULL, *variable = NULL;
    int option, wrong;

    output_guard("collopt-info", 1);
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'A':
            all = true;
            break;
        case 'a':
            algorithms = true;
            break;
        case 'j':
            json = true;
            break;
        case 'c':
            check = true;
            break;
        case 'f':
            files = true;
            break;
        case 'F':
            topology = optarg;
            break;
        case 'M':
            machine = optarg;
            break;
        case 'V':
            variable = optarg;
            break;
        case 'e':
            problem.collective = optarg;
            break;
        case 'R':
            problem.ranks = optarg;
            break;
        case 'N':
            problem.nodes = optarg;
            break;
        case 'B':
            problem.bytes = optarg;
            break;
        case 'O':
            problem.op = optarg;
            break;
        case 'P':
            problem.root = optarg;
            break;
        case 'T':
            problem.topology = optarg;
            break;
        case 'W':
            problem.network = optarg;
            break;
        case 'H':
            problem.host = optarg;
            break;
        case 'L':
            problem.caches = optarg;
            break;
        case 'C':
            problem.crowded = true;
            break;
        case 'h':
            usage(stdout);
            return 0;
        case 'v':
            printf("collopt-info %d.%d.%d\n", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
                   COLLOPT_VERSION_PATCH);
            return 0;
        default:
            usage(stderr);
            return 2;
        }
    if (optind < argc) {
        fprintf(stderr, "collopt-info: \"%s\" is no option\n", argv[optind]);
        usage(stderr);
        return 2;
    }
    if (topology || machine) {
        wrong = topology ? check_topology(topology) : 0;
        return (machine ? check_machine(machine) : 0) || wrong;
    }
    if (!problem.collective
        && (problem.ranks || problem.nodes || problem.bytes || problem.op || problem.root
            || problem.topology || problem.network || problem.caches || problem.crowded)) {
        fputs("collopt-info: a problem is described for --explain COLLECTIVE, as in --explain "
              "allreduce --ranks 8\n",
              stderr);
        return 2;
    }
    if (problem.host)           /* its files */
        name_host(&problem.host);
    if (files)
        return print_files(problem.host);
    problem.json = json;
    if (problem.collective && !check)
        return explain(&problem);       /* which reads them as a job does, and tells of mistakes */
    wrong = read_settings(&settings);
    if (check)
        return wrong ? 1 : 0;
    if (variable)
        return variable_print(variable, &settings);
    if (algorithms)
        write_algorithms(json);
    else
        write_all(json, all, &settings);
    return 0;
}
