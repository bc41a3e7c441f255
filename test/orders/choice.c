/* Numbers of choices, which threads give and find without a lock. */
#include "catalogue/choice.c"

static const struct collopt_choice first = { .algorithm = (const void *)8, .value = { 1 } },
                                   second = { .algorithm = (const void *)8, .value = { 2 } };
static size_t number[2];

static void begin(void)
{
    memset(block, 0, sizeof block);
    memset(chain, 0, sizeof chain);
    used = 0;
    number[0] = number[1] = 0;
}

static void number_both(void)
{
    number[0] = collopt_choice_number(&first);
    explore_check(collopt_choice_number(&second) != number[0], "two have one number");
}

static void number_second(void)
{
    number[1] = collopt_choice_number(&second);
    explore_check(collopt_choice_numbered(number[1])->value[0] == 2, "a number is another's");
}

/* Numbers reach other threads in choices, and so with what was written before. */
static void look_up(void)
{
    const struct collopt_choice *c = collopt_choice_numbered(1);

    if (c)
        explore_check(c->value[0] == 1 || c->value[0] == 2, "a choice is not whole");
}

static void end(void)
{
    explore_check(number[1] == collopt_choice_number(&second), "one has two numbers");
}

int main(void)
{
    static const struct explore_model models[] = {
        { "numbers of choices", begin, { number_both, number_second, look_up }, end },
        { NULL, NULL, { NULL }, NULL }
    };

    return explore(models);
}
