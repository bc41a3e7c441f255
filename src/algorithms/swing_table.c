/* Swing: which blocks a node hands on in which of ceil(log2 n) steps, for any even number n of
 * nodes on a ring.
 *
 * In step s node r works with r + rho_s if r is even, r - rho_s if it is odd, rho_s = 1, -1, 3, -5,
 * 11, ...: parity alternates, so partners agree. Count from oneself, c = b - r (r even) or r - b
 * (odd): then all nodes look alike, and what a partner calls c is rho_s - c here. The table says
 * for each c in which step the sum for that block is handed on.
 *
 * It is made backwards. R_q = { 0 }, one's own block; R_s = R_(s+1) and its image under c -> rho_s
 * - c. On the circle of the n / 2 pairs { c, 1 - c }, each c in R_s stands for an arc of 2^(s-1)
 * pairs, of which its image in the next step is one half; the arcs cover the circle, and what they
 * cover twice lies in one place, between the last arc and the first. When it is as long as half an
 * arc, the image that lies all in it is left out (one of the two halves there always is an image:
 * neighbours differ in parity but for those two, by which it goes, image above or below, with
 * parity and step). So |R_s| = ceil(n / 2^s): a step hands on half of what is held, rounded down,
 * as on a circulant graph.
 *
 * Bine's negabinary windows are this table where n is a power of two. */
#include "config.h"

#include "algorithm.h"

int collopt_swing_distance(int step)
{
    int d = 1;

    for (int s = 1; s <= step; s++)
        d = 1 - 2 * d;
    return d;
}

int collopt_swing_held(int nodes, int step)
{
    return (int)(((long)nodes + (1L << step) - 1) >> step);
}

/* Doubles the N arcs of TILE, in their order on the circle, and leaves out what is twice; NEXT gets
 * them. */
static void halve_arcs(int nodes, int s, const int *tile, int n, int *next, unsigned char *step)
{
    int held = collopt_swing_held(nodes, s), kept = 0, distance = collopt_swing_distance(s);

    for (int i = 0; i < n; i++) {
        int c = tile[i], image = modulo(distance - c, nodes);
        bool above = (c % 2 == 0) == (s % 2 == 1);
        bool left_out = held < 2 * n && (above ? i == n - 1 && kept == held - 1 : i == 0);

        if (!left_out)
            step[image] = (unsigned char)s;
        if (!above && !left_out)
            next[kept++] = image;
        next[kept++] = c;
        if (above && !left_out)
            next[kept++] = image;
    }
}

void collopt_swing_table(int nodes, unsigned char *step, int *work)
{
    int *tile = work, *next = work + nodes, steps = log2_ceil(nodes);

    tile[0] = 0;
    step[0] = (unsigned char)steps;
    for (int k = steps - 1; k >= 0; k--) {
        int *swap = tile;

        halve_arcs(nodes, k, tile, collopt_swing_held(nodes, k + 1), next, step);
        tile = next;
        next = swap;
    }
}

/* Negabinary digits of c, from neighbouring ones the steps of which c is the alternating sum of
 * distances, lowest step first. */
int collopt_swing_position(int nodes, int node)
{
    const unsigned mask = 0xaaaaaaaau;
    int steps = log2_floor(nodes), c = node % 2 ? node : -node, position = 0;
    unsigned most = ~mask & (unsigned)(nodes - 1), digits;

    if (c > (int)most)
        c -= nodes;
    if (c < (int)most - nodes + 1)
        c += nodes;
    digits = ((unsigned)c + mask) ^ mask;
    digits ^= digits >> 1;
    for (int s = 0; s < steps; s++)
        position = position << 1 | (int)(digits >> s & 1);
    return position;
}
