/* Files of rules and machines that no variable names: which one of several is used, and how that is
 * kept from happening. */
#include "config.h"

#include "settings/rules.h"
#include "settings/search_path.h"
#include "settings/settings.h"
#include "settings/bundled.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *collopt_host_name = "openmpi";      /* as in a backend */
const char *collopt_host_version = "Open MPI v4.1.4, package: Debian";

static char root[] = "/tmp/collopt-places-XXXXXX", config[64], directory[96], said[1024];

static void note(const char *sentence)
{
    snprintf(said, sizeof said, "%s", sentence);
}

static void make_directory(void)
{
    ck_assert(mkdtemp(root));
    snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s", root);
    snprintf(directory, sizeof directory, "%s/collopt", root);
    ck_assert(mkdir(directory, 0700) == 0);
}

static char *put(const char *name, const char *text)
{
    static char path[512];
    FILE *to;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    to = fopen(path, "w");
    ck_assert(to && fputs(text, to) >= 0 && fclose(to) == 0);
    return path;
}

static void drop(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    ck_assert(unlink(path) == 0);
}

static int read_with(struct collopt_settings *s, const char *more)
{
    char *environment[] = { config, (char *)more, NULL };

    said[0] = '\0';
    return collopt_settings_from(s, environment, note);
}

static const char machine[] = "net.latency = 1 us\n";

/* The more is said of where it holds, the sooner. */
TEST(order)
{
    char processor[200], own[300], path[512];
    char *environment[] = { config, NULL };

    make_directory();
    collopt_processor(processor, sizeof processor);
    snprintf(own, sizeof own, "openmpi-%s.machine", processor);
    ck_assert(!collopt_default_file(environment, "openmpi", "machine", path, sizeof path));
    put("site.machine", machine);
    ck_assert(collopt_default_file(environment, "mpich", "machine", path, sizeof path)
              && strstr(path, "/site.machine"));
    put("openmpi.machine", machine);
    ck_assert(collopt_default_file(environment, "openmpi", "machine", path, sizeof path)
              && strstr(path, "/openmpi.machine"));
    ck_assert(collopt_default_file(environment, "mpich", "machine", path, sizeof path)
              && strstr(path, "/site.machine"));
    put(own, machine);
    ck_assert(collopt_default_file(environment, "openmpi", "machine", path, sizeof path)
              && strcmp(strrchr(path, '/') + 1, own) == 0);
    ck_assert(!collopt_default_file(environment, "openmpi", "rules", path, sizeof path));
    ck_assert(!collopt_default_file(environment, "smpi", "machine", path, sizeof path));
    ck_assert(!collopt_default_file(environment, "", "machine", path, sizeof path));
    drop(own);
    drop("openmpi.machine");
    drop("site.machine");
}

TEST(directories)
{
    char path[512];
    char *home[] = { "HOME=/home/ann", NULL },
         *both[] = { "HOME=/home/ann", "XDG_CONFIG_HOME=/c", NULL },
         *relative[] = { "HOME=ann", "XDG_CONFIG_HOME=c", NULL };

    ck_assert(collopt_users_directory(home, path, sizeof path)
              && strcmp(path, "/home/ann/.config/collopt") == 0);
    ck_assert(collopt_users_directory(both, path, sizeof path) && strcmp(path, "/c/collopt") == 0);
    ck_assert(!collopt_users_directory(relative, path, sizeof path)
              && !collopt_users_directory(NULL, path, sizeof path));
    ck_assert_str_eq(collopt_system_directory() + strlen(collopt_system_directory()) - 8,
                     "/collopt");
}

TEST(processors)
{
    char word[64];

    collopt_processor_word(" Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\n", word, sizeof word);
    ck_assert_str_eq(word, "intel-r-xeon-r-gold-6130-cpu-2-10ghz");
    collopt_processor_word("arm 0xd0c", word, sizeof word);
    ck_assert_str_eq(word, "arm-0xd0c");
    collopt_processor_word("../..", word, sizeof word);
    ck_assert_str_eq(word, "");
    collopt_processor_word("abcdef", word, 4);
    ck_assert_str_eq(word, "abc");
}

