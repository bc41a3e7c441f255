/* Expressions such as ring:segment=64K: the first byte is the collective, the rest the text.  What
 * is taken is written out, and means the same. */
#include "config.h"

#include "parsers.h"
#include "catalogue/catalogue.h"
#include "catalogue/choice.h"
#include "catalogue/expression.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

static void is_written_back(const struct collopt_choice *choice, enum collopt_collective c)
{
    char text[COLLOPT_CHOICE_TEXT], message[640];
    struct collopt_choice again = { .algorithm = NULL };

    if (collopt_choice_text(choice, text, sizeof text) >= (int)sizeof text)
        wrong("%d bytes do not suffice for %s", COLLOPT_CHOICE_TEXT, text);
    if (!collopt_parse_choice(text, c, &again, message, sizeof message))
        wrong("%s is refused: %s", text, message);
    if (again.algorithm != choice->algorithm
        || (choice->algorithm && memcmp(again.value, choice->value, sizeof again.value)))
        wrong("%s means something else", text);
}

static void use(const struct collopt_choice *choice, enum collopt_collective c)
{
    static const int nodes[] = { 0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3 };
    const char *why = NULL;

    for (int ranks = 2; ranks <= 12; ranks++) {
        struct collopt_topology t = { .nodes = nodes[ranks - 1] + 1, .node = nodes };
        const struct collopt_problem p = { .collective = c, .ranks = ranks,
                                           .count = (size_t)ranks * 100, .size = 8,
                                           .commutative = true, .segments = 1, .topology = &t };

        if (collopt_topology_measure(&t, ranks) && !collopt_choice_usable(choice, &p, &why))
            is_sentence(why);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { data, data + size };
    enum collopt_collective c = (enum collopt_collective)(next_byte(&in) % COLLOPT_COLLECTIVES);
    char *text = text_of(in.at, (size_t)(in.end - in.at)), message[640] = "";
    struct collopt_choice choice = { .algorithm = NULL };

    if (!strchr(text, '\n') && collopt_parse_choice(text, c, &choice, message, sizeof message)) {
        is_written_back(&choice, c);
        use(&choice, c);
    } else if (!strchr(text, '\n')) {
        is_sentence(message);
    }
    free(text);
    return 0;
}
