/* Defaults of parameters, computed from the problem for a machine of today.
 *
 * A pipeline of S segments over HOPS hops takes (hops + S) (alpha + (beta + gamma) m / S), least at
 * S^2 = hops m (beta + gamma) / alpha, that is for segments of s bytes with s^2 hops (beta + gamma) = m alpha.  Powers of
 * two, so that a small change of the count does not change a schedule. */
#include "config.h"

#include "algorithm.h"

static const double alpha = 1e-6;       /* seconds per message */
static const double beta = 0.1e-9;      /* seconds per byte sent */
static const double gamma_ = 0.05e-9;   /* seconds per byte combined */
static const double overhead = 0.25e-6; /* seconds a message keeps its rank busy, of its latency */

enum { LEAST_SEGMENT = 1024, WINDOW_BYTES = 1 << 20, LEAST_WINDOW = 2, MOST_WINDOW = 16 };

size_t collopt_preset_segment(double hops, double bytes, bool combined)
{
    double per_byte = beta + (combined ? gamma_ : 0), segment = LEAST_SEGMENT;

    while (segment < bytes && segment * segment * hops * per_byte < bytes * alpha)
        segment *= 2;
    return (size_t)segment;
}

double collopt_preset_levels(int levels, int messages, double bytes)
{
    return levels * (alpha - overhead) + messages * (overhead + (beta + gamma_) * bytes);
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

    return window < LEAST_WINDOW ? LEAST_WINDOW : window > MOST_WINDOW ? MOST_WINDOW : (size_t)window;
}

double collopt_preset_time(const struct collopt_cost *c)
{
    return alpha * c->rounds + beta * c->bytes + gamma_ * c->combined;
}
