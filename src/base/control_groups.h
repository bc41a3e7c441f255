/* The limits that control groups set for this process.
 *
 * GROUPS names the file that lists them (/proc/self/cgroup), MOUNT is where they are mounted
 * (/sys/fs/cgroup), version 1 or 2.  The limits of the groups around them count as well. */
#ifndef COLLOPT_BASE_CONTROL_GROUPS_H
#define COLLOPT_BASE_CONTROL_GROUPS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of memory.  SIZE_MAX: there is no limit that can be read. */
size_t collopt_group_memory(const char *groups, const char *mount);

struct collopt_quota {
    size_t processors;          /* as much time as so many have, rounded down; SIZE_MAX: any */
    uint64_t group;             /* the group that has it: a number of its own on this machine */
};
struct collopt_quota collopt_group_quota(const char *groups, const char *mount);

#endif
