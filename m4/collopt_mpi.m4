# COLLOPT_CHECK_MPI(NAME, WRAPPERS, MACRO, PACKAGE)
#
# Looks for one MPI: the first of WRAPPERS, or what --with-NAME names, that compiles and links a program in which mpi.h
# defines MACRO. Its flags are what it shows (-show), so that everything is compiled with one $(CC).
#
# With NAME=openmpi, sets the conditional COLLOPT_OPENMPI and substitutes
#   OPENMPI_MPICC, OPENMPI_MPIFC, OPENMPI_MPIRUN   the wrappers and the launcher
#   OPENMPI_CPPFLAGS                               -I, -D, -include of the wrapper, and COLLOPT_HAVE_... for names.h
#   OPENMPI_LIBS                                   -L, -l, -Wl of the wrapper
# (not OPENMPI_CC: an exported MPICH_CC would tell MPICH's wrapper to call itself).
AC_DEFUN([COLLOPT_CHECK_MPI],
[m4_pushdef([COLLOPT_UPPER], m4_toupper([$1]))dnl
AC_ARG_WITH([$1],
  [AS_HELP_STRING([--with-$1@<:@=WRAPPER@:>@], [build for this MPI, with this compiler wrapper; default: auto])],
  [], [with_$1=auto])
AS_CASE([$with_$1], [yes|no|auto], [collopt_wrappers="$2"], [collopt_wrappers=$with_$1])
AS_IF([test "x$with_$1" = xno], [collopt_wrappers=])

COLLOPT_UPPER[]_MPICC= COLLOPT_UPPER[]_MPIFC= COLLOPT_UPPER[]_MPIRUN= COLLOPT_UPPER[]_CPPFLAGS= COLLOPT_UPPER[]_LIBS=
collopt_saved_CPPFLAGS=$CPPFLAGS
collopt_saved_CFLAGS=$CFLAGS
collopt_saved_LIBS=$LIBS
for collopt_wrapper in $collopt_wrappers; do
  AS_UNSET([collopt_path])
  AS_CASE([$collopt_wrapper],
    [*/*], [collopt_path=$collopt_wrapper],
    [AC_PATH_PROG([collopt_path], [$collopt_wrapper])])
  AS_UNSET([ac_cv_path_collopt_path])
  AS_IF([test -z "$collopt_path"], [continue])

  AC_MSG_CHECKING([for $1 by $collopt_path])
  COLLOPT_TAKE_FLAGS([`$collopt_path -show 2>/dev/null`])
  CPPFLAGS="$collopt_saved_CPPFLAGS $collopt_cppflags"
  CFLAGS="$collopt_saved_CFLAGS -fPIC"
  LIBS="$collopt_libs $collopt_saved_LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#ifndef $3
# error "this is another MPI"
#endif]], [[MPI_Init(0, 0);]])],
    [AC_MSG_RESULT([yes])
     COLLOPT_UPPER[]_MPICC=$collopt_path
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
  [collopt_dir=`AS_DIRNAME(["$COLLOPT_UPPER[]_MPICC"])`
   collopt_base=`AS_BASENAME(["$COLLOPT_UPPER[]_MPICC"])`
   COLLOPT_UPPER[]_MPIFC=$collopt_dir/`AS_ECHO(["$collopt_base"]) | sed 's/smpicc/smpiff/; s/mpicc/mpifort/'`
   COLLOPT_UPPER[]_MPIRUN=$collopt_dir/`AS_ECHO(["$collopt_base"]) | sed 's/mpicc/mpirun/'`
   AS_IF([test -x "$COLLOPT_UPPER[]_MPIFC"], [], [COLLOPT_UPPER[]_MPIFC=])],
  [AS_CASE([$with_$1], [auto|no], [],
    [AC_MSG_ERROR([--with-$1 was given, but no compiler wrapper of $1 works here (tried: $collopt_wrappers).
On Debian and Ubuntu install $4, or name the wrapper: --with-$1=/path/to/mpicc])])])
AC_SUBST(COLLOPT_UPPER[_MPICC])
AC_SUBST(COLLOPT_UPPER[_MPIFC])
AC_SUBST(COLLOPT_UPPER[_MPIRUN])
AC_SUBST(COLLOPT_UPPER[_CPPFLAGS])
AC_SUBST(COLLOPT_UPPER[_LIBS])
AM_CONDITIONAL([COLLOPT_]COLLOPT_UPPER, [test -n "$COLLOPT_UPPER[]_MPICC"])
m4_popdef([COLLOPT_UPPER])])

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

# COLLOPT_CHECK_MPI_NAMES: which of the names that not every MPI has, as the column "needs" of names.h.
AC_DEFUN([COLLOPT_CHECK_MPI_NAMES],
[COLLOPT_CHECK_MPI_NAME([LARGE], [mpi.h], [PMPI_Allreduce_c])
COLLOPT_CHECK_MPI_NAME([PERSISTENT], [mpi.h], [PMPI_Allreduce_init])
COLLOPT_CHECK_MPI_NAME([PERSISTENT_LARGE], [mpi.h], [PMPI_Allreduce_init_c])
COLLOPT_CHECK_MPI_NAME([PERSISTENT_X], [mpi-ext.h], [PMPIX_Allreduce_init])
COLLOPT_CHECK_MPI_NAME([IDUP_WITH_INFO], [mpi.h], [PMPI_Comm_idup_with_info])])

AC_DEFUN([COLLOPT_CHECK_MPI_NAME],
[AC_MSG_CHECKING([for $3])
AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <mpi.h>
#include <$2>
void (*volatile address)(void);]], [[address = (void (*)(void)) $3;]])],
  [collopt_has=1 collopt_result=yes], [collopt_has=0 collopt_result=no])
AC_MSG_RESULT([$collopt_result])
AS_VAR_APPEND([collopt_cppflags], [" -DCOLLOPT_HAVE_$1=$collopt_has"])])
