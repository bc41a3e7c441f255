/* Names that not every host has, such as MPI_Allreduce_c: if the host lacks one, and no tool behind
 * collopt has it, collopt's must not be found.
 *
 * There is one libcollopt.so for all hosts, and which names exist is decided by linkers and loaders
 * before a line of ours runs. Three ask:
 *
 *     a linker (AC_CHECK_FUNCS with -lcollopt): the names have a version that is not their default
 *         one (name@COLLOPT_HOSTS), which linkers do not take for a reference without a version.
 *         The loader does if the version is the first one of the library, so calls come here as
 *         ever
 *     dlsym: takes no hidden version. For the names that the host has the hidden bit is taken away
 *         when we know it
 *     weak references: are filled by the loader when objects are loaded, where all it looks at is
 *         whether there is a definition. An indirect function (IFUNC) could say that there is none;
 *         but a library that is relocated before us, as with -z now or LD_BIND_NOW all are that
 *         come behind us, would have it run before it can, with a warning of the loader's. So what
 *         was filled with ours is cleared here, at the first call that comes by, which is most
 *         often MPI_Init. Not before main(): what is missing there is asked by dlsym, which frees
 *         its message, and a program's own free() may call dlsym
 *
 * Names that the host lacks are then removed from our symbol table, for objects that are loaded
 * later. Where a page may not be written all stays as the loader made it: a name that the host
 * lacks answers that it is not supported. */

#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "front/lacking.h"

enum { HIDDEN = 0x8000 };

/* ---- writing where the loader has finished --------------------------------------------------- */

static bool within(const struct dl_phdr_info *object, const ElfW(Phdr) *segment, uintptr_t at)
{
    return at - object->dlpi_addr - segment->p_vaddr < segment->p_memsz;
}

static int protection_at(const struct dl_phdr_info *object, uintptr_t at)
{
    int protection = 0;

    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *s = &object->dlpi_phdr[i];

        if (s->p_type == PT_GNU_RELRO && within(object, s, at))
            return PROT_READ;
        if (s->p_type == PT_LOAD && within(object, s, at))
            protection = (s->p_flags & PF_R ? PROT_READ : 0) | (s->p_flags & PF_W ? PROT_WRITE : 0)
                       | (s->p_flags & PF_X ? PROT_EXEC : 0);
    }
    return protection;
}

/* The stored value lies within one page. */
static void store(const struct dl_phdr_info *object, void *at, const void *value, size_t size)
{
    uintptr_t page = (uintptr_t)at & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    size_t length = (uintptr_t)at + size - page;
    int protection = protection_at(object, (uintptr_t)at);

    if (mprotect((void *)page, length, protection | PROT_WRITE))
        return;
    memcpy(at, value, size);
    if (!(protection & PROT_WRITE))
        mprotect((void *)page, length, protection);
}

/* ---- the dynamic section -------------------------------------------------------------------- */

struct dynamic {
    ElfW(Sym) *symbol;
    ElfW(Versym) *version;
    const ElfW(Rela) *relocation[2];
    size_t bytes[2];
};

/* The loader has made addresses of them, on most processors. */
static void *address(const struct dl_phdr_info *object, ElfW(Addr) at)
{
    return (void *)(at < object->dlpi_addr ? at + object->dlpi_addr : at);
}

static struct dynamic dynamic_of(const struct dl_phdr_info *object)
{
    struct dynamic d = { 0 };
    const ElfW(Dyn) *entry = NULL;

    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (bool rela = true; entry && entry->d_tag != DT_NULL; entry++)
        switch (entry->d_tag) {
        case DT_SYMTAB: d.symbol = address(object, entry->d_un.d_ptr); break;
        case DT_VERSYM: d.version = address(object, entry->d_un.d_ptr); break;
        case DT_RELA: d.relocation[0] = address(object, entry->d_un.d_ptr); break;
        case DT_RELASZ: d.bytes[0] = entry->d_un.d_val; break;
        case DT_PLTREL: rela = entry->d_un.d_val == DT_RELA; break;
        case DT_JMPREL: d.relocation[1] = rela ? address(object, entry->d_un.d_ptr) : NULL; break;
        case DT_PLTRELSZ: d.bytes[1] = entry->d_un.d_val; break;
        }
    return d;
}

static size_t symbol_number(const ElfW(Rela) *r)
{
#if __SIZEOF_POINTER__ == 8
    return ELF64_R_SYM(r->r_info);
#else
    return ELF32_R_SYM(r->r_info);
#endif
}

/* The data that dl_iterate_phdr() passes to its callback. */
struct shown {
    const struct collopt_optional *optional;
    const bool (*there)[2];
};

/* ---- weak references ------------------------------------------------------------------------- */

static bool is_lacking(uintptr_t function, const struct shown *shown)
{
    for (const struct collopt_optional *o = shown->optional; o->ours; o++)
        if ((uintptr_t)o->ours == function)
            return !shown->there[o->name][o->profiling];
    return false;
}

static void clear_weak(const struct dl_phdr_info *object, const struct dynamic *d,
                       const struct shown *shown)
{
    for (int table = 0; table < 2; table++)
        for (size_t i = 0; d->relocation[table] && i < d->bytes[table] / sizeof(ElfW(Rela)); i++) {
            const ElfW(Rela) *r = &d->relocation[table][i];
            const ElfW(Sym) *s = &d->symbol[symbol_number(r)];
            uintptr_t value, none = 0;

            if (symbol_number(r) == 0 || s->st_shndx != SHN_UNDEF || s->st_info >> 4 != STB_WEAK)
                continue;
            memcpy(&value, (void *)(object->dlpi_addr + r->r_offset), sizeof value);
            if (is_lacking(value, shown))
                store(object, (void *)(object->dlpi_addr + r->r_offset), &none, sizeof none);
        }
}

/* ---- our own symbols ------------------------------------------------------------------------- */

static void show_or_take_out(const struct dl_phdr_info *object, const struct dynamic *d,
                             const struct collopt_optional *o, bool has)
{
    Dl_info where;
    void *found = NULL;
    ElfW(Sym) *s;

    if (!dladdr1((const void *)(uintptr_t)o->ours, &where, &found, RTLD_DL_SYMENT) || !(s = found))
        return;
    if (has) {
        ElfW(Versym) *version = &d->version[s - d->symbol],
                     shown = (ElfW(Versym))(*version & ~HIDDEN);

        store(object, version, &shown, sizeof shown);
    } else {
        ElfW(Sym) none = *s;

        none.st_value = 0;
        none.st_shndx = SHN_UNDEF;
        store(object, s, &none, sizeof none);
    }
}

static bool is_ours(const struct dl_phdr_info *object,
                    const struct collopt_optional *optional)
{
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_LOAD
            && within(object, &object->dlpi_phdr[i], (uintptr_t)optional))
            return true;
    return false;
}

static int go_through(struct dl_phdr_info *object, size_t size, void *data)
{
    const struct shown *shown = data;
    struct dynamic d = dynamic_of(object);

    (void)size;
    if (d.symbol)
        clear_weak(object, &d, shown);
    for (const struct collopt_optional *o = shown->optional;
         d.version && is_ours(object, shown->optional) && o->ours; o++)
        show_or_take_out(object, &d, o, shown->there[o->name][o->profiling]);
    return 0;
}

void collopt_show_as_there(const struct collopt_optional *optional,
                           const bool there[COLLOPT_NAME_COUNT][2])
{
    struct shown shown = { optional, there };

    dl_iterate_phdr(go_through, &shown);
}
