#!/bin/sh
# `make install` puts module files, in Lua and in Tcl, where `module use` finds them, and all that
# they name is there.  Lmod loads both.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
build=${COLLOPT_BUILD:-$PWD}
unset MAKEFLAGS MFLAGS MAKELEVEL

for lmod in "${LMOD_CMD-}" /usr/share/lmod/lmod/libexec/lmod; do
    [ ! -x "$lmod" ] || break
done
[ -x "$lmod" ] || { echo "SKIP: no Lmod"; exit 77; }

value()                 # a variable of the Makefile
{
    # shellcheck disable=SC2016
    (cd "$build" &&
        printf 'include Makefile\nmodules-value:\n\t@echo "$(%s)"\n' "$1" |
        make -s -f - modules-value 2>/dev/null)
}

make -s -C "$build" install-modules DESTDIR="$work" >"$work/said" 2>&1 ||
    { cat "$work/said"; fail "make install-modules: status $?"; }
modules=$work$(value modulesdir) version=$(value VERSION)

loads()                 # WHAT: the module has the folders of this configuration
{
    env -i PATH=/usr/bin:/bin HOME="$work" MODULEPATH="$modules" LMOD_IGNORE_CACHE=yes "$lmod" \
        sh load collopt >"$work/set" 2>"$work/said"
    [ ! -s "$work/said" ] || fail "$1: $(cat "$work/said")"
    while read -r variable directory; do
        # shellcheck disable=SC1091
        got=$(. "$work/set" >/dev/null 2>&1; eval "echo \"\$$variable\"")
        case $got: in "$directory":*) ;; *) fail "$1: $variable=$got, not $directory" ;; esac
    done <<END
PATH $(value bindir)
MANPATH $(value mandir)
PKG_CONFIG_PATH $(value libdir)/pkgconfig
CPATH $(value includedir)
LIBRARY_PATH $(value libdir)
LD_LIBRARY_PATH $(value libdir)
LOADEDMODULES collopt/$version
END
}

loads Lua
grep -q "_LMFILES_=.*/$version\.lua" "$work/set" ||
    fail "not loaded from the file in Lua: $(cat "$work/set")"
rm "$modules/collopt/$version.lua"
loads Tcl
# An empty folder in MANPATH stands for those that man knows by itself.
grep -q '^MANPATH=.*:;*$' "$work/set" ||
    fail "MANPATH without the system's pages: $(cat "$work/set")"

make -s -C "$build" uninstall-modules DESTDIR="$work" >"$work/said" 2>&1 ||
    fail "make uninstall-modules: $(cat "$work/said")"
[ -z "$(find "$modules" -type f)" ] || fail "left by uninstall: $(find "$modules" -type f)"
exit $failed
