#!/bin/sh
# The launcher's words: what each kind of launcher is told, with stand-ins that print their
# arguments.

. "${COLLOPT_SOURCE:-.}/test/common.sh"
work=$(cd "$work" && pwd -P)

# An installation that was moved to another prefix after it was configured.
mkdir -p "$work/bin" "$work/lib64" "$work/fake"
sed -e 's|@VERSION@|9.8.7|' -e 's|@prefix@|/nowhere|' -e 's|@bindir@|/nowhere/bin|' \
    -e 's|@libdir@|/nowhere/lib64|' "$COLLOPT_SOURCE/tools/collopt.in" >"$work/bin/collopt"
chmod +x "$work/bin/collopt"
: >"$work/lib64/libcollopt.so.0"
lib=$work/lib64/libcollopt.so.0

launcher() # NAME, WHAT IT SAYS OF ITSELF
{
    cat >"$work/fake/$1" <<END
#!/bin/sh
if [ "\$1" = --version ]; then
    echo "$2"
    exit 0
fi
env | grep '^COLLOPT_ALLREDUCE' | sed 's/^/environment /'
for word; do
    echo "<\$word>"
done
exit 7
END
    chmod +x "$work/fake/$1"
}

launcher mpirun.openmpi 'mpirun.openmpi (OpenRTE) 4.1.4'
launcher mpiexec 'mpiexec (Open MPI) 5.0.3'
launcher mpirun.mpich 'HYDRA build details:'
launcher mpirun_other 'something else'
launcher srun 'slurm 22.05'
launcher flux 'commands: 0.50.0'
PATH=$work/fake:$PATH
unset LD_PRELOAD OMPI_MCA_mca_base_env_list SLURM_EXPORT_ENV
for name in $(env | sed -n 's/^\(COLLOPT_[A-Z_]*\)=.*/\1/p'); do
    case $name in
        COLLOPT_SOURCE | COLLOPT_BUILD) ;;
        *) unset "$name" ;;
    esac
done
source=$COLLOPT_SOURCE build=$COLLOPT_BUILD
unset COLLOPT_SOURCE COLLOPT_BUILD

same() # WHAT WANT GOT
{
    if [ "$2" != "$3" ]; then
        printf 'FAIL: %s\n--- wanted\n%s\n--- got\n%s\n' "$1" "$2" "$3"
        failed=1
    fi
}

says() # WHAT PATTERN STATUS ARGUMENT...: fails with STATUS and says PATTERN on stderr
{
    what=$1 pattern=$2 status=$3
    shift 3
    said=$("$work/bin/collopt" "$@" 2>&1 >/dev/null)
    got=$?
    case $said in
        *"$pattern"*) [ $got -eq "$status" ] && return ;;
    esac
    printf 'FAIL: %s: status %s, said: %s\n' "$what" "$got" "$said"
    failed=1
}

dry()
{
    "$work/bin/collopt" --dry-run "$@" 2>&1
}

same 'Open MPI' "mpirun.openmpi -x LD_PRELOAD=$lib -n 2 ./app x" \
    "$(dry mpirun.openmpi -n 2 ./app x)"
same 'Open MPI 5' "mpiexec -x LD_PRELOAD=$lib -n 2 ./app" "$(dry mpiexec -n 2 ./app)"
same 'Open MPI, two programs' \
    "mpirun.openmpi -x LD_PRELOAD=$lib -n 2 ./a : -x LD_PRELOAD=$lib -n 3 ./b" \
    "$(dry mpirun.openmpi -n 2 ./a : -n 3 ./b)"
says 'a launcher behind another command' 'mpirun.openmpi is started by env, and gives' 0 \
    --dry-run env A=b mpirun.openmpi -n 2 ./app
says 'another launcher behind another command' '' 0 --dry-run env mpirun.mpich -n 2 ./app
[ -z "$said" ] || { echo "FAIL: of mpirun.mpich behind env it says: $said"; failed=1; }
same 'MPICH' "mpirun.mpich -genv LD_PRELOAD $lib -n 2 ./a : -n 3 ./b" \
    "$(dry mpirun.mpich -n 2 ./a : -n 3 ./b)"
