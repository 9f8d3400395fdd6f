/* Reading a code object: its location table (Objects/locations.md of CPython 3.11) and its instructions. */
#define _GNU_SOURCE
#include "interpose/python/frames.h"

#include <string.h>

/* Where an instruction stands in the source; columns -1: not told. */
struct span {
    int row, end_row, column, end_column;
};

struct table {
    const unsigned char *at, *end;
};

static unsigned read_varint(struct table *t)
{
    unsigned value = 0, shift = 0, byte;
    do {
        if (t->at >= t->end || shift > 30)
            return value;
        byte = *t->at++;
        value |= (byte & 63u) << shift;
        shift += 6;
    } while (byte & 64u);
    return value;
}

static int read_signed(struct table *t)
{
    unsigned value = read_varint(t);
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Reads the entry at t->at: advances *row, sets *span, returns the bytes of code it covers (0: end). */
static int read_entry(struct table *t, int *row, struct span *span)
{
    if (t->at >= t->end)
        return 0;
    unsigned first = *t->at++, code = (first >> 3) & 15u;
    int bytes = (int)((first & 7u) + 1) * 2;
    *span = (struct span){0, 0, -1, -1};
    if (code == 15)
        return bytes; /* no location */
    if (code == 14) {
        *row += read_signed(t);
        int end = *row + (int)read_varint(t);
        int column = (int)read_varint(t) - 1, end_column = (int)read_varint(t) - 1;
        *span = (struct span){*row, end, column, end_column};
    } else if (code == 13) {
        *row += read_signed(t);
        *span = (struct span){*row, *row, -1, -1};
    } else if (code >= 10) {
        if (t->end - t->at < 2)
            return 0;
        *row += (int)code - 10;
        *span = (struct span){*row, *row, t->at[0], t->at[1]};
        t->at += 2;
    } else {
        if (t->at >= t->end)
            return 0;
        unsigned second = *t->at++;
        int column = (int)((code << 3) | ((second >> 4) & 7u));
        *span = (struct span){*row, *row, column, column + (int)(second & 15u)};
    }
    return bytes;
}

static struct table line_table(const void *code)
{
    const void *bytes = hw_py_field(code, hw_py->code_linetable);
    size_t size = (size_t)(uintptr_t)hw_py_field(bytes, hw_py->var_size);
    const unsigned char *data = (const unsigned char *)bytes + hw_py->bytes_data;
    return (struct table){data, data + (size < 1u << 26 ? size : 0)};
}

/* Takes an item of the tuple that `code` holds at `field`; NULL beyond its end. */
static const void *tuple_item(const void *code, uint16_t field, size_t index)
{
    const char *tuple = hw_py_field(code, field);
    if (index >= (size_t)(uintptr_t)hw_py_field(tuple, hw_py->var_size))
        return NULL;
    return *(const void *const *)(tuple + hw_py->tuple_items + index * sizeof(void *));
}

/* The str that a load instruction of class `class` names; NULL if it is no such instruction. */
static const void *loaded_name(const void *code, int class, unsigned arg)
{
    switch (class) {
    case HW_PY_NAME:
        return tuple_item(code, hw_py->code_names, arg);
    case HW_PY_NAME1:
        return tuple_item(code, hw_py->code_names, arg >> 1);
    case HW_PY_LOCAL:
        return tuple_item(code, hw_py->code_localsplusnames, arg);
    default:
        return NULL;
    }
}

/* Position of the instruction at byte offset `lasti`. */
static struct span find_span(const void *code, int lasti)
{
    struct table table = line_table(code);
    struct span span = {0, 0, -1, -1};
    int row = hw_py_int(code, hw_py->code_firstlineno);
    for (int start = 0, bytes; (bytes = read_entry(&table, &row, &span)) > 0; start += bytes)
        if (lasti < start + bytes)
            return span;
    return (struct span){0, 0, -1, -1};
}

/* Instructions up to `lasti` are decoded in step with the location table. The callee of a call is what the last load before
 * it loaded that starts where the call starts: `a.b.max(x)` starts at `a`, its arguments start later. */
void hw_py_locate(const void *code, int lasti, struct hw_py_where *where)
{
    struct span call = find_span(code, lasti);
    *where = (struct hw_py_where){.row = call.row, .class = HW_PY_OTHER};
    size_t units = (size_t)(uintptr_t)hw_py_field(code, hw_py->var_size);
    const unsigned char *first = (const unsigned char *)code + hw_py->code_units;
    if (lasti < 0 || (size_t)lasti >= units * 2)
        return;
    struct table table = line_table(code);
    struct span span = {0, 0, -1, -1};
    int row = hw_py_int(code, hw_py->code_firstlineno), covered = 0;
    const void *callee = NULL;
    unsigned extended = 0;
    for (int at = 0; at <= lasti;) {
        struct hw_py_opcode op = hw_py->opcodes[first[at]];
        unsigned arg = extended << 8 | first[at + 1];
        extended = op.class == HW_PY_EXTEND ? arg : 0;
        int next = at + 2 + 2 * op.caches;
        if (op.class == HW_PY_HIDDEN)
            return; /* its length is not told */
        if (lasti < next) {
            where->class = op.class;
            break;
        }
        while (covered <= at) {
            int bytes = read_entry(&table, &row, &span);
            if (!bytes)
                return;
            covered += bytes;
        }
        const void *name = loaded_name(code, op.class, arg);
        if (name && span.row == call.row && span.column == call.column && span.column >= 0)
            callee = name;
        at = next;
    }
    if (where->class == HW_PY_CALL && callee)
        hw_py_text(callee, where->callee, sizeof where->callee);
}

bool hw_py_in_one_loop(const void *code, int first, int last)
{
    size_t units = (size_t)(uintptr_t)hw_py_field(code, hw_py->var_size);
    const unsigned char *bytes = (const unsigned char *)code + hw_py->code_units;
    unsigned extended = 0;
    for (int at = 0; (size_t)at < units * 2;) {
        struct hw_py_opcode op = hw_py->opcodes[bytes[at]];
        unsigned arg = extended << 8 | bytes[at + 1];
        extended = op.class == HW_PY_EXTEND ? arg : 0;
        int next = at + 2 + 2 * op.caches;
        bool back = op.class == HW_PY_JUMP_BACK || op.class == HW_PY_JUMP_IF_BACK;
        if (back && at >= last && next - (int)(arg * 2) <= first)
            return true;
        at = next;
    }
    return false;
}
