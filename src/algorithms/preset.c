/* Defaults of parameters, computed from the problem and its machine.
 *
 * A pipeline of S segments over HOPS hops takes (hops + S) (alpha + (beta + gamma) m / S), least at
 * S^2 = hops m (beta + gamma) / alpha, that is for segments of s bytes with s^2 hops (beta + gamma)
 * = m alpha. Powers of two, so that a small change of the count does not change a schedule. */
#include "config.h"

#include "algorithm.h"
#include "model/machine.h"
#include "model/model.h"

enum { LEAST_SEGMENT = 1024, WINDOW_BYTES = 1 << 20, LEAST_WINDOW = 2, MOST_WINDOW = 16 };

/* The level on which most messages of a pipeline or a tree travel. */
static const struct collopt_way *way_of(const struct collopt_problem *p)
{
    bool inside = p->abreast == 0 && !p->topology->wired && p->topology->nodes == 1;

    return collopt_way(p, inside ? COLLOPT_INSIDE : COLLOPT_BETWEEN);
}

size_t collopt_preset_segment(const struct collopt_problem *p, double hops, double bytes)
{
    const struct collopt_machine *m = collopt_machine_of(p);
    const struct collopt_way *w = way_of(p);
    double alpha = w->latency + 2 * w->overhead + (p->topology->wired ? m->hop / 2 : 0);
    double per_byte = w->byte + m->combine, segment = LEAST_SEGMENT;

    while (segment < bytes && segment * segment * hops * per_byte < bytes * alpha)
        segment *= 2;
    return (size_t)segment;
}

size_t collopt_preset_segment_chain(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, p->ranks, vector_bytes(p));
}

size_t collopt_preset_segment_tree(const struct collopt_problem *p)
{
    return collopt_preset_segment(p, log2_ceil(p->ranks), vector_bytes(p));
}

size_t collopt_preset_by_model(const struct collopt_algorithm *a, const struct collopt_problem *p,
                               int parameter, int least, int most)
{
    struct collopt_problem with = *p;
    double best = 0;
    int chosen = least;

    for (int value = least; value <= most && least < most; value++) {
        double time;

        with.value[parameter] = (size_t)value;
        time = collopt_model(a, &with);
        if (value == least || time < best * (1 - 1e-9)) {
            best = time;
            chosen = value;
        }
    }
    return (size_t)chosen;
}

size_t collopt_preset_radix(const struct collopt_algorithm *a, const struct collopt_problem *p,
                            int parameter)
{
    return collopt_preset_by_model(a, p, parameter, 2,
                                   most(least(p->ranks, COLLOPT_FOLD_OPERANDS), 2));
}

/* For shorter vectors the messages of several chunks take longer than the overlap gains.
 * Simulated, Allreduce on 64 ranks of a fat tree, of a dragonfly and on four nodes, in one chunk
 * and in two: 32 KiB 11.4 and 13.9, 13.8 and 15.6, 14.4 and 16.7 us; 64 KiB 16.9 and 18.1, 20.2
 * and 19.1, 20.9 and 19.1; 128 KiB 27.7 and 28.0, 32.9 and 30.0, 33.9 and 27.7. */
size_t collopt_preset_chunks(const struct collopt_algorithm *a, const struct collopt_problem *p,
                             int parameter, double *seconds)
{
    static const double differs = 0.97;
    bool apart = p->abreast > 0 || (p->topology->nodes > 1 && !p->topology->wired);
    bool overlap = apart && !collopt_over_tcp(p) && vector_bytes(p) >= COLLOPT_CHUNKS_FROM;
    struct collopt_problem with = *p;
    size_t given = p->value[parameter], chosen = given ? given : 1;
    double only;

    if (!seconds && (given || !overlap))
        return chosen;
    seconds = seconds ? seconds : &only;
    with.value[parameter] = chosen;
    *seconds = collopt_model(a, &with);
    for (size_t chunks = 2; chunks <= COLLOPT_CHUNKS_TRIED && overlap && !given; chunks *= 2) {
        double time;

        with.value[parameter] = chunks;
        time = collopt_model(a, &with);
        if (time < *seconds * differs) {
            *seconds = time;
            chosen = chunks;
        }
    }
    return chosen;
}

/* Where LAMBDA is as many slots as a message takes; slots are as long as a message keeps its
 * receiver busy, or the way to it. */
size_t collopt_preset_lambda(const struct collopt_algorithm *a, const struct collopt_problem *p,
                             int parameter, double bytes)
{
    const struct collopt_machine *m = collopt_machine_of(p);
    const struct collopt_way *w = way_of(p);
    double busy = w->overhead + m->combine * bytes, wire = w->byte * bytes;
    double message = w->latency + 2 * w->overhead + wire + m->combine * bytes
        + (p->topology->wired ? m->hop : 0);
    double lambda = message / (busy > wire ? busy : wire);
    int near = lambda < COLLOPT_MOST_LAMBDA ? (int)lambda : COLLOPT_MOST_LAMBDA;

    return collopt_preset_by_model(a, p, parameter, most(near - 1, 1),
                                   least(most(near + 1, 2), COLLOPT_MOST_LAMBDA));
}

int collopt_segments(const struct collopt_problem *p)
{
    size_t elements = p->value[0] / (p->size ? p->size : 1);
    size_t segments = p->count / (elements ? elements : 1);

    if (elements && p->count % elements)
        segments++;
    if (segments > COLLOPT_MOST_SEGMENTS)
        segments = COLLOPT_MOST_SEGMENTS;
    return segments ? (int)segments : 1;
}

size_t collopt_preset_window(double bytes)
{
    double window = bytes > 0 ? WINDOW_BYTES / bytes : MOST_WINDOW;

    return window < LEAST_WINDOW ? LEAST_WINDOW
        : window > MOST_WINDOW   ? MOST_WINDOW
                                 : (size_t)window;
}
