/* Names: environments, lexical scopes, class attributes and their bases. */
#include <stdlib.h>
#include <string.h>

#include "lint/world.h"

enum { FEW_NAMES = 24 }; /* up to here a plain search is faster than a table */

static size_t hash_of(const char *name, size_t slot_count)
{
    return (size_t)(((uintptr_t)name >> 3) * 0x9e3779b97f4a7c15u >> 20) & (slot_count - 1);
}

static void rehash(struct hw_env *env)
{
    env->slot_count = env->slot_count ? env->slot_count : 64;
    while (env->slot_count < 2 * env->count + 2)
        env->slot_count *= 2;
    env->slots = hw_realloc(env->slots, env->slot_count * sizeof *env->slots);
    memset(env->slots, 0, env->slot_count * sizeof *env->slots);
    for (size_t i = 0; i < env->count; i++) {
        size_t at = hash_of(env->items[i].name, env->slot_count);
        while (env->slots[at])
            at = (at + 1) & (env->slot_count - 1);
        env->slots[at] = (uint32_t)i + 1;
    }
}

static struct hw_binding *find(const struct hw_env *env, const char *name)
{
    if (!env->slots) {
        for (size_t i = 0; i < env->count; i++)
            if (env->items[i].name == name)
                return &env->items[i];
        return NULL;
    }
    for (size_t at = hash_of(name, env->slot_count); env->slots[at]; at = (at + 1) & (env->slot_count - 1))
        if (env->items[env->slots[at] - 1].name == name)
            return &env->items[env->slots[at] - 1];
    return NULL;
}

hw_val hw_env_get(const struct hw_env *env, const char *name)
{
    const struct hw_binding *binding = find(env, name);
    return binding ? binding->value : NULL;
}

static struct hw_binding *slot(struct hw_env *env, const char *name)
{
    struct hw_binding *binding = find(env, name);
    if (binding)
        return binding;
    if (env->count == env->room)
        env->items = hw_realloc(env->items, (env->room = env->room * 2 + 8) * sizeof *env->items);
    env->items[env->count++] = (struct hw_binding){name, NULL};
    if (env->slots && 2 * env->count < env->slot_count) {
        size_t at = hash_of(name, env->slot_count);
        while (env->slots[at])
            at = (at + 1) & (env->slot_count - 1);
        env->slots[at] = (uint32_t)env->count;
    } else if (env->count > FEW_NAMES) {
        rehash(env);
    }
    return &env->items[env->count - 1];
}

void hw_env_set(struct hw_env *env, const char *name, hw_val value)
{
    slot(env, name)->value = value;
}

void hw_env_join(struct hw_world *world, struct hw_env *env, const char *name, hw_val value)
{
    struct hw_binding *binding = slot(env, name);
    binding->value = hw_value_join(world, binding->value, value);
}

void hw_env_copy(struct hw_env *to, const struct hw_env *from)
{
    if (to->room < from->count)
        to->items = hw_realloc(to->items, (to->room = from->count + 4) * sizeof *to->items);
    to->count = from->count;
    if (from->count)
        memcpy(to->items, from->items, from->count * sizeof *to->items);
    if (from->slots) {
        if (to->slot_count != from->slot_count)
            to->slots = hw_realloc(to->slots, from->slot_count * sizeof *to->slots);
        memcpy(to->slots, from->slots, from->slot_count * sizeof *to->slots);
        to->slot_count = from->slot_count;
    } else {
        free(to->slots);
        to->slots = NULL;
        to->slot_count = 0;
    }
}

void hw_env_free(struct hw_env *env)
{
    free(env->items);
    free(env->slots);
    *env = (struct hw_env){0};
}

struct hw_frame *hw_frame_new(struct hw_world *world, struct hw_module *module, struct hw_frame *parent)
{
    struct hw_frame *frame = hw_arena_alloc(world->arena, sizeof *frame);
    frame->module = module;
    frame->parent = parent;
    frame->hot = world->hot;
    frame->recording = world->recording;
    frame->generation = world->generation;
    frame->next = world->frames;
    world->frames = frame;
    return frame;
}

static bool is_outer(const struct hw_frame *frame, const char *name)
{
    for (size_t i = 0; i < frame->outer_count; i++)
        if (frame->outer[i] == name)
            return true;
    return false;
}

