/* 16-bit reals to float and back, to the nearest, ties to even, in steps that vectorize.
 * NaN stays NaN (quiet, with what fits of its payload). */
#ifndef COLLOPT_KERNELS_HALF_H
#define COLLOPT_KERNELS_HALF_H

static inline uint32_t float_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float bits_float(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float bfloat16_widen(uint16_t half)
{
    return bits_float((uint32_t) half << 16);
}

static inline uint16_t bfloat16_narrow(float x)
{
    uint32_t bits = float_bits(x), rounded = bits + 0x7fff + (bits >> 16 & 1);

    return (bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : rounded >> 16;
}

/* Normal numbers: the exponent moves up by 112. Subnormal ones: an integer times 2^-24, so that a
 * processor told to flush subnormals still gets them right. Infinity and NaN are set apart. */
static inline float float16_widen(uint16_t half)
{
    uint32_t sign = (uint32_t) (half & 0x8000) << 16, digits = half & 0x7fff, rest = digits << 13;
    uint32_t small = float_bits((float) (int32_t) digits * 0x1p-24f), normal = rest + 0x38000000;
    uint32_t special = rest | 0x70000000 | (digits > 0x7c00 ? 0x00400000 : 0);

    return bits_float(sign | (digits >= 0x7c00 ? special : digits < 0x0400 ? small : normal));
}

/* Normal results: rounded in the integer. Subnormal ones: adding 0.5 puts the half's last place at
 * the float's, and the addition rounds. */
static inline uint16_t float16_narrow(float x)
{
    uint32_t bits = float_bits(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff;
    uint32_t normal = (rest - 0x38000000 + 0x0fff + (rest >> 13 & 1)) >> 13;
    uint32_t small = float_bits(bits_float(rest) + 0.5f) - 0x3f000000;
    uint32_t finite = rest < 0x38800000 ? small : normal;
    uint32_t nan = 0x7e00 | (rest >> 13 & 0x1ff);
    uint32_t special = rest > 0x7f800000 ? nan : 0x7c00;

    return sign | (rest >= 0x477ff000 ? special : finite);
}

#endif
