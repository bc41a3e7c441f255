# COLLOPT_CHECK_ISAS
#
# Which instruction sets the kernels are built for: those that the compiler knows, or those named by
# --with-isas=generic,avx2 (which must then be there). "generic" is always built.
# Sets the conditionals and macros COLLOPT_HAVE_AVX2, _AVX512, _NEON, _SVE, the flags of each, and
# COLLOPT_KERNEL_CFLAGS, the flags of all kernels.

# COLLOPT_CHECK_CFLAG(FLAG, VARIABLE): append FLAG to VARIABLE if the compiler takes it.
AC_DEFUN([COLLOPT_CHECK_CFLAG],
[AS_VAR_PUSHDEF([cached], [collopt_cv_cflag_$1])dnl
AC_CACHE_CHECK([whether $CC accepts $1], [cached],
  [collopt_saved_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS -Werror $1"
   AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
     [AS_VAR_SET([cached], [yes])], [AS_VAR_SET([cached], [no])])
   CFLAGS=$collopt_saved_CFLAGS])
AS_VAR_IF([cached], [yes], [AS_VAR_APPEND([$2], [" $1"])])
AS_VAR_POPDEF([cached])])

# COLLOPT_CHECK_ISA(NAME, MACRO SUFFIX, FLAGS, PROGRAM): can PROGRAM be compiled with FLAGS?
AC_DEFUN([COLLOPT_CHECK_ISA],
[AC_CACHE_CHECK([whether kernels for $1 can be built], [collopt_cv_isa_$1],
  [collopt_saved_CFLAGS=$CFLAGS
   CFLAGS="$CFLAGS $3"
   AC_COMPILE_IFELSE([$4], [collopt_cv_isa_$1=yes], [collopt_cv_isa_$1=no])
   CFLAGS=$collopt_saved_CFLAGS])
AS_CASE([,$with_isas,], [,auto,], [collopt_build=$collopt_cv_isa_$1], [*,$1,*], [collopt_build=yes],
        [collopt_build=no])
AS_IF([test $collopt_build = yes && test $collopt_cv_isa_$1 = no],
      [AC_MSG_ERROR([--with-isas names $1, for which $CC cannot compile])])
AS_IF([test $collopt_build = yes],
      [AC_DEFINE([COLLOPT_HAVE_$2], [1], [Kernels for $1 are built.])
       collopt_isas="$1 $collopt_isas"])
AC_SUBST([COLLOPT_$2_CFLAGS], ["$3"])
AM_CONDITIONAL([COLLOPT_HAVE_$2], [test $collopt_build = yes])])

AC_DEFUN([COLLOPT_CHECK_ISAS],
[AC_ARG_WITH([isas],
  [AS_HELP_STRING([--with-isas=LIST],
    [instruction sets to build kernels for, of generic, avx2, avx512, neon, sve,
     separated by commas; default: all that the compiler knows])],
  [AS_CASE([$with_isas], [yes], [with_isas=auto], [no], [with_isas=generic])], [with_isas=auto])
for collopt_isa in `echo $with_isas | tr ',' ' '`; do
  AS_CASE([$collopt_isa], [auto|generic|avx2|avx512|neon|sve], [],
          [AC_MSG_ERROR([--with-isas: "$collopt_isa" is none of generic, avx2, avx512, neon, sve])])
done
collopt_isas=generic

COLLOPT_KERNEL_CFLAGS="-O3"
COLLOPT_CHECK_CFLAG([-ftree-vectorize], [COLLOPT_KERNEL_CFLAGS])
COLLOPT_CHECK_CFLAG([-fvect-cost-model=dynamic], [COLLOPT_KERNEL_CFLAGS])
COLLOPT_CHECK_CFLAG([-fopenmp-simd], [COLLOPT_KERNEL_CFLAGS])
# Twice is enough for short vectors (sum of 100 doubles: 18.5 ns, 15 unrolled); eight times would
# double the size.
COLLOPT_CHECK_CFLAG([-funroll-loops], [COLLOPT_KERNEL_CFLAGS])
COLLOPT_CHECK_CFLAG([--param=max-unroll-times=2], [COLLOPT_KERNEL_CFLAGS])
COLLOPT_CHECK_CFLAG([-fno-math-errno], [COLLOPT_KERNEL_CFLAGS])
COLLOPT_CHECK_CFLAG([-fno-trapping-math], [COLLOPT_KERNEL_CFLAGS])
# gcc 12 fuses products with alternating sums in straight-line code, -ffp-contract=off or not.
COLLOPT_CHECK_CFLAG([-fno-tree-slp-vectorize], [COLLOPT_KERNEL_CFLAGS])
AC_SUBST([COLLOPT_KERNEL_CFLAGS])

COLLOPT_CHECK_ISA([avx2], [AVX2], [-mavx2 -mf16c -mfma],
  [AC_LANG_PROGRAM([[#include <immintrin.h>]],
    [[__m256i a = _mm256_setzero_si256(); a = _mm256_add_epi8(a, a);
      __m256d b = _mm256_setzero_pd(); b = _mm256_fmsub_pd(b, b, b);
      return _mm256_movemask_epi8(a) + _mm256_movemask_pd(b)
        + (int) _mm256_cvtph_ps(_mm256_castsi256_si128(a))[0];]])])
COLLOPT_CHECK_ISA([avx512], [AVX512],
  [-mavx2 -mf16c -mavx512f -mavx512bw -mavx512vl -mprefer-vector-width=512],
  [AC_LANG_PROGRAM([[#include <immintrin.h>]],
    [[__m512i a = _mm512_setzero_si512(); a = _mm512_add_epi64(a, a);
      return _mm512_cmplt_epi8_mask(a, a) != 0;]])])
COLLOPT_CHECK_ISA([neon], [NEON], [],
  [AC_LANG_PROGRAM([[#include <arm_neon.h>]],
    [[uint8x16_t a = vdupq_n_u8(1); return vmaxvq_u8(a);]])])
COLLOPT_CHECK_ISA([sve], [SVE], [-march=armv8.2-a+sve],
  [AC_LANG_PROGRAM([[#include <arm_sve.h>]], [[return svcntb();]])])
])
