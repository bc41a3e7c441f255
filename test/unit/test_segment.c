/* Segments where something is missing or in the way: limits on files, on the address space and on
 * a control group's memory; a kernel that cannot populate mappings; descriptors that have become
 * somebody else's. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/control_groups.h"
#include "shm/segment.h"
#include "suite.h"

enum { SEGMENT = 1 << 20, PIECE = 2 << 20 };

static struct collopt_segment_key key;
static char why[160];

static void make(void)
{
    collopt_segment_make(SEGMENT, (size_t)64 * SEGMENT, &key, why, sizeof why);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void limit(int resource, size_t bytes)
{
    ck_assert(setrlimit(resource, &(struct rlimit){ bytes, bytes }) == 0);
}

TEST(file_too_short)
{
    limit(RLIMIT_FSIZE, SEGMENT - 1);
    make();
    ck_assert_int_lt(key.descriptor, 0);
    ck_assert_ptr_null(collopt_segment_base());
    ck_assert_msg(strstr(why, "1048575") && strstr(why, "ulimit -f"), "%s", why);
    ck_assert_ptr_null(collopt_segment_make_apart(SEGMENT, 0, &key, why, sizeof why));
    ck_assert_int_lt(key.descriptor, 0);
}

TEST(file_without_room)
{
    limit(RLIMIT_FSIZE, SEGMENT);
    make();
    ck_assert_int_ge(key.descriptor, 0);
    ck_assert_uint_eq(collopt_segment_room(collopt_segment_base()), 0);
}

/* There is no room: RLIMIT_FSIZE would end it while there is still memory. */
TEST(file_with_some_room)
{
    limit(RLIMIT_FSIZE, 10 * SEGMENT);
    make();
    ck_assert_int_ge(key.descriptor, 0);
    ck_assert_uint_eq(collopt_segment_room(collopt_segment_base()), 0);
}

TEST(little_address_space)
{
#ifdef __SANITIZE_ADDRESS__     /* which ends where it gets none itself */
    return;
#endif
    limit(RLIMIT_AS, (size_t)1 << 30);
    make();
    ck_assert_int_ge(key.descriptor, 0);
    ck_assert_uint_eq(collopt_segment_room(collopt_segment_base()), 0);
    ck_assert_ptr_null(
        collopt_segment_make_apart((size_t)1 << 28, 0, &key, why, sizeof why));
    ck_assert_msg(strstr(why, "ulimit -v") != NULL, "%s", why);
}

TEST(no_descriptors)
{
    limit(RLIMIT_NOFILE, 0);
    make();
    ck_assert_int_lt(key.descriptor, 0);
    ck_assert_msg(strstr(why, "memfd_create: ") != NULL, "%s", why);
}

/* ---- control groups -------------------------------------------------------------------------- */

static char root[] = "/tmp/test-segment-XXXXXX";

/* Below ROOT, with the folders on the way to it. */
static void write_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *end = path + strlen(root) + 1; (end = strchr(end, '/')); *end++ = '/') {
        *end = '\0';
        mkdir(path, 0700);
    }
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static size_t limit_of(const char *groups)
{
    char name[PATH_MAX];

    write_file("groups", groups);
    snprintf(name, sizeof name, "%s/groups", root);
    return collopt_group_memory(name, root);
}

