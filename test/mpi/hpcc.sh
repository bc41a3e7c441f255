# A program that nobody here wrote: the packaged hpcc (HPC Challenge, for Open MPI) on a small input, without collopt and
# with it.  Its own verification must pass both times, and collopt must have run at least 90% of its reductions on
# intracommunicators.

. "${COLLOPT_SOURCE:-.}/test/mpi/lang.sh"

hpcc=${HPCC:-$(command -v hpcc)} || skip "hpcc is not installed"
built_for openmpi || skip "collopt is not built for Open MPI"
ldd "$hpcc" | grep -q 'libmpi\.so\.40' || skip "$hpcc is not built with Open MPI 4"

# hpcc reads its input from where it is started, and appends its answers there.
input()
{
    cat <<'END'
HPLinpack benchmark input file
small enough to take seconds
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
240          Ns
1            # of NBs
32           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200 10000 30000        values of N
0            number of additional blocking sizes for PTRANS
40 9 8 13 13 20 16 32 64        values of NB
END
}

# Its verdict on itself: everything ran, every residual was small, nothing was wrong.
verified()              # WITH|WITHOUT
{
    [ -f hpccoutf.txt ] || { fail "hpcc $1 collopt wrote no answer"; return; }
    for line in 'Success=1' 'MPIRandomAccess_Errors=0' 'MPIRandomAccess_LCG_Errors=0' \
                '1 tests completed and passed residual checks' '0 tests completed and failed residual checks'; do
        grep -qF "$line" hpccoutf.txt || fail "hpcc $1 collopt does not say \"$line\""
    done
    ! grep -n 'FAILED\|failed)' hpccoutf.txt || fail "hpcc $1 collopt failed its verification"
}

mkdir "$work/without" "$work/with"
cd "$work/without" || exit 99
input >hpccinf.txt
LAUNCH_SECONDS=300 launch openmpi 4 "$hpcc" || fail "hpcc without collopt: status $?"
verified without

cd "$work/with" || exit 99
input >hpccinf.txt
LAUNCH_SECONDS=300 launch_collopt openmpi 4 "$hpcc" || fail "hpcc with collopt: status $?"
verified with

run=$(reported run '')
inter=$(reported passed 'ntercomm')
passed=$(($(reported passed '') - inter))
percent=$((run + passed > 0 ? run * 100 / (run + passed) : 0))
[ "$percent" -ge 90 ] || fail "collopt ran only $percent% of hpcc's reductions: $(cat "$work/report" 2>/dev/null)"
echo "hpcc: verified with collopt and without; collopt ran $run of $((run + passed)) reductions ($percent%)"
finish
