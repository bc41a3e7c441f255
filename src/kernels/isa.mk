# The kernels, without MPI: one source, reduce_tmpl.c, compiled once per instruction set.
# Which sets are built is decided by COLLOPT_CHECK_ISAS (m4/collopt_isa.m4).
#
# All of the library is compiled with -ffp-contract=off: here for the same bits on every instruction
# set. The -f options are spelt out because the user's CFLAGS come later and may say -O2.

KERNEL_SOURCES = \
	src/kernels/kernels.c \
	src/kernels/isa.c \
	src/kernels/isa.h \
	src/kernels/combos.h \
	src/kernels/complex_lane.h \
	src/kernels/exact_sum.h \
	src/kernels/exact_total.h \
	src/kernels/half.h \
	src/kernels/half_lane.h \
	src/kernels/integer_lane.h \
	src/kernels/kernels.h \
	src/kernels/long_lane.h \
	src/kernels/pair_lane.h \
	src/kernels/pairs_avx512.h \
	src/kernels/real_lane.h \
	src/kernels/exact_words.c \
	src/kernels/exact_words.h \
	src/kernels/superaccumulator.c \
	src/kernels/superaccumulator.h \
	src/kernels/vectors_x86.h \
	src/kernels/wide_pair.h \
	src/kernels/word_pair.h

KERNEL_CFLAGS = $(AM_CFLAGS) $(COLLOPT_KERNEL_CFLAGS)

noinst_LTLIBRARIES += libcollopt-kernels.la libcollopt-kernels-generic.la

libcollopt_kernels_la_SOURCES = $(KERNEL_SOURCES)
libcollopt_kernels_la_LIBADD = libcollopt-kernels-generic.la

libcollopt_kernels_generic_la_SOURCES = src/kernels/reduce_tmpl.c
libcollopt_kernels_generic_la_CFLAGS = $(KERNEL_CFLAGS) -DCOLLOPT_ISA=generic

if COLLOPT_HAVE_AVX2
noinst_LTLIBRARIES += libcollopt-kernels-avx2.la
libcollopt_kernels_la_LIBADD += libcollopt-kernels-avx2.la
libcollopt_kernels_avx2_la_SOURCES = src/kernels/reduce_tmpl.c
libcollopt_kernels_avx2_la_CFLAGS = $(KERNEL_CFLAGS) $(COLLOPT_AVX2_CFLAGS) -DCOLLOPT_ISA=avx2
endif

if COLLOPT_HAVE_AVX512
noinst_LTLIBRARIES += libcollopt-kernels-avx512.la
libcollopt_kernels_la_LIBADD += libcollopt-kernels-avx512.la
libcollopt_kernels_avx512_la_SOURCES = src/kernels/reduce_tmpl.c
libcollopt_kernels_avx512_la_CFLAGS = $(KERNEL_CFLAGS) $(COLLOPT_AVX512_CFLAGS) -DCOLLOPT_ISA=avx512
endif

if COLLOPT_HAVE_NEON
noinst_LTLIBRARIES += libcollopt-kernels-neon.la
libcollopt_kernels_la_LIBADD += libcollopt-kernels-neon.la
libcollopt_kernels_neon_la_SOURCES = src/kernels/reduce_tmpl.c
libcollopt_kernels_neon_la_CFLAGS = $(KERNEL_CFLAGS) $(COLLOPT_NEON_CFLAGS) -DCOLLOPT_ISA=neon
endif

if COLLOPT_HAVE_SVE
noinst_LTLIBRARIES += libcollopt-kernels-sve.la
libcollopt_kernels_la_LIBADD += libcollopt-kernels-sve.la
libcollopt_kernels_sve_la_SOURCES = src/kernels/reduce_tmpl.c
libcollopt_kernels_sve_la_CFLAGS = $(KERNEL_CFLAGS) $(COLLOPT_SVE_CFLAGS) -DCOLLOPT_ISA=sve
endif
