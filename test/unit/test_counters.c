/* Counters, the report made of them, and the answers to the public header. */
#include "config.h"

#include "base/json.h"
#include "catalogue/catalogue.h"
#include "collopt.h"
#include "fake_registry.h"
#include "report/counters.h"
#include "report/output.h"
#include "report/report.h"
#include "report/shares.h"
#include "report/timing.h"
#include "schedule/descriptor.h"
#include "schedule/problem.h"
#include "select/tuning_results.h"
#include "settings/rules.h"
#include "suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef COLLOPT_HAVE_JANSSON
# include <jansson.h>
#endif

static const struct collopt_algorithm *named(enum collopt_collective c, const char *name)
{
    return collopt_algorithm_named(c, name, strlen(name));
}

static uint64_t nanoseconds(double seconds)
{
    return (uint64_t)(1e9 * seconds + 0.5);
}

static void run(const char *name, int size_class, uint64_t bytes, double seconds)
{
    collopt_count_timed(named(COLLOPT_ALLREDUCE, name), size_class,
                        &(struct collopt_timed_call){ .bytes = bytes,
                                                      .time = nanoseconds(seconds),
                                                      .sent = { bytes, 2 * bytes } });
}

/* ---- counters -------------------------------------------------------------------------------- */

TEST(size_classes)
{
    static const struct {
        uint64_t bytes;
        int size_class;
    } all[] = { { 0, 0 },
                { 1, 0 },
                { 2, 1 },
                { 3, 2 },
                { 4, 2 },
                { 5, 3 },
                { 8, 3 },
                { 9, 4 },
                { 1024, 10 },
                { 1025, 11 },
                { UINT64_C(1) << 32, 32 },
                { (UINT64_C(1) << 32) + 1, 33 } };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        ck_assert_msg(collopt_size_class(all[i].bytes) == all[i].size_class, "%" PRIu64,
                      all[i].bytes);
}

TEST(sums)
{
    ck_assert_uint_eq(collopt_calls(NULL, NULL), 0);
    ck_assert_uint_eq(collopt_calls_passed(NULL), 0);
    run("ring", 20, 1 << 20, 0.5);
    run("ring", 20, 1 << 20, 0.25);
    run("ring", 21, 1 << 21, 1);
    run("recursive_doubling", 3, 8, 0);
    for (int i = 0; i < 5; i++)
        collopt_count_call(named(COLLOPT_REDUCE, "tree"), 0, 0);
    collopt_count_passed("Iallreduce", COLLOPT_PASS_UNSUPPORTED, 3);
    collopt_count_passed("Allreduce", COLLOPT_PASS_EARLY, 2);
    collopt_count_passed("Allreduce", COLLOPT_PASS_CHOSEN, 1);
    collopt_count_passed("X_Allreduce_init", COLLOPT_PASS_UNSUPPORTED, 4);
    ck_assert_uint_eq(collopt_calls("allreduce", "ring"), 3);
    ck_assert_uint_eq(collopt_calls("allreduce", NULL), 4);
    ck_assert_uint_eq(collopt_calls(NULL, "tree"), 5);
    ck_assert_uint_eq(collopt_calls(NULL, NULL), 9);
    ck_assert_uint_eq(collopt_calls("allreduce", "tree"), 0);
    ck_assert_uint_eq(collopt_calls("nothing", NULL), 0);
    ck_assert_uint_eq(collopt_calls_passed("MPI_Allreduce"), 3);
    ck_assert_uint_eq(collopt_calls_passed("Iallreduce"), 3);
    ck_assert_uint_eq(collopt_calls_passed("MPIX_Allreduce_init"), 4);
    ck_assert_uint_eq(collopt_calls_passed("MPI_Bcast"), 0);
    ck_assert_uint_eq(collopt_calls_passed(NULL), 10);
    collopt_reset_sums();
    ck_assert_uint_eq(collopt_calls(NULL, NULL), 0);
    ck_assert_uint_eq(collopt_calls_passed(NULL), 0);
    run("ring", 20, 10, 0.125);
    ck_assert_uint_eq(collopt_calls("allreduce", "ring"), 1);
}

/* MPI_Reduce_local is no collective: it has a name of its own and is not in their sums. */
TEST(local_reductions)
{
    static const struct collopt_algorithm kernels = { .name = "kernels",
                                                      .collective = COLLOPT_COLLECTIVES };

    run("ring", 20, 10, 0.125);
    collopt_count_call(&kernels, 3, 8);
    collopt_count_call(&kernels, 3, 7);
    ck_assert_uint_eq(collopt_calls(NULL, NULL), 1);
    ck_assert_uint_eq(collopt_calls("reduce_local", NULL), 2);
    ck_assert_uint_eq(collopt_calls("reduce_local", "kernels"), 2);
    ck_assert_uint_eq(collopt_calls("reduce_local", "ring"), 0);
}

