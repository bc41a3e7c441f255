/* Predicted times decide between algorithms, candidates often differ in the last bit, and all ranks
 * must decide the same. So predictions are computed with the default floating-point environment,
 * even if the program on one rank rounds upwards, flushes subnormal numbers or traps exceptions. On
 * processors not listed here the program's environment stays.
 *
 * All that a call of the program's executes outside of this, except for the combination of its
 * data, is done in integers: the program may trap inexact results, and may test the exception
 * flags.  A computation inside takes its operands from memory and leaves its result there, so
 * that compilers, who do not know that the environment matters, keep it inside
 * (test/integers.sh). */
#ifndef COLLOPT_BASE_ARITHMETIC_H
#define COLLOPT_BASE_ARITHMETIC_H

#include <stdint.h>

#if defined __SSE2__
#include <xmmintrin.h>

/* Sets the floating-point environment of a new process; returns the previous one, with what was
 * raised in it. */
static inline uint64_t collopt_default_fpenv(void)
{
    enum { AS_NEW = 0x1f80 };           /* to nearest; all exceptions masked */
    unsigned before = _mm_getcsr();

    _mm_setcsr(AS_NEW);
    return before;
}

static inline void collopt_arithmetic_of(uint64_t before)
{
    _mm_setcsr((unsigned)before);
}
#elif defined __aarch64__
static inline uint64_t collopt_default_fpenv(void)
{
    uint64_t control, raised;

    __asm__ volatile ("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r" (control), "=r" (raised));
    __asm__ volatile ("msr fpcr, %0" : : "r" ((uint64_t)0) : "memory");
    return control << 32 | (raised & UINT32_MAX);
}

static inline void collopt_arithmetic_of(uint64_t before)
{
    __asm__ volatile ("msr fpsr, %0\n\tmsr fpcr, %1"
                      : : "r" (before & UINT32_MAX), "r" (before >> 32) : "memory");
}
#else
static inline uint64_t collopt_default_fpenv(void) { return 0; }
static inline void collopt_arithmetic_of(uint64_t before) { (void)before; }
#endif

#endif
