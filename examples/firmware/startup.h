/* Functions and registers of startup.c for main.c. */
#ifndef STARTUP_H
#define STARTUP_H

#include <stdint.h>

void put(const char *text);
void put_number(int32_t number);

/* Ends the emulation with an exit status. */
void stop(uint32_t status) __attribute__((noreturn));

/* Interrupt handler of SysTick; the default does nothing. */
void tick(void);

/* SysTick: 24 bits, counts down with the core's clock, 25 MHz on the MPS2 boards. */
#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010U)
#define SYSTICK_RELOAD  (*(volatile uint32_t *)0xE000E014U)
#define SYSTICK_VALUE   (*(volatile uint32_t *)0xE000E018U)

#endif
