/* Numbered choices: there is room for any number of them, decisions do not depend on how many there
 * were before, and a rank without memory knows that it may have decided alone.  Linked with --wrap
 * for malloc and calloc. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "model/machine.h"
#include "schedule/problem.h"
#include "topology/topology.h"
#include "suite.h"

enum { MANY = 20000, RANKS = 32, EACH = 8, TEXTS = COLLOPT_COLLECTIVES * COLLOPT_CHOICE_TEXT };

static bool no_memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return no_memory ? NULL : __real_calloc(n, size);
}

static struct collopt_choice nth(size_t i)
{
    return (struct collopt_choice){ .algorithm = collopt_algorithms[i % 7], .value = { i, i / 3 } };
}

TEST(numbers_do_not_run_out)
{
    static size_t number[MANY];

    for (size_t i = 0; i < MANY; i++) {
        struct collopt_choice c = nth(i);

        number[i] = collopt_choice_number(&c);
        ck_assert_msg(number[i] != 0, "choice %zu has no number", i);
    }
    for (size_t i = 0; i < MANY; i++) {
        struct collopt_choice c = nth(i);
        const struct collopt_choice *found = collopt_choice_numbered(number[i]);

        ck_assert_msg(collopt_choice_number(&c) == number[i],
                      "choice %zu has another number when asked again", i);
        ck_assert_msg(found && found->algorithm == c.algorithm
                          && !memcmp(found->value, c.value, sizeof c.value),
                      "number %zu is not choice %zu", number[i], i);
    }
    ck_assert_ptr_null(collopt_choice_numbered(0));
    ck_assert_ptr_null(collopt_choice_numbered(MANY * 10));
    ck_assert_uint_eq(collopt_choice_misses(), 0);
}

/* What a grouped algorithm does of each collective on nodes, whose inner algorithms need
 * numbers. */
static void decide(char text[TEXTS])
{
    int node[RANKS];
    struct collopt_topology t = { .nodes = RANKS / EACH, .node = node };
    size_t n = 0;

    for (int r = 0; r < RANKS; r++)
        node[r] = r / EACH;
    ck_assert(collopt_topology_measure(&t, RANKS));
    memset(text, 0, TEXTS);
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++) {
        struct collopt_problem p = { .collective = (enum collopt_collective)c,
                                     .ranks = RANKS,
                                     .count = 1000 * RANKS,
                                     .size = 8,
                                     .commutative = true,
                                     .exact = true,
                                     .segments = 1,
                                     .topology = &t,
                                     .machine = &collopt_bundled_machines[COLLOPT_TCP] };
        struct collopt_choice choice = { .algorithm = collopt_algorithm_named(
                                             p.collective, "leader", strlen("leader")) };

        if (!choice.algorithm)
            continue;
        collopt_set_parameters(&p, &choice);
        memcpy(choice.value, p.value, sizeof choice.value);
        n += (size_t)collopt_choice_text(&choice, text + n, TEXTS - n);
    }
}

static void decide_in_a_child(size_t before, char text[TEXTS])
{
    int pipes[2], status;
    pid_t child;

    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        for (size_t i = 0; i < before; i++) {
            struct collopt_choice c = nth(i);

            collopt_choice_number(&c);
        }
        decide(text);
        _exit(write(pipes[1], text, TEXTS) != TEXTS);
    }
    close(pipes[1]);
    ck_assert_int_eq(read(pipes[0], text, TEXTS), TEXTS);
    close(pipes[0]);
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
}

TEST(history_does_not_decide)
{
    static char young[TEXTS], old[TEXTS];

    decide_in_a_child(0, young);
    decide_in_a_child(MANY, old);
    ck_assert_msg(strchr(young, '(') != NULL, "nothing was nested: %s", young);
    ck_assert_str_eq(young, old);
}

TEST(a_lack_of_memory_is_known)
{
    struct collopt_choice c = { .algorithm = collopt_algorithms[0], .value = { 7, 7, 7, 7 } };
    size_t number;

    no_memory = true;
    number = collopt_choice_number(&c);
    no_memory = false;
    ck_assert_uint_eq(number, 0);
    ck_assert_uint_eq(collopt_choice_misses(), 1);
    ck_assert_uint_ne(collopt_choice_number(&c), 0);
    ck_assert_uint_eq(collopt_choice_misses(), 1);
}

int main(void)
{
    return suite_run("choice");
}
