/* Data-parallel training, as far as reductions see it: a program of the bench/apps.
 *
 *     training [-b BYTES] [-n ITERATIONS] [-d DIVISOR]
 *
 *     -b BYTES        gradients are gathered in buckets of so many bytes (K, M), 0: each layer's
 *                     alone (default 25M)
 *     -n ITERATIONS   default 3
 *     -d DIVISOR      layers of so many times fewer parameters, for a quick look (default 1)
 *
 * In each iteration every rank has a gradient for each of the 161 tensors of ResNet-50 (25 557 032
 * parameters, 102 MB of floats), which appear from the last layer to the first, as in
 * back-propagation.  They are summed over all ranks in place, by MPI_Allreduce, and the weights
 * follow.  Frameworks fuse small layers: PyTorch's DistributedDataParallel into buckets of 25 MiB
 * (Li et al., PyTorch Distributed, VLDB 13, 2020); without buckets the vectors have 256 bytes to 9
 * MiB.  Nothing is computed but the weights, so most of the time is that of the reductions: an
 * upper bound of what they cost a framework that does not overlap them.
 *
 * K. He, X. Zhang, S. Ren, J. Sun, Deep Residual Learning for Image Recognition, CVPR 2016: table
 * 1, 50 layers, convolutions followed by batch normalization, which has a weight and a bias for
 * each channel.
 *
 * Gradients are small whole numbers and the step is 1/16, so all sums are exact and the weights are
 * known. */
#include "lib/bench_mpi.h"
#include "lib/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TENSORS = 161, PARAMETERS = 25557032, PERIOD = 11 };

static int rank, ranks;
static size_t size[TENSORS];        /* of each tensor, in the order of the network */
static int tensors;

/* ---- ResNet-50 ------------------------------------------------------------------------------- */

static void convolution(size_t side, size_t in, size_t out)
{
    size[tensors++] = side * side * in * out;
    size[tensors++] = out;          /* batch normalization: weights */
    size[tensors++] = out;          /* and biases */
}

/* A block: to WIDTH channels, a 3x3 convolution, to four times as many; the first of a stage has
 * one more to match them. */
static void bottleneck(size_t in, size_t width, int first)
{
    convolution(1, in, width);
    convolution(3, width, width);
    convolution(1, width, 4 * width);
    if (first)
        convolution(1, in, 4 * width);
}

static void layers(void)
{
    static const struct {
        int blocks;
        size_t width;
    } stages[] = { { 3, 64 }, { 4, 128 }, { 6, 256 }, { 3, 512 } };
    size_t channels = 64, all = 0;

    convolution(7, 3, 64);
    for (size_t s = 0; s < sizeof stages / sizeof *stages; s++)
        for (int b = 0; b < stages[s].blocks; b++) {
            bottleneck(channels, stages[s].width, b == 0);
            channels = 4 * stages[s].width;
        }
    size[tensors++] = 2048 * 1000;  /* fully connected */
    size[tensors++] = 1000;
    for (int t = 0; t < tensors; t++)
        all += size[t];
    if (tensors != TENSORS || all != PARAMETERS) {
        fprintf(stderr, "training: this is not ResNet-50: %d tensors, %zu parameters\n", tensors,
                all);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

/* ---- gradients ------------------------------------------------------------------------------- */

/* Of parameter I, in an iteration: from -5 to 5. */
static float gradient(int of, int iteration, size_t i)
{
    return (float)((of * 7 + iteration * 3 + i) % PERIOD) - PERIOD / 2;
}

static void fill(float *g, size_t n, size_t first, int iteration)
{
    for (size_t i = 0; i < n; i++)
        g[i] = gradient(rank, iteration, first + i);
}

static void step(float *weight, const float *g, size_t n)
{
    for (size_t i = 0; i < n; i++)
        weight[i] -= g[i] / 16;
}

/* How many weights are not what they must be after so many iterations. */
static size_t wrong(const float *weight, size_t n, int iterations)
{
    float known[PERIOD] = { 0 };
    size_t bad = 0;

    for (int it = 0; it < iterations; it++)
        for (int r = 0; r < ranks; r++)
            for (int i = 0; i < PERIOD; i++)
                known[i] -= gradient(r, it, (size_t)i) / 16;
    for (size_t i = 0; i < n; i++)
        bad += weight[i] != known[i % PERIOD];
    return bad;
}

/* ---- training -------------------------------------------------------------------------------- */

struct network {
    float *weight, *gradient;
    size_t parameters, bucket;      /* bucket: in parameters, 0: none */
    int reductions;                 /* made so far */
    double reducing;                /* seconds */
};

static void reduce(struct network *net, size_t from, size_t to)
{
    double start = bench_now();

    MPI_Allreduce(MPI_IN_PLACE, net->gradient + from, (int)(to - from), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
    net->reducing += bench_now() - start;
    net->reductions++;
    step(net->weight + from, net->gradient + from, to - from);
}

/* A bucket goes off as soon as it is full. */
static void iterate(struct network *net, int iteration)
{
    /* gradients from FROM on are there; those before WAITING are not reduced yet */
    size_t from = net->parameters, waiting = from;

    for (int t = TENSORS - 1; t >= 0; t--) {
        from -= size[t];
        fill(net->gradient + from, size[t], from, iteration);
        if (waiting - from >= net->bucket || t == 0) {
            reduce(net, from, waiting);
            waiting = from;
        }
    }
}

static size_t bytes_of(const char *word)
{
    char *end;
    size_t bytes = strtoull(word, &end, 10) << (*end == 'K' ? 10 : *end == 'M' ? 20 : 0);

    return end == word || (*end && strcmp(end, "K") && strcmp(end, "M")) ? (size_t)-1 : bytes;
}

static void usage(void)
{
    if (rank == 0)
        fprintf(stderr,
                "usage: training [-b BYTES] [-n ITERATIONS] [-d DIVISOR], whole numbers, e.g. -b "
                "25M -n 3 -d 1\n");
    MPI_Finalize();
    exit(2);
}

int main(int argc, char **argv)
{
    struct network net = { 0 };
    size_t bucket = 25 << 20, bad;
    int option, iterations = 3;
    long divisor = 1, all = 0, bad_here;
    double start, seconds;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    opterr = 0;
    while ((option = getopt(argc, argv, "b:n:d:")) != -1)
        switch (option) {
        case 'b': bucket = bytes_of(optarg); break;
        case 'n': iterations = atoi(optarg); break;
        case 'd': divisor = atol(optarg); break;
        default: usage();
        }
    if (optind < argc || bucket == (size_t)-1 || iterations < 1 || divisor < 1)
        usage();

    layers();
    for (int t = 0; t < TENSORS; t++) {
        size[t] = (size[t] + (size_t)divisor - 1) / (size_t)divisor;
        net.parameters += size[t];
    }
    net.bucket = bucket / sizeof(float) / (size_t)divisor;
    net.weight = bench_new(net.parameters * sizeof *net.weight);
    net.gradient = bench_new(net.parameters * sizeof *net.gradient);

    bench_barrier();
    start = bench_now();
    for (int it = 0; it < iterations; it++)
        iterate(&net, it);
    seconds = bench_now() - start;
    bad = wrong(net.weight, net.parameters, iterations);
    bad_here = (long)bad;
    MPI_Reduce(&bad_here, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("training: %zu parameters, %d reductions in %d iterations, %ld weights wrong\n",
               net.parameters, net.reductions, iterations, all);
        printf("time: %.6f s, %.6f s of it in reductions\n", seconds, net.reducing);
    }
    free(net.weight);
    free(net.gradient);
    MPI_Finalize();
    return bad > 0;
}
