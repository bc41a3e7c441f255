/* collopt-tune: measures under a launcher which algorithms are the fastest, and writes that down as
 * rules; checks files of rules.
 *
 *     collopt-tune [OPTION]... -o FILE [--] mpirun -n 64 ...          collopt-tune --help,
 * collopt-tune(1) */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "model/machine.h"
#include "shared/output.h"
#include "shared/rules_check.h"
#include "settings/rules.h"
#include "tune/cells.h"
#include "tune/guidelines.h"
#include "tune/job.h"
#include "tune/machine.h"
#include "tune/measure.h"
#include "tune/options.h"
#include "tune/picture.h"
#include "tune/rules.h"
#include "tune/summary.h"
#include "tune/text.h"
#include "tune/verify.h"

static void usage(FILE *to)
{
    fputs("Usage: collopt-tune [OPTION]... -o FILE [--] LAUNCHER [OPTION-OF-LAUNCHER]...\n"
          "       collopt-tune --check [--machine FILE] FILE...\n"
          "Measure under a launcher, as in mpirun -n 64, which algorithm is the fastest for which\n"
          "collective, operation and size, and write that as rules for COLLOPT_RULES; or look for\n"
          "mistakes in files of rules.\n"
          "\n"
          "  -o FILE               write the rules to FILE; FILE.part keeps the measurements until "
          "all are\n"
          "                        done\n"
          "      --machine FILE    what messages cost, for COLLOPT_MACHINE: unless given, "
          "site.machine beside\n"
          "                        site.rules\n"
          "      --picture FILE    a heat map of the ratios, .svg or .png, by gnuplot\n"
          "      --collectives LIST\n"
          "                        "
          "reduce,allreduce,reduce_scatter,reduce_scatter_block,scan,exscan:\n"
          "                        all of them unless given\n"
          "      --ops LIST        sum,noncommutative unless given; "
          "prod,user,min,max,maxloc,minloc; all\n"
          "      --sizes LIST      bytes of one rank's vector, 8:64M unless given: SIZE, FROM:TO "
          "(times 4),\n"
          "                        FROM:TO:FACTOR\n"
          "      --ranks LIST      several numbers of ranks, a job for each: LAUNCHER has %n where "
          "they stand,\n"
          "                        as in --ranks 2,4,8 mpirun -n %n\n"
          "      --time TIME       for all, about: 120s unless given; 5m, 1h\n"
          "      --candidates N    algorithms for each cell, 1 to 11, by predicted time: 5 unless "
          "given, and 11\n"
          "                        if time is left\n"
          "      --mpi MPI         openmpi or mpich, if the launcher does not say\n"
          "      --program FILE    the collopt-bench that measures\n"
          "      --progress WHEN   auto, on or off: how far it is, on the standard error output\n"
          "      --verify          in the end compare the rules with the choice without them, in "
          "pairs\n"
          "      --json            print what was found as JSON\n"
          "      --check           check these files; exit status 1 if there is a mistake\n"
          "      --help            print this help\n"
          "      --version         print the version\n"
          "\n"
          "Interrupted (Ctrl-C), the same command goes on with what is missing.\n",
          to);
}

/* ---- --check --------------------------------------------------------------------------------- */

static void tell(void *file, int line, const char *sentence)
{
    if (line > 0)
        fprintf(stderr, "%s:%d: %s\n", (const char *)file, line, sentence);
    else
        fprintf(stderr, "%s: %s\n", (const char *)file, sentence);
}

/* MACHINE: costs of messages, if known; UNREADABLE: they should be, and nothing is predicted. */
static bool check(char *file, const struct collopt_machine_file *machine, bool unreadable)
{
    struct collopt_rules *rules = collopt_rules_read(file, tell, file);
    bool right = rules && collopt_rules_check(rules, tell, file) == 0;

    right = right && (unreadable || tune_hold_rules(rules, machine, tell, file) == 0);
    if (right)
        printf("%s: %d rule%s, no mistakes\n", file, rules->n, rules->n == 1 ? "" : "s");
    collopt_rules_free(rules);
    return right;
}

