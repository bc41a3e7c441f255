/* The catalogue as a whole: what descriptors say of themselves. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "schedule.h"

/* One cell of the tables that are made from the descriptors. */
static void fits(const struct collopt_algorithm *a, const char *field, const char *text, size_t most)
{
    const char *c = collopt_collective_names[a->collective];

    ck_assert_msg(text && *text, "%s %s says nothing in .%s", c, a->name, field);
    ck_assert_msg(strlen(text) <= most, "%s %s: .%s is longer than %zu: %s", c, a->name, field, most, text);
    ck_assert_msg(!text[strcspn(text, "|\n\t")], "%s %s: .%s would break a table: %s", c, a->name, field, text);
    ck_assert_msg(text[0] != ' ' && !strchr(" .", text[strlen(text) - 1]), "%s %s: .%s is a part of a sentence: \"%s\"", c,
                  a->name, field, text);
}

static void parameter_is_complete(const struct collopt_algorithm *a, const struct collopt_parameter *p)
{
    fits(a, "parameter.name", p->name, 20);
    fits(a, "parameter.help", p->help, 80);
    ck_assert_msg(p->preset, "%s %s: %s has no preset", collopt_collective_names[a->collective], a->name, p->name);
    ck_assert_msg(p->least <= p->most, "%s %s: %s has no range", collopt_collective_names[a->collective], a->name, p->name);
}

START_TEST(descriptors_are_complete)
{
    const struct collopt_algorithm *a = collopt_algorithms[_i];

    fits(a, "name", a->name, 24);
    fits(a, "summary", a->summary, 96);
    fits(a, "rounds", a->rounds, 64);
    fits(a, "bytes", a->bytes, 64);
    fits(a, "when", a->when, 64);
    fits(a, "source", a->source, 100);
    ck_assert_ptr_nonnull(a->cost);
    ck_assert_ptr_nonnull(a->build);
    ck_assert_msg(!a->usable == !a->unfit, "%s refuses and does not say why, or the other way round", a->name);
    for (int i = 0; i < COLLOPT_PARAMETERS && a->parameter[i].name; i++)
        parameter_is_complete(a, &a->parameter[i]);
}
END_TEST

START_TEST(names_are_unique)
{
    for (int i = 0; collopt_algorithms[i]; i++)
        ck_assert_ptr_eq(collopt_algorithms[i], collopt_algorithm_named(collopt_algorithms[i]->collective,
                                                                        collopt_algorithms[i]->name,
                                                                        strlen(collopt_algorithms[i]->name)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("catalogue");
    TCase *says = tcase_create("says");
    int algorithms = 0, failed;

    while (collopt_algorithms[algorithms])
        algorithms++;
    tcase_add_loop_test(says, descriptors_are_complete, 0, algorithms);
    tcase_add_test(says, names_are_unique);
    suite_add_tcase(suite, says);

    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
