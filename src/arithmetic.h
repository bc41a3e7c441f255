/* Predicted times decide between algorithms, and all ranks must decide alike.  So they are computed as if the program had not
 * told the processor of one rank to round upwards, to flush subnormal numbers to zero or to raise signals: candidates often
 * differ by the last bit.  On processors that are not named here programs get what they ask for. */
#ifndef COLLOPT_ARITHMETIC_H
#define COLLOPT_ARITHMETIC_H

#include <stdint.h>

#if defined __SSE2__
#include <xmmintrin.h>

/* Sets the processor as it is in a new process; returns how it was. */
static inline uint64_t collopt_usual_arithmetic(void)
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
static inline uint64_t collopt_usual_arithmetic(void)
{
    uint64_t before;

    __asm__ volatile ("mrs %0, fpcr" : "=r" (before));
    __asm__ volatile ("msr fpcr, %0" : : "r" ((uint64_t)0));
    return before;
}

static inline void collopt_arithmetic_of(uint64_t before)
{
    __asm__ volatile ("msr fpcr, %0" : : "r" (before));
}
#else
static inline uint64_t collopt_usual_arithmetic(void) { return 0; }
static inline void collopt_arithmetic_of(uint64_t before) { (void)before; }
#endif

#endif
