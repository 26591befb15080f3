/* SPDX-License-Identifier: GPL-2.0 */
/* The page from which programs take the time without a system call. */
#ifndef __UM_LOOKS_H
#define __UM_LOOKS_H

#define UM_LOOK_NS 256ULL
/* With so many looks outstanding the next one is a system call: a program that waits for the clock waits for ever otherwise. */
#define UM_LOOKS_MOST 64
/* So many system calls may fail at one instant. */
#define UM_ERRORS_MOST 64

struct um_looks {
	/* The kernel's time, in nanoseconds, a multiple of UM_LOOK_NS. */
	unsigned long long now;
	/* What CLOCK_MONOTONIC and CLOCK_REALTIME add to it. */
	unsigned long long monotonic, realtime;
	/* Looks whose time has not passed yet. */
	unsigned int count;
	unsigned int ready;
};

/* In programs: the page is below the vDSO's. Returns 0 if the clock needs a system call. */
static inline int um_look(int clock, long *seconds, long *nanoseconds)
{
	volatile struct um_looks *looks;
	unsigned long long ns;
	unsigned long here;

	asm("lea 0(%%rip), %0" : "=r" (here));
	looks = (struct um_looks *)((here & ~4095UL) - 4096);
	if (!looks->ready || looks->count >= UM_LOOKS_MOST || (clock != 0 && clock != 1))
		return 0;
	ns = looks->now + (clock ? looks->monotonic : looks->realtime);
	/* As a look by system call, it takes its time before it is answered. */
	ns += ++looks->count * UM_LOOK_NS;
	*seconds = ns / 1000000000;
	*nanoseconds = ns % 1000000000;
	return 1;
}

#ifdef __UM_LOOKS_IN_KERNEL
struct mm_struct;

/* NULL until it is allocated. */
extern struct um_looks *um_looks;

/* Map the page into a program. Returns 0 or an error. */
int um_looks_map(struct mm_struct *mm, unsigned long address);

/* A system call begins: let the time of all looks pass, its own included. */
void um_looks_pass(int syscall);

/* A system call has ended. */
void um_looks_refresh(int syscall);

/* A system call has failed. */
void um_errors_pass(void);
#endif
#endif
