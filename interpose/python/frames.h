/* Reading the calling thread's own Python frames without the GIL. The frames of a thread cannot move while the thread is
 * inside one of our functions, and each frame keeps its code object alive. Layouts are a table per CPython version, checked
 * once against a frame that is known to be one; if that fails nothing is guessed. */
#ifndef HW_PYTHON_FRAMES_H
#define HW_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in bytes, read from the headers of each version (Include/cpython/code.h, pycore_frame.h, pystate.h). */
struct hw_py_layout {
    const char *version; /* "3.11" */
    uint16_t tstate_cframe, cframe_frame;
    uint16_t frame_code, frame_previous, frame_instr, frame_owner, frame_locals, frame_globals, frame_mapping;
    uint16_t code_units, code_firstlineno, code_filename, code_qualname, code_linetable, code_names, code_localsplusnames,
        code_nlocalsplus, code_argcount, code_firsttraceable;
    uint16_t str_length, str_state, str_ascii, str_compact;
    uint16_t bytes_data, tuple_items, var_size, dict_version;
    const struct hw_py_opcode *opcodes; /* 256 entries */
};

enum hw_py_class {
    HW_PY_OTHER,
    HW_PY_JUMP_IF,
    HW_PY_JUMP_IF_BACK, /* the same, back to a loop's body */
    HW_PY_JUMP_BACK,
    HW_PY_COMPARE,
    HW_PY_CONTAINS,
    HW_PY_NOT,
    HW_PY_FORMAT,
    HW_PY_SUBSCRIPT,
    HW_PY_CALL,
    HW_PY_NAME,   /* loads co_names[arg] */
    HW_PY_NAME1,  /* loads co_names[arg >> 1] */
    HW_PY_LOCAL,  /* loads co_localsplusnames[arg] */
    HW_PY_EXTEND, /* high bits of the next argument */
    HW_PY_HIDDEN  /* what stands here is known to sys.monitoring only */
};

struct hw_py_opcode {
    uint8_t class; /* enum hw_py_class */
    uint8_t caches;
};

enum hw_py_state { HW_PY_UNTRIED, HW_PY_NONE, HW_PY_READY, HW_PY_UNKNOWN_VERSION, HW_PY_CHECK_FAILED };

extern const struct hw_py_layout *hw_py; /* set when hw_py_attach returned HW_PY_READY */
extern char hw_py_version[16];

/* Finds the interpreter of this process and checks the layout; call it until it returns something other than HW_PY_NONE
 * (no interpreter yet, or this thread has no Python state). Cheap once decided. */
enum hw_py_state hw_py_attach(void);

/* The thread state of the calling thread; NULL if it runs no Python, or if the interpreter is ending: it frees the states of
 * threads that still run then. Takes no lock. */
void *hw_py_thread_state(void);

static inline const char *hw_py_field(const void *object, uint16_t offset)
{
    const char *value;
    __builtin_memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline int hw_py_int(const void *object, uint16_t offset)
{
    int value;
    __builtin_memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

/* Past the frames that 3.12 and later keep between calls from C: they run nothing. */
static inline const void *hw_py_skip_entry(const void *frame)
{
    while (frame && ((const unsigned char *)frame)[hw_py->frame_owner] == 3) /* owned by the C stack */
        frame = hw_py_field(frame, hw_py->frame_previous);
    return frame;
}

/* The innermost frame of a thread state, complete or not; NULL if none. */
static inline const void *hw_py_top(const void *thread_state)
{
    const char *holder = thread_state;
    if (hw_py->tstate_cframe) /* up to 3.12 the frame hangs on a structure of the C stack */
        holder = hw_py_field(thread_state, hw_py->tstate_cframe);
    return holder ? hw_py_skip_entry(hw_py_field(holder, hw_py->cframe_frame)) : NULL;
}

static inline const void *hw_py_code(const void *frame)
{
    return hw_py_field(frame, hw_py->frame_code);
}

static inline const void *hw_py_previous(const void *frame)
{
    return hw_py_skip_entry(hw_py_field(frame, hw_py->frame_previous));
}

/* Offset in bytes of the frame's last instruction; negative while the frame is being set up. */
static inline int hw_py_lasti(const void *frame, const void *code)
{
    return (int)(hw_py_field(frame, hw_py->frame_instr) - ((const char *)code + hw_py->code_units));
}

/* A frame that has not reached its first traceable instruction is not shown by Python either (_PyFrame_IsIncomplete). */
static inline bool hw_py_incomplete(const void *frame, const void *code)
{
    if (((const unsigned char *)frame)[hw_py->frame_owner] == 1) /* owned by a generator */
        return false;
    return hw_py_lasti(frame, code) < hw_py_int(code, hw_py->code_firsttraceable) * 2;
}

/* Copies a str object as UTF-8, cut at a character; returns its length, 0 if it is none. */
size_t hw_py_text(const void *str, char *out, size_t size);

/* What stands at an instruction of a code object. */
struct hw_py_where {
    int row;         /* 0: unknown */
    int class;       /* enum hw_py_class of the instruction */
    char callee[64]; /* name called, last attribute only; "" if the instruction is no call or it cannot be told */
};
void hw_py_locate(const void *code, int lasti, struct hw_py_where *where);

/* A hash over what the frames from `frame` outwards hold in their local variables and where they stand. It cannot change while
 * an inner frame runs, so that a different value proves another activation of that inner frame. */
uint64_t hw_py_locals_hash(const void *frame);

/* The same over the variables of modules whose own code runs in those frames, by the versions of their dictionaries. An inner
 * frame changes it only by assigning a global of such a module. */
uint64_t hw_py_globals_hash(const void *frame);

/* True if the code object has a loop around both instructions (byte offsets). */
bool hw_py_in_one_loop(const void *code, int first, int last);

/* Name of the type of a function's argument number `index` (from 0); "" if there is none. Copied. */
void hw_py_argument_type(const void *frame, const void *code, int index, char *out, size_t size);

/* If the local variable `name` of a frame holds a function written in C, its name; else "". Copied. */
void hw_py_c_function(const void *frame, const void *code, const char *name, char *out, size_t size);

/* The first argument of the function that a frame runs, NULL if it has none. */
const void *hw_py_first_argument(const void *frame, const void *code);

/* A hash of a str's text. */
uint64_t hw_py_text_hash(const void *str);

#endif