TEST(groups)
{
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(collopt_group_memory("/nowhere", root), SIZE_MAX);
    ck_assert_uint_eq(limit_of(""), SIZE_MAX);
    ck_assert_uint_eq(limit_of("no colons\n1:\n"), SIZE_MAX);
    ck_assert_uint_eq(limit_of("0::/job/step\n"), SIZE_MAX);
    /* the group's own, one around it, none */
    write_file("job/memory.max", "max\n");
    write_file("job/step/memory.max", "123456789\n");
    ck_assert_uint_eq(limit_of("0::/job/step\n"), 123456789);
    ck_assert_uint_eq(limit_of("0::/job\n"), SIZE_MAX);
    write_file("job/memory.max", "100000000\n");
    ck_assert_uint_eq(limit_of("0::/job/step\n"), 100000000);
    /* a container: the path is the machine's, and its own group is mounted */
    write_file("memory.max", "5000000\n");
    ck_assert_uint_eq(limit_of("0::/docker/0123\n"), 5000000);
    ck_assert_uint_eq(limit_of("0::/\n"), 5000000);
    write_file("memory.max", "?\n");
    ck_assert_uint_eq(limit_of("0::/\n"), SIZE_MAX);
    /* version 1 */
    write_file("memory/memory.limit_in_bytes", "9223372036854771712\n");
    write_file("memory/job/memory.limit_in_bytes", "7000000\n");
    ck_assert_uint_eq(limit_of("5:cpu,memory:/job\n3:cpuset:/job\n"), 7000000);
    ck_assert_uint_eq(limit_of("5:memory:/\n"), SIZE_MAX);
    ck_assert_uint_eq(limit_of("5:cpu:/job\n"), SIZE_MAX);
    /* both */
    write_file("unified/job/memory.max", "6000000\n");
    ck_assert_uint_eq(limit_of("5:memory:/job\n0::/job\n"), 6000000);
}

static struct collopt_quota quota_of(const char *groups)
{
    char name[PATH_MAX];

    write_file("groups", groups);
    snprintf(name, sizeof name, "%s/groups", root);
    return collopt_group_quota(name, root);
}