static void check_one(const struct collopt_sum *s, void *data)
{
    ++*(int *)data;
    ck_assert_uint_eq(s->counter.calls, 2);
    ck_assert_uint_eq(s->counter.bytes, 30);
    ck_assert_uint_eq(s->counter.time, 750000000);
    ck_assert_uint_eq(s->counter.least, 250000000);
    ck_assert_uint_eq(s->counter.most, 500000000);
    ck_assert_int_eq(s->size_class, 4);
}

TEST(least_and_most_start_anew)
{
    int visited = 0;

    run("ring", 4, 1, 0.001);
    run("ring", 4, 1, 100);
    collopt_reset_sums();
    run("ring", 4, 10, 0.5);
    run("ring", 4, 20, 0.25);
    collopt_visit_sums(check_one, &visited);
    ck_assert_int_eq(visited, 1);
}

/* More sums than the tables start with. */
TEST(many_sums)
{
    static char name[300][16];

    for (int i = 0; i < 300; i++)
        snprintf(name[i], sizeof name[i], "n%d", i);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 300; i++)
            collopt_count_passed(name[i], (enum collopt_reason)(i % COLLOPT_REASONS), (uint64_t)i);
    for (int i = 0; i < 300; i++)
        ck_assert_msg(collopt_calls_passed(name[i]) == 3 * (uint64_t)i, "n%d", i);
}

enum { THREADS = 6, CALLS = 20000 };

static pthread_barrier_t counted, looked;

static void *count_in_thread(void *data)
{
    for (int i = 0; i < CALLS; i++) {
        run(i % 2 ? "ring" : "recursive_doubling", i % 40, 8, 0.5);
        collopt_count_passed("Iallreduce", (enum collopt_reason)(i % COLLOPT_REASONS), 1);
    }
    pthread_barrier_wait(&counted);
    if (data)                       /* some end before the sums are looked at, some after */
        pthread_barrier_wait(&looked);
    return NULL;
}

TEST(threads)
{
    pthread_t thread[THREADS];

    pthread_barrier_init(&counted, NULL, THREADS + 1);
    pthread_barrier_init(&looked, NULL, THREADS / 2 + 1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&thread[i], NULL, count_in_thread, i % 2 ? &looked : NULL),
                         0);
    for (int i = 0; i < 200; i++)
        ck_assert_uint_le(collopt_calls(NULL, NULL), THREADS * CALLS);
    pthread_barrier_wait(&counted);
    for (int i = 0; i < THREADS; i += 2)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(collopt_calls("allreduce", "ring"), THREADS * CALLS / 2);
    ck_assert_uint_eq(collopt_calls(NULL, NULL), THREADS * CALLS);
    ck_assert_uint_eq(collopt_calls_passed(NULL), THREADS * CALLS);
    pthread_barrier_wait(&looked);
    for (int i = 1; i < THREADS; i += 2)
        pthread_join(thread[i], NULL);
    ck_assert_uint_eq(collopt_calls(NULL, NULL), THREADS * CALLS);
    collopt_reset_sums();
    ck_assert_uint_eq(collopt_calls(NULL, NULL), 0);
}

/* ---- the public header ----------------------------------------------------------------------- */

TEST(public_list)
{
    char text[64];

    ck_assert_uint_eq(collopt_version(), COLLOPT_VERSION);
    ck_assert_str_eq(collopt_collective_name(1), "allreduce");
    ck_assert_str_eq(collopt_collective_name(COLLOPT_COLLECTIVES - 1), "exscan");
    ck_assert_ptr_null(collopt_collective_name(COLLOPT_COLLECTIVES));
    ck_assert_ptr_null(collopt_collective_name(-1));
    ck_assert_int_eq(collopt_algorithm_count("allreduce"), 2);
    ck_assert_int_eq(collopt_algorithm_count("scan"), 0);
    ck_assert_int_eq(collopt_algorithm_count("bcast"), -1);
    ck_assert_int_eq(collopt_algorithm_count(NULL), -1);
    ck_assert_str_eq(collopt_algorithm_name("allreduce", 1), "recursive_doubling");
    ck_assert_str_eq(collopt_algorithm_summary("allreduce", 0), "round and round");
    ck_assert_ptr_null(collopt_algorithm_name("allreduce", 2));
    ck_assert_ptr_null(collopt_algorithm_name("allreduce", -1));
    ck_assert_ptr_null(collopt_algorithm_name("bcast", 0));
    ck_assert_ptr_null(collopt_algorithm_summary(NULL, 0));
    ck_assert_int_eq(collopt_explain("allreduce", 8, 1024, 1, text, sizeof text), 33);
    ck_assert_str_eq(text, "ring:segment=64K (built-in: fake)");
    ck_assert_int_eq(collopt_explain("allreduce", 8, 1024, 0, text, 5), 21);
    ck_assert_str_eq(text, "host");
    ck_assert_int_eq(collopt_explain("allreduce", 8, 1024, 0, NULL, 0), 21);
    ck_assert_int_eq(collopt_explain("bcast", 8, 1024, 1, text, sizeof text), -1);
    ck_assert_int_eq(collopt_explain("scan", 0, 1024, 1, text, sizeof text), -1);
}

