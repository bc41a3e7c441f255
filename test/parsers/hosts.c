/* Files of hosts (COLLOPT_TOPOLOGY=file:FILE): taken or refused with a message; each host is found
 * by its name, and any ranks on them have a grid that holds them, or none. */
#include "config.h"

#include "parsers.h"
#include "topology/host_file.h"

#include <stdlib.h>

enum { RANKS = 24 };

/* The ranks are on hosts that the first bytes of the file choose. */
static void place(const struct collopt_hosts *h, struct input in, int ranks, int per_host)
{
    struct collopt_topology t = { .nodes = 1 };
    int host[RANKS], first = (int)next_byte(&in) % h->n, step = (int)next_byte(&in) % 5;
    bool several = false;

    for (int r = 0; r < ranks; r++) {
        host[r] = (first + r / per_host * step) % h->n;
        several = several || host[r] != host[0];
    }
    if (collopt_topology_hosts(&t, h, host, 1, ranks) && several
        && (t.dims == 0 || h->shape.kind != COLLOPT_GRID))
        wrong("%d ranks form a grid without sides", ranks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct told told = nothing_told(data, size);
    char *bytes = bytes_of(data, size);
    struct collopt_hosts *h = collopt_hosts_parse("input", bytes, size, hear, &told);

    free(bytes);
    if (!h != (told.n > 0))
        wrong("%s with %d messages", h ? "taken" : "refused", told.n);
    if (!h)
        return 0;
    for (int i = 0; i < h->n; i++) {
        if (collopt_host_named(h, h->host[i].name) != i)
            wrong("%s is host %d", h->host[i].name, collopt_host_named(h, h->host[i].name));
        if (h->shape.kind != COLLOPT_GRID
            && (h->host[i].place < 0 || h->host[i].place >= h->switches))
            wrong("%s is at switch %d of %d", h->host[i].name, h->host[i].place, h->switches);
    }
    for (int per_host = 1; per_host <= 3 && h->n > 0; per_host++)
        for (int ranks = per_host; ranks <= RANKS; ranks += 5)
            place(h, (struct input){ data, data + size }, ranks, per_host);
    collopt_hosts_free(h);
    return 0;
}
