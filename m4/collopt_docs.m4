# What makes the manual pages and the site from doc/manual: Sphinx with MyST. A release tarball has
# the manual pages; a checkout without Sphinx has none, and everything else is built and installed.
#
# Sets SPHINX_BUILD and PYTHON3 (empty: missing), COLLOPT_SPHINX (both are there), COLLOPT_MAN
# (there are pages to install) and the line of the summary in $collopt_docs.
AC_DEFUN([COLLOPT_CHECK_DOCS], [
AC_ARG_VAR([SPHINX_BUILD], [sphinx-build, for manual pages and the site])
AC_PATH_PROGS([SPHINX_BUILD], [sphinx-build sphinx-build-3])
AC_PATH_PROG([PYTHON3], [python3])
AS_IF([test -n "$SPHINX_BUILD"], [
  AC_MSG_CHECKING([whether $SPHINX_BUILD has MyST])
  rm -rf conftest.sphinx
  AS_MKDIR_P([conftest.sphinx])
  AS_ECHO(["# page"]) >conftest.sphinx/index.md
  AS_IF([PYTHONDONTWRITEBYTECODE=1 "$SPHINX_BUILD" -q -C -D extensions=myst_parser \
           -D root_doc=index -b dummy conftest.sphinx conftest.sphinx/out >&AS_MESSAGE_LOG_FD 2>&1],
    [AC_MSG_RESULT([yes])], [AC_MSG_RESULT([no]); SPHINX_BUILD=])
  rm -rf conftest.sphinx])
collopt_docs="made by $SPHINX_BUILD (make site: HTML)"
collopt_man=yes
AS_IF([test -z "$SPHINX_BUILD" || test -z "$PYTHON3"],
  [SPHINX_BUILD=
   AS_IF([test -f "$srcdir/doc/man/collopt.7"],
     [collopt_docs='as shipped'],
     [collopt_docs='none: no sphinx-build with MyST (Debian, Ubuntu: ]dnl
[python3-sphinx python3-myst-parser)'
      collopt_man=no])])
AM_CONDITIONAL([COLLOPT_SPHINX], [test -n "$SPHINX_BUILD"])
AM_CONDITIONAL([COLLOPT_MAN], [test $collopt_man = yes])
])