/* ---- the report ------------------------------------------------------------------------------ */

/* One thread in a reduction, then two. */
TEST(time_of_threads)
{
    const struct timespec moment = { .tv_nsec = 5000000 };
    uint64_t one, other, all;

    collopt_timing_reset();
    one = collopt_timing_begin();
    nanosleep(&moment, NULL);
    other = collopt_timing_begin();
    nanosleep(&moment, NULL);
    all = collopt_timing_end(one);
    nanosleep(&moment, NULL);
    ck_assert_uint_ge(collopt_timing_covered(), 15000000);
    all += collopt_timing_end(other);
    ck_assert_uint_ge(collopt_timing_covered(), 15000000);
    ck_assert_uint_le(collopt_timing_covered(), all - 5000000);
    collopt_timing_reset();
    ck_assert_uint_eq(collopt_timing_covered(), 0);
}

static const struct collopt_report_by *by(const char *mpi, int ranks, int rank)
{
    static struct collopt_report_by one;

    one = (struct collopt_report_by){ .mpi = mpi, .ranks = ranks, .rank = rank };
    return &one;
}

static char *contents(const char *name)
{
    static char text[65536];
    FILE *file = fopen(name, "r");
    size_t n;

    ck_assert_msg(file, "no %s", name);
    n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

static struct collopt_report *one_rank(double seconds)
{
    struct collopt_report *r;

    collopt_reset_sums();
    run("ring", 20, 1 << 20, seconds);
    run("ring", 20, 1 << 20, 2 * seconds);
    run("recursive_doubling", 3, 8, 0.125);
    collopt_count_passed("Iallreduce", COLLOPT_PASS_UNSUPPORTED, 3);
    collopt_count_passed_call("Allreduce", COLLOPT_PASS_OFF, nanoseconds(seconds / 8), 4, 6);
    collopt_count_passed_call("Allreduce", COLLOPT_PASS_OFF, nanoseconds(seconds / 8), 3, 8);
    collopt_count_passed_call("Allreduce", COLLOPT_PASS_NESTED, nanoseconds(100), 0, 0);
    r = collopt_report_gather(nanoseconds(10 * seconds));
    ck_assert_ptr_nonnull(r);
    return r;
}

static const char combined[] =
    "{\n"
    "  \"collopt\": \""
    "%d.%d.%d"
    "\",\n"
    "  \"schema\": 1,\n"
    "  \"mpi\": \"Open \\\"MPI\\\"\\u000a4\",\n"
    "  \"ranks\": 3,\n"
    "  \"combined\": true,\n"
    "  \"seconds\": {\n    \"min\": 5,\n    \"mean\": 7.5,\n    \"max\": 10\n  },\n"
    "  \"reductions\": {\n    \"min\": 0.125,\n    \"mean\": 1.75,\n    \"max\": 3.375\n  },\n"
    "  \"run\": [\n"
    "    {\"collective\": \"allreduce\", \"algorithm\": \"recursive_doubling\", \"bytes_from\": 5, "
    "\"bytes_to\": 8, "
    "\"ranks\": 2, \"calls\": 2, \"bytes\": 16, "
    "\"sent\": {\"messages\": 16, \"shared_memory\": 32}, \"seconds\": {\"min\": 0.125, \"mean\": "
    "0.125, \"max\": 0.125}, "
    "\"seconds_per_call\": {\"min\": 0.125, \"mean\": 0.125, \"max\": 0.125}},\n"
    "    {\"collective\": \"allreduce\", \"algorithm\": \"ring\", \"bytes_from\": 524289, "
    "\"bytes_to\": 1048576, "
    "\"ranks\": 2, \"calls\": 4, \"bytes\": 4194304, "
    "\"sent\": {\"messages\": 4194304, \"shared_memory\": 8388608}, \"seconds\": {\"min\": 1.5, "
    "\"mean\": 2.25, \"max\": 3}, "
    "\"seconds_per_call\": {\"min\": 0.5, \"mean\": 1.125, \"max\": 2}}\n  ],\n"
    "  \"passed\": [\n"
    "    {\"name\": \"MPIX_Allreduce_init\", \"reason\": \"not in shared memory\", \"ranks\": 1, "
    "\"calls\": 1},\n"
    "    {\"name\": \"MPI_Allreduce\", \"reason\": \"called from inside a collective\", \"ranks\": "
    "2, \"calls\": 2, "
    "\"seconds\": {\"min\": 100, \"mean\": 100, \"max\": 100}, "
    "\"seconds_per_call\": {\"min\": 100, \"mean\": 100, \"max\": 100}},\n"
    "    {\"name\": \"MPI_Allreduce\", \"reason\": \"switched off\", \"bytes_from\": 5, "
    "\"bytes_to\": 8, "
    "\"ranks\": 2, \"calls\": 4, \"bytes\": 28, \"communicators\": {\"ranks_min\": 3, "
    "\"ranks_max\": 4}, "
    "\"seconds\": {\"min\": 0.125, \"mean\": 0.1875, \"max\": 0.25}, "
    "\"seconds_per_call\": {\"min\": 0.0625, \"mean\": 0.09375, \"max\": 0.125}},\n"
    "    {\"name\": \"MPI_Iallreduce\", \"reason\": \"not in shared memory\", \"ranks\": 2, "
    "\"calls\": 6},\n"
    "    {\"name\": \"MPI_Scan\", \"reason\": \"among the first calls\", \"ranks\": 1, \"calls\": "
    "1, "
    "\"seconds\": {\"min\": 0.125, \"mean\": 0.125, \"max\": 0.125}, "
    "\"seconds_per_call\": {\"min\": 0.125, \"mean\": 0.125, \"max\": 0.125}}\n  ],\n"
    "  \"learnt\": []\n"
    "}\n";

TEST(report_combined)
{
    struct collopt_report *all = one_rank(1), *other = one_rank(0.5), *last;
    char buffer[4096], want[4096], name[] = "/tmp/collopt-report-XXXXXX";
    size_t n;

    close(mkstemp(name));
    n = collopt_report_pack(other, NULL, 0);
    ck_assert_uint_le(n, sizeof buffer);
    ck_assert_uint_eq(collopt_report_pack(other, buffer, sizeof buffer), n);
    ck_assert(collopt_report_merge(all, buffer, n));
    collopt_reset_sums();
    collopt_count_passed("X_Allreduce_init", COLLOPT_PASS_UNSUPPORTED, 1);
    collopt_count_passed_call("Scan", COLLOPT_PASS_EARLY, nanoseconds(0.125), 0, 0);
    last = collopt_report_gather(0);
    n = collopt_report_pack(last, buffer, sizeof buffer);
    ck_assert(collopt_report_merge(all, buffer, n));
    ck_assert(collopt_report_write(all, name, by("Open \"MPI\"\n4", 3, -1)));
    snprintf(want, sizeof want, combined, COLLOPT_VERSION_MAJOR, COLLOPT_VERSION_MINOR,
             COLLOPT_VERSION_PATCH);
    ck_assert_str_eq(contents(name), want);
    unlink(name);
    collopt_report_free(all);
    collopt_report_free(other);
    collopt_report_free(last);
    collopt_report_free(NULL);
}

/* Two literals of one name have two addresses; in the report they are one. */
TEST(report_joins_names)
{
    static const char one[] = "Iscan", two[] = "Iscan";
    char name[] = "/tmp/collopt-report-XXXXXX";
    struct collopt_report *r;
    char *text;

    close(mkstemp(name));
    collopt_count_passed(one, COLLOPT_PASS_EARLY, 1);
    collopt_count_passed(two, COLLOPT_PASS_EARLY, 2);
    r = collopt_report_gather(0);
    ck_assert(collopt_report_write(r, name, by(NULL, 1, -1)));
    text = contents(name);
    ck_assert_msg(strstr(text, "\"ranks\": 1, \"calls\": 3}\n"), "%s", text);
    ck_assert_msg(strstr(text, "\"mpi\": null"), "%s", text);
    unlink(name);
    collopt_report_free(r);
}

TEST(report_of_one_rank)
{
    struct collopt_report *r = one_rank(1);
    char directory[] = "/tmp/collopt-report-XXXXXX", name[64], file[80];
    char *text;

    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(name, sizeof name, "%s/r", directory);
    ck_assert(collopt_report_write(r, name, by("MPICH", 4, 2)));
    snprintf(file, sizeof file, "%s.2", name);
    text = contents(file);
    ck_assert_msg(strstr(text, "\"combined\": false,\n  \"rank\": 2,"), "%s", text);
    unlink(file);
    ck_assert_msg(rmdir(directory) == 0, "something was left in %s", directory);
    ck_assert(!collopt_report_write(r, name, by("MPICH", 4, 2)));       /* the directory is gone */
    collopt_report_free(r);
}

/* The name is as long as names can be. */
TEST(report_with_a_long_name)
{
    struct collopt_report *r = one_rank(1);
    char directory[] = "/tmp/collopt-report-XXXXXX", name[64 + NAME_MAX];
    int n;

    ck_assert_ptr_nonnull(mkdtemp(directory));
    n = snprintf(name, sizeof name, "%s/", directory);
    memset(name + n, 'n', NAME_MAX);
    name[n + NAME_MAX] = '\0';
    ck_assert(collopt_report_write(r, name, by("MPICH", 4, COLLOPT_ALL_RANKS)));
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_msg(rmdir(directory) == 0, "something was left in %s", directory);
    collopt_report_free(r);
}

/* A report of one rank goes to the pipe that is named, not to a file beside it. */
TEST(report_to_a_pipe)
{
    struct collopt_report *r = one_rank(1);
    char directory[] = "/tmp/collopt-report-XXXXXX", name[64], got[4096] = "";
    int reader;

    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(name, sizeof name, "%s/pipe", directory);
    ck_assert_int_eq(mkfifo(name, 0600), 0);
    ck_assert(!collopt_output_is_file(name));
    ck_assert(!collopt_report_write(r, name, by("MPICH", 4, 2)));       /* nobody reads */
    reader = open(name, O_RDONLY | O_NONBLOCK);
    ck_assert(collopt_report_write(r, name, by("MPICH", 4, 2)));
    ck_assert_int_gt(read(reader, got, sizeof got - 1), 0);
    ck_assert_msg(strstr(got, "\"rank\": 2,"), "%s", got);
    close(reader);
    unlink(name);
    ck_assert_msg(rmdir(directory) == 0, "something was left in %s", directory);
    ck_assert(collopt_output_is_file(name));
    ck_assert(!collopt_output_is_file("stderr") && !collopt_output_is_file("/dev/stdout"));
    collopt_report_free(r);
}

/* Standard error is a pipe that is full and does not block, until another process reads it. */
TEST(report_to_a_full_pipe)
{
    struct collopt_report *r = one_rank(1);
    int end[2], before = dup(STDERR_FILENO), status;
    bool written;
    pid_t reader;

    ck_assert_int_eq(pipe2(end, O_NONBLOCK), 0);
    while (write(end[1], "x", 1) == 1)
        ;
    reader = fork();
    if (reader == 0) {
        char got[4096];
        bool come = false;      /* the report, behind what the pipe is full of */
        ssize_t n;

        close(end[1]);
        fcntl(end[0], F_SETFL, 0);
        while ((n = read(end[0], got, sizeof got)) > 0)
            come |= memchr(got, 'c', (size_t)n) != NULL;
        _exit(!come);
    }
    dup2(end[1], STDERR_FILENO);
    written = collopt_report_write(r, "stderr", by("MPICH", 4, COLLOPT_ALL_RANKS));
    dup2(before, STDERR_FILENO);
    close(before);
    close(end[1]);
    ck_assert(written);
    ck_assert(waitpid(reader, &status, 0) == reader && status == 0);
    close(end[0]);
    collopt_report_free(r);
}

static void put_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    ck_assert_msg(f && fputs(text, f) >= 0 && fclose(f) == 0, "%s", name);
}

