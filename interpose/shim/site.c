/* Site records: one per (function, code object, instruction, window, scope). Which rule applies is decided when a record is
 * made, from what Python was doing there (codes.def); later hits find it with one probe. */
#define _GNU_SOURCE
#include "interpose/shim/shim.h"

#include "core/glob.h"
#include "interpose/python/frames.h"

#include <string.h>

#define SITES 16384u
/* The key is a 64-bit hash of everything that tells sites apart. */
static struct {
    uint64_t key;
    uint32_t offset, ready;
} sites[SITES];
static uint32_t site_count;

void hw_sites_reset(void)
{
    memset(sites, 0, sizeof sites);
    site_count = 0;
}

struct pattern {
    const char *name;
    uint16_t rule;
};

#define HW_BELOW(glob, rule)
#define HW_AT(class, rule)
#define HW_CALLEE(name, rule)
#define HW_COMM_CALLEE(glob, rule)

#undef HW_BELOW
#define HW_BELOW(glob, rule) {glob, rule},
static const struct pattern below_rules[] = {
#include "interpose/shim/codes.def"
};
#undef HW_BELOW
#define HW_BELOW(glob, rule)

#undef HW_AT
#define HW_AT(class, rule) [class] = rule,
static const uint16_t at_rules[HW_PY_HIDDEN + 1] = {
#include "interpose/shim/codes.def"
};
#undef HW_AT
#define HW_AT(class, rule)

#undef HW_CALLEE
#define HW_CALLEE(name, rule) {name, rule},
static const struct pattern callee_rules[] = {
#include "interpose/shim/codes.def"
};
#undef HW_CALLEE
#define HW_CALLEE(name, rule)

#undef HW_COMM_CALLEE
#define HW_COMM_CALLEE(glob, rule) {glob, rule},
static const struct pattern comm_rules[] = {
#include "interpose/shim/codes.def"
};

static uint16_t match(const struct pattern *patterns, size_t count, const char *text)
{
    for (size_t i = 0; i < count && *text; i++)
        if (hw_glob_match(patterns[i].name, text))
            return patterns[i].rule;
    return 0;
}
#define MATCH(patterns, text) match(patterns, sizeof(patterns) / sizeof((patterns)[0]), text)

/* design: framework frame below the site, then the site's instruction, then what it calls, then the API and the size. */
static uint16_t decide(const struct hw_event *event, const char *below, const struct hw_py_where *where)
{
    uint16_t rule;
    switch (event->kind) {
    case HW_KIND_COLLECTIVE:
        rule = MATCH(comm_rules, where->callee);
        return rule ? rule : 201;
    case HW_KIND_COMM_INIT:
    case HW_KIND_COMM_SETUP:
        return 203;
    case HW_KIND_ALLOC:
        return 108;
    case HW_KIND_QUERY:
        return 110;
    default:
        break;
    }
    if ((rule = MATCH(below_rules, below)))
        return rule;
    if (event->direction == HW_H2D)
        return 107;
    /* A barrier's wait is part of the barrier. */
    if (event->kind == HW_KIND_SYNC && (rule = MATCH(comm_rules, where->callee)))
        return rule;
    if ((rule = at_rules[where->class]) || (rule = MATCH(callee_rules, where->callee)))
        return rule;
    if (event->kind == HW_KIND_SYNC && event->direction != HW_D2H)
        return 106;
    return event->bytes <= 16 ? 101 : 102; /* one complex128 is the largest scalar */
}

static uint32_t text_string(const void *str)
{
    char text[4096];
    size_t length = hw_py_text(str, text, sizeof text);
    return length ? hw_trace_string(text, length) : 0;
}

static void fill_frame(struct hw_trace_frame *out, const void *code, int row)
{
    out->function = text_string(hw_py_field(code, hw_py->code_qualname));
    out->filename = text_string(hw_py_field(code, hw_py->code_filename));
    out->row = row > 0 ? (uint32_t)row : 0;
}

