/* Finds recordings; see processes.h.
 *
 * A process has its recording as an open descriptor, whose link in /proc/PID/fd begins with
 * /memfd:collopt.  Its children inherit the descriptor, so several processes may hold a recording;
 * it belongs to the one that has the id that it says, in the innermost of its id namespaces. */
#include "config.h"

#include "recorder/processes.h"
#include "base/list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 64 };

/* ---- what /proc says of a process ------------------------------------------------------------ */

/* A small file of /proc as a text; "" where it cannot be read. */
static void read_text(char *text, size_t size, int pid, const char *name)
{
    char path[PATH];
    int fd;
    ssize_t n = 0;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    if ((fd = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
        n = read(fd, text, size - 1);
        close(fd);
    }
    text[n > 0 ? n : 0] = '\0';
}

/* Its id as it sees itself. */
static int own_id(int pid)
{
    char text[4096];
    const char *at, *end;

    read_text(text, sizeof text, pid, "status");
    at = strstr(text, "\nNSpid:");
    if (!at)
        return pid;             /* before Linux 4.1 */
    end = at + 1 + strcspn(at + 1, "\n");
    while (end > at && end[-1] != '\t' && end[-1] != ' ')
        end--;
    return atoi(end);
}

/* The letter behind its name, which may have any characters. */
static char status_of(int pid)
{
    char text[512];
    const char *end;

    read_text(text, sizeof text, pid, "stat");
    end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] ? end[2] : 'X';
}

/* Grows while it runs: the first number of schedstat, ns of its first thread, which the kernel may
 * set once a second only, and the ticks of all threads (utime and stime), which are set when they
 * are read. */
static uint64_t ran(int pid)
{
    enum { BEFORE = 11 };       /* fields from its state on */
    char text[512];
    unsigned long long ns, user = 0, system = 0;
    const char *at;

    read_text(text, sizeof text, pid, "schedstat");
    ns = strtoull(text, NULL, 10);
    read_text(text, sizeof text, pid, "stat");
    at = strrchr(text, ')');
    for (int i = 0; at && i <= BEFORE; i++)
        at = strchr(at + 1, ' ');
    if (at)
        sscanf(at, "%llu %llu", &user, &system);
    return ns > 0 ? ns + user + system : 0;
}

static bool has_other_clock(int pid)
{
    char path[PATH], own[PATH], its[PATH];
    ssize_t n = readlink("/proc/self/ns/time", own, sizeof own), m;

    snprintf(path, sizeof path, "/proc/%d/ns/time", pid);
    m = readlink(path, its, sizeof its);
    return n > 0 && m > 0 && (n != m || memcmp(own, its, (size_t)n) != 0);
}

static void describe(struct collopt_snapshot *s, int pid)
{
    char text[COLLOPT_RECORDED_TEXT];

    s->pid = pid;
    s->status = status_of(pid);
    s->ran = ran(pid);
    s->other_clock = has_other_clock(pid);
    read_text(text, sizeof text, pid, "wchan");
    if (strcmp(text, "0") != 0)
        collopt_printable(s->sleeps_in, text, sizeof s->sleeps_in);
}

/* ---- finding --------------------------------------------------------------------------------- */

static struct collopt_snapshot *known(const struct collopt_processes *p, uint64_t file)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].file == file)
            return &p->list[i];
    return NULL;
}

static void add(struct collopt_processes *p, struct collopt_snapshot *s)
{
    if (collopt_room(p->list, p->n))
        p->list[p->n++] = *s;
    else
        collopt_snapshot_free(s);
}

/* The recording in FD, which PID holds. */
static void look_at(struct collopt_processes *p, int fd, int pid)
{
    struct collopt_snapshot s, *before;
    char why[sizeof p->why];
    struct stat file;

    if (fstat(fd, &file))
        return;
    before = known(p, file.st_ino);
    if (before) {
        if (before->status == 'X' && own_id(pid) == before->process)
            describe(before, pid);
        return;
    }
    if (collopt_read(fd, &s, why, sizeof why)) {
        s.file = file.st_ino;
        s.pid = pid;
        s.status = 'X';         /* until its owner is found: only children hold it */
        if (own_id(pid) == s.process)
            describe(&s, pid);
        add(p, &s);
    } else if (*why) {
        p->broken++;
        snprintf(p->why, sizeof p->why, "%s", why);
    }
}

static void look_at_descriptor(struct collopt_processes *p, int pid, const char *name)
{
    static const char memfd[] = "/memfd:collopt";
    char path[PATH + 256], link[sizeof memfd + 16];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/fd/%.255s", pid, name);
    n = readlink(path, link, sizeof link - 1);
    if (n < (ssize_t)sizeof memfd - 1 || memcmp(link, memfd, sizeof memfd - 1) != 0)
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    look_at(p, fd, pid);
    close(fd);
}

static void look_at_process(struct collopt_processes *p, int pid)
{
    char path[PATH];
    struct dirent *e;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    if (!(d = opendir(path))) {
        p->unreadable += errno == EACCES || errno == EPERM;
        return;
    }
    while ((e = readdir(d)))
        if (e->d_name[0] != '.')
            look_at_descriptor(p, pid, e->d_name);
    closedir(d);
}

static int by_rank(const void *a, const void *b)
{
    const struct collopt_snapshot *x = a, *y = b;

    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->started > y->started) - (x->started < y->started);
}

void collopt_processes_find(struct collopt_processes *p)
{
    DIR *d = opendir("/proc");
    struct dirent *e;

    memset(p, 0, sizeof *p);
    while (d && (e = readdir(d))) {
        int pid = atoi(e->d_name);

        if (pid > 0)
            look_at_process(p, pid);
    }
    if (d)
        closedir(d);
    if (p->n > 0)
        qsort(p->list, p->n, sizeof *p->list, by_rank);
}

/* ---- twice ----------------------------------------------------------------------------------- */

static bool is_the_same(const struct collopt_snapshot *a, const struct collopt_snapshot *b)
{
    if (a->changing || b->changing || a->recorded != b->recorded || a->life != b->life
        || a->calls != b->calls || a->comms != b->comms)
        return false;
    for (size_t i = 0; i < a->calls; i++)
        if (a->call[i].sequence != b->call[i].sequence || a->call[i].state != b->call[i].state)
            return false;
    return true;
}

static bool waits_for_processor(const struct collopt_snapshot *a, const struct collopt_snapshot *b)
{
    return a->status == 'R' && b->status == 'R' && a->ran > 0 && a->ran == b->ran;
}

void collopt_processes_watch(struct collopt_processes *p, uint64_t ns)
{
    struct collopt_processes before;
    const struct timespec pause = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

    collopt_processes_find(&before);
    nanosleep(&pause, NULL);
    collopt_processes_find(p);
    for (size_t i = 0; i < p->n; i++) {
        const struct collopt_snapshot *b = known(&before, p->list[i].file);

        p->list[i].moved = !b || !is_the_same(b, &p->list[i]);
        p->list[i].queued = b && waits_for_processor(b, &p->list[i]);
    }
    collopt_processes_free(&before);
}

void collopt_processes_free(struct collopt_processes *p)
{
    for (size_t i = 0; i < p->n; i++)
        collopt_snapshot_free(&p->list[i]);
    free(p->list);
    memset(p, 0, sizeof *p);
}
