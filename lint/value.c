/* Interned abstract values and their lattice. */
#include "lint/value.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "lint/world.h"

#include "uthash.h"

struct hw_value_entry {
    UT_hash_handle hh;
    unsigned depth;
    unsigned serial; /* order of creation: the same in every run, unlike addresses */
    struct hw_value value;
};

static struct hw_value_entry *entry_of(hw_val value)
{
    return (struct hw_value_entry *)((uintptr_t)value - offsetof(struct hw_value_entry, value));
}

hw_val hw_value_make(struct hw_world *world, const struct hw_value *head, const hw_val *items)
{
    unsigned depth = 0;
    for (size_t i = 0; i < head->count; i++)
        if (entry_of(items[i])->depth >= depth)
            depth = entry_of(items[i])->depth + 1;
    if (depth > HW_VALUE_DEPTH)
        return world->unknown;
    size_t size = sizeof(struct hw_value) + head->count * sizeof(hw_val);
    struct hw_value *key = hw_alloc(size);
    memset(key, 0, size);
    key->kind = head->kind;
    key->flags = head->flags;
    key->text = head->text;
    key->a = head->a;
    key->b = head->b;
    key->count = head->count;
    if (head->count)
        memcpy(key->items, items, head->count * sizeof(hw_val));
    struct hw_value_entry *entry;
    HASH_FIND(hh, world->values, key, size, entry);
    if (!entry) {
        entry = hw_arena_alloc(world->arena, sizeof *entry + head->count * sizeof(hw_val));
        memcpy(&entry->value, key, size);
        entry->depth = depth;
        entry->serial = world->value_count++;
        HASH_ADD_KEYPTR(hh, world->values, &entry->value, size, entry);
    }
    free(key);
    return &entry->value;
}

void hw_values_forget(struct hw_world *world)
{
    HASH_CLEAR(hh, world->values);
}

hw_val hw_value_simple(struct hw_world *world, enum hw_kind kind, unsigned flags, const char *text)
{
    return hw_value_make(world, &(struct hw_value){.kind = kind, .flags = flags, .text = text}, NULL);
}

hw_val hw_value_list(struct hw_world *world, hw_val element)
{
    return hw_value_make(world, &(struct hw_value){.kind = HW_LIST, .count = 1}, &element);
}

hw_val hw_value_set(struct hw_world *world, hw_val element)
{
    return hw_value_make(world, &(struct hw_value){.kind = HW_LIST, .flags = HW_HASHED, .count = 1}, &element);
}

hw_val hw_value_grown(struct hw_world *world, hw_val list, hw_val element)
{
    if (list->kind != HW_LIST) /* nested too deeply to be kept apart */
        return list;
    element = hw_value_join(world, list->items[0], element);
    return hw_value_make(world, &(struct hw_value){.kind = HW_LIST, .flags = list->flags, .count = 1}, &element);
}

hw_val hw_value_empty_dict(struct hw_world *world)
{
    return hw_value_make(world, &(struct hw_value){.kind = HW_DICT, .count = 1}, &world->unknown);
}

hw_val hw_value_entered(struct hw_world *world, hw_val dict, hw_val key, hw_val value)
{
    if (dict->kind != HW_DICT) /* nested too deeply to be kept apart */
        return dict;
    hw_val items[1 + 2 * HW_DICT_LIMIT];
    size_t count = dict->count, at = 0;
    memcpy(items, dict->items, count * sizeof(hw_val));
    if (hw_value_string(key)) {
        for (at = 1; at + 1 < count && items[at]->text != key->text; at += 2)
            ;
        if (at + 1 >= count && count + 2 <= sizeof items / sizeof *items) {
            items[count] = key;
            items[count + 1] = value;
            return hw_value_make(world, &(struct hw_value){.kind = HW_DICT, .count = count + 2}, items);
        }
        at = at + 1 < count ? at + 1 : 0;
    }
    items[at] = items[at] == world->unknown ? value : hw_value_join(world, items[at], value);
    return hw_value_make(world, &(struct hw_value){.kind = HW_DICT, .count = count}, items);
}

hw_val hw_value_any_entry(struct hw_world *world, hw_val dict)
{
    hw_val all = dict->count > 1 && dict->items[0] == world->unknown ? NULL : dict->items[0];
    for (size_t i = 2; i < dict->count; i += 2)
        all = hw_value_join(world, all, dict->items[i]);
    return all;
}

hw_val hw_value_tuple(struct hw_world *world, const hw_val *items, size_t count)
{
    return hw_value_make(world, &(struct hw_value){.kind = HW_TUPLE, .count = count}, items);
}

/* Many constants, or constants beside any host value, are just host data. */
static size_t fold_constants(struct hw_world *world, hw_val *members, size_t count)
{
    size_t hosts = 0, kept = 0;
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        hosts += members[i]->kind == HW_HOST;
        any |= members[i] == world->host;
    }
    if (hosts < 2 || (!any && hosts <= HW_CONSTANT_LIMIT))
        return count;
    for (size_t i = 0; i < count; i++)
        if (members[i]->kind != HW_HOST)
            members[kept++] = members[i];
    members[kept++] = world->host;
    return kept;
}

