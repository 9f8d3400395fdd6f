/* What an operation keeps of a tensor: its token dimension, its place in the autograd graph. */
#include "lint/shapes.h"

#include <string.h>

enum how { ELEMENTWISE, LAST };

static const struct {
    const char *name;
    enum how how;
} shapes[] = {
#define HW_SHAPE(name, how) {name, how},
#include "lint/knowledge/shapes.def"
#undef HW_SHAPE
};

/* Operations whose result autograd does not follow. */
static bool leaves_graph(const char *name)
{
    static const char *const names[] = {
        "detach", "detach_", "data", "argmax",  "argmin", "isnan",    "isinf", "isfinite",      "eq",     "ne", "gt",
        "ge",     "lt",      "le",   "nonzero", "numel",  "bincount", "histc", "count_nonzero", "no_grad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

/* Whether the dimension argument is the literal -1. */
static bool reduces_last(const struct hw_site *site, const struct hw_args *args, int position)
{
    int seen = 0;
    for (size_t i = 0; i < args->count; i++) {
        TSNode node = args->nodes[i];
        if (args->keywords[i]) {
            if (strcmp(args->keywords[i], "dim") != 0 && strcmp(args->keywords[i], "axis") != 0)
                continue;
            node = hw_node_field(node, HW_F_VALUE);
        } else if (seen++ != position) {
            continue;
        }
        const char *text = ts_node_is_null(node) ? "" : site->frame->module->source->text + ts_node_start_byte(node);
        return !strncmp(text, "-1", 2) && ts_node_end_byte(node) - ts_node_start_byte(node) == 2;
    }
    return false;
}

unsigned hw_shape_kept(const struct hw_world *world, const struct hw_site *site, const char *name, unsigned flags,
                       const struct hw_args *args, bool function)
{
    unsigned kept = leaves_graph(name) || world->no_grad ? 0 : flags & HW_GRAPH;
    size_t length = strlen(name);
    for (size_t i = 0; flags & HW_TOKENS && i < sizeof shapes / sizeof *shapes; i++) {
        bool same = !strncmp(shapes[i].name, name, strlen(shapes[i].name)) &&
                    (strlen(shapes[i].name) == length || !strcmp(name + strlen(shapes[i].name), "_"));
        if (same && (shapes[i].how == ELEMENTWISE || reduces_last(site, args, (int)function + !strcmp(name, "norm"))))
            kept |= HW_TOKENS;
    }
    return kept;
}
