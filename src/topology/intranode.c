/* The binding of a process within its node; see intranode.h.
 *
 * hwloc is opened when it is first needed and by no name but its own, so that programs whose
 * ranks are alone on their nodes, or not bound, do not pay for it, and that collopt runs where
 * it is not installed.  Only processors, cores, caches, memory, and whatever may have memory of
 * its own are looked for: devices, and what the x86 instructions say, would take six times as
 * long. */
#include "config.h"

#include "topology/intranode.h"
#include "topology/topology.h"

#include <stddef.h>

enum { NUMA_BITS = 8, CACHE_BITS = 11, CORE_BITS = 12 };

static const struct collopt_spot nowhere = { -1, -1, -1 };

#ifdef COLLOPT_HAVE_HWLOC

#include <dlfcn.h>
#include <hwloc.h>
#include <pthread.h>
#include <sys/auxv.h>

#define FUNCTIONS(X) \
    X(hwloc_get_api_version) X(hwloc_topology_init) X(hwloc_topology_destroy) \
    X(hwloc_topology_load) X(hwloc_topology_set_components) \
    X(hwloc_topology_set_all_types_filter) X(hwloc_topology_set_cache_types_filter) \
    X(hwloc_topology_set_type_filter) X(hwloc_get_type_depth) X(hwloc_get_nbobjs_by_depth) \
    X(hwloc_get_obj_by_depth) X(hwloc_bitmap_alloc) X(hwloc_bitmap_free) X(hwloc_bitmap_set) \
    X(hwloc_bitmap_iszero) X(hwloc_bitmap_isincluded)

#define POINTER(f) static __typeof__(f) *p_##f;
FUNCTIONS(POINTER)

static hwloc_topology_t topology;       /* NULL: not known */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The library that the headers belong to, by the number that its ABI has. It reads files and opens
 * plugins that the environment names, which a privileged process must not. */
static void *open_hwloc(void)
{
    if (getauxval(AT_SECURE))
        return NULL;
    return HWLOC_API_VERSION >> 16 == 2 ? dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL) : NULL;
}

static bool find_functions(void)
{
    void *library = open_hwloc();
    bool found = library != NULL;

#define FIND(f) found = found && (p_##f = (__typeof__(f) *)dlsym(library, #f)) != NULL;
    FUNCTIONS(FIND)
    return found && p_hwloc_get_api_version() >> 16 == HWLOC_API_VERSION >> 16;
}

/* Keeps the levels that may have memory.  Without them hwloc may give their memory to the whole
 * machine: that of groups always, that of the others if the machine was recorded as XML. */
static void keep_what_has_memory(hwloc_topology_t t)
{
    static const hwloc_obj_type_t type[] = {
        HWLOC_OBJ_GROUP, HWLOC_OBJ_PACKAGE,
#if HWLOC_API_VERSION >= 0x00020100
        HWLOC_OBJ_DIE,
#endif
    };

    for (size_t i = 0; i < sizeof type / sizeof *type; i++)
        p_hwloc_topology_set_type_filter(t, type[i], HWLOC_TYPE_FILTER_KEEP_STRUCTURE);
}

static void load(void)
{
    hwloc_topology_t t;

    if (!find_functions() || p_hwloc_topology_init(&t))
        return;
    p_hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
    p_hwloc_topology_set_cache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
    p_hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
    keep_what_has_memory(t);
    p_hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
    if (p_hwloc_topology_load(t) == 0)
        topology = t;
    else
        p_hwloc_topology_destroy(t);
}

/* How many objects of TYPE there are, at DEPTH. */
static unsigned objects(hwloc_obj_type_t type, int *depth)
{
    *depth = p_hwloc_get_type_depth(topology, type);
    return *depth == HWLOC_TYPE_DEPTH_UNKNOWN || *depth == HWLOC_TYPE_DEPTH_MULTIPLE
        ? 0
        : p_hwloc_get_nbobjs_by_depth(topology, *depth);
}

/* The number of the object of TYPE that has all of SET; -1: none. */
static int object_of(hwloc_obj_type_t type, hwloc_const_cpuset_t set)
{
    int depth;
    unsigned n = objects(type, &depth);

    for (unsigned i = 0; i < n; i++)
        if (p_hwloc_bitmap_isincluded(set, p_hwloc_get_obj_by_depth(topology, depth, i)->cpuset))
            return (int)i;
    return -1;
}

static hwloc_obj_type_t last_cache(void)
{
    static const hwloc_obj_type_t level[] = { HWLOC_OBJ_L5CACHE, HWLOC_OBJ_L4CACHE,
                                              HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE };
    int i = 0, depth;

    while (i < 3 && objects(level[i], &depth) == 0)
        i++;
    return level[i];
}

struct collopt_spot collopt_spot(const unsigned long long mask[COLLOPT_MASK_WORDS])
{
    struct collopt_spot spot = nowhere;
    hwloc_bitmap_t set;

    pthread_once(&once, load);
    if (!topology || !(set = p_hwloc_bitmap_alloc()))
        return nowhere;
    for (unsigned i = 0; i < COLLOPT_MASK_WORDS * 64; i++)
        if (mask[i / 64] >> i % 64 & 1)
            p_hwloc_bitmap_set(set, i);
    if (!p_hwloc_bitmap_iszero(set))
        spot =
            (struct collopt_spot){ object_of(HWLOC_OBJ_NUMANODE, set), object_of(last_cache(), set),
                                   object_of(HWLOC_OBJ_CORE, set) };
    p_hwloc_bitmap_free(set);
    return spot;
}

#else

struct collopt_spot collopt_spot(const unsigned long long mask[COLLOPT_MASK_WORDS])
{
    (void)mask;
    return nowhere;
}

#endif

/* ---- in few bits ----------------------------------------------------------------------------- */

/* N + 1 in so many BITS; 0: not known. */
static int fit(int n, int bits)
{
    return n >= 0 && n + 1 < 1 << bits ? n + 1 : 0;
}

int collopt_pack_spot(struct collopt_spot s)
{
    return (fit(s.numa, NUMA_BITS) << CACHE_BITS | fit(s.cache, CACHE_BITS)) << CORE_BITS
        | fit(s.core, CORE_BITS);
}

struct collopt_spot collopt_packed_spot(int packed)
{
    return (struct collopt_spot){ (packed >> (CACHE_BITS + CORE_BITS)) - 1,
                                  (packed >> CORE_BITS & ((1 << CACHE_BITS) - 1)) - 1,
                                  (packed & ((1 << CORE_BITS) - 1)) - 1 };
}

bool collopt_spot_key(int packed, int node, enum collopt_grouping by, uint64_t *key)
{
    struct collopt_spot spot = collopt_packed_spot(packed);
    int n = by == COLLOPT_BY_NUMA ? spot.numa : by == COLLOPT_BY_CACHE ? spot.cache : spot.core;

    *key = (uint64_t)node << 32 | (uint32_t)(n + 1);    /* 0 if it is alone: no other process of the
                                                         * node has 0 */
    return n >= 0 || packed == COLLOPT_ALONE;
}
