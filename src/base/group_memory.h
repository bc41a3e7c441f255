/* The memory that control groups allow this process. */
#ifndef COLLOPT_BASE_GROUP_MEMORY_H
#define COLLOPT_BASE_GROUP_MEMORY_H

#include <stddef.h>

/* Bytes: the least limit on the memory of the control groups that the file GROUPS lists
 * (/proc/self/cgroup) and of those around them, version 1 or 2, which are mounted at MOUNT.
 * SIZE_MAX: there is none that can be read. */
size_t collopt_group_memory(const char *groups, const char *mount);

#endif
