/* Reading recordings: those of this process and of its children, and such as are cut off, changing,
 * of another version, or nonsense. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder/processes.h"
#include "recorder/reader.h"
#include "recorder/recorder.h"
#include "schedule/problem.h"
#include "shm/segment.h"
#include "suite.h"

enum { RANKS = 5 };
static const int list[RANKS] = { 7, 2, 9, -1, 4 };
static char why[160];

static struct collopt_recorded_comm *add(uint64_t id, const char *name, const int *member)
{
    struct collopt_recorded_comm about = { .id = id, .rank = 1, .ranks = RANKS };

    snprintf(about.name, sizeof about.name, "%s", name);
    return collopt_recorder_add_comm(&about, member);
}

static void enter(struct collopt_recorded_comm *c, uint64_t count)
{
    collopt_recorder_enter(c, (struct collopt_recorded_what){
        .collective = COLLOPT_REDUCE, .mode = COLLOPT_RECORDED_BLOCKING, .root = 3,
        .count = count });
}

/* A process with two communicators, two calls that are done and one that waits for rank 2. */
static void make(void)
{
    struct collopt_recorded_comm *field, *other;

    ck_assert_msg(collopt_recorder_begin(why, sizeof why), "%s", why);
    collopt_recorder_introduce(&(struct collopt_recorded_process){
        .job = 7, .rank = 2, .ranks = 10, .local_ranks = 3, .host = "n1", .mpi = "an MPI" });
    field = add(9, "field\n\033[31m", list);
    other = add(11, "", NULL);
    enter(field, 5);
    collopt_recorder_leave(field->latest);
    enter(other, 6);
    collopt_recorder_leave(other->latest);
    enter(field, 8);
    collopt_recorder_run(field, 64, collopt_recorder_name("ring"));
    collopt_recorder_wait(field, 2);
}

/* A file with a copy of it. */
static int copy_of(size_t bytes)
{
    int fd = memfd_create("collopt", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)(COLLOPT_SHM_LINE + bytes)), 0);
    ck_assert_int_eq(pwrite(fd, collopt_recording, bytes, COLLOPT_SHM_LINE), (ssize_t)bytes);
    return fd;
}

static void is_as_made(const struct collopt_snapshot *s)
{
    const struct collopt_seen_call *e;

    ck_assert_int_eq(s->process, getpid());
    ck_assert_int_eq(s->rank, 2);
    ck_assert_int_eq(s->ranks, 10);
    ck_assert_int_eq(s->local_ranks, 3);
    ck_assert_uint_eq(s->job, 7);
    ck_assert_str_eq(s->host, "n1");
    ck_assert_str_eq(s->collopt, PACKAGE_VERSION);
    ck_assert_uint_eq(s->recorded, 3);
    ck_assert(!s->changing && !s->full);
    ck_assert_uint_eq(s->comms, 2);
    ck_assert_str_eq(s->comm[0].name, "field??[31m");
    ck_assert_uint_eq(s->comm[0].calls, 2);
    ck_assert_int_eq(memcmp(s->comm[0].member, list, sizeof list), 0);
    ck_assert_ptr_null(s->comm[1].member);
    ck_assert_uint_eq(s->calls, 3);
    ck_assert_int_eq(s->call[1].comm, 1);
    ck_assert_str_eq(s->call[1].name, "the MPI library");
    e = &s->call[2];
    ck_assert_int_eq(e->comm, 0);
    ck_assert_uint_eq(e->number, 2);
    ck_assert_uint_eq(e->count, 8);
    ck_assert_uint_eq(e->bytes, 64);
    ck_assert_int_eq(e->root, 3);
    ck_assert_int_eq(e->state, COLLOPT_RECORDED_INSIDE);
    ck_assert_int_eq(e->waits_for, 2);
    ck_assert_str_eq(e->name, "ring");
}

