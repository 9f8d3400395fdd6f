/* HW301, HW302, HW303, HW306: the metric schema. What a class declares is collected while its cold code runs, what its hooks
 * record is held against it. */
#include <string.h>

#include "core/glob.h"
#include "lint/schema.h"

static const struct hw_schema methods[] = {
#define HW_SCHEMA(method, kind, key, value, aggregation) {method, HW_##kind, key, value, HW_##aggregation},
#include "lint/knowledge/schema.def"
#undef HW_SCHEMA
};

/* One key that a class declares or records; text as in HW_PATTERN, NULL when it is not known. */
struct hw_key {
    struct hw_key *next;
    const struct hw_class *cls;
    enum hw_schema_kind kind;
    const char *text;
};

static void add_key(struct hw_world *world, const struct hw_class *cls, enum hw_schema_kind kind, const char *text)
{
    for (const struct hw_key *key = world->keys; key; key = key->next)
        if (key->cls == cls && key->kind == kind && key->text == text)
            return;
    struct hw_key *key = hw_arena_alloc(world->arena, sizeof *key);
    *key = (struct hw_key){world->keys, cls, kind, text};
    world->keys = key;
}

const char *hw_schema_readable(struct hw_world *world, const char *key)
{
    char *text = hw_arena_alloc(world->arena, 2 * strlen(key) + 1), *to = text;
    for (; *key; key++) {
        *to++ = *key == 1 ? '{' : *key;
        if (*key == 1)
            *to++ = '}';
    }
    return text;
}

bool hw_schema_may_match(struct hw_world *world, const char *left, const char *right)
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
        if (key->cls != cls || (key->kind != HW_DECLARE_LAYER && key->kind != HW_DECLARE_GLOBAL))
            continue;
        if (!key->text || hw_schema_may_match(world, key->text, text))
            return true;
        any = true;
    }
    return !any;
}

/* Whether the class uses exactly this key in that way. */
static bool has_key(const struct hw_world *world, const struct hw_class *cls, enum hw_schema_kind kind, const char *text)
{
    for (const struct hw_key *key = world->keys; key; key = key->next)
        if (key->cls == cls && key->kind == kind && key->text == text)
            return true;
    return false;
}

/* record(..., x.sum().item()) with a 0-dim x.sum(): the tensor itself is what is wanted. */
static void offer_tensor(struct hw_world *world, const struct hw_site *site, const struct hw_args *args, hw_val value)
{
    TSNode node = {0};
    for (size_t i = 0; i < args->count; i++)
        if (args->values[i] == value)
            node = args->nodes[i];
    if (hw_node_kind(node) == HW_N_KEYWORD_ARGUMENT)
        node = hw_node_field(node, HW_F_VALUE);
    if (hw_node_kind(node) != HW_N_CALL || hw_node_children(hw_node_field(node, HW_F_ARGUMENTS)) > 0)
        return;
    TSNode callee = hw_node_field(node, HW_F_FUNCTION), token = hw_node_field(callee, HW_F_ATTRIBUTE);
    if (hw_node_kind(callee) != HW_N_ATTRIBUTE || strcmp(hw_node_text(world, site->frame->module, token), "item") != 0)
        return;
    TSNode tensor = hw_node_field(callee, HW_F_OBJECT);
    hw_val held = hw_evaluate(world, site->frame, tensor);
    if (held->kind != HW_DEVICE || !(held->flags & HW_SCALAR))
        return;
    struct hw_record *records[] = {
        hw_record_at(world, site->frame->module, 303, ts_node_start_byte(site->token)),
        hw_record_at(world, site->frame->module, 101, ts_node_start_byte(token)),
    };
    for (size_t i = 0; i < 2; i++)
        if (records[i])
            hw_fix_record(world, records[i], ts_node_end_byte(tensor), ts_node_end_byte(node), "", "Record the tensor itself");
}

static void check_record(struct hw_world *world, const struct hw_site *site, const struct hw_class *cls,
                         const struct hw_schema *schema, const struct hw_args *args, hw_val key)
{
    hw_val value = hw_argument(args, "val", schema->value);
    value = value ? value : hw_argument(args, "value", -1);
    if (value && (hw_value_is_host(value) || value->kind == HW_HOST_TENSOR))
        hw_report(world, site->frame->module, 303, HW_SEVERITY_ERROR, site->token, site->call,
                  "the value recorded is host data; record a 0-dim tensor on the device");
    if (value && hw_value_is_host(value) && world->hot && world->recording)
        offer_tensor(world, site, args, value);
    for (size_t i = 0; key && i < hw_value_count(key); i++) {
        const char *text = hw_value_at(key, i)->kind == HW_HOST ? hw_value_at(key, i)->text : NULL;
        if (!text)
            continue;
        add_key(world, cls, schema->kind, text);
        bool declared = is_declared(world, cls, text);
        if (declared)
            hw_rule_aggregation(world, site, cls, schema, text, value);
        if (!declared)
            hw_report(world, site->frame->module, 302, HW_SEVERITY_ERROR, site->token, site->call,
                      hw_arena_format(world->arena, "the key \"%s\" is recorded, but was not declared at registration",
                                      hw_schema_readable(world, text)));
        if (schema->kind == HW_RECORD_GLOBAL && has_key(world, cls, HW_RECORD_LAYER, text) &&
            !has_key(world, cls, HW_DECLARE_GLOBAL, text))
            hw_report(world, site->frame->module, 306, HW_SEVERITY_ERROR, site->token, site->call,
                      hw_arena_format(world->arena, "the global \"%s\" is derived at flush from the layer metric of that key",
                                      hw_schema_readable(world, text)));
    }
}

static const struct hw_schema *schema_of(const char *method)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(methods[i].method, method))
            return &methods[i];
    return NULL;
}

void hw_schema_call(struct hw_world *world, const struct hw_site *site, hw_val object, const char *name,
                    const struct hw_args *args)
{
    const struct hw_schema *schema = schema_of(name);
    const struct hw_function *inside = site->frame->function;
    if (!schema || object->kind != HW_INSTANCE || (inside && schema_of(inside->name)))
        return; /* the methods of the schema may use each other */
    const struct hw_class *cls = object->a;
    hw_val key = schema->key >= 0 ? hw_argument(args, "name", schema->key) : NULL;
    key = key || schema->key < 0 ? key : hw_argument(args, "key", -1);
    if (schema->kind == HW_RECORD_LAYER || schema->kind == HW_RECORD_GLOBAL) {
        if (world->hot)
            check_record(world, site, cls, schema, args, key);
        return;
    }
    if (world->hot) {
        hw_report(world, site->frame->module, 301, HW_SEVERITY_ERROR, site->token, site->call,
                  schema->kind == HW_ALLOCATE ? "buffers are allocated in a hook; allocate once, when all chunks have declared"
                                              : "a metric is declared in a hook; the schema is fixed at registration");
        return;
    }
    for (size_t i = 0; key && i < hw_value_count(key); i++) {
        const char *text = hw_value_at(key, i)->kind == HW_HOST ? hw_value_at(key, i)->text : NULL;
        add_key(world, cls, schema->kind, text);
        if (text && schema->kind == HW_DECLARE_GLOBAL)
            hw_rule_aggregation(world, site, cls, schema, text, NULL);
    }
    if (schema->kind == HW_DECLARE_GLOBAL && schema->aggregation == HW_MEAN)
        hw_rule_weighting(world, site, args);
    if (!key && schema->kind != HW_ALLOCATE)
        add_key(world, cls, schema->kind, NULL);
}
