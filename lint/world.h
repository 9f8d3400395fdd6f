/* The linter's world: the modules it has read, the functions, classes and activations it has met, the hooks it has found.
 * One per run; nothing else is global. Analysis goes function by function: an activation (hw_frame) of a function with
 * given argument values is analysed once and its return value is the summary that every later call uses. */
#ifndef HW_LINT_WORLD_H
#define HW_LINT_WORLD_H

#include <stdint.h>

#include "core/finding.h"
#include "core/memory.h"
#include "lint/lint.h"
#include "lint/settings.h"
#include "lint/source.h"
#include "lint/syntax.h"
#include "lint/value.h"

/* Limits, each reported where it cuts (HW901). */
enum {
    HW_CALL_DEPTH = 24,      /* calls from the hook down */
    HW_NESTING = 180,        /* expressions and statements inside each other, in one function */
    HW_NESTING_TOTAL = 2400, /* the same over the whole call chain: bounds the stack */
    HW_CONTEXTS = 48         /* argument combinations of one function before they are joined to unknown */
};

struct hw_binding {
    const char *name;
    hw_val value;
};

/* Names and values, in order of first assignment. Zeroed: empty. */
struct hw_env {
    struct hw_binding *items;
    size_t count, room;
    uint32_t *slots; /* hash of the name's address -> position + 1; only once there are many names */
    size_t slot_count;
};

struct hw_names {
    size_t count;
    const char *names[];
};

struct hw_module {
    const char *path; /* absolute, interned */
    const char *name; /* dotted, below its package root */
    struct hw_text *source;
    struct hw_frame *frame;
    struct hw_module *next;   /* in the order in which they were met */
    struct hw_module **stars; /* modules whose names `from x import *` brings in */
    size_t star_count;
    struct hw_directives *directives;
    const struct hw_settings *settings;
    bool linted;    /* part of the project: its hooks are looked for */
    bool named;     /* directly or through a directory, by the user: findings in it, or of hooks in it, are reported */
    bool framework; /* core/roots.def: its hooks are its own business */
    bool relaxed;   /* test or documentation: findings become notes */
    bool executed;
    uint32_t generation;
    struct hw_class *classes;
};

struct hw_function {
    struct hw_module *module;
    TSNode node; /* function_definition or lambda */
    const char *name, *qualname;
    struct hw_class *owner; /* the class whose body defines it */
    bool is_property, is_static, is_classmethod, no_grad;
    struct hw_frame **frames;
    size_t frame_count, frame_room;
};

struct hw_class {
    struct hw_module *module;
    TSNode node;
    const char *name, *qualname;
    hw_val *bases;
    size_t base_count;
    struct hw_frame *frame;       /* its body: methods and class attributes */
    struct hw_env attrs, earlier; /* what any method stored on self, in this pass and the one before */
    struct hw_class *next;
};

/* The collective that a frame entered last. */
struct hw_batch {
    const void *call; /* its node */
    const char *callee, *op, *group;
    uint32_t first, last; /* rows of its statement */
    bool scalar, reported;
};

enum hw_frame_state { HW_FRAME_RUNNING, HW_FRAME_DONE };

struct hw_frame {
    struct hw_function *function; /* NULL: a module's or class's body */
    struct hw_class *class_body;
    struct hw_module *module;
    struct hw_frame *parent;
    struct hw_env now;  /* flow-sensitive, while it runs */
    struct hw_env all;  /* join of everything a name ever held: what closures see */
    const char **outer; /* names declared global or nonlocal */
    size_t outer_count;
    bool dead;           /* after return, raise, break or continue */
    bool hot, recording; /* of the world when it was made: part of what tells activations apart */
    enum hw_frame_state state;
    uint32_t generation;
    unsigned nesting, loops;
    struct hw_batch batch;
    hw_val result;
    hw_val *arguments;
    size_t argument_count;
    struct hw_frame *next; /* in world->frames */
};

struct hw_site;

struct hw_root {
    hw_val function;          /* HW_FUNCTION, HW_PARTIAL */
    const char *parameters;   /* what it is handed: a word of lint/knowledge/hooks.def */
    const struct hw_site *at; /* where it is registered, for a function that is not in the sources; else NULL */
    bool by_name;             /* found by its name only */
    bool cut;                 /* the limit on calls was met */
};

/* One call on the way from the hook to the line. */
struct hw_hop {
    struct hw_function *function;
    uint32_t row; /* in the caller, of the call that led here */
    struct hw_module *caller;
};

struct hw_pending {
    hw_val function;
    struct hw_class *self; /* the class whose instance `self` is */
};

