/* Finding the interpreter, checking the frame layout, reading strings. */
#define _GNU_SOURCE
#include "interpose/python/frames.h"

#include "interpose/python/objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

const struct hw_py_layout *hw_py;
char hw_py_version[16];
static void *(*this_thread_state)(void);
static int (*is_finalizing)(void);
static const void *cell_type, *c_function_type;
static enum hw_py_state decided;

#define HW_OPCODE(number, name, units) [number] = {HW_PY_##name, units},
static const struct hw_py_opcode opcodes_311[256] = {
#include "interpose/python/opcodes_311.def"
};

static const struct hw_py_opcode opcodes_312[256] = {
#include "interpose/python/opcodes_312.def"
};
static const struct hw_py_opcode opcodes_313[256] = {
#include "interpose/python/opcodes_313.def"
};

static const struct hw_py_layout layouts[] = {
    {.version = "3.11",
     .tstate_cframe = 56,
     .cframe_frame = 8,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_instr = 56,
     .frame_owner = 69,
     .frame_locals = 72,
     .frame_globals = 8,
     .frame_mapping = 24,
     .code_units = 184,
     .code_firstlineno = 72,
     .code_filename = 112,
     .code_qualname = 128,
     .code_linetable = 136,
     .code_names = 32,
     .code_localsplusnames = 96,
     .code_nlocalsplus = 76,
     .code_argcount = 56,
     .code_firsttraceable = 168,
     .str_length = 16,
     .str_state = 32,
     .str_ascii = 48,
     .str_compact = 72,
     .bytes_data = 32,
     .tuple_items = 24,
     .var_size = 16,
     .dict_version = 24,
     .opcodes = opcodes_311},
    {.version = "3.12",
     .tstate_cframe = 56,
     .cframe_frame = 0,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_instr = 56,
     .frame_owner = 70,
     .frame_locals = 72,
     .frame_globals = 24,
     .frame_mapping = 40,
     .code_units = 192,
     .code_firstlineno = 68,
     .code_filename = 112,
     .code_qualname = 128,
     .code_linetable = 136,
     .code_names = 32,
     .code_localsplusnames = 96,
     .code_nlocalsplus = 72,
     .code_argcount = 52,
     .code_firsttraceable = 176,
     .str_length = 16,
     .str_state = 32,
     .str_ascii = 40,
     .str_compact = 56,
     .bytes_data = 32,
     .tuple_items = 24,
     .var_size = 16,
     .dict_version = 24,
     .opcodes = opcodes_312},
    {.version = "3.13",
     .tstate_cframe = 0,
     .cframe_frame = 72,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_instr = 56,
     .frame_owner = 70,
     .frame_locals = 72,
     .frame_globals = 24,
     .frame_mapping = 40,
     .code_units = 200,
     .code_firstlineno = 68,
     .code_filename = 112,
     .code_qualname = 128,
     .code_linetable = 136,
     .code_names = 32,
     .code_localsplusnames = 96,
     .code_nlocalsplus = 72,
     .code_argcount = 52,
     .code_firsttraceable = 184,
     .str_length = 16,
     .str_state = 32,
     .str_ascii = 40,
     .str_compact = 56,
     .bytes_data = 32,
     .tuple_items = 24,
     .var_size = 16,
     .dict_version = 0,
     .opcodes = opcodes_313},
};

/* Reads memory that may not be mapped. Where the kernel refuses the call (seccomp), a pipe serves: write(2) checks addresses. */
static bool peek(const void *from, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)(uintptr_t)from, size};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size)
        return true;
    if (errno == EFAULT)
        return false;
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    bool good = write(pipe_ends[1], from, size) == (ssize_t)size && read(pipe_ends[0], to, size) == (ssize_t)size;
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    return good;
}

static const void *peek_pointer(const void *object, uint16_t offset)
{
    const void *value = NULL;
    return object && peek((const char *)object + offset, &value, sizeof value) ? value : NULL;
}

/* True if the object's type is the one that the interpreter exports under `type_name`. */
static bool is_a(const void *object, const void *type)
{
    return type && peek_pointer(object, 8) == type;
}

static const void *first_frame(const struct hw_py_layout *l, const void *thread_state)
{
    const void *holder = l->tstate_cframe ? peek_pointer(thread_state, l->tstate_cframe) : thread_state;
    return peek_pointer(holder, l->cframe_frame);
}

