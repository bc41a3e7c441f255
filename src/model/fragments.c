/* Reads lengths of fragments; see fragments.h. */
#include "config.h"

#include <string.h>

#include "model/fragments.h"
#include "base/hash.h"
#include "base/lines.h"
#include "schedule/bound.h"

enum { WORDS = 4, SHOWN = 40 };
enum { EACH = (COLLOPT_CUTS - 2) / 2 };         /* a row makes two cuts of the list */

static bool set_collective(struct collopt_lines *in, struct collopt_fragment *f, const char *word)
{
    for (int c = 0; c < COLLOPT_COLLECTIVES; c++)
        if (strcmp(word, collopt_collective_names[c]) == 0) {
            f->collective = (enum collopt_collective)c;
            return true;
        }
    return collopt_mistake(in, "there is no collective \"%.*s\"; there are reduce, allreduce, "
                           "reduce_scatter, reduce_scatter_block, scan, exscan", SHOWN, word);
}

static bool set_range(struct collopt_lines *in, struct collopt_range *range, const char *name,
                      const char *word)
{
    if (collopt_parse_range(word, range) && range->least <= range->most)
        return true;
    return collopt_mistake(in, "%s \"%.*s\" is not a range such as 2-16 or 64K-", name, SHOWN,
                           word);
}

static bool set_order(struct collopt_lines *in, struct collopt_fragment *f, const char *word)
{
    f->in_turn = strcmp(word, "in_turn") == 0;
    return f->in_turn || strcmp(word, "together") == 0
        || collopt_mistake(in, "fragments \"%.*s\": they are received in_turn or together", SHOWN,
                           word);
}

static bool meet(const struct collopt_range *a, const struct collopt_range *b)
{
    return a->least <= b->most && b->least <= a->most;
}

static bool fits_in(struct collopt_lines *in, const struct collopt_fragments *all,
                    const struct collopt_fragment *f)
{
    int like = 0;

    for (int i = 0; i < all->n; i++) {
        const struct collopt_fragment *other = &all->row[i];

        if (other->collective != f->collective || !meet(&other->ranks, &f->ranks))
            continue;
        if (meet(&other->bytes, &f->bytes))
            return collopt_mistake(in, "line %d gives fragments of such messages already",
                                   other->line);
        like++;
    }
    if (like >= EACH || all->n >= COLLOPT_MOST_FRAGMENTS)
        return collopt_mistake(in, "too many lines of fragments: up to %d of a collective on the "
                               "same ranks, and %d in all", (int)EACH, (int)COLLOPT_MOST_FRAGMENTS);
    return true;
}

static void insert(struct collopt_fragments *all, const struct collopt_fragment *f)
{
    int i = all->n++;

    for (; i > 0 && all->row[i - 1].bytes.least > f->bytes.least; i--)
        all->row[i] = all->row[i - 1];
    all->row[i] = *f;
}

bool collopt_fragments_take(struct collopt_fragments *all, struct collopt_lines *in, char *words,
                            double length)
{
    struct collopt_fragment f = { .length = (size_t)length, .line = in->line };
    char *word[WORDS], *rest;
    int n = 0;

    for (char *w = strtok_r(words, " \t", &rest); w; w = strtok_r(NULL, " \t", &rest), n++)
        if (n < WORDS)
            word[n] = w;
    if (n != WORDS)
        return collopt_mistake(in, "%d words behind fragment; there are %d: collective ranks bytes "
                               "order, such as fragment reduce 2-16 257-512 in_turn = 256 B", n,
                               (int)WORDS);
    if (!set_collective(in, &f, word[0]) || !set_range(in, &f.ranks, "ranks", word[1])
        || !set_range(in, &f.bytes, "bytes", word[2]) || !set_order(in, &f, word[3])
        || !fits_in(in, all, &f))
        return false;
    insert(all, &f);
    return true;
}

uint64_t collopt_fragments_hash(uint64_t h, const struct collopt_fragments *all)
{
    for (int i = 0; all && i < all->n; i++) {
        const struct collopt_fragment *f = &all->row[i];
        uint64_t numbers[] = { f->collective, f->ranks.least, f->ranks.most, f->bytes.least,
                               f->bytes.most, f->length, f->in_turn };

        h = collopt_hash_bytes(h, numbers, sizeof numbers);
    }
    return h;
}
