/* Which kernels this processor can run.
 *
 * An instruction set is a set of compiler flags on one and the same source, reduce_tmpl.c;
 * configure says which were built. A processor has one only if the operating system also saves its
 * registers. */
#include "config.h"

#include "kernels/isa.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif
#if defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

static bool always(const struct collopt_processor *processor)
{
    (void) processor;
    return true;
}

typedef void adding(struct collopt_superaccumulator *a, const struct collopt_terms *t);

extern const collopt_kernel_table collopt_kernels_generic;
extern const collopt_exact_table collopt_exact_sums_generic;
extern adding collopt_add_terms_generic;

#ifdef COLLOPT_HAVE_AVX2
extern const collopt_kernel_table collopt_kernels_avx2;
extern const collopt_exact_table collopt_exact_sums_avx2;
extern adding collopt_add_terms_avx2;

static bool has_avx2(const struct collopt_processor *processor)
{
    return processor->avx2 && processor->f16c && processor->fma;
}
#endif

#ifdef COLLOPT_HAVE_AVX512
extern const collopt_kernel_table collopt_kernels_avx512;
extern const collopt_exact_table collopt_exact_sums_avx512;
extern adding collopt_add_terms_avx512;

static bool has_avx512(const struct collopt_processor *processor)
{
    return processor->avx512 && processor->avx2 && processor->f16c;
}
#endif

#ifdef COLLOPT_HAVE_NEON
extern const collopt_kernel_table collopt_kernels_neon;
extern const collopt_exact_table collopt_exact_sums_neon;
extern adding collopt_add_terms_neon;
#endif

#ifdef COLLOPT_HAVE_SVE
extern const collopt_kernel_table collopt_kernels_sve;
extern const collopt_exact_table collopt_exact_sums_sve;
extern adding collopt_add_terms_sve;

static bool has_sve(const struct collopt_processor *processor)
{
    return processor->sve;
}
#endif

#define ROW(isa, usable) \
    { #isa, usable, &collopt_kernels_##isa, &collopt_exact_sums_##isa, collopt_add_terms_##isa }

const struct collopt_isa collopt_isas[] = {
#ifdef COLLOPT_HAVE_AVX512
    ROW(avx512, has_avx512),
#endif
#ifdef COLLOPT_HAVE_AVX2
    ROW(avx2, has_avx2),
#endif
#ifdef COLLOPT_HAVE_SVE
    ROW(sve, has_sve),
#endif
#ifdef COLLOPT_HAVE_NEON
    ROW(neon, always),
#endif
    ROW(generic, always),
    { NULL, NULL, NULL, NULL, NULL },
};

static const struct collopt_isa *chosen;

size_t collopt_far_from = SIZE_MAX, collopt_stream_from;

#if defined __x86_64__ || defined __i386__
/* The compiler's test takes into account which registers the operating system saves; not all
 * compilers know of F16C. */
static void detect_features(struct collopt_processor *processor)
{
    unsigned a, b, c = 0, d;

    __builtin_cpu_init();
    processor->avx2 = __builtin_cpu_supports("avx2");
    processor->fma = __builtin_cpu_supports("fma");
    processor->f16c = processor->avx2 && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    processor->avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")
        && __builtin_cpu_supports("avx512vl");
}
#elif defined __aarch64__ && defined __linux__
static void detect_features(struct collopt_processor *processor)
{
    enum { SVE = 1 << 22 };    /* HWCAP_SVE */

    processor->sve = getauxval(AT_HWCAP) & SVE;
}
#else
static void detect_features(struct collopt_processor *processor)
{
    (void) processor;
}
#endif

static size_t system_size(int name)
{
    long size = sysconf(name);

    return size > 0 ? size : 0;
}

void collopt_processor_detect(struct collopt_processor *processor)
{
    size_t processors = system_size(_SC_NPROCESSORS_ONLN);

    *processor = (struct collopt_processor) { 0 };
#ifdef _SC_LEVEL3_CACHE_SIZE
    processor->near_cache = system_size(_SC_LEVEL2_CACHE_SIZE);
    processor->share = system_size(_SC_LEVEL3_CACHE_SIZE) / (processors ? processors : 1);
#endif
    detect_features(processor);
}

/* Sets the sizes from which vectors count as lying in memory. Streaming begins where a core's share
 * of the last-level cache is certainly full: usually there are ranks on all cores, and no processor
 * has more than some 16 MiB for each. */
static void set_sizes(const struct collopt_processor *processor)
{
    enum { MIB = 1 << 20, SHARE_MAX = 16 * MIB };
    size_t near = processor->near_cache ? processor->near_cache : MIB;
    size_t share = processor->share < SHARE_MAX ? processor->share : SHARE_MAX;

    collopt_far_from = near;
    collopt_stream_from = share > 2 * near ? share : 2 * near;
}

const struct collopt_isa *collopt_isa_best(const struct collopt_processor *processor)
{
    const struct collopt_isa *isa = collopt_isas;

    while (!isa->usable(processor))
        isa++;
    return isa;
}

static const struct collopt_isa *find(const char *name)
{
    const struct collopt_isa *isa = collopt_isas;

    while (isa->name && strcmp(isa->name, name) != 0)
        isa++;
    return isa->name ? isa : NULL;
}

/* "instruction set "x" is not ...; valid here: a, b" */
static void refuse(const char *name, bool known, const struct collopt_processor *processor,
                   char *message, size_t size)
{
    int at = snprintf(message, size, "instruction set \"%s\" %s; valid here: auto", name,
                      known ? "is not supported by this processor" : "is unknown");

    for (const struct collopt_isa *isa = collopt_isas; isa->name; isa++)
        if (isa->usable(processor) && at > 0 && (size_t) at < size)
            at += snprintf(message + at, size - at, ", %s", isa->name);
}

int collopt_kernels_init(const char *forced, char *message, size_t size)
{
    struct collopt_processor processor;

    collopt_processor_detect(&processor);
    set_sizes(&processor);
    chosen = collopt_isa_best(&processor);
    if (!forced || !*forced || strcmp(forced, "auto") == 0)
        return 0;

    const struct collopt_isa *wanted = find(forced);

    if (!wanted || !wanted->usable(&processor)) {
        refuse(forced, wanted, &processor, message, size);
        return -1;
    }
    chosen = wanted;
    return 0;
}

const struct collopt_isa *collopt_isa_chosen(void)
{
    static const struct collopt_isa generic = ROW(generic, always);

    return chosen ? chosen : &generic;
}

const char *collopt_kernels_isa(void)
{
    return collopt_isa_chosen()->name;
}

const struct collopt_kernel *collopt_kernel(enum collopt_op op, enum collopt_type type)
{
    if ((unsigned) op >= COLLOPT_OP_USER || (unsigned) type >= COLLOPT_TYPE_NONE)
        return NULL;

    const struct collopt_kernel *kernel = &(*collopt_isa_chosen()->kernels)[op][type];

    return kernel->combine ? kernel : NULL;
}

const struct collopt_kernel *collopt_exact_kernel(enum collopt_type type)
{
    if ((unsigned) type >= COLLOPT_TYPE_NONE)
        return NULL;

    const struct collopt_kernel *kernel = &(*collopt_isa_chosen()->exact_sums)[type];

    return kernel->fold ? kernel : NULL;
}

void collopt_add_terms(struct collopt_superaccumulator *a, const struct collopt_terms *t)
{
    collopt_isa_chosen()->add_terms(a, t);
}