TEST(quotas)
{
    uint64_t group;

    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(quota_of("0::/pod/a\n").processors, SIZE_MAX);
    write_file("pod/a/cpu.max", "max 100000\n");
    ck_assert_uint_eq(quota_of("0::/pod/a\n").processors, SIZE_MAX);
    write_file("pod/a/cpu.max", "350000 100000\n");
    write_file("pod/b/cpu.max", "50000 100000\n");
    ck_assert_uint_eq(quota_of("0::/pod/a\n").processors, 3);
    ck_assert_uint_eq(quota_of("0::/pod/b\n").processors, 0);
    ck_assert_uint_ne(quota_of("0::/pod/a\n").group, quota_of("0::/pod/b\n").group);
    /* the same quota for both: that of the group around them */
    write_file("pod/cpu.max", "200000 100000\n");
    ck_assert_uint_eq(quota_of("0::/pod/a\n").processors, 2);
    group = quota_of("0::/pod/a\n").group;
    write_file("pod/b/cpu.max", "max 100000\n");
    ck_assert_uint_eq(quota_of("0::/pod/b\n").group, group);
    write_file("pod/cpu.max", "?\n");
    ck_assert_uint_eq(quota_of("0::/pod/b\n").processors, SIZE_MAX);
    /* version 1 */
    write_file("cpu/job/cpu.cfs_quota_us", "-1\n");
    write_file("cpu/job/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(quota_of("5:cpu,cpuacct:/job\n").processors, SIZE_MAX);
    write_file("cpu/job/cpu.cfs_quota_us", "400000\n");
    ck_assert_uint_eq(quota_of("5:cpu,cpuacct:/job\n0::/\n").processors, 4);
    ck_assert_uint_eq(quota_of("5:cpuset:/job\n").processors, SIZE_MAX);
    write_file("cpu/job/cpu.cfs_period_us", "0\n");
    ck_assert_uint_eq(quota_of("5:cpu:/job\n").processors, SIZE_MAX);
}

static void remove_root(void)
{
    char command[64];

    snprintf(command, sizeof command, "rm -rf %s", root);
    if (!strstr(root, "XXXXXX") && system(command))
        fprintf(stderr, "%s is left\n", root);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Errors of madvise(MADV_POPULATE_WRITE): none; EINVAL from an old kernel; ENOSYS or EPERM from a
 * filter of system calls. */
static const int refusals[] = { 0, EINVAL, ENOSYS, EPERM };
enum { REFUSALS = sizeof refusals / sizeof *refusals };
static int refusal;
static bool full;

int __real_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice);
long __real_syscall(long number, ...);
long __wrap_syscall(long number, void *a, void *b, void *c);

int __wrap_madvise(void *at, size_t size, int advice)
{
    if (refusal && advice == 23) {
        errno = refusal;
        return -1;
    }
    return __real_madvise(at, size, advice);
}

/* Where memory is short, the kernel returns an error. */
long __wrap_syscall(long number, void *a, void *b, void *c)
{
    ck_assert_msg(refusal, "a kernel that can populate is asked to write");
    if (full) {
        errno = EFAULT;
        return -1;
    }
    return __real_syscall(number, a, b, c);
}

static size_t resident(void)
{
    struct stat is;

    ck_assert(fstat(key.descriptor, &is) == 0);
    return (size_t)is.st_blocks * 512;
}

static void all_are(const char *at, size_t n, char value)
{
    size_t i = 0;

    while (i < n && at[i] == value)
        i++;
    ck_assert_msg(i == n, "byte %zu of %zu is %d, not %d", i, n, at[i < n ? i : 0], value);
}

static void touch(char *piece)
{
    size_t before = resident();

    memset(piece, 1, PIECE);
    ck_assert_msg(resident() == before, "pages are allocated when they are touched");
}

TESTS(pages, 0, REFUSALS)
{
    char *piece, *again[8];
    size_t empty;

    refusal = refusals[_i];
    make();
    ck_assert_int_ge(key.descriptor, 0);
    empty = resident();
    ck_assert_ptr_nonnull(piece = collopt_segment_take_room(PIECE));
    ck_assert_uint_ge(resident(), empty + PIECE);
    touch(piece);
    /* more than the room keeps is given back, and is there again when it is taken */
    for (int i = 0; i < 8; i++)
        ck_assert_ptr_nonnull(again[i] = collopt_segment_take_room(PIECE));
    for (int i = 0; i < 8; i++)
        touch(again[i]);
    for (int i = 0; i < 8; i++)
        collopt_segment_give_back(again[i], PIECE);
    ck_assert_uint_le(resident(), empty + PIECE + 6 * SEGMENT);
    for (int i = 0; i < 8; i++)
        ck_assert_ptr_nonnull(again[i] = collopt_segment_take_room(PIECE));
    for (int i = 0; i < 8; i++)
        touch(again[i]);
    all_are(piece, PIECE, 1);
    full = true;
    ck_assert(!refusal || !collopt_segment_take_room(16 * PIECE));
}

/* Of channels: zero wherever they lie. */
TESTS(zeros, 0, REFUSALS)
{
    refusal = refusals[_i];
    make();
    for (size_t bytes = 1000; bytes < SEGMENT / 2; bytes *= 2) {
        const char *piece = collopt_segment_take(bytes);

        if (piece)
            all_are(piece, bytes, 0);
    }
}

/* A bare piece has no pages but those that are filled, gives them back, and gets all of them where
 * it is taken as a whole. */
TESTS(bare, 0, REFUSALS)
{
    enum { HALF = SEGMENT / 2, BLOCK = 64 << 10, AT = HALF - BLOCK, PAGE = 4096 };
    char *piece, *whole;
    size_t empty;

    refusal = refusals[_i];
    make();
    empty = resident();
    ck_assert_ptr_nonnull(piece = collopt_segment_take_bare(HALF));
    ck_assert_uint_le(resident(), empty + PAGE);
    ck_assert(collopt_segment_fill(piece + AT, BLOCK));
    ck_assert_uint_ge(resident(), empty + BLOCK);
    empty = resident();
    memset(piece + AT, 1, BLOCK);
    ck_assert_uint_eq(resident(), empty);
    collopt_segment_give_back_bare(piece, HALF);
    ck_assert_uint_le(resident(), empty - BLOCK);

    ck_assert_ptr_eq(whole = collopt_segment_take(HALF), piece);
    all_are(whole, HALF, 0);
    empty = resident();
    memset(whole, 1, HALF);
    ck_assert_uint_eq(resident(), empty);
    /* what lies behind it was never used, and is there when it is taken */
    ck_assert_ptr_nonnull(piece = collopt_segment_take(HALF / 4));
    empty = resident();
    memset(piece, 1, HALF / 4);
    ck_assert_uint_eq(resident(), empty);
    collopt_segment_give_back_bare(whole, HALF);
    ck_assert_ptr_eq(collopt_segment_take_bare(HALF), whole);
    full = true;
    ck_assert(!refusal || !collopt_segment_fill(whole + AT, BLOCK));
}

/* Memory of its own: parts are allocated by those who attach, and begin as zeros. */
TESTS(apart, 0, REFUSALS)
{
    char *own, *theirs;

    refusal = refusals[_i];
    own = collopt_segment_make_apart(PIECE, 70000, &key, why, sizeof why);
    ck_assert_msg(own != NULL, "%s", why);
    own[69999] = 7;
    theirs = collopt_segment_attach_part(&key, 70000, PIECE, why, sizeof why);
    ck_assert_msg(theirs != NULL, "%s", why);
    ck_assert_uint_ge(resident(), PIECE);
    ck_assert_int_eq(theirs[69999], 7);
    all_are(theirs + 70000, PIECE - 70000, 0);
    collopt_segment_detach(theirs);
    collopt_segment_detach(own);
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* The program has closed the descriptor, and has a file under its number. */
static void take_number(int number, const char *file)
{
    int fd = open(file, O_RDWR);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(dup2(fd, number), number);
    close(fd);
}

TEST(others_are_not_closed)
{
    make();
    take_number(key.descriptor, "/dev/zero");
    collopt_segment_close(&key);
    ck_assert_int_ge(fcntl(key.descriptor, F_GETFD), 0);
    collopt_segment_close_own();
    ck_assert_int_ge(fcntl(key.descriptor, F_GETFD), 0);
    ck_assert_ptr_nonnull(collopt_segment_take_room(PIECE));
    collopt_segment_drop();
    ck_assert_int_ge(fcntl(key.descriptor, F_GETFD), 0);
}

TEST(own_is_closed)
{
    make();
    collopt_segment_close_own();
    ck_assert_int_lt(fcntl(key.descriptor, F_GETFD), 0);
    ck_assert_ptr_nonnull(collopt_segment_take_room(PIECE));
    ck_assert_ptr_null(collopt_segment_attach(&key, why, sizeof why));
}

/* What is no segment is not opened: this would wait for a reader. */
TEST(others_are_not_opened)
{
    char name[] = "/tmp/test-segment-XXXXXX", pipe[64];
    int fd;

    ck_assert_ptr_nonnull(mkdtemp(name));
    snprintf(pipe, sizeof pipe, "%s/pipe", name);
    ck_assert_int_eq(mkfifo(pipe, 0600), 0);
    ck_assert_int_ge(fd = open(pipe, O_RDONLY | O_NONBLOCK), 0);
    make();
    ck_assert_int_eq(dup2(fd, key.descriptor), key.descriptor);
    unlink(pipe);
    rmdir(name);
    ck_assert_ptr_null(collopt_segment_attach(&key, why, sizeof why));
    ck_assert_msg(strstr(why, "is another one here") != NULL, "%s", why);
}

TEST(another_segment)
{
    struct collopt_segment_key other;

    make();
    ck_assert_ptr_nonnull(
        collopt_segment_make_apart(PIECE, 4096, &other, why, sizeof why));
    ck_assert_int_eq(dup2(other.descriptor, key.descriptor), key.descriptor);
    ck_assert_ptr_null(collopt_segment_attach(&key, why, sizeof why));
    ck_assert_msg(strstr(why, "is another one here") != NULL, "%s", why);
}

int main(void)
{
    tcase_add_checked_fixture(suite_tests(), NULL, remove_root);
    return suite_run("segment");
}
