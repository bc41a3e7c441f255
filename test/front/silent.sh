# Processes without MPI, as launchers and their helpers are: nothing said, nothing loaded but us.

. "$(dirname "$0")/common.sh"

installation lib
loaded()        # [VARIABLE=VALUE]: the objects that the program would be given, without their
                # addresses
{
    env "$@" LD_TRACE_LOADED_OBJECTS=1 /bin/true | sed 's/ (0x.*//; s/^[[:space:]]*//' | sort
}

for program in /bin/true "sh -c :" "env true"; do
    for bind in LD_BIND_NOW= LD_BIND_NOW=1; do
        env LD_PRELOAD="$work/lib/libcollopt.so" $bind $program >said 2>&1 ||
            fail "$program: status $?"
        [ -s said ] && { cat said; fail "$program: not silent"; }
    done
done

loaded X=1 >without
loaded LD_PRELOAD="$work/lib/libcollopt.so" >with
echo "$work/lib/libcollopt.so" | sort - without | cmp -s - with ||
    { cat with; fail "more was loaded than libcollopt.so"; }