/* A variable goes before it; a mistake is told like that of a file that was named. */
TEST(settings)
{
    struct collopt_settings s, plain;
    char named[600];

    make_directory();
    ck_assert_int_eq(read_with(&plain, NULL), 0);
    ck_assert(!plain.rules && !plain.machine);
    put("openmpi.rules", "* * * * * * host\n");
    put("site.machine", machine);
    ck_assert_int_eq(read_with(&s, NULL), 0);
    ck_assert_msg(s.rules && s.rules->n == 1 && s.machine && s.hash != plain.hash, "%s", said);
    ck_assert(s.rules_file && strstr(s.rules_file, "/openmpi.rules")
              && strstr(s.machine_file, "/site.machine"));
    ck_assert_int_eq(read_with(&s, "COLLOPT_RULES=none"), 0);
    ck_assert(!s.rules && !s.rules_file && s.machine);
    snprintf(named, sizeof named, "COLLOPT_RULES=%s",
             put("mine", "scan * * * * * host\n* * * * * * auto\n"));
    ck_assert_int_eq(read_with(&s, named), 0);
    ck_assert(s.rules && s.rules->n == 2);
    /* nobody has asked for rules */
    ck_assert_int_eq(read_with(&s, "COLLOPT_REPRODUCIBLE=placement"), 0);
    put("site.machine", "net.latncy = 1 us\n");
    ck_assert_int_eq(read_with(&s, NULL), 1);
    ck_assert(!s.machine && s.rules);
    ck_assert_msg(strstr(said, "a file of machines in a default place is not used: ")
                      && strstr(said, "COLLOPT_MACHINE=none keeps")
                      && strstr(said, "/site.machine:1: ") && strstr(said, "net.latency"),
                  "%s", said);
    drop("mine");
    drop("site.machine");
    drop("openmpi.rules");
}

/* Measurements that come with collopt: for this version and this processor, and nothing else. */
TEST(shipped)
{
    char processor[200], data[128], path[512], name[4][300];
    char *environment[] = { data, NULL };
    struct collopt_settings settings;
    struct collopt_bundled s;

    make_directory();
    snprintf(data, sizeof data, "XDG_DATA_DIRS=/nonexistent:relative:%s", root);
    collopt_processor(processor, sizeof processor);
    snprintf(name[0], sizeof name[0], "openmpi-4.1-%s.rules", processor);
    snprintf(name[1], sizeof name[1], "openmpi-4.0-%s.machine", processor);
    snprintf(name[2], sizeof name[2], "openmpi-4.1-%s-x.machine", processor);
    snprintf(name[3], sizeof name[3], "openmpi-4.1-%s.machine", processor);
    put("openmpi.rules", "* * * * * * host\n");
    ck_assert(!collopt_bundled_file(environment, "openmpi", "rules", path, sizeof path));
    put(name[0], "* * * * * * host\nscan * * oversubscribed * * host\n");
    put(name[1], machine);
    put(name[2], machine);
    ck_assert(collopt_bundled_file(environment, "openmpi", "rules", path, sizeof path)
              && strstr(path, name[0]));
    ck_assert(!collopt_bundled_file(environment, "openmpi", "machine", path, sizeof path));
    ck_assert(!collopt_bundled_file(environment, "mpich", "rules", path, sizeof path));
    ck_assert(!collopt_bundled_file(environment, "smpi", "rules", path, sizeof path));
    collopt_bundled_from(&s, environment, note);
    ck_assert_msg(s.rules && s.rules->n == 2 && !s.machine && s.hash != 0, "%s", said);
    put(name[3], "net.latency = 1 us\nnet.latncy = 2\nnet.latency = 1\n");
    said[0] = '\0';
    collopt_bundled_from(&s, environment, note);
    ck_assert_msg(
        s.rules && !s.machine
            && strstr(said, "a file of measurements that comes with collopt is not used: ")
            && strstr(said, ".machine:2: there is no key") && strstr(said, "; it has 2 mistakes"),
        "%s", said);
    /* a user's file of this name is found before those for any version */
    put("openmpi.machine", machine);
    put(name[3], machine);
    environment[0] = config;
    ck_assert(collopt_default_file(environment, "openmpi", "machine", path, sizeof path)
              && strstr(path, name[3]));
    ck_assert_int_eq(read_with(&settings, NULL), 0);
    ck_assert(settings.machine && !settings.bundled);
    drop(name[3]);
    drop("openmpi.machine");
    ck_assert_int_eq(read_with(&settings, NULL), 0);
    ck_assert(!settings.machine && settings.bundled);
    ck_assert_int_eq(read_with(&settings, "COLLOPT_MACHINE=none"), 0);
    ck_assert(!settings.machine && !settings.bundled);
    for (int i = 0; i < 3; i++)
        drop(name[i]);
    drop("openmpi.rules");
}

static void remove_directory(void)
{
    rmdir(directory);
    rmdir(root);
    strcpy(root + strlen(root) - 6, "XXXXXX");
}

int main(void)
{
    tcase_add_checked_fixture(suite_tests(), NULL, remove_directory);
    return suite_run("places");
}
