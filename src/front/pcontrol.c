/* MPI_Pcontrol(level, ...): what follows the level is for other tools, and only they know how many
 * arguments of which types.
 *
 * C cannot hand such arguments on. So the two exported names are not C: they keep every register
 * that may hold an argument, ask for_pcontrol() where to go, put the registers back, and jump
 * there. Arguments on the stack stay where the caller has put them, at any length. That is how
 * the loader resolves a function at its first call. (__builtin_apply would copy a number of bytes
 * that somebody has to guess, and clang has none.) Arguments that are longer than these registers
 * are passed in memory on both processors. Elsewhere the level alone is handed on.
 *
 * As it does not come back here, MPI_Pcontrol and PMPI_Pcontrol both do our part of it; doing it
 * twice is the same as once. */

#include "config.h"

#include "front/bind.h"
#include "front/binding.h"
#include "front/calls.h"

typedef void control_function(int level);
typedef int pcontrol_function(const int level, ...);

#if defined __x86_64__ || defined __aarch64__
# define IN_ASSEMBLER   __attribute__((used, visibility("hidden")))
#else
# define IN_ASSEMBLER   static
#endif

static int lacking(const int level, ...)
{
    (void)level;
    return collopt_binding()->unsupported;
}

/* The function that is next, after ours. BY_MPI: MPI_Pcontrol was called, not PMPI_Pcontrol. */
IN_ASSEMBLER pcontrol_function *collopt_after_pcontrol(int level, const void *caller, int by_mpi);
IN_ASSEMBLER pcontrol_function *collopt_after_pcontrol(int level, const void *caller, int by_mpi)
{
    const struct collopt_binding *b = collopt_front_bind(caller, collopt_optional);
    control_function *control =
        (control_function *)(by_mpi ? b->mpi : b->pmpi)[COLLOPT_NAME_PCONTROL];
    collopt_function next = (by_mpi ? b->tool_mpi : b->tool_pmpi)[COLLOPT_NAME_PCONTROL];

    if (control)
        control(level);
    if (!next)
        next = b->host[COLLOPT_NAME_PCONTROL];
    return next ? (pcontrol_function *)next : lacking;
}

#if defined __x86_64__

/* Integers in rdi to r9, the rest in xmm0 to xmm7 if al says that there are any. */
# define DEFINE(name, by_mpi) \
    __asm__( \
        ".text\n" \
        ".p2align 4\n" \
        ".globl " name "\n" \
        ".type " name ", @function\n" \
        name ":\n" \
        "   .cfi_startproc\n" \
        "   endbr64\n" \
        "   pushq %rbp\n" \
        "   .cfi_def_cfa_offset 16\n" \
        "   .cfi_offset %rbp, -16\n" \
        "   movq %rsp, %rbp\n" \
        "   .cfi_def_cfa_register %rbp\n" \
        "   subq $192, %rsp\n" \
        "   movq %rax, (%rsp)\n" \
        "   movq %rdi, 8(%rsp)\n" \
        "   movq %rsi, 16(%rsp)\n" \
        "   movq %rdx, 24(%rsp)\n" \
        "   movq %rcx, 32(%rsp)\n" \
        "   movq %r8, 40(%rsp)\n" \
        "   movq %r9, 48(%rsp)\n" \
        "   movaps %xmm0, 64(%rsp)\n" \
        "   movaps %xmm1, 80(%rsp)\n" \
        "   movaps %xmm2, 96(%rsp)\n" \
        "   movaps %xmm3, 112(%rsp)\n" \
        "   movaps %xmm4, 128(%rsp)\n" \
        "   movaps %xmm5, 144(%rsp)\n" \
        "   movaps %xmm6, 160(%rsp)\n" \
        "   movaps %xmm7, 176(%rsp)\n" \
        "   movq 8(%rbp), %rsi\n" \
        "   movl $" by_mpi ", %edx\n" \
        "   call collopt_after_pcontrol\n" \
        "   movq %rax, %r11\n" \
        "   movq (%rsp), %rax\n" \
        "   movq 8(%rsp), %rdi\n" \
        "   movq 16(%rsp), %rsi\n" \
        "   movq 24(%rsp), %rdx\n" \
        "   movq 32(%rsp), %rcx\n" \
        "   movq 40(%rsp), %r8\n" \
        "   movq 48(%rsp), %r9\n" \
        "   movaps 64(%rsp), %xmm0\n" \
        "   movaps 80(%rsp), %xmm1\n" \
        "   movaps 96(%rsp), %xmm2\n" \
        "   movaps 112(%rsp), %xmm3\n" \
        "   movaps 128(%rsp), %xmm4\n" \
        "   movaps 144(%rsp), %xmm5\n" \
        "   movaps 160(%rsp), %xmm6\n" \
        "   movaps 176(%rsp), %xmm7\n" \
        "   leave\n" \
        "   .cfi_def_cfa %rsp, 8\n" \
        "   jmp *%r11\n" \
        "   .cfi_endproc\n" \
        ".size " name ", . - " name "\n")

