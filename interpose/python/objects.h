/* How many objects the process has loaded so far: a cheap answer to "has anything new been mapped?". */
#ifndef HW_PYTHON_OBJECTS_H
#define HW_PYTHON_OBJECTS_H

#include <link.h>
#include <stddef.h>

static inline int hw_read_loaded(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(unsigned long long *)user = info->dlpi_adds;
    return 1;
}

/* Grows with every load; allocates nothing. */
static inline unsigned long long hw_loaded_objects(void)
{
    unsigned long long adds = 0;
    dl_iterate_phdr(hw_read_loaded, &adds);
    return adds;
}

#endif