hw_val hw_value_join(struct hw_world *world, hw_val left, hw_val right)
{
    if (left == right || !right)
        return left;
    if (!left)
        return right;
    hw_val members[2 * HW_UNION_LIMIT];
    size_t count = 0;
    for (size_t i = 0; i < hw_value_count(left); i++)
        members[count++] = hw_value_at(left, i);
    for (size_t i = 0; i < hw_value_count(right); i++) {
        hw_val add = hw_value_at(right, i);
        bool merged = false;
        for (size_t j = 0; j < count && !merged; j++) {
            if (members[j] == add) {
                merged = true;
            } else if (members[j]->kind == add->kind && add->kind == HW_LIST) {
                hw_val longer = members[j]->flags & add->flags ? members[j] : hw_value_list(world, members[j]->items[0]);
                members[j] = hw_value_grown(world, longer, add->items[0]);
                merged = true;
            } else if (members[j]->kind == add->kind && add->kind == HW_DICT) {
                hw_val both = members[j];
                if (add->items[0] != world->unknown)
                    both = hw_value_entered(world, both, world->host, add->items[0]);
                for (size_t k = 1; k + 1 < add->count; k += 2)
                    both = hw_value_entered(world, both, add->items[k], add->items[k + 1]);
                members[j] = both;
                merged = true;
            } else if (members[j]->kind == HW_HOST && add->kind == HW_HOST && (!members[j]->text || !add->text)) {
                members[j] = world->host; /* some host value */
                merged = true;
            } else if (members[j]->kind == HW_DEVICE && add->kind == HW_DEVICE) {
                unsigned both = members[j]->flags & add->flags;
                unsigned any = (members[j]->flags | add->flags) & (HW_MAYBE_TUPLE | HW_GRAPH);
                members[j] = hw_value_simple(world, HW_DEVICE, both | any, NULL);
                merged = true;
            }
        }
        if (!merged)
            members[count++] = add;
    }
    count = fold_constants(world, members, count);
    if (count == 1)
        return members[0];
    if (count > HW_UNION_LIMIT) { /* keep what rules claim about, drop the rest */
        members[0] = hw_value_find(left, HW_DEVICE) || hw_value_find(right, HW_DEVICE) ? world->device : world->unknown;
        return members[0];
    }
    for (size_t i = 1; i < count; i++) /* one order, so that joins commute */
        for (size_t j = i; j > 0 && entry_of(members[j - 1])->serial > entry_of(members[j])->serial; j--) {
            hw_val swap = members[j];
            members[j] = members[j - 1];
            members[j - 1] = swap;
        }
    return hw_value_make(world, &(struct hw_value){.kind = HW_UNION, .count = count}, members);
}

hw_val hw_value_find(hw_val value, enum hw_kind kind)
{
    for (size_t i = 0; i < hw_value_count(value); i++)
        if (hw_value_at(value, i)->kind == kind)
            return hw_value_at(value, i);
    return NULL;
}

bool hw_value_holds_device(hw_val value)
{
    switch (value->kind) {
    case HW_DEVICE:
        return true;
    case HW_UNION:
    case HW_TUPLE:
    case HW_LIST:
    case HW_DICT:
        for (size_t i = 0; i < value->count; i++)
            if (hw_value_holds_device(value->items[i]))
                return true;
        return false;
    default:
        return false;
    }
}

bool hw_value_is_host(hw_val value)
{
    for (size_t i = 0; i < hw_value_count(value); i++)
        if (hw_value_at(value, i)->kind != HW_HOST)
            return false;
    return true;
}

const char *hw_value_string(hw_val value)
{
    return value->kind == HW_HOST && !(value->flags & HW_PATTERN) ? value->text : NULL;
}

unsigned hw_value_place(hw_val value)
{
    unsigned place = 0;
    for (size_t i = 0; i < hw_value_count(value); i++) {
        hw_val one = hw_value_at(value, i);
        const char *text = hw_value_string(one);
        if (one->kind == HW_PLACE)
            place |= one->flags & (HW_ON_DEVICE | HW_ON_HOST);
        else if (one->kind == HW_DEVICE)
            place |= HW_ON_DEVICE; /* x.to(other) */
        else if (one->kind == HW_HOST_TENSOR)
            place |= HW_ON_HOST;
        else if (text && !strncmp(text, "cpu", 3))
            place |= HW_ON_HOST;
        else if (text && (!strncmp(text, "cuda", 4) || !strncmp(text, "gpu", 3) || !strncmp(text, "xpu", 3) ||
                          !strncmp(text, "npu", 3) || !strncmp(text, "hpu", 3)))
            place |= HW_ON_DEVICE;
    }
    return place == (HW_ON_DEVICE | HW_ON_HOST) ? 0 : place;
}

hw_val hw_value_element(struct hw_world *world, hw_val value)
{
    hw_val element = NULL;
    for (size_t i = 0; i < hw_value_count(value); i++) {
        hw_val one = hw_value_at(value, i), part = world->unknown;
        switch (one->kind) {
        case HW_DEVICE:
            part = hw_value_simple(world, HW_DEVICE,
                                   one->flags & (HW_MASK | HW_GRAPH | (one->flags & HW_MAYBE_TUPLE ? (unsigned)HW_TOKENS : 0u)),
                                   NULL);
            break;
        case HW_HOST_TENSOR:
            part = one;
            break;
        case HW_HOST:
            part = world->host;
            break;
        case HW_LIST:
            part = one->items[0];
            break;
        case HW_DICT:
            part = world->host; /* iterating a dict gives its keys */
            break;
        case HW_TUPLE:
            part = NULL;
            for (size_t j = 0; j < one->count; j++)
                part = hw_value_join(world, part, one->items[j]);
            if (!part || (part->kind == HW_UNION && hw_value_find(part, HW_DEVICE)))
                part = world->unknown; /* a tensor or something else: no claim */
            break;
        default:
            break;
        }
        element = hw_value_join(world, element, part);
    }
    return element;
}
