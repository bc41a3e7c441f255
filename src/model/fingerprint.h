/* A hash of how this build computes predicted times. */
#ifndef COLLOPT_MODEL_FINGERPRINT_H
#define COLLOPT_MODEL_FINGERPRINT_H

#include <stdint.h>

/* Hashes some predicted times, which all ranks must compute alike to the last bit. */
uint64_t collopt_fingerprint(void);

#endif
