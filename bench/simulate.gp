# gnuplot -e "csv='FILE.csv'; on='torus-4x4x4 64'" bench/simulate.gp > FILE.svg
#
# From a file of bench/simulate and for one platform with its ranks: a panel for each collective, us
# over bytes of a rank's vector.

if (!exists("csv")) csv = "simulate.csv"
if (!exists("on")) on = "torus-4x4x4 64"

set terminal svg size 1200,800 background "white"
set datafile separator ","
set logscale xy
set format x "%.0b %BB"
set xtics 8, 64
set key top left
set grid
rows(setting, collective) = \
    sprintf("< grep -E '^%s %s,[^,]*,%s,' '%s'", on, setting, collective, csv)

collectives = system(sprintf("grep -E '^%s best,' '%s' | cut -d, -f3 | sort -u", on, csv))

if (strlen(collectives) == 0) { print csv . " has nothing on " . on; exit status 1 }

set multiplot layout 2,3 title on . " ranks, simulated, us"
do for [collective in collectives] {
    set title collective noenhanced
    plot rows("auto", collective) using 7:11 with linespoints title "collopt", \
         rows("best", collective) using 7:11 with linespoints title "its best algorithm", \
         rows("best", collective) using 7:10 with linespoints title "best peer", \
         rows("best", collective) using 7:18 with lines dashtype 2 title "bound"
}
unset multiplot
