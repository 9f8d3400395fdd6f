/* What an operation keeps of a tensor: its token dimension, its place in the autograd graph. */
#ifndef HW_LINT_SHAPES_H
#define HW_LINT_SHAPES_H

#include "lint/evaluate.h"

/* Flags (HW_TOKENS, HW_GRAPH) of the result of calling `name` (last part of a dotted name, or method) on a tensor with `flags`.
 * `function`: the tensor is the first argument, dimensions follow it. */
unsigned hw_shape_kept(const struct hw_world *world, const struct hw_site *site, const char *name, unsigned flags,
                       const struct hw_args *args, bool function);

#endif
