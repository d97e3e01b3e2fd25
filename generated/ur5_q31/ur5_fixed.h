/* ur5_fixed.h: fixed-point arithmetic for the sources of this module.
 *
 * The generator has bounded every value, so that no operation overflows. Numbers are rounded to nearest (halves up) unless
 * a function says otherwise.
 */
#ifndef UR5_FIXED_H
#define UR5_FIXED_H

#include "ur5.h"

/* What the C standard leaves to the compiler, and what all compilers for two's complement do: a right shift of a negative
 * number keeps its sign, and a conversion to a narrower type drops the upper bits. */
typedef char ur5_shifts_keep_the_sign[((-1 >> 1) == -1) ? 1 : -1];
typedef char ur5_conversions_wrap[(((int16_t)0xFFFF == -1) && ((int32_t)0xFFFFFFFFU == -1)) ? 1 : -1];

#if defined(__GNUC__)
#define UR5_INLINE static inline __attribute__((always_inline))
#else
#define UR5_INLINE static inline
#endif

/* UR5_PRODUCTS is 64 where the processor multiplies 32-bit numbers to 64 bits, and 16 where it does not: a product is
 * then made of four products of 16-bit numbers. The results are the same. */
#if !defined(UR5_PRODUCTS)
#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
#define UR5_PRODUCTS 16
#else
#define UR5_PRODUCTS 64
#endif
#endif

/* x, but not below `low` and not above `high`. */
UR5_INLINE int32_t ur5_clamp(int32_t x, int32_t low, int32_t high)
{
    const int32_t y = (x < low) ? low : x;
    return (y > high) ? high : y;
}

/* x / 2^k, rounded down; 1 <= k <= 31. */
UR5_INLINE int32_t ur5_floor(int32_t x, int k)
{
    return x >> k;
}

/* x / 2^k; 1 <= k <= 31. */
UR5_INLINE int32_t ur5_round(int32_t x, int k)
{
    return (k > 16) ? (((x >> (k - 1)) + 1) >> 1) : ((x + ((int32_t)1 << (k - 1))) >> k);
}

#if UR5_PRODUCTS == 64
/* A sum of products. */
typedef int64_t ur5_wide;

/* GCC extends factors that it reads twice to 64 bits and multiplies those in four instructions; the processor has one. */
#if defined(__GNUC__) && defined(__thumb2__)
UR5_INLINE ur5_wide ur5_product(int32_t a, int32_t b)
{
    ur5_wide x;
    __asm__("smull %Q0, %R0, %1, %2" : "=r"(x) : "r"(a), "r"(b));
    return x;
}

UR5_INLINE ur5_wide ur5_plus(ur5_wide x, int32_t a, int32_t b)
{
    __asm__("smlal %Q0, %R0, %1, %2" : "+r"(x) : "r"(a), "r"(b));
    return x;
}
#else
UR5_INLINE ur5_wide ur5_product(int32_t a, int32_t b)
{
    return (int64_t)a * b;
}

UR5_INLINE ur5_wide ur5_plus(ur5_wide x, int32_t a, int32_t b)
{
    return x + ((int64_t)a * b);
}
#endif

UR5_INLINE ur5_wide ur5_minus(ur5_wide x, int32_t a, int32_t b)
{
    return ur5_plus(x, -a, b);
}

UR5_INLINE ur5_wide ur5_first(int32_t a, int32_t b)
{
    return ur5_product(a, b);
}

/* x / 2^k, to nearest or down; 17 <= k <= 62. */
UR5_INLINE int32_t ur5_narrow(ur5_wide x, int nearest, int k)
{
    return (int32_t)((x + ((int64_t)nearest << (k - 1))) >> k);
}
#else
/* A sum of products: 2^32 high + 2^16 middle + low. */
typedef struct {
    int32_t high;
    int32_t middle;
    int32_t low;
} ur5_wide;

