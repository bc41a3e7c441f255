# Launchers that are not installed, for scripts that source test/mpi/lang.sh: stand-ins that take
# the words of the real ones and start ranks by the launcher of an MPI that is there.

standins()              # HOST: makes $work/bin/srun and $work/bin/flux
{
    mkdir -p "$work/bin"
    for name in srun flux; do
        cat >"$work/bin/$name" <<END
#!/bin/sh
# Stand-in for $name.
if [ "\$1" = --version ]; then
    echo 'slurm 22.05.8'
    exit 0
fi
ranks=1 list=''
while [ \$# -gt 0 ]; do
    case \$1 in
        --export=*) list=\${1#*=} ;;
        --env=*=*) list=\$list,\${1#--env=} ;;
        -n) ranks=\$2; shift ;;
        run | submit | -*) ;;
        *) break ;;
    esac
    shift
done
IFS=,
for each in \$list; do
    case \$each in *=*) export "\$each" ;; esac
done
unset IFS
preload=\${LD_PRELOAD-}
unset LD_PRELOAD
exec $(launcher_of "$1") -n "\$ranks" env $(library_of "$1") LD_PRELOAD="\$preload" "\$@"
END
        chmod +x "$work/bin/$name"
    done
}
