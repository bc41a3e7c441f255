# Device memory on machines without a device: stand-ins for the runtimes, under their names, whose
# memory the processor may not touch.  Every collective, ranks that differ in where their buffers
# are; a runtime that comes late; one that has no device; one that fails.

. "${COLLOPT_SOURCE:-.}/test/mpi/hosts.sh"

standin()               # RUNTIME FILE [WORD]...
{
    runtime=$1 file=$2
    shift 2
    ${CC:-cc} -shared -fPIC -O2 -D"$runtime" -Wl,-soname,"$file" -o "$work/$file" \
        "$top/test/mpi/gpu_standin.c" "$@" -ldl \
        || { fail "no stand-in for $file"; finish; }
}

standin CUDA libcuda.so.1
standin HSA libhsa-runtime64.so.1
standin HIP libamdhip64.so.6 "$work/libhsa-runtime64.so.1" -Wl,-rpath,"$work"
standin ZE libze_loader.so.1
echo 'extern int nothing;' >"$work/nothing.c"
${CC:-cc} -shared -fPIC -o "$work/libze_intel_gpu.so.1" "$work/nothing.c" ||
    fail 'no stand-in for a driver'

nodes=/dev/kfd:/dev/dri
of()                    # HOST RANKS MODE [VARIABLE=VALUE]... FILE...: collopt has nothing to say
{
    of_host=$1 of_ranks=$2 of_mode=$3 variables='' files=''
    shift 3
    for word; do
        case $word in
        *=*) variables="$variables $word" ;;
        *) files="$files $work/$word" ;;
        esac
    done
    # shellcheck disable=SC2086     # lists
    quiet "$of_host" "$of_ranks" $variables "$(program "$of_host" gpu)" "$of_mode" $files
}

devices()               # HOST
{
    of "$1" 1 collectives TEST_GPU_PINS=1 libcuda.so.1
    for ranks in 2 3; do
        of "$1" $ranks collectives TEST_GPU_PINS=1 libcuda.so.1
        of "$1" $ranks collectives TEST_GPU_NODES=$nodes libhsa-runtime64.so.1
        of "$1" $ranks collectives TEST_GPU_NODES=$nodes TEST_GPU_PINS=1 \
            libhsa-runtime64.so.1 libamdhip64.so.6
        of "$1" $ranks collectives TEST_GPU_NODES=$nodes TEST_GPU_PINS=1 libze_loader.so.1
    done
    for form in persistent nonblocking; do
        of "$1" 1 collectives TEST_FORM=$form TEST_GPU_PINS=1 libcuda.so.1
        of "$1" 2 collectives TEST_FORM=$form TEST_GPU_PINS=1 libcuda.so.1
        of "$1" 2 columns TEST_FORM=$form libcuda.so.1
        of "$1" 2 ends TEST_FORM=$form libcuda.so.1
        of "$1" 2 layouts TEST_FORM=$form libcuda.so.1
        of "$1" 3 collectives TEST_FORM=$form TEST_GPU_NODES=$nodes \
            TEST_GPU_PINS=1 libze_loader.so.1
        ! lends_progress "$1" ||
            of "$1" 2 collectives TEST_FORM=$form COLLOPT_SHM=off TEST_GPU_PINS=1 libcuda.so.1
    done
    of "$1" 2 collectives TEST_GPU_PINS=1 COLLOPT_CHECK=on libcuda.so.1
    of "$1" 3 collectives TEST_GPU_PINS=1 COLLOPT_REPORT="$work/report" libcuda.so.1
    of "$1" 3 collectives COLLOPT_SCRATCH=0 libcuda.so.1
    of "$1" 2 collectives COLLOPT_SCRATCH=1M TEST_GPU_PINS=1 libcuda.so.1
    of "$1" 3 columns TEST_FORM=nonblocking TEST_GPU_NODES=$nodes libhsa-runtime64.so.1
    of "$1" 3 columns TEST_FORM=persistent TEST_GPU_NODES=$nodes libze_loader.so.1
    for library_set in libcuda.so.1 "TEST_GPU_NODES=$nodes libhsa-runtime64.so.1" \
        "TEST_GPU_NODES=$nodes libze_loader.so.1"; do
        # shellcheck disable=SC2086     # lists
        of "$1" 2 halves $library_set
        # shellcheck disable=SC2086
        of "$1" 2 ends $library_set
        # shellcheck disable=SC2086
        of "$1" 2 layouts $library_set
    done
    of "$1" 2 late libcuda.so.1
    of "$1" 2 late TEST_GPU_NODES=$nodes libhsa-runtime64.so.1
    of "$1" 2 late TEST_GPU_NODES=$nodes libze_loader.so.1
    of "$1" 2 questions libcuda.so.1
}