hw_val hw_name_get(struct hw_world *world, struct hw_frame *frame, const char *name)
{
    const struct hw_module *module = frame->module;
    hw_val value = is_outer(frame, name) ? NULL : hw_env_get(&frame->now, name);
    for (struct hw_frame *at = frame; !value && at; at = at->parent)
        if (at == frame || !at->class_body) /* a class body is no scope for the functions in it */
            value = hw_env_get(&at->all, name);
    for (size_t i = 0; !value && i < module->star_count; i++)
        value = hw_module_attribute(world, module->stars[i], name);
    return value ? hw_resolve(world, value) : NULL;
}

void hw_name_set(struct hw_world *world, struct hw_frame *frame, const char *name, hw_val value)
{
    if (is_outer(frame, name)) {
        struct hw_frame *at = frame->parent;
        while (at && at->parent && !hw_env_get(&at->all, name))
            at = at->parent;
        if (at) {
            hw_env_join(world, &at->all, name, value);
            return;
        }
    }
    hw_env_set(&frame->now, name, value);
    hw_env_join(world, &frame->all, name, value);
}

/* `depth` bounds names that are imported from each other in a circle. */
static hw_val resolve(struct hw_world *world, hw_val value, unsigned depth)
{
    for (int hops = 0; hops < 20 && depth < 8; hops++) {
        if (value->kind == HW_UNION && hw_value_find(value, HW_LAZY)) {
            hw_val joined = NULL;
            for (size_t i = 0; i < value->count; i++)
                joined = hw_value_join(world, joined,
                                       value->items[i]->kind == HW_LAZY ? resolve(world, value->items[i], depth + 1)
                                                                        : value->items[i]);
            return joined;
        }
        if (value->kind != HW_LAZY)
            return value;
        hw_val found = hw_module_attribute(world, (struct hw_module *)(uintptr_t)value->a, value->text);
        if (!found || found == value)
            return world->unknown;
        value = found;
    }
    return world->unknown;
}

hw_val hw_resolve(struct hw_world *world, hw_val value)
{
    return resolve(world, value, 0);
}

static hw_val find_in(struct hw_world *world, struct hw_class *cls, const char *name, struct hw_class **owner, bool skip_self,
                      unsigned depth)
{
    hw_val value = skip_self || !cls->frame ? NULL : hw_env_get(&cls->frame->all, name);
    if (value) {
        *owner = cls;
        return hw_resolve(world, value);
    }
    for (size_t i = 0; depth < 16 && i < cls->base_count; i++) {
        hw_val base = hw_resolve(world, cls->bases[i]);
        for (size_t j = 0; j < hw_value_count(base); j++) {
            hw_val one = hw_value_at(base, j);
            if (one->kind == HW_CLASS && one->a != cls)
                value = find_in(world, (struct hw_class *)(uintptr_t)one->a, name, owner, false, depth + 1);
            if (value)
                return value;
        }
    }
    return NULL;
}

hw_val hw_class_find(struct hw_world *world, struct hw_class *cls, const char *name, struct hw_class **owner, bool skip_self)
{
    return find_in(world, cls, name, owner, skip_self, 0);
}

static hw_val stored(struct hw_world *world, struct hw_class *cls, const char *name, unsigned depth)
{
    hw_val value = hw_env_get(&cls->attrs, name);
    if (!value)
        value = hw_env_get(&cls->earlier, name);
    for (size_t i = 0; depth < 16 && i < cls->base_count; i++) {
        hw_val base = hw_resolve(world, cls->bases[i]);
        for (size_t j = 0; j < hw_value_count(base); j++)
            if (hw_value_at(base, j)->kind == HW_CLASS && hw_value_at(base, j)->a != cls)
                value = hw_value_join(world, value,
                                      stored(world, (struct hw_class *)(uintptr_t)hw_value_at(base, j)->a, name, depth + 1));
    }
    return value;
}

hw_val hw_attribute_of_self(struct hw_world *world, struct hw_class *cls, const char *name)
{
    hw_val value = stored(world, cls, name, 0);
    return value ? hw_resolve(world, value) : NULL;
}

void hw_attribute_store(struct hw_world *world, struct hw_class *cls, const char *name, hw_val value)
{
    hw_env_join(world, &cls->attrs, name, value);
}
