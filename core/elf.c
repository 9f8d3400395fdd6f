/* Dynamic symbols of 64-bit ELF objects: the tables are found through the section headers and every offset is checked. */
#define _GNU_SOURCE
#include "core/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes `offset`.. of the file if all of them are in it. */
static const void *part(const struct hw_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->size && size <= elf->size - offset ? elf->data + offset : NULL;
}

static const Elf64_Shdr *section(const struct hw_elf *elf, uint32_t type)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->data;
    const Elf64_Shdr *sections = part(elf, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    for (unsigned i = 0; sections && i < header->e_shnum; i++)
        if (sections[i].sh_type == type && part(elf, sections[i].sh_offset, sections[i].sh_size))
            return &sections[i];
    return NULL;
}

static const Elf64_Shdr *section_at(const struct hw_elf *elf, uint32_t index)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->data;
    const Elf64_Shdr *sections = part(elf, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    return sections && index < header->e_shnum && part(elf, sections[index].sh_offset, sections[index].sh_size)
               ? &sections[index]
               : NULL;
}

/* A string of a string table, "" if it is not inside it. */
static const char *text(const struct hw_elf *elf, const Elf64_Shdr *strings, uint64_t offset)
{
    if (!strings || offset >= strings->sh_size)
        return "";
    const char *start = elf->data + strings->sh_offset + offset;
    return memchr(start, 0, strings->sh_size - offset) ? start : "";
}

static bool read_needed(struct hw_elf *elf)
{
    const Elf64_Shdr *dynamic = section(elf, SHT_DYNAMIC);
    if (!dynamic)
        return true;
    const Elf64_Shdr *strings = section_at(elf, dynamic->sh_link);
    const Elf64_Dyn *entries = (const Elf64_Dyn *)(const void *)(elf->data + dynamic->sh_offset);
    size_t count = dynamic->sh_size / sizeof *entries;
    elf->needed = calloc(count + 1, sizeof *elf->needed);
    for (size_t i = 0; elf->needed && i < count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_NEEDED)
            elf->needed[elf->needed_count++] = text(elf, strings, entries[i].d_un.d_val);
        else if (entries[i].d_tag == DT_SONAME)
            elf->soname = text(elf, strings, entries[i].d_un.d_val);
    }
    return elf->needed != NULL;
}

/* Name of the version index that an undefined symbol asks for. */
static const char *needed_version(const struct hw_elf *elf, unsigned index)
{
    const Elf64_Shdr *needs = section(elf, SHT_GNU_verneed);
    if (!needs)
        return "";
    const Elf64_Shdr *strings = section_at(elf, needs->sh_link);
    uint64_t at = 0;
    for (unsigned i = 0; i < needs->sh_info; i++) {
        const Elf64_Verneed *need = part(elf, needs->sh_offset + at, sizeof *need);
        if (!need)
            return "";
        uint64_t aux_at = at + need->vn_aux;
        for (unsigned k = 0; k < need->vn_cnt; k++) {
            const Elf64_Vernaux *aux = part(elf, needs->sh_offset + aux_at, sizeof *aux);
            if (!aux)
                return "";
            if ((aux->vna_other & 0x7fff) == index)
                return text(elf, strings, aux->vna_name);
            aux_at += aux->vna_next;
        }
        at += need->vn_next;
    }
    return "";
}

static bool read_symbols(struct hw_elf *elf)
{
    const Elf64_Shdr *table = section(elf, SHT_DYNSYM), *versions = section(elf, SHT_GNU_versym);
    if (!table)
        return true;
    const Elf64_Shdr *strings = section_at(elf, table->sh_link);
    const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(elf->data + table->sh_offset);
    size_t count = table->sh_size / sizeof *symbols;
    elf->symbols = calloc(count + 1, sizeof *elf->symbols);
    for (size_t i = 1; elf->symbols && i < count; i++) {
        const char *name = text(elf, strings, symbols[i].st_name);
        if (!*name)
            continue;
        struct hw_elf_symbol *s = &elf->symbols[elf->symbol_count++];
        s->name = name;
        s->version = "";
        s->defined = symbols[i].st_shndx != SHN_UNDEF;
        s->weak = ELF64_ST_BIND(symbols[i].st_info) == STB_WEAK;
        if (!s->defined && versions && (i + 1) * sizeof(Elf64_Half) <= versions->sh_size) {
            Elf64_Half index;
            memcpy(&index, elf->data + versions->sh_offset + i * sizeof index, sizeof index);
            s->version = (index & 0x7fff) > 1 ? needed_version(elf, index & 0x7fff) : "";
        }
    }
    return elf->symbols != NULL;
}

int hw_elf_open(const char *path, struct hw_elf *elf, const char **why)
{
    memset(elf, 0, sizeof *elf);
    elf->soname = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        *why = fd < 0 ? strerror(errno) : "not a file";
        if (fd >= 0)
            close(fd);
        return -1;
    }
    elf->size = (size_t)st.st_size;
    elf->data = elf->size >= sizeof(Elf64_Ehdr) ? mmap(NULL, elf->size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    close(fd);
    if (elf->data == MAP_FAILED) {
        elf->data = NULL;
        *why = "not an ELF object";
        return -1;
    }
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(const void *)elf->data;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_shentsize != sizeof(Elf64_Shdr) || !read_needed(elf) ||
        !read_symbols(elf)) {
        *why = "not a 64-bit ELF object, or damaged";
        hw_elf_close(elf);
        return -1;
    }
    return 0;
}

void hw_elf_close(struct hw_elf *elf)
{
    if (elf->data)
        munmap(elf->data, elf->size);
    free(elf->symbols);
    free(elf->needed);
    memset(elf, 0, sizeof *elf);
}