# What fails on one rank is an error there, and of those that need its input; later calls are right.
# The message of that rank is all that is said.
fails()                 # HOST RANKS FORM READ WRITTEN [VARIABLE=VALUE]... FILE...
{
    fails_host=$1 fails_ranks=$2 fails_form=$3 fails_read=$4 fails_written=$5
    shift 5
    variables='' files=''
    for word; do
        case $word in
        *=*) variables="$variables $word" ;;
        *) files="$files $work/$word" ;;
        esac
    done
    # shellcheck disable=SC2086     # lists
    launch "$fails_host" "$fails_ranks" LD_PRELOAD="$library" COLLOPT_AFTER=1 \
        TEST_FORM="$fails_form" $variables "$(program "$fails_host" gpu)" failing $files ||
        fail "$fails_host, $fails_ranks ranks, $fails_form, failing, $*: status $?"
    said "$fails_read" '^collopt: cannot read 32000 bytes' "$fails_host, $fails_form, failing, $*"
    said "$fails_written" '^collopt: cannot write 32000 bytes' \
        "$fails_host, $fails_form, failing, $*"
    said $((fails_read + fails_written)) '^collopt' "$fails_host, $fails_form, failing, $*"
}

failing()               # HOST
{
    fails "$1" 1 blocking 2 4 TEST_GPU_LATE=1 libcuda.so.1
    for form in persistent nonblocking; do
        for ranks in 1 2 3; do
            fails "$1" $ranks $form 2 4 TEST_GPU_LATE=1 libcuda.so.1
        done
        fails "$1" 3 $form 2 4 TEST_GPU_LATE=1 COLLOPT_SCRATCH=0 libcuda.so.1
        fails "$1" 2 $form 2 2 TEST_GPU_NODES=$nodes libhsa-runtime64.so.1 libamdhip64.so.6
        fails "$1" 2 $form 2 2 TEST_GPU_NODES=$nodes libze_loader.so.1
    done
}

# A runtime that packages load on any machine.
without()               # HOST
{
    of "$1" 2 idle libcuda.so.1
    of "$1" 2 idle TEST_GPU_NODES=$nodes libhsa-runtime64.so.1
    of "$1" 2 idle TEST_GPU_NODES=$nodes libze_loader.so.1
    of "$1" 2 idle TEST_GPU_BEGINS=1 libhsa-runtime64.so.1 libamdhip64.so.6
    of "$1" 2 idle TEST_GPU_BEGINS=1 libze_loader.so.1
    of "$1" 2 idle TEST_GPU_BEGINS=1 COLLOPT_GPU=host libcuda.so.1
}

# Said once, not hidden: data that cannot be staged, a library that lacks what must be asked.
complaining()           # HOST
{
    launch "$1" 1 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$(program "$1" gpu)" partly \
        "$work/libcuda.so.1" \
        || fail "$1, partly: status $?"
    said 1 '^collopt: cannot copy a datatype that lies partly in .* device memory (CUDA); ' \
        "$1, partly"
    for form in blocking persistent nonblocking; do
        launch "$1" 1 LD_PRELOAD="$library" COLLOPT_AFTER=1 TEST_FORM=$form TEST_GPU_MIXED=1 \
            "$(program "$1" gpu)" ends "$work/libcuda.so.1" || fail "$1, $form, ends: status $?"
        said 38 '^collopt: cannot copy a datatype that lies partly in ' "$1, $form, ends"
    done
    mkdir -p "$work/lacking"
    cp "$work/libze_intel_gpu.so.1" "$work/lacking/libcuda.so.1"
    launch "$1" 2 LD_PRELOAD="$library" COLLOPT_AFTER=1 "$(program "$1" gpu)" lacking \
        "$work/lacking/libcuda.so.1" || fail "$1, functions lacking: status $?"
    said 2 '^collopt: CUDA (.*/lacking/libcuda.so.1) cannot be asked whether a buffer is '\
'device memory; ' "$1, lacking"
    launch "$1" 2 LD_PRELOAD="$library" COLLOPT_AFTER=1 COLLOPT_LOG=decide "$(program "$1" gpu)" \
        late "$work/libcuda.so.1" || fail "$1, decisions: status $?"
    said 1 '^collopt: buffers in device memory (CUDA) are copied to host memory, results back$' \
        "$1, decisions"
}

both()
{
    devices "$1"
    failing "$1"
    without "$1"
    complaining "$1"
}

for_each_host both
