/* Matching names and paths against core/roots.def and the globs of the environment. Cold: once per code object. */
#ifndef HW_SHIM_ROOTS_H
#define HW_SHIM_ROOTS_H

#include <stdbool.h>
#include <stdint.h>

bool hw_roots_read_environment(void); /* false: a list was too long and was cut */
bool hw_roots_hook(const char *qualname);
bool hw_roots_nested(const char *qualname);
bool hw_roots_no_hook_type(const char *type);
bool hw_roots_flush(const char *qualname, const char *file);
bool hw_roots_framework(const char *file);
bool hw_roots_stdlib(const char *file);
bool hw_roots_own(const char *file);
bool hw_roots_wrapper(const char *file, const char *qualname);
bool hw_roots_engine(const char *file, const char *qualname);
bool hw_roots_no_hook(const char *qualname);
/* Sets *dispatch to the row that hw_roots_dispatch_name wants back. */
bool hw_roots_dispatch(const char *file, const char *qualname, uint16_t *dispatch);
bool hw_roots_dispatch_name(uint16_t dispatch, const char *variable);

#endif
