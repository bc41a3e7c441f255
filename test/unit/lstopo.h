/* A machine as lstopo records it: hwloc writes what it was described to be, with everything, and
 * collopt reads that.  In a process whose hwloc has not been asked yet. */
#ifndef COLLOPT_TEST_UNIT_LSTOPO_H
#define COLLOPT_TEST_UNIT_LSTOPO_H

#include <check.h>
#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "topology/intranode.h"

static inline void lstopo_records(const char *machine)
{
    FILE *recorded = tmpfile();
    hwloc_topology_t t;
    char name[64];

    ck_assert_ptr_nonnull(recorded);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fileno(recorded));
    ck_assert_int_eq(hwloc_topology_init(&t), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(t, machine), 0);
    ck_assert_int_eq(hwloc_topology_set_all_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL), 0);
    ck_assert_int_eq(hwloc_topology_load(t), 0);
    ck_assert_int_eq(hwloc_topology_export_xml(t, name, 0), 0);
    hwloc_topology_destroy(t);
    setenv("HWLOC_XMLFILE", name, 1);
    collopt_spot((unsigned long long[COLLOPT_MASK_WORDS]){ 0 });        /* reads it */
    fclose(recorded);
}

#endif
