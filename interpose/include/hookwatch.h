/* hookwatch.h: explicit windows and steps, for code whose hooks are not Python functions. Each function asks once whether the
 * shim is loaded (dlsym) and does nothing where it is not: no link dependency, no cost worth naming.
 *
 *     hw_window_begin("grad norm");      // calls of this thread are made inside a hook of that name
 *     ...
 *     hw_window_end();
 *     hw_step();                         // a training step has ended
 *
 * A window belongs to its thread and may be nested; the name must stay valid until the window ends. */
#ifndef HOOKWATCH_H
#define HOOKWATCH_H

#ifndef _GNU_SOURCE
#define HOOKWATCH_RTLD_DEFAULT ((void *)0)
#else
#define HOOKWATCH_RTLD_DEFAULT RTLD_DEFAULT
#endif

#include <dlfcn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The shim's function of that name, or a null pointer; *known remembers the answer. */
static inline void *hw_look_up(const char *name, void **slot, int *known)
{
    if (!*known) {
        *slot = dlsym(HOOKWATCH_RTLD_DEFAULT, name);
        *known = 1;
    }
    return *slot;
}

/* Opens a window of this thread. */
static inline void hw_window_begin(const char *name)
{
    static void *slot;
    static int known;
    void *function = hw_look_up("hw_window_begin", &slot, &known);
    if (function)
        ((void (*)(const char *))function)(name);
}

/* Closes this thread's innermost window. */
static inline void hw_window_end(void)
{
    static void *slot;
    static int known;
    void *function = hw_look_up("hw_window_end", &slot, &known);
    if (function)
        ((void (*)(void))function)();
}

/* Tells the shim that a step has ended. From the first call on, steps are counted by these calls alone. */
static inline void hw_step(void)
{
    static void *slot;
    static int known;
    void *function = hw_look_up("hw_step", &slot, &known);
    if (function)
        ((void (*)(void))function)();
}

#ifdef __cplusplus
}
#endif

#endif