same 'Slurm' "srun --export=ALL,LD_PRELOAD=$lib -n 2 ./app" "$(dry srun -n 2 ./app)"
same 'Flux' \
    "COLLOPT_LOG=trace flux run --env=LD_PRELOAD=$lib --env=COLLOPT_LOG=trace -n 2 ./run x" \
    "$(dry --log trace flux run -n 2 ./run x)"
same 'Flux, where variables are taken away' \
    "flux -v submit --env=LD_PRELOAD=$lib --env=-* --env=LD_PRELOAD=$lib \
--env=LD_PRELOAD=$lib:tool.so ./app" \
    "$(dry flux -v submit '--env=-*' --env=LD_PRELOAD=tool.so ./app | tr -d "'")"
same 'Flux, a shell' "env LD_PRELOAD=$lib flux alloc -n 2 run" "$(dry flux alloc -n 2 run)"
same 'a program' "env LD_PRELOAD=$lib ./app --help" "$(dry ./app --help)"
same 'an unknown launcher' "env LD_PRELOAD=$lib mpirun_other -n 2 ./app" \
    "$(dry mpirun_other -n 2 ./app)"
same '--' "env LD_PRELOAD=$lib -app" "$(dry -- -app)"

same 'options to Open MPI' \
    "COLLOPT=off COLLOPT_AFTER=1 COLLOPT_ALLREDUCE='l:n=(b),m=(r:s=1K)' COLLOPT_LOG=decide \
COLLOPT_REDUCE_SCATTER=host COLLOPT_REPORT=stderr COLLOPT_WAIT=spin mpirun.openmpi \
-x LD_PRELOAD=$lib -x COLLOPT=off -x COLLOPT_AFTER=1 \
-x 'COLLOPT_ALLREDUCE=l:n=(b),m=(r:s=1K)' -x COLLOPT_LOG=decide -x COLLOPT_REDUCE_SCATTER=host \
-x COLLOPT_REPORT=stderr -x COLLOPT_WAIT=spin ./app" \
    "$(dry --off --after 1 --force 'allreduce=l:n=(b),m=(r:s=1K)' --log=decide \
        --force=Reduce-Scatter=host --report stderr --wait spin mpirun.openmpi ./app)"
same 'the environment to MPICH' \
    "COLLOPT_LOG=trace mpirun.mpich -genv LD_PRELOAD $lib -genv COLLOPT_LOG trace ./app" \
    "$(COLLOPT_LOG=trace dry mpirun.mpich ./app)"
same 'a report lies where collopt was called' \
    "COLLOPT_REPORT=$work/r.json env LD_PRELOAD=$lib ./app" \
    "$(cd "$work" && dry --report r.json ./app)"
same 'options of the program are its own' "env LD_PRELOAD=$lib ./app --off --report x" \
    "$(dry ./app --off --report x)"

same 'preloaded already' "mpirun.mpich -genv LD_PRELOAD $lib:/lib/tool.so ./app" \
    "$(LD_PRELOAD=/lib/tool.so dry mpirun.mpich ./app 2>/dev/null |
    sed "/^ERROR/d")"
same 'preloaded by -x' "mpirun.openmpi -x LD_PRELOAD=$lib -x LD_PRELOAD=$lib:tool.so ./app" \
    "$(dry mpirun.openmpi -x LD_PRELOAD=tool.so ./app)"
same 'preloaded by -genv' "mpirun.mpich -genv LD_PRELOAD $lib -genv LD_PRELOAD $lib:tool.so ./app" \
    "$(dry mpirun.mpich -genv LD_PRELOAD tool.so ./app)"
same 'preloaded by env' \
    "mpirun.mpich -genv LD_PRELOAD $lib -n 1 env LD_PRELOAD=$lib:tool.so ./app" \
    "$(dry mpirun.mpich -n 1 env LD_PRELOAD=tool.so ./app)"

same 'srun with a list' \
    "COLLOPT_LOG=trace srun --export=PATH,HOME,LD_PRELOAD=$lib,COLLOPT_LOG -n 1 ./app" \
    "$(dry --log trace srun --export=PATH,HOME -n 1 ./app)"