/* The halves of a factor are signed: a = 2^16 a1 + a0 with |a0| <= 2^15. */
UR5_INLINE ur5_wide ur5_product(int32_t a, int32_t b)
{
    const int32_t a0     = (int16_t)a;
    const int32_t b0     = (int16_t)b;
    const int32_t a1     = (a - a0) >> 16;
    const int32_t b1     = (b - b0) >> 16;
    const int32_t low    = a0 * b0;
    const int32_t middle = (a1 * b0) + (a0 * b1) + (low >> 16);
    ur5_wide x;
    x.high   = a1 * b1;
    x.middle = middle;
    x.low    = low & 0xFFFF;
    return x;
}

/* The first product of a sum, whose middle is below 2^16. */
UR5_INLINE ur5_wide ur5_first(int32_t a, int32_t b)
{
    ur5_wide x = ur5_product(a, b);
    x.high += x.middle >> 16;
    x.middle &= 0xFFFF;
    return x;
}

UR5_INLINE ur5_wide ur5_plus(ur5_wide x, int32_t a, int32_t b)
{
    const ur5_wide y = ur5_first(a, b);
    x.high += y.high;
    x.middle += y.middle;
    x.low += y.low;
    return x;
}

UR5_INLINE ur5_wide ur5_minus(ur5_wide x, int32_t a, int32_t b)
{
    const ur5_wide y = ur5_first(a, b);
    x.high -= y.high;
    x.middle -= y.middle;
    x.low -= y.low;
    return x;
}

/* x / 2^k, to nearest or down; 17 <= k <= 62. */
UR5_INLINE int32_t ur5_narrow(ur5_wide x, int nearest, int k)
{
    const int32_t middle = x.middle + (x.low >> 16);
    if (k > 32) {
        return (x.high + (middle >> 16) + ((int32_t)nearest << (k - 33))) >> (k - 32);
    }
    return (int32_t)(((uint32_t)x.high << (32 - k)) +
                     (uint32_t)((middle + ((int32_t)nearest << (k - 17))) >> (k - 16)));
}
#endif

/* a b / 2^k. */
UR5_INLINE int32_t ur5_mul(int32_t a, int32_t b, int k)
{
    return ur5_narrow(ur5_product(a, b), 1, k);
}

/* a b / 2^k, rounded down. */
UR5_INLINE int32_t ur5_mul_floor(int32_t a, int32_t b, int k)
{
    return ur5_narrow(ur5_product(a, b), 0, k);
}

/* Sine and cosine of an angle of 2^32 to the turn, times 2^30; the error is at most 9e-10.
 * Method: the nearest quarter turn and a rest of at most an eighth of a turn, with polynomials (Chebyshev interpolation). */
static inline void ur5_sincos(uint32_t angle, int32_t *sine, int32_t *cosine)
{
    const uint32_t turned  = angle + 0x20000000U;
    const uint32_t quarter = turned >> 30;
    const int32_t rest     = (int32_t)(turned & 0x3FFFFFFFU) - 0x20000000;
    const int32_t z_0      = rest * 2;
    const int32_t z2 = ur5_mul(z_0, z_0, 30);
    const int32_t n8 = ur5_mul_floor(z2, ur5_mul_floor(10871854, z2, 30) - 1286776670, 36) + 1369108146;
    const int32_t n14 = ur5_mul(z2, ur5_mul_floor(z2, n8, 35) - 1387197334, 33) + 1686629713;
    const int32_t n22 = ur5_mul_floor(z2, ur5_mul_floor(62096848, z2, 32) - 1433493061, 36) + 1089500934;
    const int32_t c_0 = ur5_mul(z2, ur5_mul(z2, n22, 34) - 1324675869, 32) + 1073741824;
    const int32_t s      = ur5_mul(z_0, n14, 31);
    const int32_t c      = c_0;
    const int32_t first  = ((quarter & 1U) == 0U) ? s : c;
    const int32_t second = ((quarter & 1U) == 0U) ? c : s;
    *sine   = ((quarter & 2U) == 0U) ? first : -first;
    *cosine = (((quarter + 1U) & 2U) == 0U) ? second : -second;
}

#endif
