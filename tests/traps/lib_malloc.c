/* Counts allocations of the whole process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

long trap_allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    trap_allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    trap_allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    trap_allocations++;
    return __libc_realloc(old, size);
}
