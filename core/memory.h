/* Memory for programs that run once: an arena that lives as long as the run, and interned strings, which compare by
 * pointer. */
#ifndef HW_CORE_MEMORY_H
#define HW_CORE_MEMORY_H

#include <stddef.h>

struct hw_arena;

/* A fresh arena. Running out of memory prints one line and ends the process with status 2: nothing here returns NULL. */
struct hw_arena *hw_arena_new(void);
void hw_arena_free(struct hw_arena *arena);

/* `size` zeroed bytes, aligned for any type. */
void *hw_arena_alloc(struct hw_arena *arena, size_t size);

/* A copy of text[0..length) with a final NUL. */
char *hw_arena_copy(struct hw_arena *arena, const char *text, size_t length);

/* printf into the arena. */
char *hw_arena_format(struct hw_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The one copy of text[0..length) in this arena: equal texts give equal pointers. */
const char *hw_arena_intern(struct hw_arena *arena, const char *text, size_t length);

/* malloc and realloc with the same policy; free() releases. */
void *hw_alloc(size_t size);
void *hw_realloc(void *old, size_t size);

#endif
