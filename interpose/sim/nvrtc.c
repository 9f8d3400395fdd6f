/* NVRTC: every program compiles, to an image nobody looks into. */
#include <stdlib.h>
#include <string.h>
#include "interpose/sim/sim.h"

#define IMAGE 64

typedef struct program {
    char *expression; /* the last name asked to be kept */
} program;

HW_API int nvrtcVersion(int *major, int *minor)
{
    HW_ENTER();
    *major = 13;
    *minor = 2;
    return 0;
}

HW_API int nvrtcCreateProgram(program **out, const char *source, const char *name, int count, const char *const *headers,
                              const char *const *names)
{
    HW_ENTER();
    HW_TRACE("nvrtcCreateProgram %s", name ? name : "");
    *out = calloc(1, sizeof **out);
    return *out ? 0 : 1;
}

HW_API int nvrtcDestroyProgram(program **p)
{
    HW_ENTER();
    if (*p)
        free((*p)->expression);
    free(*p);
    *p = NULL;
    return 0;
}

HW_API int nvrtcCompileProgram(program *p, int count, const char *const *options)
{
    HW_ENTER();
    HW_TRACE("nvrtcCompileProgram");
    return 0;
}

HW_API int nvrtcAddNameExpression(program *p, const char *expression)
{
    HW_ENTER();
    free(p->expression);
    p->expression = strdup(expression);
    return p->expression ? 0 : 1;
}

HW_API int nvrtcGetLoweredName(program *p, const char *expression, const char **out)
{
    HW_ENTER();
    *out = p->expression ? p->expression : "kernel";
    return 0;
}

static int one_image(size_t *bytes)
{
    *bytes = IMAGE;
    return 0;
}

static int fill_image(char *out)
{
    memset(out, 0, IMAGE);
    return 0;
}

HW_API int nvrtcGetCUBINSize(program *p, size_t *bytes)
{
    HW_ENTER();
    return one_image(bytes);
}

HW_API int nvrtcGetCUBIN(program *p, char *out)
{
    HW_ENTER();
    return fill_image(out);
}

HW_API int nvrtcGetPTXSize(program *p, size_t *bytes)
{
    HW_ENTER();
    return one_image(bytes);
}

HW_API int nvrtcGetPTX(program *p, char *out)
{
    HW_ENTER();
    return fill_image(out);
}

HW_API int nvrtcGetProgramLogSize(program *p, size_t *bytes)
{
    HW_ENTER();
    *bytes = 1;
    return 0;
}

HW_API int nvrtcGetProgramLog(program *p, char *out)
{
    HW_ENTER();
    *out = 0;
    return 0;
}
