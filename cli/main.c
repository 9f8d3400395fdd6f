/* `hookwatch COMMAND`: finds the command in one table and runs it. */
#include "cli/cli.h"
#include "core/nearest.h"

#include <stdio.h>
#include <string.h>

#include <tree_sitter/api.h>
#include <yyjson.h>

extern const TSLanguage *tree_sitter_python(void);
extern const TSLanguage *tree_sitter_toml(void);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
} commands[] = {
    {"lint", hw_cmd_lint, "find what stalls the device inside hooks, before it runs"},
    {"run", hw_cmd_run, "run a training command and record every stall inside a hook"},
    {"explain", hw_cmd_explain, "print a rule's page: what, why, wrong, right, how to allow"},
    {"report", hw_cmd_report, "merge the traces of a run and join them with lint's findings"},
    {"doctor", hw_cmd_doctor, "check this installation, this machine and its PyTorch"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *out)
{
    fputs("usage: hookwatch COMMAND [ARGUMENT...]\n\nFinds what training monitors' hooks do to the device: before merge, at "
          "run time, and in CI.\n\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  hookwatch COMMAND --help   options of a command\n  hookwatch --version        versions of hookwatch and its "
          "parser\n",
          out);
}

static void print_version(void)
{
    printf("hookwatch %s\ntree-sitter 0.24.0 (language ABI %d), tree-sitter-python 0.23.6 (ABI %u), tree-sitter-toml 0.7.0 "
           "(ABI %u), yyjson %s\n",
           HW_VERSION, TREE_SITTER_LANGUAGE_VERSION, ts_language_version(tree_sitter_python()),
           ts_language_version(tree_sitter_toml()), YYJSON_VERSION_STRING);
}

static int unknown_command(const char *name)
{
    const char *names[COMMANDS];
    for (size_t i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *nearest = hw_nearest(name, names, COMMANDS, 2);
    if (nearest)
        fprintf(stderr, "hookwatch: no command `%s`; did you mean `%s`?\n", name, nearest);
    else
        fprintf(stderr, "hookwatch: no command `%s`; `hookwatch --help` lists them\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        print_version();
        return 0;
    }
    for (size_t i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return commands[i].run(argc - 1, argv + 1);
    return unknown_command(argv[1]);
}