static struct hw_record_site *make_site(const struct hw_event *event, const struct hw_place *place, bool second_flush_copy,
                                        uint32_t *offset)
{
    char below[256] = "";
    struct hw_py_where where = {.class = HW_PY_OTHER};
    if (place->site_code)
        hw_py_locate(place->site_code, place->site_lasti, &where);
    if (place->below_code)
        hw_py_text(hw_py_field(place->below_code, hw_py->code_qualname), below, sizeof below);
    hw_look_at_objects();
    *offset = hw_trace_allocate(sizeof(struct hw_record_site));
    if (!*offset)
        return NULL;
    struct hw_record_site *site = hw_trace_at(*offset);
    site->scope = (uint8_t)place->scope;
    if (place->scope == HW_SCOPE_HOOK)
        site->rule = decide(event, below, &where);
    else if (place->scope == HW_SCOPE_FLUSH && second_flush_copy)
        site->rule = 501;
    site->api = hw_trace_string(event->hook->name, strlen(event->hook->name));
    site->callee = where.callee[0] ? hw_trace_string(where.callee, strlen(where.callee)) : 0;
    if (place->site_code)
        fill_frame(&site->site, place->site_code, where.row);
    if (place->root_code)
        fill_frame(&site->hook, place->root_code, hw_py_int(place->root_code, hw_py->code_firstlineno));
    else if (place->window)
        site->hook.function = hw_trace_string(place->window, strnlen(place->window, 512));
    for (unsigned i = 0; i < place->stack_count; i++) {
        struct hw_py_where at;
        hw_py_locate(place->stack_code[i], place->stack_lasti[i], &at);
        fill_frame(&site->stack[i], place->stack_code[i], at.row);
    }
    site->frames = (uint8_t)place->stack_count;
    return site;
}

static uint64_t mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t code_identity(const void *code)
{
    if (!code)
        return 0;
    const void *filename = hw_py_field(code, hw_py->code_filename), *qualname = hw_py_field(code, hw_py->code_qualname);
    uint64_t h = mix((uint64_t)(uintptr_t)code, (uint64_t)(uintptr_t)hw_py_field(code, hw_py->code_linetable));
    h = mix(h, (uint64_t)(uint32_t)hw_py_int(code, hw_py->code_firstlineno));
    h = mix(mix(h, (uint64_t)(uintptr_t)filename), (uint64_t)(uintptr_t)qualname);
    /* Code that is made again and again (exec, a notebook's cells) gets the addresses of what it replaced: its texts tell. */
    char first[2];
    hw_py_text(filename, first, sizeof first);
    return first[0] == '<' ? mix(mix(h, hw_py_text_hash(filename)), hw_py_text_hash(qualname)) : h;
}

static uint64_t text_identity(const char *text)
{
    uint64_t h = 0;
    for (size_t i = 0; text && text[i] && i < 512; i++)
        h = mix(h, (unsigned char)text[i]);
    return h;
}

static uint64_t site_key(const struct hw_event *event, const struct hw_place *place, bool second_flush_copy)
{
    uint64_t key = mix((uint64_t)(uintptr_t)event->hook, (uint64_t)place->scope << 8 | second_flush_copy);
    key = mix(key, code_identity(place->site_code));
    key = mix(key, (uint64_t)(uint32_t)place->site_lasti);
    key = mix(key, place->window ? text_identity(place->window) : code_identity(place->root_code));
    key = mix(key, (uint64_t)(uintptr_t)place->below_code);
    return mix(key, (uint64_t)(uint32_t)event->direction << 1 | (event->bytes <= 16)) | 1;
}

struct hw_record_site *hw_site_find(const struct hw_event *event, const struct hw_place *place, bool second_flush_copy)
{
    uint64_t key = site_key(event, place, second_flush_copy);
    uint32_t slot = (uint32_t)(key >> 40) & (SITES - 1);
    for (uint32_t probe = 0; probe < 64; probe++, slot = (slot + 1) & (SITES - 1)) {
        uint64_t have = __atomic_load_n(&sites[slot].key, __ATOMIC_ACQUIRE);
        if (have == key) {
            uint32_t ready = __atomic_load_n(&sites[slot].ready, __ATOMIC_ACQUIRE);
            /* another thread is filling it in: this hit is lost, and said so */
            return ready ? hw_trace_at(sites[slot].offset) : NULL;
        }
        if (have)
            continue;
        if (__atomic_load_n(&site_count, __ATOMIC_RELAXED) >= SITES / 4 * 3)
            break;
        if (!__atomic_compare_exchange_n(&sites[slot].key, &have, key, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            probe--;
            slot = (slot - 1) & (SITES - 1);
            continue; /* look at this slot again: it may hold our key now */
        }
        __atomic_fetch_add(&site_count, 1, __ATOMIC_RELAXED);
        uint32_t offset;
        struct hw_record_site *site = make_site(event, place, second_flush_copy, &offset);
        if (site) {
            hw_trace_publish(offset, HW_RECORD_SITE);
            sites[slot].offset = offset;
            __atomic_store_n(&sites[slot].ready, 1, __ATOMIC_RELEASE);
        }
        return site;
    }
    __atomic_fetch_or(&hw_trace->coverage, HW_COVERAGE_SITES_FULL, __ATOMIC_RELAXED);
    return NULL;
}