/* In a folder where others may write: a link in the report's place is replaced, not followed, and
 * links by names that one could guess wait for nothing. */
TEST(report_and_links)
{
    static const char *const guesses[] = { "report.json.tmp", "report.json.new", "report.json~",
                                           ".report.json", "report.json.0" };
    struct collopt_report *r = one_rank(1);
    char folder[] = "/tmp/collopt-report-XXXXXX", victim[100], name[100], other[100], number[100];
    struct stat s;

    ck_assert(mkdtemp(folder));
    snprintf(victim, sizeof victim, "%s/victim", folder);
    snprintf(name, sizeof name, "%s/report.json", folder);
    snprintf(number, sizeof number, "%s/report.json.%ld", folder, (long)getpid());
    put_file(victim, "mine\n");
    ck_assert_int_eq(symlink(victim, name), 0);
    ck_assert_int_eq(symlink(victim, number), 0);
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        snprintf(other, sizeof other, "%s/%s", folder, guesses[i]);
        ck_assert_int_eq(symlink(victim, other), 0);
    }
    ck_assert(collopt_report_write(r, name, by("MPI", 1, -1)));
    ck_assert_str_eq(contents(victim), "mine\n");
    ck_assert(lstat(name, &s) == 0 && S_ISREG(s.st_mode));
    ck_assert_ptr_nonnull(strstr(contents(name), "\"collopt\""));
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++) {
        snprintf(other, sizeof other, "%s/%s", folder, guesses[i]);
        unlink(other);
    }
    unlink(number);
    unlink(name);
    unlink(victim);
    ck_assert_msg(rmdir(folder) == 0, "files were left in %s", folder);
    collopt_report_free(r);
}

