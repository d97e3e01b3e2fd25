/* Start-up code of a bare-metal RV32 image for QEMU's board virt, and output by semihosting. As examples/firmware/startup.c
 * for Cortex-M: no C library, but the functions that compilers call. */
#include "startup.h"

#include <stddef.h>

int main(void);
void *memset(void *to, int byte, size_t size);
void *memcpy(void *to, const void *from, size_t size);
void begin(void) __attribute__((noreturn, used));

__asm__(".section .vectors, \"ax\"\n.global reset\n"
        ".option arch, +zicsr\n"
        "reset:\n la sp, stack_top\n li t0, 0x6000\n csrs mstatus, t0\n j begin\n"
        ".text\n.balign 16\nsemihosting:\n .option push\n .option norvc\n"
        " slli zero, zero, 0x1f\n ebreak\n srai zero, zero, 7\n .option pop\n ret\n");
uint32_t semihosting(uint32_t operation, const void *argument);

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

void begin(void)
{
    stop((uint32_t)main());
}

void *memset(void *to, int byte, size_t size)
{
    unsigned char *p = to;
    while (size-- != 0U) {
        *p++ = (unsigned char)byte;
    }
    return to;
}

void *memcpy(void *to, const void *from, size_t size)
{
    unsigned char *p = to;
    const unsigned char *q = from;
    while (size-- != 0U) {
        *p++ = *q++;
    }
    return to;
}