/* With the machine that lies beside, if one does. */
static bool check_beside(char *file)
{
    char *beside = tune_beside(file);
    bool there = access(beside, F_OK) == 0, right;
    struct collopt_machine_file *machine = there ? collopt_machine_read(beside, tell, beside)
                                                 : NULL;

    right = check(file, machine, there && !machine) && !(there && !machine);
    collopt_machine_free(machine);
    free(beside);
    return right;
}

static int check_all(const struct tune_options *o)
{
    char *given = (char *)(uintptr_t)o->machine;
    struct collopt_machine_file *machine = given ? collopt_machine_read(given, tell, given) : NULL;
    bool right = !given || machine;

    for (int i = 0; i < o->words; i++)
        right = (given ? check(o->word[i], machine, !machine) : check_beside(o->word[i])) && right;
    collopt_machine_free(machine);
    return right ? 0 : TUNE_FAILED;
}

/* ---- tuning ---------------------------------------------------------------------------------- */

/* By what a command is recognized when it is given again: all that its answers depend on. */
static char *key_of(const struct tune_options *o)
{
    char *key = NULL, size[24];
    size_t n;
    FILE *to = tune_must(open_memstream(&key, &n));

    fprintf(to, "%s", VERSION);
    for (int i = 0; i < o->words; i++) {
        fputc(' ', to);
        tune_write_word(o->word[i], to);
    }
    fputs(o->mpi ? " --mpi " : "", to);
    fputs(o->mpi ? o->mpi : "", to);
    fputs(" --sizes ", to);
    for (int i = 0; i < o->sizes; i++) {
        collopt_size_text(o->size[i], size, sizeof size);
        fprintf(to, "%s%s", i ? "," : "", size);
    }
    tune_write_variables(to);
    fclose(to);
    return tune_must(key);
}

static bool some_wrong(const struct tune_cells *all)
{
    for (; all; all = all->next)
        for (int i = 0; i < all->n; i++)
            for (int k = 0; k < all->cell[i].candidates; k++)
                if (all->cell[i].candidate[k].state == TUNE_WRONG)
                    return true;
    return false;
}

static bool some_open(const struct tune_cells *all)
{
    for (; all; all = all->next)
        for (int i = 0; i < all->n; i++)
            if (tune_cell_open(&all->cell[i]))
                return true;
    return false;
}

/* WORD with NUMBER in place of each %n. */
static char *with_number(const char *word, size_t number)
{
    char *text = NULL;
    size_t n;
    FILE *to = tune_must(open_memstream(&text, &n));

    for (; *word; word++)
        if (word[0] == '%' && word[1] == 'n') {
            fprintf(to, "%zu", number);
            word++;
        } else {
            fputc(*word, to);
        }
    fclose(to);
    return tune_must(text);
}

/* What O says of job number I. */
static struct tune_options options_of(const struct tune_options *o, int i)
{
    struct tune_options one = *o;
    char *name = tune_must(malloc(TUNE_PATH));

    one.part = name;
    snprintf(name, TUNE_PATH, "%s.part", o->output);
    if (!o->rankses)
        return one;
    snprintf(name, TUNE_PATH, "%s.%zu.part", o->output, o->ranks[i]);
    one.seconds = o->seconds / o->rankses;
    one.word = tune_must(calloc((size_t)o->words + 1, sizeof *one.word));
    for (int k = 0; k < o->words; k++)
        one.word[k] = with_number(o->word[k], o->ranks[i]);
    return one;
}

/* From the middle to the next lower number up to that to the next higher one, by ratio; not beyond
 * what was measured. */
static void share_ranks(struct tune_cells *all)
{
    for (struct tune_cells *a = all; a && a->next; a = a->next) {
        size_t here = a->machine.most, there = a->next->machine.least, last = here;

        while ((last + 1) * (last + 1) < here * there)
            last++;
        if (here < there) {
            a->machine.most = last;
            a->next->machine.least = last + 1;
        }
    }
}

