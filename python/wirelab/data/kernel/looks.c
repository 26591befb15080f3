// SPDX-License-Identifier: GPL-2.0
/*
 * In a time-travelling kernel a look at the clock takes time, or a loop that waits for an instant never ends. Upstream every
 * look does so, the kernel's own included, so that the time depends on where a program's pages lie. Here only those
 * of programs do. They read the clock from a page that all share, and count in it; their time passes with the next system call.
 *
 * Likewise a system call that fails takes time upstream, so that a loop which repeats it gets on. A program's loader makes
 * such calls too, others on each machine. Here time passes once many have failed at one instant.
 */

#include <linux/err.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/timekeeping.h>
#include <linux/time-internal.h>
#include <asm/unistd.h>
#define __UM_LOOKS_IN_KERNEL
#include <asm/looks.h>

struct um_looks *um_looks;

static vm_fault_t looks_fault(const struct vm_special_mapping *mapping, struct vm_area_struct *vma, struct vm_fault *fault)
{
	return vmf_insert_pfn(vma, fault->address, page_to_pfn(virt_to_page(um_looks)));
}

static struct vm_special_mapping looks_mapping = {
	.name = "[vvar]",
	.fault = looks_fault,
};

int um_looks_map(struct mm_struct *mm, unsigned long address)
{
	return PTR_ERR_OR_ZERO(_install_special_mapping(mm, address, PAGE_SIZE,
		VM_READ | VM_WRITE | VM_SHARED | VM_MAYREAD | VM_MAYWRITE | VM_MAYSHARE |
		VM_IO | VM_DONTDUMP | VM_PFNMAP, &looks_mapping));
}

static bool is_look(int syscall)
{
	return syscall == __NR_clock_gettime || syscall == __NR_gettimeofday || syscall == __NR_time;
}

void um_looks_pass(int syscall)
{
	unsigned int count;

	if (time_travel_mode == TT_MODE_OFF)
		return;
	count = um_looks->count + is_look(syscall);
	if (count) {
		um_looks->count = 0;
		time_travel_ndelay(count * UM_LOOK_NS);
	}
}

void um_looks_refresh(int syscall)
{
	if (time_travel_mode == TT_MODE_OFF)
		return;
	if (!is_look(syscall) && syscall != __NR_clock_settime && syscall != __NR_settimeofday &&
	    syscall != __NR_adjtimex && syscall != __NR_clock_adjtime)
		return;
	um_looks->monotonic = ktime_get_ns() - um_looks->now;
	um_looks->realtime = ktime_get_real_ns() - um_looks->now;
	um_looks->ready = 1;
}

void um_errors_pass(void)
{
	static unsigned long long instant;
	static unsigned int count;

	if (um_looks->now != instant) {
		instant = um_looks->now;
		count = 0;
	}
	if (++count == UM_ERRORS_MOST) {
		count = 0;
		time_travel_ndelay(UM_ERRORS_MOST * NSEC_PER_USEC);
	}
}

static int __init looks_init(void)
{
	um_looks = (struct um_looks *)get_zeroed_page(GFP_KERNEL);
	if (!um_looks)
		panic("no page for the clock\n");
	return 0;
}
core_initcall(looks_init);