DEFINE("MPI_Pcontrol", "1");
DEFINE("PMPI_Pcontrol", "0");

#elif defined __aarch64__

/* Integers in x0 to x7, the rest in q0 to q7. */
# define DEFINE(name, by_mpi) \
    __asm__( \
        ".text\n" \
        ".p2align 4\n" \
        ".globl " name "\n" \
        ".type " name ", %function\n" \
        name ":\n" \
        "   .cfi_startproc\n" \
        "   hint #34\n"                         /* bti c: may be jumped to */ \
        "   stp x29, x30, [sp, #-208]!\n" \
        "   .cfi_def_cfa_offset 208\n" \
        "   .cfi_offset 29, -208\n" \
        "   .cfi_offset 30, -200\n" \
        "   mov x29, sp\n" \
        "   stp x0, x1, [sp, #16]\n" \
        "   stp x2, x3, [sp, #32]\n" \
        "   stp x4, x5, [sp, #48]\n" \
        "   stp x6, x7, [sp, #64]\n" \
        "   stp q0, q1, [sp, #80]\n" \
        "   stp q2, q3, [sp, #112]\n" \
        "   stp q4, q5, [sp, #144]\n" \
        "   stp q6, q7, [sp, #176]\n" \
        "   mov x1, x30\n" \
        "   mov w2, #" by_mpi "\n" \
        "   bl collopt_after_pcontrol\n" \
        "   mov x16, x0\n" \
        "   ldp x0, x1, [sp, #16]\n" \
        "   ldp x2, x3, [sp, #32]\n" \
        "   ldp x4, x5, [sp, #48]\n" \
        "   ldp x6, x7, [sp, #64]\n" \
        "   ldp q0, q1, [sp, #80]\n" \
        "   ldp q2, q3, [sp, #112]\n" \
        "   ldp q4, q5, [sp, #144]\n" \
        "   ldp q6, q7, [sp, #176]\n" \
        "   ldp x29, x30, [sp], #208\n" \
        "   .cfi_restore 29\n" \
        "   .cfi_restore 30\n" \
        "   .cfi_def_cfa_offset 0\n" \
        "   br x16\n" \
        "   .cfi_endproc\n" \
        ".size " name ", . - " name "\n")

DEFINE("MPI_Pcontrol", "1");
DEFINE("PMPI_Pcontrol", "0");

#else

# define DEFINE(name, by_mpi) \
    __attribute__((visibility("default"))) int name(const int level, ...); \
    int name(const int level, ...) \
    { \
        return collopt_after_pcontrol(level, __builtin_return_address(0), by_mpi)(level); \
    }

DEFINE(MPI_Pcontrol, 1)
DEFINE(PMPI_Pcontrol, 0)

#endif
