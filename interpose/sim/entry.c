/* The way of value mode into a Python program: an audit hook, added before the interpreter starts, puts a finder of ours first.
 * No variable, no file on sys.path: it works however the interpreter is started, isolated or not. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "interpose/sim/sim.h"

/* Python's API, found in the process by name: CPython 3.8 and later export all of it. */
typedef void object; /* PyObject */
static struct {
    int (*is_initialized)(void);
    object *(*dict_new)(void);
    object *(*builtins)(void);
    object *(*text)(const char *);
    int (*set)(object *dict, const char *key, object *value);
    object *(*run)(const char *text, int start, object *globals, object *locals, void *flags);
    void (*print)(void);
    void (*release)(object *);
} python;
static const struct {
    const char *name;
    void *to;
} needed[] = {
    {"Py_IsInitialized", &python.is_initialized},
    {"PyDict_New", &python.dict_new},
    {"PyEval_GetBuiltins", &python.builtins},
    {"PyUnicode_DecodeFSDefault", &python.text},
    {"PyDict_SetItemString", &python.set},
    {"PyRun_StringFlags", &python.run},
    {"PyErr_Print", &python.print},
    {"Py_DecRef", &python.release},
};
enum { PY_FILE_INPUT = 257 };

/* As little as a program that never imports torch can pay: what answers for torch is loaded when torch is looked for. */
static const char finder[] =
    "import sys\n"
    "class HookwatchFinder:\n"
    "    @classmethod\n"
    "    def find_spec(cls, name, path=None, target=None):\n"
    "        if name != 'torch':\n"
    "            return None\n"
    "        if 'hookwatch_simulate' not in sys.modules:\n"
    "            from importlib import util\n"
    "            spec = util.spec_from_file_location('hookwatch_simulate', directory + '/__init__.py',\n"
    "                                                submodule_search_locations=[directory])\n"
    "            sys.modules['hookwatch_simulate'] = package = util.module_from_spec(spec)\n"
    "            spec.loader.exec_module(package)\n"
    "        from hookwatch_simulate import entry\n"
    "        return entry.find_torch(cls, path, target)\n"
    "sys.meta_path.insert(0, HookwatchFinder)\n";

static void insert_finder(void)
{
    char directory[4096];
    Dl_info self;
    if (!dladdr((void *)insert_finder, &self) || !self.dli_fname)
        return;
    const char *slash = strrchr(self.dli_fname, '/');
    int length = slash ? (int)(slash - self.dli_fname) : 1;
    if ((size_t)snprintf(directory, sizeof directory, "%.*s/python/hookwatch_simulate", length, slash ? self.dli_fname : ".") >=
        sizeof directory)
        return;
    object *globals = python.dict_new(), *path = python.text(directory), *result = NULL;
    if (globals && path && !python.set(globals, "__builtins__", python.builtins()) && !python.set(globals, "directory", path))
        result = python.run(finder, PY_FILE_INPUT, globals, globals, NULL);
    if (!result) {
        fputs("hookwatch: simulate: value mode could not enter this Python:\n", stderr);
        python.print();
    }
    for (object **o = (object *[]){globals, path, result, NULL}, **end = o + 3; o < end; o++)
        if (*o)
            python.release(*o);
}

/* Called with the GIL held, for every audit event. The first import or start of the program after the interpreter is ready is
 * site's, or with -S the program's own, and always in the main interpreter: other interpreters are none of our business. */
static int on_event(const char *event, object *arguments, void *data)
{
    static int done;
    if (done || (strcmp(event, "import") && strncmp(event, "cpython.run_", 12)) || !python.is_initialized())
        return 0;
    done = 1;
    insert_finder();
    return 0;
}

__attribute__((constructor)) static void wait_for_python(void)
{
    int (*add)(int (*)(const char *, object *, void *), void *);
    *(void **)&add = dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
    if (!add)
        return;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!(*(void **)needed[i].to = dlsym(RTLD_DEFAULT, needed[i].name)))
            return;
    add(on_event, NULL);
}