/* Two jobs with one name: the file always is a whole report of one of them, and nothing else is
 * left. */
TEST(report_of_two_jobs)
{
    struct collopt_report *r = one_rank(1);
    char folder[] = "/tmp/collopt-report-XXXXXX", name[100], *text;
    pid_t job[2];

    ck_assert(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/report.json", folder);
    ck_assert(collopt_report_write(r, name, by("MPI", 1, -1)));
    for (int j = 0; j < 2; j++)
        if ((job[j] = fork()) == 0) {
            bool done = true;

            for (int i = 0; i < 300 && done; i++)
                done = collopt_report_write(
                    r, name, by(j ? "a longer name of an MPI library" : "MPI", 1, -1));
            _exit(!done);
        }
    for (int i = 0; i < 300; i++) {
        text = contents(name);
        ck_assert_msg(text[0] == '{' && strcmp(text + strlen(text) - 2, "}\n") == 0,
                      "half a report: %s", text);
    }
    for (int j = 0; j < 2; j++) {
        int status;

        ck_assert(waitpid(job[j], &status, 0) == job[j]);
        ck_assert_int_eq(status, 0);
    }
    unlink(name);
    ck_assert_msg(rmdir(folder) == 0, "files were left in %s", folder);
    collopt_report_free(r);
}

TEST(report_empty)
{
    struct collopt_report *r = collopt_report_gather(0);
    char name[] = "/tmp/collopt-report-XXXXXX", buffer[1024];
    char *text;

    close(mkstemp(name));
    ck_assert(collopt_report_write(r, name, by("MPICH", 1, -1)));
    text = contents(name);
    ck_assert_msg(strstr(text, "\"run\": [],\n  \"passed\": [],\n  \"learnt\": []\n}\n"), "%s",
                  text);
    ck_assert_uint_le(collopt_report_pack(r, buffer, sizeof buffer), sizeof buffer);
    ck_assert(collopt_report_merge(r, buffer, collopt_report_pack(r, NULL, 0)));
    unlink(name);
    collopt_report_free(r);
}

static void learn(const char *algorithm, double seconds, bool chosen)
{
    struct collopt_tuning_result l = { .collective = COLLOPT_ALLREDUCE,
                                       .ranks = 2,
                                       .nodes = 1,
                                       .ppn = 2,
                                       .size_class = 13,
                                       .kind = COLLOPT_KIND_EXACT,
                                       .samples = 1,
                                       .chosen = chosen,
                                       .time = nanoseconds(seconds) };

    snprintf(l.algorithm, sizeof l.algorithm, "%s", algorithm);
    collopt_tuning_result_add(&l);
}

/* A tuning result that two ranks report is one communicator's. */
TEST(report_of_lessons)
{
    char buffer[4096], name[] = "/tmp/collopt-report-XXXXXX", *text;
    struct collopt_report *r;

    close(mkstemp(name));
    learn("host", 0.5, false);
    learn("ring", 0.25, true);
    r = collopt_report_gather(0);
    ck_assert(collopt_report_merge(r, buffer, collopt_report_pack(r, buffer, sizeof buffer)));
    ck_assert(collopt_report_write(r, name, by("MPICH", 2, -1)));
    text = contents(name);
    ck_assert_msg(
        strstr(
            text,
            "  \"learnt\": [\n"
            "    {\"collective\": \"allreduce\", \"ranks\": 2, \"nodes\": 1, \"ppn\": 2, \"op\": "
            "\"exact\", "
            "\"uneven\": false, \"bytes_from\": 4097, \"bytes_to\": 8192, \"algorithm\": \"ring\", "
            "\"seconds\": 0.25, \"communicators\": 1, \"chosen\": 1},\n"
            "    {\"collective\": \"allreduce\", \"ranks\": 2, \"nodes\": 1, \"ppn\": 2, \"op\": "
            "\"exact\", "
            "\"uneven\": false, \"bytes_from\": 4097, \"bytes_to\": 8192, \"algorithm\": \"host\", "
            "\"seconds\": 0.5, \"communicators\": 1, \"chosen\": 0}\n  ]\n}\n"),
        "%s", text);
    ck_assert(collopt_report_rules(r, name));
    text = contents(name);
    ck_assert_msg(
        strstr(text,
               "  4097-8K           exact           ring  # 250000.00 us, host 500000.00 us\n"),
        "%s", text);
    unlink(name);
    collopt_report_free(r);
}

/* 600 ranks: three of them in each share, which is on one host or on none that can be named. */
TEST(report_by_rank)
{
    char buffer[4096], name[] = "/tmp/collopt-report-XXXXXX", *text;
    struct collopt_report *all = NULL;

    close(mkstemp(name));
    collopt_reset_sums();
    for (int rank = 599; rank >= 0; rank--) {
        struct collopt_report *r = collopt_report_gather(nanoseconds(rank + 1));

        collopt_report_of_rank(r, rank, 600, rank < 301 ? "left" : "right");
        if (all) {
            ck_assert(
                collopt_report_merge(all, buffer, collopt_report_pack(r, buffer, sizeof buffer)));
            collopt_report_free(r);
        } else {
            all = r;
        }
    }
    ck_assert(collopt_report_write(all, name, by("MPICH", 600, -1)));
    text = contents(name);
    ck_assert_msg(strstr(text, "  \"by_rank\": [\n"
                               "    {\"ranks_from\": 0, \"ranks_to\": 2, \"host\": \"left\", "
                               "\"seconds\": {\"min\": 1, \"mean\": 2, \"max\": 3}, "
                               "\"reductions\": {\"min\": 0, \"mean\": 0, \"max\": 0}},\n"
                               "    {\"ranks_from\": 3, \"ranks_to\": 5, "), "%s", text);
    ck_assert_msg(strstr(text, "{\"ranks_from\": 300, \"ranks_to\": 302, \"host\": null, "), "%s",
                  text);
    ck_assert_msg(strstr(text,
                         "{\"ranks_from\": 597, \"ranks_to\": 599, \"host\": \"right\", "
                         "\"seconds\": {\"min\": 598, \"mean\": 599, \"max\": 600}, "),
                  "%s", text);
    unlink(name);
    collopt_report_free(all);
}

/* Every rank has one share, and there are never more than COLLOPT_SHARES. */
TEST(share_bounds)
{
    static const int sizes[] = { 1, 2, 255, 256, 257, 511, 512, 513, 1000, 65537, INT_MAX };

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct collopt_share s = { .to = (uint64_t)-1 };
        uint64_t next = 0;
        int n = 0;

        while (next < (uint64_t)sizes[i]) {
            collopt_share_bounds(&s, (int)next, sizes[i]);
            ck_assert_msg(s.from == next && s.to >= next && s.to < (uint64_t)sizes[i],
                          "rank %d of %d", (int)next, sizes[i]);
            collopt_share_bounds(&s, (int)s.to, sizes[i]);
            ck_assert_msg(s.from == next, "rank %d of %d", (int)s.to, sizes[i]);
            next = s.to + 1;
            n++;
        }
        ck_assert_msg(n <= COLLOPT_SHARES && (sizes[i] > COLLOPT_SHARES || n == sizes[i]),
                      "%d shares of %d ranks", n, sizes[i]);
    }
}

