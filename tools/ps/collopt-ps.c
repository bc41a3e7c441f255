/* collopt-ps: where the ranks of MPI jobs on this node are, from what their processes have
 * recorded. */
#include "config.h"

#include "collopt.h"
#include "ps/dump.h"
#include "ps/json.h"
#include "ps/stack.h"
#include "recorder/processes.h"
#include "recorder/sentences.h"
#include "shared/output.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FINE, STUCK, WRONG, NO_JOB };            /* exit status */
enum {
    BETWEEN = 100000000,        /* ns from one look to the next */
    STACKS = 4                  /* of a job at most */
};

struct request {
    double longer, watch;       /* seconds; WATCH 0: once */
    int pid;                    /* a process of the only job to tell of; 0: all jobs */
    bool json, stack, dump, read;
    char **files;               /* NULL behind the last */
};

/* ---- mistakes -------------------------------------------------------------------------------- */

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *format, ...)
{
    va_list ap;

    fputs("collopt-ps: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(WRONG);
}

static double seconds(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= 0) || value > 1e6)
        fail("--%s %.60s is not a number of seconds from 0 to 1000000", option, text);
    return value;
}

static int process(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end || value <= 0 || value > INT32_MAX)
        fail("--pid %.60s is not the number of a process", text);
    return (int)value;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static void usage(FILE *to)
{
    fputs(
        "Usage: collopt-ps [OPTION]...\n"
        "       collopt-ps [OPTION]... --read FILE...\n"
        "       collopt ps [OPTION]... [LAUNCHER [ARGUMENT]...]\n"
        "Say where the ranks of the MPI jobs are that run with collopt on this node, or on those\n"
        "that LAUNCHER gives: who waits in which reduction, and which rank has not come. Jobs of\n"
        "this user, or of all as root.\n"
        "\n"
        "      --longer S       tell of those who wait for longer than S seconds (1)\n"
        "      --pid PID        only the job to which this process belongs\n"
        "      --watch S        again and again, every S seconds\n"
        "      --stack          the stacks of the ranks to look at, by eu-stack or gdb\n"
        "      --json           for scripts\n"
        "      --dump           what the processes have recorded, for --read\n"
        "      --read           from files with dumps, of one node or several; - is the standard\n"
        "                         input\n"
        "      --help           print this help\n"
        "      --version        print the version\n"
        "\n"
        "Exit status: 0 if no rank waits long; 1 if some do; 2 for wrong arguments; 3 if there is\n"
        "no job.\n",
        to);
}

static void check(const struct request *r, int files)
{
    if (r->read && files == 0)
        fail("--read needs files with what collopt-ps --dump has printed");
    if (!r->read && files > 0)
        fail("%.60s: collopt-ps takes no arguments but files behind --read; to ask several nodes: "
             "collopt ps LAUNCHER", r->files[0]);
    if (r->dump && (r->read || r->json || r->watch > 0 || r->stack))
        fail("--dump has no use for --read, --json, --watch and --stack");
    if (r->read && (r->watch > 0 || r->stack))
        fail("--read has no use for --watch and --stack, which look at processes of this node");
}

static void read_options(struct request *r, int argc, char **argv)
{
    static const struct option options[] = {
        { "longer", required_argument, NULL, 'l' }, { "watch", required_argument, NULL, 'w' },
        { "pid", required_argument, NULL, 'p' }, { "stack", no_argument, NULL, 's' },
        { "json", no_argument, NULL, 'j' }, { "dump", no_argument, NULL, 'd' },
        { "read", no_argument, NULL, 'r' }, { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'v' },
        { NULL, 0, NULL, 0 },
    };
    int option;

    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
        switch (option) {
        case 'l': r->longer = seconds("longer", optarg); break;
        case 'w':
            r->watch = seconds("watch", optarg);
            if (r->watch < 0.1)
                fail("--watch %.60s is less than 0.1 seconds", optarg);
            break;
        case 'p': r->pid = process(optarg); break;
        case 's': r->stack = true; break;
        case 'j': r->json = true; break;
        case 'd': r->dump = true; break;
        case 'r': r->read = true; break;
        case 'h':
            usage(stdout);
            exit(0);
        case 'v':
            printf("collopt-ps %d.%d.%d\n", COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
                   COLLOPT_VERSION_PATCH);
            exit(0);
        default:
            usage(stderr);
            exit(WRONG);
        }
    r->files = argv + optind;
    check(r, argc - optind);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void read_files(char **files, struct collopt_processes *p)
{
    memset(p, 0, sizeof *p);
    for (; *files; files++) {
        FILE *file = strcmp(*files, "-") ? fopen(*files, "r") : stdin;
        int dumps = 0;

        if (!file)
            fail("%s: %s", *files, strerror(errno));
        if (!dump_read(file, p, &dumps))
            fail("no memory for %s", *files);
        if (dumps == 0)
            fail("%s has nothing that collopt-ps --dump has printed", *files);
        if (file != stdin)
            fclose(file);
    }
}

/* Leaves the processes of the job to which PID belongs. */
static void choose(struct collopt_processes *p, int pid)
{
    size_t n = 0, of = 0;

    while (of < p->n && p->list[of].pid != pid)
        of++;
    for (size_t i = 0; i < p->n; i++) {
        struct collopt_snapshot s = p->list[i];

        if (of == p->n || s.job != p->list[of].job)
            continue;
        p->list[i] = p->list[n];
        p->list[n] = s;
        of = of == i ? n : of == n ? i : of;
        n++;
    }
    for (size_t i = n; i < p->n; i++)
        collopt_snapshot_free(&p->list[i]);
    p->n = n;
}

static void print_line(void *data, const char *line)
{
    (void)data;
    puts(line);
}

/* Says why no job is seen. */
static void say_why_none(const struct request *r, const struct collopt_processes *p,
                         const struct collopt_diagnosis *d)
{
    if (r->pid > 0)
        printf("process %d: ", r->pid);
    puts("no MPI job that runs with collopt was found");
    puts("  a job is seen if libcollopt.so is loaded (collopt mpirun ...), it has called MPI_Init, "
         "and COLLOPT_RECORD is not off;");
    puts("  where a process has no shared memory, COLLOPT_LOG=decide says why in the job's output");
    if (p->unreadable > 0)
        printf("  %u processes of other users were not looked at: be that user, or root\n",
               p->unreadable);
    if (d->others > 0)
        printf("  %zu processes are in MPI_Init, or have another version of collopt\n", d->others);
}

static void say_versions(const struct collopt_processes *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].version != COLLOPT_RECORDER_VERSION)
            printf("pid %d: recorded by collopt %s, in layout %" PRIu32 "; this is for layout %d\n",
                   p->list[i].pid, p->list[i].collopt, p->list[i].version,
                   COLLOPT_RECORDER_VERSION);
    if (p->broken > 0)
        printf("%u recordings do not hold together and were left out: %s\n", p->broken, p->why);
}