TEST(a_copy)
{
    struct collopt_snapshot s;
    int fd;

    make();
    fd = copy_of(sizeof *collopt_recording);
    ck_assert_msg(collopt_read(fd, &s, why, sizeof why), "%s", why);
    is_as_made(&s);
    collopt_snapshot_free(&s);
    close(fd);
}

TEST(no_recording)
{
    struct collopt_snapshot s;
    int end[2];

    make();
    ck_assert_int_eq(pipe(end), 0);
    ck_assert(!collopt_read(end[0], &s, why, sizeof why));
    ck_assert_str_eq(why, "");
    ck_assert(!collopt_read(-1, &s, why, sizeof why));
    collopt_recording->head.magic++;
    ck_assert(!collopt_read(copy_of(sizeof *collopt_recording), &s, why, sizeof why));
    ck_assert_str_eq(why, "");
}

TEST(another_version)
{
    struct collopt_snapshot s;

    make();
    collopt_recording->head.version++;
    collopt_recording->head.calls_at = 0xfffffff0;
    ck_assert(collopt_read(copy_of(sizeof *collopt_recording), &s, why, sizeof why));
    ck_assert_uint_eq(s.version, COLLOPT_RECORDER_VERSION + 1);
    ck_assert_int_eq(s.rank, 2);
    ck_assert_str_eq(s.mpi, "an MPI");
    ck_assert_uint_eq(s.calls + s.comms, 0);
    collopt_snapshot_free(&s);
}

/* A file that ends anywhere is told from one that is whole. */
TEST(cut_off)
{
    struct collopt_snapshot s;

    make();
    for (size_t bytes = 0; bytes < sizeof *collopt_recording; bytes += 997) {
        int fd = copy_of(bytes);

        ck_assert(!collopt_read(fd, &s, why, sizeof why));
        if (bytes >= sizeof(struct collopt_recording))
            ck_assert_str_eq(why, "it is shorter than it says");
        close(fd);
    }
}

/* What is being written is left out, and this is said. */
TEST(changing)
{
    struct collopt_snapshot s;

    make();
    collopt_recording->call[1].sequence |= 1;
    collopt_recording->comm[0].generation |= 1;
    ck_assert(collopt_read(copy_of(sizeof *collopt_recording), &s, why, sizeof why));
    ck_assert(s.changing);
    ck_assert_uint_eq(s.comms, 1);
    ck_assert_uint_eq(s.calls, 2);
    ck_assert_int_eq(s.call[0].comm, -1);       /* its communicator is not there */
    collopt_snapshot_free(&s);
}

/* ---- nonsense -------------------------------------------------------------------------------- */

/* What is read from FD, if anything, lies in its bounds. */
static bool is_bounded(int fd)
{
    struct collopt_snapshot s;

    if (!collopt_read(fd, &s, why, sizeof why))
        return false;
    ck_assert_int_lt(s.rank, s.ranks + (s.rank < 0));
    for (size_t i = 0; i < s.comms; i++) {
        const struct collopt_seen_comm *c = &s.comm[i];
        int32_t sum = 0;

        ck_assert(c->flags & COLLOPT_RECORDED_INTER || (c->rank >= 0 && c->rank < c->ranks));
        for (int r = 0; c->member && r < c->ranks; r++)
            sum ^= c->member[r];
        ck_assert_int_le(sum, INT32_MAX);
        ck_assert_uint_lt(strlen(c->name), sizeof c->name);
    }
    for (size_t i = 0; i < s.calls; i++) {
        ck_assert_int_lt(s.call[i].comm, (int)s.comms);
        ck_assert_int_lt(s.call[i].collective, COLLOPT_COLLECTIVES);
        ck_assert_uint_lt(strlen(s.call[i].name), sizeof s.call[i].name);
    }
    collopt_snapshot_free(&s);
    return true;
}

static void put(int fd, size_t at, const void *from, size_t n)
{
    ck_assert_int_eq(pwrite(fd, from, n, (off_t)(COLLOPT_SHM_LINE + at)), (ssize_t)n);
}

/* Each byte of the head, of the first calls and of the first communicators, changed in four
 * ways. */
