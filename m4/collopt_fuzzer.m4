# COLLOPT_CHECK_FUZZER
#
# Sets FUZZER_CC, a clang that has libFuzzer and the sanitizers, or to nothing.
AC_DEFUN([COLLOPT_CHECK_FUZZER],
[AC_ARG_VAR([FUZZER_CC], [a clang with libFuzzer, for test/parsers])
AC_MSG_CHECKING([for a clang with libFuzzer])
cat >conftest.fuzzer.c <<'END'
#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) { return size > 9 && *data; }
END
for collopt_clang in ${FUZZER_CC:-clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14}; do
  AS_IF([$collopt_clang -fsanitize=fuzzer,address,undefined conftest.fuzzer.c \
           -o conftest.fuzzer >&AS_MESSAGE_LOG_FD 2>&1 &&
         ASAN_OPTIONS=detect_leaks=0 ./conftest.fuzzer -runs=1 >&AS_MESSAGE_LOG_FD 2>&1],
    [FUZZER_CC=$collopt_clang
     break], [FUZZER_CC=])
done
rm -f conftest.fuzzer*
AC_MSG_RESULT([${FUZZER_CC:-no}])
AM_CONDITIONAL([COLLOPT_FUZZER], [test -n "$FUZZER_CC"])])
