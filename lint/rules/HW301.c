/* HW301, HW302, HW303, HW306: the metric schema. What a class declares is collected while its cold code runs, what its hooks
 * record is held against it. */
#include <string.h>

#include "core/glob.h"
#include "lint/evaluate.h"

enum kind { DECLARE_LAYER, DECLARE_GLOBAL, ALLOCATE, RECORD_LAYER, RECORD_GLOBAL };

static const struct schema {
    const char *method;
    enum kind kind;
    int key, value;
} methods[] = {
#define HW_SCHEMA(method, kind, key, value) {method, kind, key, value},
#include "lint/knowledge/schema.def"
#undef HW_SCHEMA
};

/* One key that a class declares or records; text as in HW_PATTERN, NULL when it is not known. */
struct hw_key {
    struct hw_key *next;
    const struct hw_class *cls;
    enum kind kind;
    const char *text;
};

static void add_key(struct hw_world *world, const struct hw_class *cls, enum kind kind, const char *text)
{
    for (const struct hw_key *key = world->keys; key; key = key->next)
        if (key->cls == cls && key->kind == kind && key->text == text)
            return;
    struct hw_key *key = hw_arena_alloc(world->arena, sizeof *key);
    *key = (struct hw_key){world->keys, cls, kind, text};
    world->keys = key;
}

/* A key for messages: {} where the f-string has a replacement. */
static const char *readable(struct hw_world *world, const char *key)
{
    char *text = hw_arena_alloc(world->arena, 2 * strlen(key) + 1), *to = text;
    for (; *key; key++) {
        *to++ = *key == 1 ? '{' : *key;
        if (*key == 1)
            *to++ = '}';
    }
    return text;
}

/* Whether two keys may be the same string. */
static bool may_match(struct hw_world *world, const char *left, const char *right)
{
    char *glob = hw_arena_copy(world->arena, left, strlen(left)), *other = hw_arena_copy(world->arena, right, strlen(right));
    for (char *p = glob; *p; p++)
        *p = *p == 1 ? '*' : *p;
    for (char *p = other; *p; p++)
        *p = *p == 1 ? '*' : *p;
    return hw_glob_match(glob, other) || hw_glob_match(other, glob);
}

/* Whether the class declares the key, or declares keys that are not known, or none at all (its base may do it elsewhere). */
static bool is_declared(struct hw_world *world, const struct hw_class *cls, const char *text)
{
    bool any = false;
    for (const struct hw_key *key = world->keys; key; key = key->next) {
        if (key->cls != cls || (key->kind != DECLARE_LAYER && key->kind != DECLARE_GLOBAL))
            continue;
        if (!key->text || may_match(world, key->text, text))
            return true;
        any = true;
    }
    return !any;
}

/* Whether the class uses exactly this key in that way. */
static bool has_key(const struct hw_world *world, const struct hw_class *cls, enum kind kind, const char *text)
{
    for (const struct hw_key *key = world->keys; key; key = key->next)
        if (key->cls == cls && key->kind == kind && key->text == text)
            return true;
    return false;
}

static void check_record(struct hw_world *world, const struct hw_site *site, const struct hw_class *cls,
                         const struct schema *schema, const struct hw_args *args, hw_val key)
{
    hw_val value = hw_argument(args, "val", schema->value);
    value = value ? value : hw_argument(args, "value", -1);
    if (value && (hw_value_is_host(value) || value->kind == HW_HOST_TENSOR))
        hw_report(world, site->frame->module, 303, HW_SEVERITY_ERROR, site->token, site->call,
                  "the value recorded is host data; record a 0-dim tensor on the device");
    for (size_t i = 0; key && i < hw_value_count(key); i++) {
        const char *text = hw_value_at(key, i)->kind == HW_HOST ? hw_value_at(key, i)->text : NULL;
        if (!text)
            continue;
        add_key(world, cls, schema->kind, text);
        if (!is_declared(world, cls, text))
            hw_report(world, site->frame->module, 302, HW_SEVERITY_ERROR, site->token, site->call,
                      hw_arena_format(world->arena, "the key \"%s\" is recorded, but was not declared at registration",
                                      readable(world, text)));
        if (schema->kind == RECORD_GLOBAL && has_key(world, cls, RECORD_LAYER, text) &&
            !has_key(world, cls, DECLARE_GLOBAL, text))
            hw_report(world, site->frame->module, 306, HW_SEVERITY_ERROR, site->token, site->call,
                      hw_arena_format(world->arena, "the global \"%s\" is derived at flush from the layer metric of that key",
                                      readable(world, text)));
    }
}

static const struct schema *schema_of(const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(methods[i].method, method))
            return &methods[i];
    return NULL;
}

void hw_schema_call(struct hw_world *world, const struct hw_site *site, hw_val object, const char *name,
                    const struct hw_args *args)
{
    const struct schema *schema = schema_of(name);
    const struct hw_function *inside = site->frame->function;
    if (!schema || object->kind != HW_INSTANCE || (inside && schema_of(inside->name)))
        return; /* the methods of the schema may use each other */
    const struct hw_class *cls = object->a;
    hw_val key = schema->key >= 0 ? hw_argument(args, "name", schema->key) : NULL;
    key = key || schema->key < 0 ? key : hw_argument(args, "key", -1);
    if (schema->kind == RECORD_LAYER || schema->kind == RECORD_GLOBAL) {
        if (world->hot)
            check_record(world, site, cls, schema, args, key);
        return;
    }
    if (world->hot) {
        hw_report(world, site->frame->module, 301, HW_SEVERITY_ERROR, site->token, site->call,
                  schema->kind == ALLOCATE ? "buffers are allocated in a hook; allocate once, when all chunks have declared"
                                           : "a metric is declared in a hook; the schema is fixed at registration");
        return;
    }
    for (size_t i = 0; key && i < hw_value_count(key); i++)
        add_key(world, cls, schema->kind, hw_value_at(key, i)->kind == HW_HOST ? hw_value_at(key, i)->text : NULL);
    if (!key && schema->kind != ALLOCATE)
        add_key(world, cls, schema->kind, NULL);
}
