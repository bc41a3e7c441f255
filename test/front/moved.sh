# The backend is found from where the front lies: after a move, by symbolic links, by relative
# paths, and in a build tree.

. "$(dirname "$0")/common.sh"

installation first/lib
mv first second
mkdir links
ln -s ../second/lib/libcollopt.so links/libcollopt.so
ln -s second third
mkdir tree
cp "$front" tree/libcollopt.so
cp second/lib/collopt/* tree

for host in $hosts; do
    program $host app.c app
    for preload in $work/second/lib/libcollopt.so $work/third/lib/libcollopt.so \
                   $work/links/libcollopt.so ./second/lib/libcollopt.so links/libcollopt.so \
                   tree/libcollopt.so; do
        run $host 1 LD_PRELOAD=$preload ./app cd
        expect 1 "app ok"
        expect 1 "backend Allreduce 3"
    done
done
