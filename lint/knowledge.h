/* What the names of torch, paddle, numpy, torch.distributed and the standard library do: rows of lint/knowledge/ *.def,
 * looked up by dotted name, by method name or by attribute name. A new fact is a new row. */
#ifndef HW_LINT_KNOWLEDGE_H
#define HW_LINT_KNOWLEDGE_H

#include <stdbool.h>
#include <stddef.h>

/* When a call breaks the row's rule. */
enum hw_when {
    HW_NEVER,
    HW_ALWAYS,
    HW_IF_DEVICE,  /* the receiver, or an argument, is a device tensor */
    HW_IF_HOLDS,   /* the same, or an argument holds one at any depth */
    HW_IF_SHOWN,   /* as IF_HOLDS, but only where that log level is on: a warning */
    HW_IF_TENSOR,  /* the receiver is a device tensor, or unknown: the method exists on tensors and arrays only */
    HW_IF_PADDLE,  /* the receiver is a device tensor, or unknown in a file that imports paddle */
    HW_IF_NOT_HOST /* the receiver is anything but host data or a project object */
};

/* What the call gives. */
enum hw_result {
    HW_GIVES_UNKNOWN,
    HW_GIVES_SAME,   /* lives where the tensor it was given lives */
    HW_GIVES_SCALAR, /* as SAME, 0-dim unless a dimension is given */
    HW_GIVES_MASK,   /* as SAME, boolean */
    HW_GIVES_PARTS,  /* several tensors, each as SAME */
    HW_GIVES_EITHER, /* one without further arguments, several with a dimension */
    HW_GIVES_SELF,   /* the receiver itself */
    HW_GIVES_DEVICE,
    HW_GIVES_HOST,
    HW_GIVES_HOST_LIST,
    HW_GIVES_HOST_TENSOR,
    HW_GIVES_NONE,
    HW_GIVES_PLACE_HERE,  /* a device designator of the accelerator */
    HW_GIVES_PLACE,       /* torch.device(x): the place its argument names */
    HW_GIVES_FILLED,      /* a new tensor, where device= says; filled by a kernel */
    HW_GIVES_UPLOAD,      /* the same from host data: HW107 */
    HW_GIVES_UPLOAD_LIKE, /* host data to where the receiver lives: HW107 */
    HW_GIVES_MOVED,       /* .to(): HW102 or HW107 by where it goes */
    HW_GIVES_MOVED_HERE,  /* .cuda(): HW107 of host memory */
    HW_GIVES_CAST,        /* .type(): HW102 for a legacy host type */
    HW_GIVES_COPIED,      /* .copy_(): HW102, HW107 by both ends */
    HW_GIVES_PINNED,
    HW_GIVES_TENSORS, /* an iterable of device tensors */
    HW_GIVES_NAMED_TENSORS,
    HW_GIVES_ELEMENT, /* an element of its first argument */
    HW_GIVES_LIST,    /* a list of those */
    HW_GIVES_SET,
    HW_GIVES_PAIRS, /* enumerate, items */
    HW_GIVES_ZIP,
    HW_GIVES_APPLIED,  /* list of what its first argument returns for the elements of the others */
    HW_GIVES_ARGUMENT, /* its first argument */
    HW_GIVES_OBJECT    /* an instance of the class of that name */
};

struct hw_fact {
    const char *name;
    int rule; /* number, 0: none */
    enum hw_when when;
    const char *unless; /* "name:position" given makes it harmless, "name:position=host" given as host data; '|' between */
    enum hw_result result;
};

/* What a call of this dotted name does; NULL when there is no row. Rows that end in ".*" cover the names of one
 * package that have no row of their own, ".**" those of the packages below it too. */
const struct hw_fact *hw_knowledge_call(const char *dotted);

/* What this method does on a value that is no project object; NULL when there is no row. */
const struct hw_fact *hw_knowledge_method(const char *name);

/* What reading this attribute of a device tensor gives: HW_GIVES_*; HW_GIVES_UNKNOWN when there is no row. */
enum hw_result hw_knowledge_attribute(const char *name);

/* What to do instead, for a rule number; NULL when there is no row. */
const char *hw_knowledge_hint(int rule);

/* How a hook is registered. */
struct hw_registration {
    const char *name;
    int position;            /* of the hook among the arguments */
    const char *keyword;     /* its keyword */
    const char *parameters;  /* what the hook is handed, see lint/knowledge/hooks.def */
    const char *with_kwargs; /* the same when with_kwargs=True */
};
/* The n-th registration function of that last name (several rows may share one: two hooks in one call); NULL past the end. */
const struct hw_registration *hw_knowledge_registration(const char *name, size_t n);

/* Whether a name is a Python builtin that has a row. */
bool hw_knowledge_is_builtin(const char *name);

#endif
