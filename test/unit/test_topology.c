/* Shapes of machines by the user's word, the grids that communicators form in them, and what follows for algorithms. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "algorithm.h"
#include "internal.h"

enum { MOST_RANKS = 64 };

static const struct collopt_parameter dims = COLLOPT_DIMS(NULL);

/* "2x4" for a value of "dims"; "" for 0. */
static void dims_text(size_t value, char *text, size_t size)
{
    size_t n = 0;

    *text = '\0';
    for (int d = 0; d < collopt_list_length(&dims, value); d++)
        n += (size_t)snprintf(text + n, size - n, "%s%zu", d ? "x" : "", collopt_list_at(&dims, value, d));
}

static struct collopt_shape shape_of(const char *text)
{
    struct collopt_shape shape;
    char message[256] = "";

    ck_assert_msg(collopt_parse_shape(text, &shape, message, sizeof message), "%s: %s", text, message);
    return shape;
}

START_TEST(shapes_are_read)
{
    struct collopt_shape s = shape_of("torus:8x8x4");

    ck_assert(s.kind == COLLOPT_GRID && s.rings && s.sides == 3 && s.side[0] == 8 && s.side[2] == 4);
    ck_assert_int_eq(collopt_shape_ranks(&s), 256);
    s = shape_of("mesh:16");
    ck_assert(s.kind == COLLOPT_GRID && !s.rings && s.sides == 1 && s.side[0] == 16);
    s = shape_of("nodes:4,4,2");
    ck_assert(s.kind == COLLOPT_NODES_OF && collopt_shape_ranks(&s) == 0);
    ck_assert_str_eq(s.nodes, "4,4,2");
    ck_assert(shape_of("cartesian").kind == COLLOPT_CARTESIAN);
    ck_assert(shape_of(NULL).kind == COLLOPT_AS_FOUND);
}
END_TEST

/* Ranks of the world that form a communicator, as first:last[:step], one behind the other. */
static int take_ranks(const char *text, int *world)
{
    int n = 0;

    while (*text) {
        int first, last, step, used;

        ck_assert_int_eq(sscanf(text, "%d:%d:%d%n", &first, &last, &step, &used), 3);
        for (int r = first; step > 0 ? r <= last : r >= last; r += step)
            world[2 * n++] = r;
        text += used;
        text += *text == ' ';
    }
    return n;
}

static const struct {
    const char *shape, *ranks, *dims;   /* "": no grid */
    unsigned rings;
} boxes[] = {
    { "torus:4x4", "0:15:1", "4x4", 3 },
    { "mesh:4x4", "0:15:1", "4x4", 0 },
    { "torus:4x4", "4:7:1", "4", 1 },                   /* a row */
    { "torus:4x4", "1:13:4", "4", 1 },                  /* a column */
    { "torus:4x4", "5:6:1 9:10:1", "2x2", 0 },          /* a square in the middle has no ends of its own */
    { "torus:4x4", "4:11:1", "2x4", 2 },
    { "torus:4x4", "15:0:-1", "", 0 },                  /* another order */
    { "torus:4x4", "0:6:2", "", 0 },                    /* no box */
    { "torus:4x4", "3:6:1", "", 0 },
    { "torus:4x4", "0:3:1 8:11:1", "", 0 },             /* every other row */
    { "torus:4x4", "5:5:1", "", 0 },
    { "torus:4x4", "0:0:1 0:0:1", "", 0 },
    { "torus:2x3x4", "0:23:1", "2x3x4", 7 },
    { "torus:2x3x4", "12:23:1", "3x4", 3 },
    { "torus:2x1x4", "0:7:1", "2x4", 3 },               /* sides of one are none */
    { "torus:1x1", "0:0:1", "", 0 },
};

START_TEST(boxes_are_found)
{
    struct collopt_topology t = { .nodes = 1 };
    struct collopt_shape shape = shape_of(boxes[_i].shape);
    int world[2 * MOST_RANKS], ranks = take_ranks(boxes[_i].ranks, world);
    char found[64];

    collopt_topology_box(&t, &shape, world, 2, ranks);
    dims_text(t.dims, found, sizeof found);
    ck_assert_msg(strcmp(found, boxes[_i].dims) == 0 && t.rings == boxes[_i].rings, "%s of %s: dims %s, rings %u", boxes[_i].ranks,
                  boxes[_i].shape, found, t.rings);
}
END_TEST

START_TEST(sides_too_long_are_no_grid)
{
    struct collopt_topology t = { .nodes = 1 };

    collopt_topology_grid(&t, 2, (const int[]){ 2, 1024 }, 0);
    ck_assert(t.dims == 0);
    collopt_topology_grid(&t, 3, (const int[]){ 1, 1023, 2 }, 5);
    ck_assert(t.dims == (1023 | 2 << COLLOPT_SIDE_BITS) && t.rings == 2);
}
END_TEST

/* Parameters "dims" take the known grid, where its sides suit the algorithm. */
START_TEST(known_grids_are_presets)
{
    struct collopt_topology t = { .nodes = 1 };
    struct collopt_problem p = { .ranks = 24, .topology = &t };
    char text[64];

    collopt_topology_grid(&t, 3, (const int[]){ 2, 3, 4 }, 0);
    dims_text(collopt_preset_dims(&p, 1), text, sizeof text);
    ck_assert_str_eq(text, "2x3x4");
    dims_text(collopt_preset_dims(&p, 2), text, sizeof text);
    ck_assert_str_eq(text, "6x4");
    collopt_topology_grid(&t, 2, (const int[]){ 2, 12 }, 0);
    dims_text(collopt_preset_dims(&p, 2), text, sizeof text);
    ck_assert_str_eq(text, "2x12");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("topology");
    TCase *tcase = tcase_create("topology");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(tcase, shapes_are_read);
    tcase_add_loop_test(tcase, boxes_are_found, 0, sizeof boxes / sizeof *boxes);
    tcase_add_test(tcase, sides_too_long_are_no_grid);
    tcase_add_test(tcase, known_grids_are_presets);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
