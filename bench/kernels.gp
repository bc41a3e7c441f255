# gnuplot -e "csv='kernels.csv'" bench/kernels.gp > kernels.svg
#
# One curve for each form of `combination` ("sum,double" unless given), GB/s over the bytes of an
# operand.

if (!exists("csv")) csv = "kernels.csv"
if (!exists("combination")) combination = "sum,double"

set terminal svg size 800,500 background "white"
set datafile separator ","
set title combination . ", bytes of one operand per second"
set logscale x 2
set format x "%.0b %B"
set xlabel "bytes"
set ylabel "GB/s"
set yrange [0:*]
set grid
set key outside

rows(form) = sprintf("< grep ',%s,' %s | grep ',%s,'", combination, csv, form)
plot for [form in "host ours three fold4 folded4 fold8 folded8 copy update triad"] \
    rows(form) using 5:7 with linespoints title form
