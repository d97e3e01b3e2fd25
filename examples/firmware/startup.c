/* Start-up code of a bare-metal Cortex-M image, and output by semihosting (debugger or emulator).
 *
 * It sets the stack, enables the FPU, initializes .data and .bss, calls main and exits with the result of main.
 * The image has no C library. This file defines memset, memcpy and memmove, because compilers may replace loops by calls of
 * them. Compile it with -ffreestanding -fno-tree-loop-distribute-patterns; otherwise gcc turns memset into a call of itself.
 */
#include "startup.h"

#include <stddef.h>
#include <stdint.h>

extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end; /* mps2.ld */

typedef uint32_t __attribute__((may_alias)) word;

int main(void);
void reset(void);
void fault(void);
void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault, 0, 0, 0, 0, 0, 0, 0, 0, (const void *)tick
};

__attribute__((weak)) void tick(void)
{
}

static int semihosting(uint32_t operation, const void *argument)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return (int)r0;
}

void put(const char *text)
{
    (void)semihosting(0x04U, text); /* SYS_WRITE0 */
}

void put_number(int32_t number)
{
    char digits[12];
    char *p = &digits[11];
    uint32_t rest = (number < 0) ? (0U - (uint32_t)number) : (uint32_t)number;
    *p = '\0';
    do {
        *--p = (char)('0' + (rest % 10U));
        rest /= 10U;
    } while (rest != 0U);
    if (number < 0) {
        *--p = '-';
    }
    put(p);
}

void stop(uint32_t status)
{
    const uint32_t block[2] = { 0x20026U, status }; /* ADP_Stopped_ApplicationExit */
    (void)semihosting(0x20U, block);                /* SYS_EXIT_EXTENDED */
    for (;;) {
    }
}

void fault(void)
{
    put("fault\n");
    stop(99U);
}

void reset(void)
{
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88U |= 0xFU << 20; /* CPACR: full access to the FPU */
    __asm__ volatile("dsb\n\tisb" ::: "memory");
#endif
    (void)memcpy(&data_start, &data_load, (size_t)((char *)&data_end - (char *)&data_start));
    (void)memset(&bss_start, 0, (size_t)((char *)&bss_end - (char *)&bss_start));
    stop((uint32_t)main());
}

/* memset and memcpy work on aligned words where possible, as in a C library. */

static int aligned(const void *p)
{
    return ((uintptr_t)p % sizeof(word)) == 0U;
}

void *memset(void *to, int byte, size_t size)
{
    const word filled = 0x01010101U * (unsigned char)byte;
    unsigned char *p = to;
    if (aligned(to)) {
        for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
            *(word *)(void *)p = filled;
        }
    }
    while (size-- != 0U) {
        *p++ = (unsigned char)byte;
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    if (aligned(to) && aligned(from)) {
        for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word), q += sizeof(word)) {
            *(word *)(void *)p = *(const word *)(const void *)q;
        }
    }
    while (size-- != 0U) {
        *p++ = *q++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    if (p <= q) {
        return memcpy(to, from, size);
    }
    while (size-- != 0U) {
        p[size] = q[size];
    }
    return to;
}