/* Walks this thread's frames with guarded reads: each must hold a code object with str names and a bytes line table. */
static bool check_layout(const struct hw_py_layout *l, const void *thread_state)
{
    const void *code_type = dlsym(RTLD_DEFAULT, "PyCode_Type"), *str_type = dlsym(RTLD_DEFAULT, "PyUnicode_Type"),
               *bytes_type = dlsym(RTLD_DEFAULT, "PyBytes_Type"), *tuple_type = dlsym(RTLD_DEFAULT, "PyTuple_Type");
    const void *frame = first_frame(l, thread_state);
    int frames = 0;
    for (; frame && frames < 32; frame = peek_pointer(frame, l->frame_previous), frames++) {
        unsigned char owner = 0;
        if (!peek((const char *)frame + l->frame_owner, &owner, 1) || owner > 3)
            return false;
        if (owner == 3) /* runs nothing, see hw_py_skip_entry */
            continue;
        const void *code = peek_pointer(frame, l->frame_code), *instr = peek_pointer(frame, l->frame_instr);
        int locals = -1, line = -1;
        if (!is_a(code, code_type) || !is_a(peek_pointer(code, l->code_qualname), str_type) ||
            !is_a(peek_pointer(code, l->code_filename), str_type) || !is_a(peek_pointer(code, l->code_linetable), bytes_type) ||
            !is_a(peek_pointer(code, l->code_names), tuple_type) ||
            !is_a(peek_pointer(code, l->code_localsplusnames), tuple_type))
            return false;
        if (!peek((const char *)code + l->code_nlocalsplus, &locals, sizeof locals) || locals < 0 || locals > 100000 ||
            !peek((const char *)code + l->code_firstlineno, &line, sizeof line) || line < 0)
            return false;
        size_t units = 0;
        if (!peek((const char *)code + l->var_size, &units, sizeof units))
            return false;
        const char *first = (const char *)code + l->code_units;
        if ((const char *)instr < first - 2 || (const char *)instr > first + units * 2)
            return false;
    }
    return frames > 0;
}

/* True if an interpreter may have been loaded since the last look. A symbol look-up that fails allocates its error text, so
 * that it is made only when the process has mapped something new, and that is asked at the 1st, 2nd, 4th, 8th, ... call. */
static bool objects_changed(void)
{
    static unsigned long long seen;
    static unsigned calls;
    unsigned call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    if (call & (call - 1))
        return false;
    unsigned long long adds = hw_loaded_objects();
    bool changed = adds != seen;
    seen = adds;
    return changed;
}

static enum hw_py_state decide(const char *version, void *thread_state)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        size_t n = strlen(layouts[i].version);
        if (strncmp(version, layouts[i].version, n) != 0 || (version[n] >= '0' && version[n] <= '9'))
            continue;
        int probe = 0;
        if (!peek(&n, &probe, sizeof probe))
            return HW_PY_CHECK_FAILED; /* no guarded read is possible here */
        if (!first_frame(&layouts[i], thread_state))
            return HW_PY_NONE; /* no frame runs on this thread now; check on a later call */
        if (!check_layout(&layouts[i], thread_state))
            return HW_PY_CHECK_FAILED;
        hw_py = &layouts[i];
        return HW_PY_READY;
    }
    return HW_PY_UNKNOWN_VERSION;
}

/* One thread decides; the others go without Python until it has. */
enum hw_py_state hw_py_attach(void)
{
    static int busy;
    enum hw_py_state state = __atomic_load_n(&decided, __ATOMIC_ACQUIRE);
    if (state != HW_PY_UNTRIED)
        return state;
    if (__atomic_exchange_n(&busy, 1, __ATOMIC_ACQUIRE))
        return HW_PY_NONE;
    static const char *(*version)(void);
    static void *(*thread_state)(void);
    if (!thread_state && objects_changed()) {
        version = (const char *(*)(void))dlsym(RTLD_DEFAULT, "Py_GetVersion");
        thread_state = version ? (void *(*)(void))dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState") : NULL;
    }
    void *ts = thread_state ? thread_state() : NULL;
    state = HW_PY_NONE;
    if (ts) {
        is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "_Py_IsFinalizing"); /* up to 3.12 */
        if (!is_finalizing)
            is_finalizing = (int (*)(void))dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
        cell_type = dlsym(RTLD_DEFAULT, "PyCell_Type");
        c_function_type = dlsym(RTLD_DEFAULT, "PyCFunction_Type");
        this_thread_state = thread_state;
        size_t length = strcspn(version(), " ");
        memcpy(hw_py_version, version(), length < sizeof hw_py_version ? length : sizeof hw_py_version - 1);
        state = decide(version(), ts);
    }
    if (state != HW_PY_NONE)
        __atomic_store_n(&decided, state, __ATOMIC_RELEASE);
    __atomic_store_n(&busy, 0, __ATOMIC_RELEASE);
    return state;
}

void *hw_py_thread_state(void)
{
    if (__atomic_load_n(&decided, __ATOMIC_ACQUIRE) != HW_PY_READY || (is_finalizing && is_finalizing()))
        return NULL;
    return this_thread_state();
}