TEST(report_bytes_refused)
{
    struct collopt_report *r;
    char good[4096], bad[4096];
    size_t n, before;

    learn("ring", 0.25, true);
    r = one_rank(1);
    collopt_report_of_rank(r, 0, 1, "host");
    n = before = collopt_report_pack(r, good, sizeof good);
    ck_assert_uint_le(n, sizeof good);
    for (size_t k = 0; k < n; k++)
        ck_assert_msg(!collopt_report_merge(r, good, k), "%zu of %zu bytes", k, n);
    ck_assert(!collopt_report_merge(r, good, n + 8));
    for (int i = 0; i < 20000; i++) {
        struct collopt_report *copy = one_rank(1);

        memcpy(bad, good, n);
        bad[test_random((unsigned)n)] = (char)test_random(256);
        bad[test_random(72)] ^= (char)(1 << test_random(8));
        collopt_report_merge(copy, bad, n);
        collopt_report_free(copy);
    }
    ck_assert_uint_eq(collopt_report_pack(r, NULL, 0), before);
    collopt_report_free(r);
}

TEST(report_table)
{
    struct collopt_report *r = one_rank(1);
    char name[] = "/tmp/collopt-report-XXXXXX";
    int file = mkstemp(name), saved = dup(STDERR_FILENO);
    bool done;
    char *text;

    dup2(file, STDERR_FILENO);
    done = collopt_report_write(r, "stderr", by("MPICH Version:\t4.0.2\nMPICH Release", 4, -1));
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(file);
    ck_assert(done);
    text = contents(name);
    unlink(name);
    ck_assert_msg(strstr(text,
                         "on MPICH 4.0.2\ncollopt: all 4 ranks\n"
                         "  reductions took 3.375000 of 10.000000 s (33.8%) in the mean of the "
                         "ranks, 3.375000 s at "
                         "most\n"),
                  "%s", text);
    ck_assert_msg(
        strstr(text,
               "allreduce            ring                               1M            2      1"),
        "%s", text);
    ck_assert_msg(strstr(text, "MPI_Iallreduce           not in shared memory"), "%s", text);
    ck_assert_msg(strstr(text,
                         "MPI_Allreduce            switched off                              8     "
                         "   2      1    0.250000"
                         "    0.250000    0.250000\n"),
                  "%s", text);
    collopt_report_free(r);
}