static int measure_all(struct tune_cells *all, struct tune_options *one,
                       const struct tune_options *o)
{
    int status = 0;

    for (int i = 0; i < (o->rankses ? o->rankses : 1) && status == 0; i++) {
        char *key;

        one[i] = options_of(o, i);
        key = key_of(&one[i]);
        status = tune_measure(&all[i], &one[i], key);
        free(key);
        if (status == TUNE_INTERRUPTED)
            tune_say("interrupted; what was measured is in %s, and the same command goes on with "
                     "the rest",
                     one[i].part);
        if (status == 0 && o->rankses && (size_t)all[i].machine.ranks != o->ranks[i])
            tune_say("%zu ranks were asked for, and there are %d", o->ranks[i],
                     all[i].machine.ranks);
        if (i > 0)
            all[i - 1].next = &all[i];
    }
    return status;
}

static int verify_all(struct tune_cells *all, const struct tune_options *one)
{
    int status = 0;

    for (; all && status == 0; all = all->next)
        status = tune_verify(all, one++);
    return status;
}

/* Is there a directory for FILE, and nothing in its place that is not to be replaced, such as
 * /dev/null or the link /dev/stdout? Known before all is measured. */
static bool has_place(const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    char directory[TUNE_PATH] = ".";
    struct stat is;

    if (file && lstat(file, &is) == 0 && !S_ISREG(is.st_mode)) {
        tune_say("%s is not a file that could be replaced; give the name of one, new or old", file);
        return false;
    }
    if (slash)
        snprintf(directory, sizeof directory, "%.*s/", (int)(slash - file), file);
    if (!file || access(directory, W_OK | X_OK) == 0)
        return true;
    tune_say("%s cannot be written: %s", file, strerror(errno));
    return false;
}

/* Could collopt run nothing of what was asked for? */
static bool all_unfit(const struct tune_cells *all)
{
    int unfit = 0;

    for (; all; all = all->next)
        for (int i = 0; i < all->n; i++)
            for (int k = 0; k < all->cell[i].candidates; k++, unfit++)
                if (all->cell[i].candidate[k].state != TUNE_UNFIT)
                    return false;
    return unfit > 0;
}

static void remove_parts(const struct tune_options *one)
{
    for (int i = 0; i < TUNE_RANKS && one[i].part; i++)
        unlink(one[i].part);
}

static int tune(const struct tune_options *o, int argc, char **argv)
{
    static struct tune_cells all[TUNE_RANKS];
    static struct tune_options one[TUNE_RANKS];
    struct tune_command command = { argc, argv };
    int status;

    if (!has_place(o->output) || !has_place(o->machine) || !has_place(o->picture))
        return TUNE_FAILED;
    status = measure_all(all, one, o);
    share_ranks(all);
    if (status == 0 && all_unfit(all)) {
        tune_say("collopt could run none of the calls, so there are no rules to write; is it kept "
                 "from it, as by COLLOPT_GPU=native or "
                 "COLLOPT_COMMUNICATORS=0?");
        remove_parts(one);
        return TUNE_FAILED;
    }
    if (status == 0 && o->verify)
        status = verify_all(all, one);
    if (status == 0 && tune_slower(all, o)) {
        tune_sum_up(all, o);
        tune_say("no file is written: by these figures the rules would be slower than the choice "
                 "without them, so they are noise; measure again on a quiet machine, with more "
                 "--time");
        remove_parts(one);
        return TUNE_NOISY;
    }
    if (status == 0
        && (!tune_write_machine(all, o, &command) || !tune_write_rules(all, o, &command)))
        status = TUNE_FAILED;
    if (status == 0 && !tune_draw(all, o))
        status = TUNE_FAILED;
    if (status == 0 && !some_open(all))
        remove_parts(one);
    if (status == 0)
        tune_sum_up(all, o);
    return status == 0 && some_wrong(all) ? TUNE_FAILED : status;
}

int main(int argc, char **argv)
{
    struct tune_options o;

    output_guard("collopt-tune", TUNE_FAILED);
    if (!tune_options(&o, argc, argv)) {
        fputs("collopt-tune --help says what it takes\n", stderr);
        return TUNE_USAGE;
    }
    if (o.help) {
        usage(stdout);
        return 0;
    }
    if (o.version) {
        printf("collopt-tune %s\n", VERSION);
        return 0;
    }
    return o.check ? check_all(&o) : tune(&o, argc, argv);
}