static size_t put_utf8(uint32_t c, char *out, size_t room)
{
    if (c >= 0xdc80 && c <= 0xdcff && room >= 1) { /* a byte of a file name that is no UTF-8 (surrogateescape) */
        out[0] = (char)(c & 0xff);
        return 1;
    }
    if (c < 0x80 && room >= 1) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800 && room >= 2) {
        out[0] = (char)(0xc0 | (c >> 6));
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000 && room >= 3) {
        out[0] = (char)(0xe0 | (c >> 12));
        out[1] = (char)(0x80 | ((c >> 6) & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    if (c >= 0x10000 && room >= 4) {
        out[0] = (char)(0xf0 | (c >> 18));
        out[1] = (char)(0x80 | ((c >> 12) & 0x3f));
        out[2] = (char)(0x80 | ((c >> 6) & 0x3f));
        out[3] = (char)(0x80 | (c & 0x3f));
        return 4;
    }
    return 0;
}

size_t hw_py_text(const void *str, char *out, size_t size)
{
    out[0] = '\0';
    if (!str || size < 2)
        return 0;
    /* state: interned:2 kind:3 compact:1 ascii:1 (Include/cpython/unicodeobject.h) */
    unsigned state = (unsigned)hw_py_int(str, hw_py->str_state);
    unsigned kind = (state >> 2) & 7, compact = (state >> 5) & 1, ascii = (state >> 6) & 1;
    size_t length = (size_t)(uintptr_t)hw_py_field(str, hw_py->str_length), n = 0;
    if (!compact || length > 1u << 20)
        return 0;
    const char *data = (const char *)str + (ascii ? hw_py->str_ascii : hw_py->str_compact);
    for (size_t i = 0; i < length; i++) {
        uint32_t c = 0;
        memcpy(&c, data + i * kind, kind == 1 || kind == 2 ? kind : 4);
        size_t put = put_utf8(c, out + n, size - 1 - n);
        if (!put)
            break;
        n += put;
    }
    out[n] = '\0';
    return n;
}

#define FNV_START 1469598103934665603u
#define FNV_PRIME 1099511628211u
#define MAX_DEPTH 256

uint64_t hw_py_text_hash(const void *str)
{
    char text[512];
    size_t n = hw_py_text(str, text, sizeof text);
    uint64_t h = FNV_START;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)text[i]) * FNV_PRIME;
    return h;
}

uint64_t hw_py_locals_hash(const void *frame)
{
    uint64_t h = FNV_START;
    for (int depth = 0; frame && depth < MAX_DEPTH; frame = hw_py_previous(frame), depth++) {
        const void *code = hw_py_code(frame);
        int locals = hw_py_int(code, hw_py->code_nlocalsplus);
        h = (h ^ (uint64_t)(uintptr_t)frame ^ (uint64_t)(uint32_t)hw_py_lasti(frame, code)) * FNV_PRIME;
        const char *slot = (const char *)frame + hw_py->frame_locals;
        for (int i = 0; i < locals; i++, slot += sizeof(void *)) {
            uint64_t value;
            memcpy(&value, slot, sizeof value);
            h = (h ^ value) * FNV_PRIME;
        }
    }
    return h;
}

uint64_t hw_py_globals_hash(const void *frame)
{
    uint64_t h = FNV_START;
    for (int depth = 0; frame && depth < MAX_DEPTH; frame = hw_py_previous(frame), depth++) {
        const void *mapping = hw_py_field(frame, hw_py->frame_mapping);
        if (mapping && hw_py->dict_version && mapping == (const void *)hw_py_field(frame, hw_py->frame_globals))
            h = (h ^ (uint64_t)(uintptr_t)hw_py_field(mapping, hw_py->dict_version)) * FNV_PRIME;
    }
    return h;
}

const void *hw_py_first_argument(const void *frame, const void *code)
{
    if (hw_py_int(code, hw_py->code_argcount) <= 0)
        return NULL;
    const void *value = hw_py_field(frame, hw_py->frame_locals);
    /* A closure inside the function keeps the argument in a cell, a new one in each activation. */
    if (value && cell_type && (const void *)hw_py_field(value, 8) == cell_type)
        value = hw_py_field(value, 16);
    return value;
}

static void copy_name(const char *name, char *out, size_t size)
{
    size_t n = name ? strnlen(name, size - 1) : 0;
    memcpy(out, name ? name : "", n);
    out[n] = '\0';
}

void hw_py_argument_type(const void *frame, const void *code, int index, char *out, size_t size)
{
    out[0] = '\0';
    if (hw_py_int(code, hw_py->code_argcount) <= index)
        return;
    const char *value = hw_py_field(frame, (uint16_t)(hw_py->frame_locals + 8 * index));
    const char *type = value ? hw_py_field(value, 8) : NULL;
    if (type)
        copy_name(hw_py_field(type, 24), out, size); /* tp_name */
}

void hw_py_c_function(const void *frame, const void *code, const char *name, char *out, size_t size)
{
    out[0] = '\0';
    const char *names = hw_py_field(code, hw_py->code_localsplusnames);
    int locals = hw_py_int(code, hw_py->code_nlocalsplus);
    for (int i = 0; i < locals; i++) {
        char local[64];
        hw_py_text(hw_py_field(names, (uint16_t)(hw_py->tuple_items + 8 * i)), local, sizeof local);
        const char *value = strcmp(local, name) == 0 ? hw_py_field(frame, (uint16_t)(hw_py->frame_locals + 8 * i)) : NULL;
        if (value && c_function_type && (const void *)hw_py_field(value, 8) == c_function_type)
            copy_name(hw_py_field(hw_py_field(value, 16), 0), out, size); /* m_ml->ml_name */
    }
}