same 'srun with nothing' "COLLOPT_LOG=trace srun --export=LD_PRELOAD=$lib,COLLOPT_LOG -n 1 ./app" \
    "$(dry --log trace srun --export NONE -n 1 ./app)"
same 'srun with another preload' "srun --export=ALL,LD_PRELOAD=$lib:tool.so -n 1 ./app" \
    "$(dry srun --export=ALL,LD_PRELOAD=tool.so -n 1 ./app)"
same 'srun by its variable' "srun --export=HOME,LD_PRELOAD=$lib ./app" \
    "$(SLURM_EXPORT_ENV=HOME dry srun ./app)"

# Really run: words arrive whole, the status comes back, the launcher itself is not preloaded.
same 'words' "environment COLLOPT_ALLREDUCE=host
<-genv>
<LD_PRELOAD>
<$lib>
<-genv>
<COLLOPT_ALLREDUCE>
<host>
<a  b>
<>
<c'd>" "$("$work/bin/collopt" --force allreduce=host mpirun.mpich 'a  b' '' "c'd" 2>&1)"
"$work/bin/collopt" mpirun.mpich >/dev/null
same 'status' 7 $?
same 'quoting' "mpirun.mpich -genv LD_PRELOAD $lib 'a  b' '' 'c'\\''d'" \
    "$(dry mpirun.mpich 'a  b' '' "c'd")"
same 'a variable in the value of another' "mpirun.mpich -genv LD_PRELOAD $lib ./app" \
    "$(TEXT='first line
COLLOPT_LOG=trace' dry mpirun.mpich ./app)"

same 'version' 'collopt 9.8.7' "$("$work/bin/collopt" --version)"
case $("$work/bin/collopt" --help) in
    Usage:*--dry-run*) ;;
    *) same 'help' 'usage' '' ;;
esac
ln -s "$work/bin/collopt" "$work/link"
same 'called by a link' "env LD_PRELOAD=$lib ./app" "$("$work/link" --dry-run ./app)"
same 'called by PATH' "env LD_PRELOAD=$lib ./app" "$(PATH=$work/bin:$PATH collopt --dry-run ./app)"

says 'no command' 'Usage' 2
says 'unknown option' 'unknown option --ofF' 2 --ofF ./app
says 'option without value' '--log needs a value' 2 --log
says 'force without =' 'not "allreduce"' 2 --force allreduce ./app
says 'force without name' 'not "=ring"' 2 --force =ring ./app
says 'mca_base_env_list' 'mca_base_env_list' 2 mpirun.openmpi --mca mca_base_env_list A=1 ./app
says 'smpirun' 'libcollopt-smpi.a' 2 smpirun ./app
mkdir "$work/a b" && cp -R "$work/bin" "$work/lib64" "$work/a b"
work="$work/a b" says 'space in the path' 'no path with a space' 2 ./app
says 'no such command' 'there is no command "mpirn" in PATH; COMMAND is a launcher (mpirun,' 127 \
    mpirn -n 2 ./app
says 'no such file' 'there is no ./nothing' 127 ./nothing
says 'no program' 'is not a program' 126 "$lib"
rm "$lib"
says 'no library' 'no libcollopt.so' 2 ./app


# A mistake in an option is told before anything starts; one in the environment is the job's to
# tell, and no reason not to start it.
cp "$build/tools/collopt-info" "$work/bin"
: >"$lib"
says 'a mistake in an option' 'COLLOPT_WAIT=spinn is not understood' 2 --wait spinn mpirun.mpich
for mistake in COLLOPT=maybe COLLOPT_NONSENSE=1 COLLOPT_WAIT=spinn COLLOPT_RULES=/none; do
    export "$mistake"
    says "$mistake" '' 7 mpirun.mpich ./app
    says "$mistake, beside an option" '' 7 --after 2 mpirun.mpich ./app
    unset "${mistake%%=*}"
done

if command -v shellcheck >/dev/null; then
    shellcheck "$source/tools/collopt.in" || failed=1
fi
exit $failed
