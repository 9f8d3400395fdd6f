/* Dynamic symbols of 64-bit ELF objects, read from the file without loading it. */
#ifndef HW_CORE_ELF_H
#define HW_CORE_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hw_elf_symbol {
    const char *name;
    const char *version; /* node it is bound to, such as "libcudart.so.13"; "" if none */
    bool defined, weak;
};

struct hw_elf {
    char *data; /* the file, mapped */
    size_t size;
    struct hw_elf_symbol *symbols;
    size_t symbol_count;
    const char **needed; /* SONAMEs */
    size_t needed_count;
    const char *soname; /* "" if none */
};

/* Opens an object. 0; or -1 with a reason in *why (static text) when it is no ELF64 object of this byte order, or damaged. All
 * strings live as long as the object; hw_elf_close frees everything. */
int hw_elf_open(const char *path, struct hw_elf *elf, const char **why);
void hw_elf_close(struct hw_elf *elf);

#endif
