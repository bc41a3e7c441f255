# gnuplot -e "csv='kernels.csv'" bench/kernels.gp > kernels.svg
#
# One curve for each form of `combination` ("sum,double" unless given), GB/s over the bytes of an
# operand. To be run in the top folder, where the colours are found.

if (!exists("csv")) csv = "kernels.csv"
if (!exists("combination")) combination = "sum,double"

colour(name) = system("awk '$1 == \"" . name . "\" { print $2 }' tools/python/colours.txt")
do for [i=1:12] {
    set linetype i linecolor rgb colour(sprintf("curve%d", (i - 1) % 6 + 1)) dashtype 1 + i / 7
}
set terminal svg size 800,500 dynamic font "DejaVu Sans,12" background colour("card")
set border 3 linecolor rgb colour("soft")
set tics nomirror textcolor rgb colour("ink")
set datafile separator ","
set title combination . ", bytes of one operand per second"
set logscale x 2
set xtics ("64 B" 64, "512 B" 512, "4 KiB" 4096, "32 KiB" 32768, "256 KiB" 262144, \
           "2 MiB" 2097152, "16 MiB" 16777216, "128 MiB" 134217728)
set ylabel "GB/s"
set yrange [0:*]
set grid linecolor rgb colour("line")
set key outside

rows(form) = sprintf("< grep ',%s,' %s | grep ',%s,'", combination, csv, form)
plot for [form in "host ours three fold4 folded4 fold8 folded8 copy update triad"] \
    rows(form) using 5:7 with linespoints title form
