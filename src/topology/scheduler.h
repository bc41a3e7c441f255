/* The switches above this host, as the scheduler's environment names them. */
#ifndef COLLOPT_TOPOLOGY_SCHEDULER_H
#define COLLOPT_TOPOLOGY_SCHEDULER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads the switches above this process's host from the scheduler's variables: hashes of the
 * kinds (PATTERN, to be compared over the ranks), of the switches (BRANCH), and of the whole
 * ADDRESS of the node. False: not set. */
bool collopt_launched_switches(uint32_t *pattern, uint32_t *branch, uint32_t *address);
/* The length of the part of SLURM_TOPOLOGY_ADDR "s0.s4.tux4" that PATTERN "switch.switch.node"
 * declares as switches: "s0.s4", which names the lowest one. 0: none, or the two do not match. */
size_t collopt_slurm_switches(const char *address, const char *pattern);

#endif
