# COLLOPT_CHECK_MPI(NAME, TITLE, OPTION, WRAPPERS, HEADER, PACKAGE, LAUNCHER): a row of
# m4/collopt_hosts.m4
#
# Looks for one MPI: the first of WRAPPERS, or what --with-OPTION names, that compiles and links a
# program in which mpi.h fulfils HEADER. Its flags are what it shows (-show), so that everything is
# compiled with one $(CC).
#
# With NAME=openmpi, appends it to collopt_hosts, to collopt_fortran if it has a compiler for that,
# and substitutes
#   OPENMPI_MPICC, OPENMPI_MPIFC, OPENMPI_MPIRUN   the wrappers and the launcher
#   OPENMPI_RUN                                    the launcher with its options
#   OPENMPI_CPPFLAGS                               -I, -D, -include of the wrapper, and
#                                                  COLLOPT_HAVE_... for names.h
#   OPENMPI_LIBS                                   -L, -l, -Wl of the wrapper
# (not OPENMPI_CC: an exported MPICH_CC would tell MPICH's wrapper to call itself).
#
# The standard ABI (NAME=abi) is a header that many libraries serve: its backend needs no library,
# and its programs are linked with the first one that COLLOPT_ABI_LIBRARIES found, by a wrapper that
# make writes.
AC_DEFUN([COLLOPT_CHECK_MPI],
[m4_pushdef([COLLOPT_UPPER], m4_toupper([$1]))dnl
AC_ARG_WITH([$3],
  [AS_HELP_STRING([--with-$3@<:@=WRAPPER@:>@],
    [build for $2, with this compiler wrapper; default: auto])],
  [], [AS_VAR_SET([AS_TR_SH([with_$3])], [auto])])
collopt_with=$AS_TR_SH([with_$3])
AS_CASE([$collopt_with], [yes|no|auto], [collopt_wrappers="$4"], [collopt_wrappers=$collopt_with])
AS_IF([test "x$collopt_with" = xno], [collopt_wrappers=])
m4_if([$1], [abi], [COLLOPT_ABI_LIBRARIES])

COLLOPT_UPPER[]_MPICC= COLLOPT_UPPER[]_MPIFC= COLLOPT_UPPER[]_MPIRUN=
COLLOPT_UPPER[]_CPPFLAGS= COLLOPT_UPPER[]_LIBS= collopt_by=no
collopt_saved_CPPFLAGS=$CPPFLAGS
collopt_saved_CFLAGS=$CFLAGS
collopt_saved_LIBS=$LIBS
for collopt_wrapper in $collopt_wrappers; do
  AS_UNSET([collopt_path])
  collopt_word=${collopt_wrapper%%:*}
  collopt_more=${collopt_wrapper@%:@"$collopt_word"}
  AS_CASE([$collopt_word],
    [*/*], [collopt_path=$collopt_word],
    [AC_PATH_PROG([collopt_path], [$collopt_word])])
  AS_UNSET([ac_cv_path_collopt_path])
  AS_IF([test -z "$collopt_path"], [continue])

  AC_MSG_CHECKING([for $2 by $collopt_path$collopt_more])
  AS_CASE([$collopt_more],
    [:-*], [collopt_shown=`$collopt_path ${collopt_more@%:@:} -show 2>/dev/null`],
    [''], [collopt_shown=`$collopt_path -show 2>/dev/null`],
    [collopt_shown=`$collopt_path -show 2>/dev/null |
      sed "s,-I@<:@^ @:>@*,&/${collopt_more@%:@:},g"`])
  COLLOPT_TAKE_FLAGS([$collopt_shown])
  m4_if([$1], [abi], [collopt_libs=$collopt_abi_libs])
  CPPFLAGS="$collopt_saved_CPPFLAGS $collopt_cppflags"
  CFLAGS="$collopt_saved_CFLAGS -fPIC"
  LIBS="$collopt_libs $collopt_saved_LIBS"
  m4_if([$1], [abi], [AC_COMPILE_IFELSE], [AC_LINK_IFELSE])([AC_LANG_PROGRAM([[
#include <mpi.h>
#if !($5)
# error "this is another MPI"
#endif]], [[MPI_Init(0, 0);]])],
    [AC_MSG_RESULT([yes])
     COLLOPT_UPPER[]_MPICC=m4_if([$1], [abi], ['$(abs_top_builddir)/abi/mpicc'], [$collopt_path])
     collopt_by=$collopt_path$collopt_more
     COLLOPT_CHECK_MPI_NAMES
     COLLOPT_UPPER[]_CPPFLAGS=$collopt_cppflags
     COLLOPT_UPPER[]_LIBS=$collopt_libs
     break],
    [AC_MSG_RESULT([no])])
done
CPPFLAGS=$collopt_saved_CPPFLAGS
CFLAGS=$collopt_saved_CFLAGS
LIBS=$collopt_saved_LIBS

AS_IF([test -n "$COLLOPT_UPPER[]_MPICC"],
  [AS_VAR_APPEND([collopt_hosts], [" $1"])
   m4_if([$1], [abi], [],
     [collopt_dir=`AS_DIRNAME(["$COLLOPT_UPPER[]_MPICC"])`
      collopt_base=`AS_BASENAME(["$COLLOPT_UPPER[]_MPICC"])`
      COLLOPT_UPPER[]_MPIFC=$collopt_dir/`AS_ECHO(["$collopt_base"]) |
        sed 's/smpicc/smpiff/; s/mpicc/mpifort/'`
      COLLOPT_UPPER[]_MPIRUN=$collopt_dir/`AS_ECHO(["$collopt_base"]) | sed 's/mpicc/mpirun/'`
      AS_IF([test -x "$COLLOPT_UPPER[]_MPIFC"],
        [AS_VAR_APPEND([collopt_fortran], [" $1"])], [COLLOPT_UPPER[]_MPIFC=])])],
  [AS_CASE([$collopt_with], [auto|no], [],
    [AC_MSG_ERROR([--with-$3 was given, but no compiler wrapper of $2 works here ]dnl
[(tried: $collopt_wrappers).
On Debian and Ubuntu install $6, or name the wrapper: --with-$3=/path/to/mpicc])])])
AS_VAR_APPEND([collopt_summary], ["
  m4_format([%-12s], [$2]) $collopt_by"])
AC_SUBST(COLLOPT_UPPER[_MPICC])
AC_SUBST(COLLOPT_UPPER[_MPIFC])
AC_SUBST(COLLOPT_UPPER[_MPIRUN])
AC_SUBST(COLLOPT_UPPER[_RUN], ["$COLLOPT_UPPER[]_MPIRUN $7"])
AC_SUBST(COLLOPT_UPPER[_CPPFLAGS])
AC_SUBST(COLLOPT_UPPER[_LIBS])
m4_popdef([COLLOPT_UPPER])])

# COLLOPT_ABI_LIBRARIES: which of the MPIs found so far come with a library of the standard ABI.  It
# lies where the wrapper links from, or, with the name of the MPI, where a distribution puts the
# libraries of all.  Sets collopt_abi_libs, for linking with the first, and substitutes ABI_MPIS,
# and ABI_FILES in the same order.
AC_DEFUN([COLLOPT_ABI_LIBRARIES],
[ABI_MPIS= ABI_FILES= collopt_abi_libs=
for collopt_host in $collopt_hosts; do
  AC_MSG_CHECKING([for libmpi_abi of $collopt_host])
  collopt_found=
  eval collopt_words=\$`AS_ECHO([$collopt_host]) | tr a-z A-Z`_LIBS
  for collopt_word in $collopt_words; do
    AS_CASE([$collopt_word], [-L*], [collopt_dir=${collopt_word@%:@-L}], [continue])
    for collopt_file in "$collopt_dir/libmpi_abi.so.1" "$collopt_dir/libmpi_abi.so" \
        "$collopt_dir/libmpi_abi_$collopt_host.so".1* \
        "$collopt_dir/../../libmpi_abi_$collopt_host.so".1*; do
      AS_IF([test -z "$collopt_found" && test -f "$collopt_file"],
        [collopt_found=`readlink -f "$collopt_file"`])
    done
  done
  AC_MSG_RESULT([${collopt_found:-no}])
  AS_IF([test -n "$collopt_found"],
    [AS_VAR_APPEND([ABI_MPIS], ["${ABI_MPIS:+ }$collopt_host"])
     AS_VAR_APPEND([ABI_FILES], ["${ABI_FILES:+ }$collopt_found"])
     AS_IF([test -z "$collopt_abi_libs"], [collopt_abi_libs="-Wl,--no-as-needed $collopt_found"])])
done
AC_SUBST([ABI_MPIS])
AC_SUBST([ABI_FILES])])

# COLLOPT_TAKE_FLAGS(WORDS): sort what a wrapper shows into collopt_cppflags and collopt_libs.
AC_DEFUN([COLLOPT_TAKE_FLAGS],
[collopt_cppflags= collopt_libs= collopt_takes=
for collopt_word in $1; do
  AS_IF([test -n "$collopt_takes"],
    [AS_VAR_APPEND([collopt_cppflags], [" $collopt_takes $collopt_word"])
     collopt_takes=
     continue])
  AS_CASE([$collopt_word],
    [-include|-isystem|-idirafter], [collopt_takes=$collopt_word],
    [-I/usr/include], [],
    [-I*|-D*|-U*], [AS_VAR_APPEND([collopt_cppflags], [" $collopt_word"])],
    [-L*|-l*|-Wl,*|-shared|-pthread], [AS_VAR_APPEND([collopt_libs], [" $collopt_word"])])
done])

# COLLOPT_CHECK_MPI_NAMES: which of the names that not every MPI has, as the column "needs" of
# names.h.
AC_DEFUN([COLLOPT_CHECK_MPI_NAMES],
[COLLOPT_CHECK_MPI_NAME([LARGE], [mpi.h], [PMPI_Allreduce_c])
COLLOPT_CHECK_MPI_NAME([PERSISTENT], [mpi.h], [PMPI_Allreduce_init])
COLLOPT_CHECK_MPI_NAME([PERSISTENT_LARGE], [mpi.h], [PMPI_Allreduce_init_c])
COLLOPT_CHECK_MPI_NAME([PERSISTENT_X], [mpi-ext.h], [PMPIX_Allreduce_init])
COLLOPT_CHECK_MPI_NAME([IDUP_WITH_INFO], [mpi.h], [PMPI_Comm_idup_with_info])
COLLOPT_CHECK_MPI_NAME([SESSION], [mpi.h], [PMPI_Session_init])
COLLOPT_CHECK_MPI_NAME([GET_STATUSES], [mpi.h], [PMPI_Request_get_status_all])
COLLOPT_CHECK_MPI_NAME([IS_COMPLETE], [mpi.h], [PMPIX_Request_is_complete])
COLLOPT_CHECK_CONST_REQUESTS])

# COLLOPT_CHECK_CONST_REQUESTS: whether MPI_Request_get_status_all takes constant requests, as
# MPI-4.1 says; MPICH 4.2's does not.
AC_DEFUN([COLLOPT_CHECK_CONST_REQUESTS],
[AC_MSG_CHECKING([for constant requests in PMPI_Request_get_status_all])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
int PMPI_Request_get_status_all(int, const MPI_Request *, int *, MPI_Status *);]])],
  [collopt_has=1 collopt_result=yes], [collopt_has=0 collopt_result=no])
AC_MSG_RESULT([$collopt_result])
AS_VAR_APPEND([collopt_cppflags], [" -DCOLLOPT_HAVE_CONST_REQUESTS=$collopt_has"])])

AC_DEFUN([COLLOPT_CHECK_MPI_NAME],
[AC_MSG_CHECKING([for $3])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#include <$2>
void (*volatile address)(void);]], [[address = (void (*)(void)) $3;]])],
  [collopt_has=1 collopt_result=yes], [collopt_has=0 collopt_result=no])
AC_MSG_RESULT([$collopt_result])
AS_VAR_APPEND([collopt_cppflags], [" -DCOLLOPT_HAVE_$1=$collopt_has"])])