/* False: it makes no sense to try another. */
static bool print_stack(const struct collopt_snapshot *s)
{
    enum stack result;

    printf("  stack of rank %d (pid %d):\n", s->rank, s->pid);
    result = stack_print(s->pid);
    if (result == STACK_REFUSED)
        puts("  it cannot be read: this user may not debug the process; be root, or see "
             "/proc/sys/kernel/yama/ptrace_scope");
    else if (result == STACK_NO_DEBUGGER)
        puts("  neither eu-stack nor gdb is installed: install the package elfutils or gdb");
    return result == STACK_PRINTED;
}

/* Of those to look at; where nobody is known, of some who wait. */
static void print_stacks(const struct collopt_job *job)
{
    bool good = true;
    int n = 0;

    for (size_t i = 0; good && i < job->culprits && n < STACKS; i++, n++)
        good = print_stack(job->who[job->culprit[i].who]);
    for (size_t i = 0; good && job->culprits == 0 && i < job->n && n < STACKS; i++)
        if (collopt_sits_in(job, i)) {
            good = print_stack(job->who[i]);
            n++;
        }
}

static void print_text(const struct request *r, const struct collopt_diagnosis *d,
                       const struct collopt_processes *p)
{
    if (d->jobs == 0)
        say_why_none(r, p, d);
    say_versions(p);
    for (size_t i = 0; i < d->jobs; i++) {
        collopt_tell_job(&d->job[i], print_line, NULL);
        if (r->stack)
            print_stacks(&d->job[i]);
    }
}

static int status_of(const struct collopt_diagnosis *d)
{
    for (size_t i = 0; i < d->jobs; i++)
        for (size_t k = 0; k < d->job[i].waits; k++)
            if (!d->job[i].waiting[k].started)
                return STUCK;
    return d->jobs > 0 ? FINE : NO_JOB;
}

static int look(const struct request *r)
{
    struct collopt_processes p;
    struct collopt_diagnosis *d;
    int status = FINE;

    if (r->read)
        read_files(r->files, &p);
    else
        collopt_processes_watch(&p, BETWEEN);
    if (r->pid > 0)
        choose(&p, r->pid);
    if (r->dump) {
        dump_write(stdout, &p);
    } else {
        d = collopt_diagnose(p.list, p.n, (uint64_t)(r->longer * 1e9));
        if (!d)
            fail("no memory");
        if (r->json)
            json_write(stdout, d, &p);
        else
            print_text(r, d, &p);
        status = status_of(d);
        collopt_diagnosis_free(d);
    }
    collopt_processes_free(&p);
    output_flush();
    return status;
}

static void sleep_for(double s)
{
    struct timespec pause = { (time_t)floor(s), (long)((s - floor(s)) * 1e9) };

    nanosleep(&pause, NULL);
}

int main(int argc, char **argv)
{
    struct request r = { .longer = 1 };
    int status;

    output_guard("collopt-ps", WRONG);
    read_options(&r, argc, argv);
    while ((status = look(&r)) != WRONG && r.watch > 0) {
        sleep_for(r.watch);
        if (!r.json)
            puts("");
    }
    return status;
}