/* A branch or loop that depends on what other ranks do not share. */
struct hw_guard {
    const struct hw_module *module; /* NULL: none */
    TSNode node;                    /* the test, or what is iterated */
    TSNode leaves;                  /* the `if` whose branch leaves the function; null: the guard is around */
    const char *why;
};

struct hw_record {
    struct hw_module *module;
    const struct hw_module *hook_module; /* of the hook that reaches it; NULL: none */
    uint32_t byte;
    struct hw_finding finding;
};

struct hw_path_entry;
struct hw_value_entry;
struct hw_key;
struct hw_record_key;

struct hw_world {
    struct hw_arena *arena;
    struct hw_value_entry *values;
    unsigned value_count;
    hw_val unknown, none, host, device, mask, scalar, host_tensor, empty_list;

    struct hw_module *modules, **modules_tail;
    struct hw_path_entry *by_path, *nodes, *absent;
    struct hw_frame *frames;
    const char **search;
    size_t search_count, search_room;

    struct hw_pending *pending;
    size_t pending_count, pending_room;
    struct hw_root *roots;
    size_t root_count, root_room;
    const char **carriers; /* names of functions and classes through which hooks are registered */
    size_t carrier_count, carrier_room;

    struct hw_hop hops[HW_CALL_DEPTH + 2];
    size_t hop_count;
    unsigned nesting;
    uint32_t generation;
    bool hot, recording;
    struct hw_root *root;  /* the hook being analysed */
    struct hw_guard guard; /* the innermost branch around what is executed that other ranks may not take */
    bool flush;            /* inside a function that the settings call a flush */
    unsigned no_grad;      /* regions without autograd around what is executed */
    TSNode statement;      /* being executed; null: look it up (finding a parent is linear in its siblings) */

    struct hw_key *keys; /* metrics that classes declare and record: rules/HW301.c */
    struct hw_record_key *record_keys;
    struct hw_record *records;
    size_t record_count, record_room;
    const struct hw_lint_options *options;
    struct hw_projects *projects;
    bool broken; /* a configuration is wrong; it has been said */
};

/* env */
hw_val hw_env_get(const struct hw_env *env, const char *name);
void hw_env_set(struct hw_env *env, const char *name, hw_val value);
void hw_env_join(struct hw_world *world, struct hw_env *env, const char *name, hw_val value);
void hw_env_copy(struct hw_env *to, const struct hw_env *from);
void hw_env_free(struct hw_env *env);

/* modules.c */
struct hw_world *hw_world_new(const struct hw_lint_options *options, struct hw_projects *projects);
void hw_world_free(struct hw_world *world);
struct hw_module *hw_module_add(struct hw_world *world, const char *path, struct hw_text *source);
/* The module of a file that was read; NULL if it was not. */
struct hw_module *hw_module_known(struct hw_world *world, const char *path);
/* Imports `dots` leading dots and `name` from module `from`; NULL when it is not among the sources. */
struct hw_module *hw_module_import(struct hw_world *world, struct hw_module *from, unsigned dots, const char *name);
/* Runs the module's body once per pass. */
void hw_module_execute(struct hw_world *world, struct hw_module *module);
/* A name of the module as an importer sees it; NULL if it has none. */
hw_val hw_module_attribute(struct hw_world *world, struct hw_module *module, const char *name);
const char *hw_intern(struct hw_world *world, const char *text);
const char *hw_node_text(struct hw_world *world, struct hw_module *module, TSNode node);

/* scope.c */
struct hw_function *hw_function_of(struct hw_world *world, struct hw_frame *frame, TSNode node);
struct hw_class *hw_class_of(struct hw_world *world, struct hw_frame *frame, TSNode node);
struct hw_frame *hw_frame_new(struct hw_world *world, struct hw_module *module, struct hw_frame *parent);
hw_val hw_name_get(struct hw_world *world, struct hw_frame *frame, const char *name);
void hw_name_set(struct hw_world *world, struct hw_frame *frame, const char *name, hw_val value);
/* Follows HW_LAZY. */
hw_val hw_resolve(struct hw_world *world, hw_val value);
/* A name in the class or its bases; *owner is the class that has it. */
hw_val hw_class_find(struct hw_world *world, struct hw_class *cls, const char *name, struct hw_class **owner, bool skip_self);
hw_val hw_attribute_of_self(struct hw_world *world, struct hw_class *cls, const char *name);
void hw_attribute_store(struct hw_world *world, struct hw_class *cls, const char *name, hw_val value);

#endif