TEST(each_byte)
{
    static const unsigned char ways[] = { 0x01, 0x80, 0xff, 0x55 };
    const struct {
        size_t from, n;
    } part[] = { { 0, sizeof collopt_recording->head },
                 { offsetof(struct collopt_recording_parts, call), 256 },
                 { offsetof(struct collopt_recording_parts, comm), 256 } };
    int read = 0, fd;

    make();
    fd = copy_of(sizeof *collopt_recording);
    for (size_t p = 0; p < 3; p++)
        for (size_t at = part[p].from; at < part[p].from + part[p].n; at++) {
            unsigned char was = ((unsigned char *)collopt_recording)[at];

            for (size_t w = 0; w < sizeof ways; w++) {
                put(fd, at, &(unsigned char){ (unsigned char)(was ^ ways[w]) }, 1);
                read += is_bounded(fd);
            }
            put(fd, at, &was, 1);
        }
    ck_assert_int_gt(read, 500);        /* texts and numbers are no reason to refuse it */
    ck_assert(is_bounded(fd));
}

TEST(random_bytes)
{
    int fd;

    make();
    fd = copy_of(sizeof *collopt_recording);
    srand(7);
    for (int n = 0; n < 3000; n++) {
        uint32_t word = (uint32_t)rand() << (rand() % 16), zero = 0;
        size_t size = rand() % 3 ? sizeof collopt_recording->head : sizeof *collopt_recording;

        if (n % 50 == 0)
            put(fd, 0, collopt_recording, sizeof *collopt_recording);
        put(fd, 8 + (size_t)rand() % (size - 16) / 4 * 4, rand() % 4 ? &word : &zero, sizeof word);
        is_bounded(fd);
    }
}

/* ---- processes ------------------------------------------------------------------------------- */

/* As root there may be those of others. */
static struct collopt_snapshot *of_process(struct collopt_processes *p, int process)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->list[i].process == process && p->list[i].job == 7)
            return &p->list[i];
    return NULL;
}

static void start(int *pid, int end[2])
{
    ck_assert_int_eq(pipe(end), 0);
    *pid = fork();
    if (*pid == 0) {
        close(end[1]);
        _exit((int)read(end[0], why, 1));       /* until the other end is closed */
    }
    close(end[0]);
}

TEST(found)
{
    struct collopt_processes p;
    struct collopt_snapshot *own;
    int child, end[2], n = 0;

    make();
    start(&child, end);         /* which holds the recording, too, and does not own it */
    collopt_processes_find(&p);
    own = of_process(&p, getpid());
    ck_assert_ptr_nonnull(own);
    is_as_made(own);
    ck_assert_int_eq(own->pid, getpid());
    ck_assert_int_eq(own->status, 'R');
    ck_assert(!own->other_clock);
    for (size_t i = 0; i < p.n; i++)
        n += p.list[i].file == own->file;
    ck_assert_int_eq(n, 1);
    close(end[1]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    collopt_processes_free(&p);
}

/* A process that has ended while a child of it holds its recording. */
TEST(owner_has_ended)
{
    struct collopt_processes p;
    struct collopt_snapshot *s;
    int owner, told[2], end[2];

    ck_assert_int_eq(pipe(told), 0);
    ck_assert_int_eq(pipe(end), 0);
    owner = fork();
    if (owner == 0) {
        make();
        if (fork() == 0) {
            close(end[1]);
            ck_assert_int_eq(write(told[1], "x", 1), 1);
            _exit((int)read(end[0], why, 1));
        }
        _exit(0);
    }
    ck_assert_int_eq(read(told[0], why, 1), 1);
    ck_assert_int_eq(waitpid(owner, NULL, 0), owner);
    collopt_processes_find(&p);
    s = of_process(&p, owner);
    ck_assert_ptr_nonnull(s);
    ck_assert_int_eq(s->status, 'X');
    collopt_processes_free(&p);
    close(end[1]);
}

int main(void)
{
    return suite_run("reader");
}
