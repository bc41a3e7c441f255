/* Rounds and bytes: the time on two machines, one where a message takes one unit of time however
 * long it is, and one where a byte does and nothing else. See effort.h. */
#include "config.h"

#include "model/machine.h"
#include "model/model.h"
#include "schedule/problem.h"
#include "shared/effort.h"

#define EVERYWHERE(overhead_, byte_) \
    .way = { { .overhead = overhead_, .byte = byte_, .eager = 1e18 }, \
             { .overhead = overhead_, .byte = byte_, .eager = 1e18 }, \
             { .overhead = overhead_, .byte = byte_, .eager = 1e18 } }, .ideal = true

static double on(const struct collopt_machine *m, const struct collopt_algorithm *a,
                 struct collopt_problem p)
{
    p.machine = m;
    return collopt_model(a, &p);
}

struct collopt_effort collopt_effort(const struct collopt_algorithm *a,
                                     const struct collopt_problem *p)
{
    static const struct collopt_machine message = { EVERYWHERE(0.5, 0) },
                                        byte = { EVERYWHERE(0, 1) };
    double vector = vector_bytes(p);

    return (struct collopt_effort){ .rounds = on(&message, a, *p),
                                    .vectors = vector > 0 ? on(&byte, a, *p) / vector : 0 };
}