#ifdef COLLOPT_HAVE_JANSSON
/* The report as another program reads it. */
TEST(report_read_back)
{
    struct collopt_report *r = one_rank(0.1);
    char name[] = "/tmp/collopt-report-XXXXXX";
    const char *collective, *algorithm, *mpi;
    json_int_t from, to, ranks, calls;
    double least, mean, most;
    json_error_t error;
    json_t *report;

    close(mkstemp(name));
    ck_assert(collopt_report_write(r, name, by("MPI \"\\\x01\xff\t\xc3\xbc", 1, -1)));
    report = json_load_file(name, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(report, "line %d: %s", error.line, error.text);
    ck_assert_msg(
        !json_unpack_ex(report, &error, 0,
                        "{s:s, s:i, s:b, s:[{}, {s:s, s:s, s:I, s:I, s:I, s:{s:F, s:F, s:F}}]}",
                        "mpi", &mpi, "ranks", &(int){ 0 }, "combined", &(int){ 0 }, "run",
                        "collective", &collective, "algorithm", &algorithm, "bytes_from", &from,
                        "bytes_to", &to, "calls", &calls, "seconds", "min", &least, "mean", &mean,
                        "max", &most),
        "%s", error.text);
    ck_assert_str_eq(mpi, "MPI \"\\\x01\xc3\xbf\t\xc3\xbc");
    ck_assert_str_eq(collective, "allreduce");
    ck_assert_str_eq(algorithm, "ring");
    ck_assert_int_eq(from, (1 << 19) + 1);
    ck_assert_int_eq(to, 1 << 20);
    ck_assert_int_eq(calls, 2);
    ck_assert(fabs(least - 0.3) < 1e-8 && fabs(mean - 0.3) < 1e-8 && fabs(most - 0.3) < 1e-8);
    ck_assert(!json_unpack_ex(report, &error, 0, "{s:[{}, {}, {s:s, s:I, s:I}]}", "passed", "name",
                              &mpi, "calls", &calls, "ranks", &ranks));
    ck_assert_str_eq(mpi, "MPI_Iallreduce");
    ck_assert_int_eq(calls, 3);
    ck_assert_int_eq(ranks, 1);
    json_decref(report);
    unlink(name);
    collopt_report_free(r);
}
#endif

/* ---- JSON ------------------------------------------------------------------------------------ */

TEST(json_texts)
{
    static const struct {
        const char *text, *quoted;
    } all[] = {
        { "a\"b\\c/", "\"a\\\"b\\\\c/\"\n" },
        { "\t\x01\x7f", "\"\\u0009\\u0001\\u007f\"\n" },
        { "gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"\n" },
        { "\xfc", "\"\\u00fc\"\n" },
        { "\xc3", "\"\\u00c3\"\n" },
        { "\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"\n" },
        { "\xed\xa0\x80", "\"\\u00ed\\u00a0\\u0080\"\n" },
        { "\xc0\x80", "\"\\u00c0\\u0080\"\n" },
        { "\xe2\x82", "\"\\u00e2\\u0082\"\n" },
        { "", "\"\"\n" },
    };

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *text;
        size_t n;
        struct collopt_json j = { .to = open_memstream(&text, &n) };

        collopt_json_text(&j, NULL, all[i].text);
        putc('\n', j.to);
        fclose(j.to);
        ck_assert_str_eq(text, all[i].quoted);
        free(text);
    }
}

TEST(json_numbers)
{
    char *text;
    size_t n;
    struct collopt_json j = { .to = open_memstream(&text, &n) };

    collopt_json_array(&j, NULL);
    collopt_json_real(&j, NULL, 1e-7);
    collopt_json_real(&j, NULL, (double)NAN);
    collopt_json_real(&j, NULL, -(double)INFINITY);
    collopt_json_real(&j, NULL, -1.5e300);
    collopt_json_count(&j, NULL, UINT64_C(1) << 62);
    collopt_json_flag(&j, NULL, false);
    collopt_json_text(&j, NULL, NULL);
    collopt_json_end(&j);
    fclose(j.to);
    ck_assert_str_eq(text,
                     "[\n  1e-07,\n  null,\n  null,\n  -1.5e+300,\n  4611686018427387904,\n  "
                     "false,\n  null\n]\n");
    free(text);
}

int main(void)
{
    return suite_run("counters");
}
