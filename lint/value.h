/* What the linter knows of a Python value: where it lives, and for callables what they run. Values are immutable and
 * interned: equal values are the same pointer, so a tuple of arguments is a memo key. */
#ifndef HW_LINT_VALUE_H
#define HW_LINT_VALUE_H

#include <stdbool.h>
#include <stddef.h>

struct hw_world;

enum hw_kind {
    HW_UNKNOWN,     /* nothing is known: no rule claims anything about it */
    HW_NONE,        /* None */
    HW_HOST,        /* a number, string, shape, dtype or other host data; text: a constant string, if it is one */
    HW_DEVICE,      /* a tensor on the device */
    HW_HOST_TENSOR, /* a tensor or array in host memory */
    HW_PLACE,       /* a device designator; flags tell which */
    HW_OBJECT,      /* an object of a library class; text: the dotted name of the class */
    HW_EXTERN,      /* a module, function or class outside the linted sources; text: its dotted name */
    HW_TUPLE,       /* items: one value per position */
    HW_LIST,        /* items[0]: the join of the elements of a list, set or iterator */
    HW_DICT,        /* items[0]: the join of the values under other keys; then pairs of constant key and value */
    HW_FUNCTION,    /* a: struct hw_function, b: the frame it closes over; items[0]: bound self, if any */
    HW_PARTIAL,     /* items[0]: the callable; then the bound arguments; b: struct hw_names of those given by keyword */
    HW_CLASS,       /* a: struct hw_class */
    HW_INSTANCE,    /* a: struct hw_class */
    HW_SUPER,       /* a: the class that says super(); items[0]: self */
    HW_PROJECT,     /* a: struct hw_module of a file */
    HW_LAZY,        /* a: struct hw_module, text: a name in it, looked up when it is used */
    HW_BOUND,       /* a method of a value that is no project object: items[0] the receiver, text the name */
    HW_UNION        /* items: the alternatives */
};

enum hw_flags {
    HW_MAYBE_TUPLE = 1,    /* device: may also be a tuple of device tensors, so its truth value is no claim */
    HW_MASK = 2,           /* device: boolean elements */
    HW_SCALAR = 4,         /* device: 0-dim */
    HW_PINNED = 8,         /* host tensor: page-locked */
    HW_ON_DEVICE = 16,     /* place: an accelerator */
    HW_ON_HOST = 32,       /* place: the CPU */
    HW_MODULE_ITSELF = 64, /* unknown: the nn.Module a hook is handed */
    HW_NAMESPACE = 256,    /* extern: a package without a file of its own; some of what is below it is in the sources */
    HW_PATTERN = 512,      /* host: text is a string in which each \x01 stands for something unknown */
    HW_PENDING = 1024,     /* host tensor: a copy into it was queued, nothing has waited for it */
    HW_TOKENS = 4096,      /* device: keeps a dimension of tokens or of the microbatch */
    HW_GRAPH = 8192,       /* device: belongs to the autograd graph */
    HW_HASHED = 128        /* list: a set; membership compares hashes and identities, not elements */
};

struct hw_value {
    enum hw_kind kind;
    unsigned flags;
    const char *text;
    const void *a, *b;
    size_t count;
    const struct hw_value *items[];
};

typedef const struct hw_value *hw_val;

/* Constructors. `items` are copied. Nesting deeper than HW_VALUE_DEPTH and unions of more than HW_UNION_LIMIT members
 * lose what is beyond (they become unknown). */
enum { HW_VALUE_DEPTH = 6, HW_UNION_LIMIT = 12, HW_CONSTANT_LIMIT = 8, HW_DICT_LIMIT = 64 };
hw_val hw_value_make(struct hw_world *world, const struct hw_value *head, const hw_val *items);
hw_val hw_value_simple(struct hw_world *world, enum hw_kind kind, unsigned flags, const char *text);
hw_val hw_value_list(struct hw_world *world, hw_val element);
hw_val hw_value_set(struct hw_world *world, hw_val element);
/* A dict like `dict` in which `key` (a constant, or not) may also hold `value`. */
hw_val hw_value_entered(struct hw_world *world, hw_val dict, hw_val key, hw_val value);
/* What a dict holds under any key; unknown when empty. */
hw_val hw_value_any_entry(struct hw_world *world, hw_val dict);
hw_val hw_value_empty_dict(struct hw_world *world);
/* A container like `list` that holds `element` too. */
hw_val hw_value_grown(struct hw_world *world, hw_val list, hw_val element);
hw_val hw_value_tuple(struct hw_world *world, const hw_val *items, size_t count);
hw_val hw_value_join(struct hw_world *world, hw_val left, hw_val right);

/* Frees the table of interned values; the values themselves lie in the arena. */
void hw_values_forget(struct hw_world *world);

/* Alternatives of a value: itself, or the members of a union. */
static inline size_t hw_value_count(hw_val value)
{
    return value->kind == HW_UNION ? value->count : 1;
}
static inline hw_val hw_value_at(hw_val value, size_t i)
{
    return value->kind == HW_UNION ? value->items[i] : value;
}

/* Whether an alternative is of that kind; the first such. */
hw_val hw_value_find(hw_val value, enum hw_kind kind);

/* Whether it is, or holds at any depth, a device tensor. */
bool hw_value_holds_device(hw_val value);

/* Whether every alternative is host data. */
bool hw_value_is_host(hw_val value);

/* The constant string, or NULL. */
const char *hw_value_string(hw_val value);

/* Where a device argument points: HW_ON_DEVICE, HW_ON_HOST or 0 (unknown). */
unsigned hw_value_place(hw_val value);

/* What iterating, or taking any element, gives. */
hw_val hw_value_element(struct hw_world *world, hw_val value);

#endif
