/* The arena and the table of interned strings. */
#define _GNU_SOURCE
#include "core/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uthash.h"

struct hw_chunk {
    struct hw_chunk *next;
    size_t used, size;
    max_align_t data[];
};

struct hw_interned {
    UT_hash_handle hh;
    char text[];
};

struct hw_arena {
    struct hw_chunk *chunks;
    struct hw_interned *interned;
};

static void *checked(void *memory)
{
    if (!memory) {
        fputs("hookwatch: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

void *hw_alloc(size_t size)
{
    return checked(malloc(size ? size : 1));
}

void *hw_realloc(void *old, size_t size)
{
    return checked(realloc(old, size ? size : 1));
}

struct hw_arena *hw_arena_new(void)
{
    return checked(calloc(1, sizeof(struct hw_arena)));
}

void hw_arena_free(struct hw_arena *arena)
{
    if (!arena)
        return;
    HASH_CLEAR(hh, arena->interned);
    while (arena->chunks) {
        struct hw_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    free(arena);
}

void *hw_arena_alloc(struct hw_arena *arena, size_t size)
{
    size_t align = sizeof(max_align_t);
    size = (size + align - 1) / align * align;
    struct hw_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > (64u << 10) ? size : (64u << 10);
        chunk = checked(calloc(1, sizeof *chunk + room));
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    void *memory = (char *)chunk->data + chunk->used;
    chunk->used += size;
    return memory;
}

char *hw_arena_copy(struct hw_arena *arena, const char *text, size_t length)
{
    char *copy = hw_arena_alloc(arena, length + 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *hw_arena_format(struct hw_arena *arena, const char *format, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    checked(length < 0 ? NULL : text);
    char *copy = hw_arena_copy(arena, text, (size_t)length);
    free(text);
    return copy;
}

const char *hw_arena_intern(struct hw_arena *arena, const char *text, size_t length)
{
    struct hw_interned *known;
    HASH_FIND(hh, arena->interned, text, length, known);
    if (!known) {
        known = hw_arena_alloc(arena, sizeof *known + length + 1);
        memcpy(known->text, text, length);
        HASH_ADD_KEYPTR(hh, arena->interned, known->text, length, known);
    }
    return known->text;
}
