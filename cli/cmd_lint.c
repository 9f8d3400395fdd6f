/* hookwatch lint: options, input from stdin, and the choice of a sink. */
#include "cli/cli.h"

#include "core/finding.h"
#include "lint/fixes.h"
#include "lint/lint.h"
#include "lint/settings.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <yyjson.h>

static const char usage[] =
    "usage: hookwatch lint [options] [PATH...]\n"
    "\n"
    "Finds the lines that stall the device or the ranks when a forward or backward hook runs them. PATHs are files and\n"
    "directories (default: .); helpers are followed into other files. `-` reads standard input.\n"
    "\n"
    "      --output-format FORMAT   text (default), concise, json, json-lines, github, gitlab, sarif, junit\n"
    "  -o, --output-file FILE       write there instead of standard output\n"
    "      --select CODES           report only these codes or prefixes (HW1,HW201)\n"
    "      --ignore CODES           leave these codes or prefixes out\n"
    "      --show-allowed           also show what a directive allows, with its reason\n"
    "      --fix                    change the files: the safe subset only, see below\n"
    "      --diff                   show what --fix would change, and change nothing\n"
    "      --config FILE            read this configuration; default: the nearest hookwatch.toml, or pyproject.toml with\n"
    "                               [tool.hookwatch], above each file\n"
    "      --show-settings          print the settings that the first PATH gets, as JSON\n"
    "      --force-exclude          leave out what the configuration excludes even if it is named\n"
    "      --stdin-filename FILE    name of the file read from standard input\n"
    "      --exit-zero              exit 0 even if there are findings\n"
    "      --no-cache               analyse afresh; there is no cache yet, so this changes nothing\n"
    "      --eager                  parse files whole; there is no lazy mode yet, so this changes nothing\n"
    "      --color WHEN             auto (default), always, never\n"
    "  -h, --help                   show this text\n"
    "\n"
    "The project around the PATHs (the nearest configuration, else the repository) is read too: findings are reported in\n"
    "the files named, and in helpers that their hooks reach. --fix turns a comment above a collective into a directive,\n"
    "and records x.sum() instead of x.sum().item().\n"
    "Exit status: 0 nothing to report, 1 findings (notes and allowed ones do not count), 2 could not do its work.\n"
    "Allow one line with a reason: # hookwatch: allow HW201 -- reason\n";

enum {
    OPT_FORMAT = 256,
    OPT_SELECT,
    OPT_IGNORE,
    OPT_SHOW_ALLOWED,
    OPT_STDIN,
    OPT_EXIT_ZERO,
    OPT_PROMISED,
    OPT_COLOR,
    OPT_FIX,
    OPT_DIFF,
    OPT_CONFIG,
    OPT_SHOW_SETTINGS,
    OPT_FORCE_EXCLUDE
};

static const struct option options[] = {
    {"output-format", required_argument, NULL, OPT_FORMAT},
    {"output-file", required_argument, NULL, 'o'},
    {"select", required_argument, NULL, OPT_SELECT},
    {"ignore", required_argument, NULL, OPT_IGNORE},
    {"show-allowed", no_argument, NULL, OPT_SHOW_ALLOWED},
    {"fix", no_argument, NULL, OPT_FIX},
    {"diff", no_argument, NULL, OPT_DIFF},
    {"config", required_argument, NULL, OPT_CONFIG},
    {"show-settings", no_argument, NULL, OPT_SHOW_SETTINGS},
    {"force-exclude", no_argument, NULL, OPT_FORCE_EXCLUDE},
    {"stdin-filename", required_argument, NULL, OPT_STDIN},
    {"exit-zero", no_argument, NULL, OPT_EXIT_ZERO},
    {"no-cache", no_argument, NULL, OPT_PROMISED},
    {"eager", no_argument, NULL, OPT_PROMISED},
    {"color", required_argument, NULL, OPT_COLOR},
    {"help", no_argument, NULL, 'h'},
    {0},
};

enum { CODES = 64 };

struct arguments {
    struct hw_lint_options lint;
    const char *select[CODES], *ignore[CODES];
    const char *output_file;
    int format;
    bool exit_zero, show_settings;
    int fix; /* OPT_FIX, OPT_DIFF or 0 */
    const char *color;
};

/* Splits "HW1,HW201" in place. False after one line when a part begins no code. */
static bool split_codes(char *list, const char **out, size_t *count)
{
    for (char *part = strtok(list, ", "); part; part = strtok(NULL, ", ")) {
        bool known = false;
        for (size_t i = 0; i < hw_rules_count; i++)
            known |= !strncmp(hw_rules[i].code, part, strlen(part)) && strlen(part) >= 2;
        if (!known) {
            fprintf(stderr, "hookwatch lint: no rule's code is or begins with `%s`; write codes such as HW101 or HW1\n", part);
            return false;
        }
        if (*count < CODES)
            out[(*count)++] = part;
    }
    return true;
}

static int parse(int argc, char **argv, struct arguments *args)
{
    int option;
    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        switch (option) {
        case OPT_FORMAT:
            args->format = hw_format_find(optarg);
            if (args->format < 0) {
                fprintf(stderr, "hookwatch lint: no output format `%s`; choose from %s\n", optarg, hw_format_names);
                return 2;
            }
            break;
        case 'o':
            args->output_file = optarg;
            break;
        case OPT_SELECT:
            if (!split_codes(optarg, args->select, &args->lint.select_count))
                return 2;
            break;
        case OPT_IGNORE:
            if (!split_codes(optarg, args->ignore, &args->lint.ignore_count))
                return 2;
            break;
        case OPT_SHOW_ALLOWED:
            args->lint.show_allowed = true;
            break;
        case OPT_STDIN:
            args->lint.stdin_filename = optarg;
            break;
        case OPT_EXIT_ZERO:
            args->exit_zero = true;
            break;
        case OPT_FIX:
        case OPT_DIFF:
            args->fix = option;
            break;
        case OPT_CONFIG:
            args->lint.config = optarg;
            break;
        case OPT_SHOW_SETTINGS:
            args->show_settings = true;
            break;
        case OPT_FORCE_EXCLUDE:
            args->lint.force_exclude = true;
            break;
        case OPT_PROMISED:
            break;
        case OPT_COLOR:
            args->color = optarg;
            if (strcmp(optarg, "auto") && strcmp(optarg, "always") && strcmp(optarg, "never")) {
                fprintf(stderr, "hookwatch lint: --color is auto, always or never, not `%s`\n", optarg);
                return 2;
            }
            break;
        case 'h':
            fputs(usage, stdout);
            return 0;
        default:
            fputs("hookwatch lint: `hookwatch lint --help` lists the options\n", stderr);
            return 2;
        }
    }
    return -1;
}

/* All of standard input; NULL when it cannot be read. */
static char *read_stdin(size_t *size)
{
    size_t room = 1 << 16;
    char *text = malloc(room);
    *size = 0;
    while (text) {
        size_t got = fread(text + *size, 1, room - *size, stdin);
        *size += got;
        if (got == 0)
            break;
        if (*size == room) {
            char *grown = realloc(text, room *= 2);
            if (!grown)
                free(text);
            text = grown;
        }
    }
    return text;
}

/* Where findings go: what is fixed is not reported. */
struct target {
    struct hw_sink *sink;
    struct hw_fixes *fixes; /* NULL: only report */
    size_t fixed;           /* of those that would have failed */
};

static void emit(const struct hw_finding *finding, void *user)
{
    struct target *target = user;
    if (target->fixes && finding->fix && !finding->allowed)
        target->fixed += hw_fixes_add(target->fixes, finding) && finding->severity != HW_SEVERITY_NOTE;
    else
        hw_sink_finding(target->sink, finding);
}

/* The settings as the JSON that --show-settings prints. */
static int show_settings(const struct arguments *args)
{
    struct hw_projects *projects = hw_projects_new(args->lint.config);
    char *path = hw_lint_absolute(args->lint.path_count ? args->lint.paths[0] : args->lint.stdin_filename);
    struct stat st;
    const struct hw_settings *settings = NULL;
    if (projects)
        settings = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? hw_projects_of_directory(projects, path)
                                                               : hw_projects_of_file(projects, path);
    free(path);
    yyjson_mut_doc *doc = yyjson_mut_doc_new(NULL);
    yyjson_mut_val *root = yyjson_mut_obj(doc);
    yyjson_mut_obj_add_str(doc, root, "file", settings ? settings->file : NULL);
    for (size_t i = 0; settings && i < hw_setting_count; i++) {
        const struct hw_setting *key = &hw_setting_keys[i];
        const void *field = (const char *)settings + key->offset;
        if (key->kind == HW_SETTING_CHOICE) {
            yyjson_mut_obj_add_str(doc, root, key->key, key->words[*(const bool *)field]);
        } else if (key->kind == HW_SETTING_CODES_BY_GLOB) {
            const struct hw_glob_code_list *list = field;
            yyjson_mut_val *table = yyjson_mut_obj_add_obj(doc, root, key->key);
            for (size_t j = 0; j < list->count; j++)
                yyjson_mut_obj_add_val(doc, table, list->items[j].glob,
                                       yyjson_mut_arr_with_str(doc, list->items[j].codes.items, list->items[j].codes.count));
        } else {
            const struct hw_strings *list = field;
            yyjson_mut_obj_add_val(doc, root, key->key, yyjson_mut_arr_with_str(doc, list->items, list->count));
        }
    }
    char *text = settings ? yyjson_mut_val_write(root, YYJSON_WRITE_PRETTY, NULL) : NULL;
    if (text)
        puts(text);
    free(text);
    yyjson_mut_doc_free(doc);
    if (projects)
        hw_projects_free(projects);
    return text ? 0 : 2;
}

static bool wants_color(const struct arguments *args, FILE *out)
{
    if (args->color && strcmp(args->color, "auto"))
        return !strcmp(args->color, "always");
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(out)) && !(no_color && *no_color) && !(term && !strcmp(term, "dumb"));
}

static int lint(struct arguments *args, FILE *out, const char *overlay)
{
    struct hw_sink_options sink_options = {.format = (enum hw_format)args->format,
                                           .out = out,
                                           .color = wants_color(args, out),
                                           .overlay_filename = overlay,
                                           .overlay_text = args->lint.stdin_text,
                                           .overlay_size = args->lint.stdin_size};
    struct hw_sink *sink = hw_sink_open(&sink_options);
    if (!sink) {
        fputs("hookwatch lint: out of memory\n", stderr);
        return 2;
    }
    struct hw_lint_stats stats;
    struct target target = {.sink = sink, .fixes = args->fix ? hw_fixes_new() : NULL};
    int status = hw_lint_run(&args->lint, emit, &target, &stats);
    if (status == 0 && args->fix == OPT_FIX)
        status = hw_fixes_apply(target.fixes);
    else if (status == 0 && args->fix == OPT_DIFF)
        hw_fixes_show(target.fixes, out);
    hw_fixes_free(target.fixes);
    if (args->fix == OPT_FIX)
        stats.findings -= target.fixed;
    if (status == 0 && args->format == HW_FORMAT_TEXT && stats.findings + stats.notes == 0)
        fprintf(out, "no findings: %zu hook%s in %zu file%s analysed\n", stats.hooks, stats.hooks == 1 ? "" : "s", stats.files,
                stats.files == 1 ? "" : "s");
    if (hw_sink_close(sink) < 0) {
        if (errno != EPIPE)
            fprintf(stderr, "hookwatch lint: %s: %s\n", args->output_file ? args->output_file : "standard output",
                    strerror(errno));
        return 2;
    }
    if (status < 0)
        return 2;
    return stats.findings && !args->exit_zero ? 1 : 0;
}

int hw_cmd_lint(int argc, char **argv)
{
    struct arguments args = {.format = HW_FORMAT_TEXT};
    int status = parse(argc, argv, &args);
    if (status >= 0)
        return status;
    static const char *const here[] = {"."};
    args.lint.paths = optind < argc ? (const char *const *)(argv + optind) : here;
    args.lint.path_count = optind < argc ? (size_t)(argc - optind) : 1;
    if (args.show_settings)
        return show_settings(&args);
    args.lint.select = args.select;
    args.lint.ignore = args.ignore;
    char *text = NULL, *overlay = NULL;
    if (optind < argc && !strcmp(argv[optind], "-")) {
        if (argc - optind > 1) {
            fputs("hookwatch lint: `-` stands alone; give either standard input or paths\n", stderr);
            return 2;
        }
        if (args.fix) {
            fputs("hookwatch lint: standard input cannot be changed; give --fix and --diff paths\n", stderr);
            return 2;
        }
        text = read_stdin(&args.lint.stdin_size);
        if (!text || ferror(stdin)) {
            fprintf(stderr, "hookwatch lint: standard input: %s\n", strerror(errno));
            free(text);
            return 2;
        }
        args.lint.path_count = 0;
        args.lint.stdin_text = text;
        if (!args.lint.stdin_filename)
            args.lint.stdin_filename = "stdin.py";
        overlay = hw_lint_absolute(args.lint.stdin_filename);
        args.lint.stdin_filename = overlay;
    } else {
        args.lint.stdin_filename = NULL;
    }
    FILE *out = args.output_file ? fopen(args.output_file, "we") : stdout;
    if (!out) {
        fprintf(stderr, "hookwatch lint: %s: %s; name a writable file\n", args.output_file, strerror(errno));
        status = 2;
    } else {
        status = lint(&args, out, overlay);
        if (out != stdout && fclose(out) != 0) {
            fprintf(stderr, "hookwatch lint: %s: %s\n", args.output_file, strerror(errno));
            status = 2;
        }
    }
    free(text);
    free(overlay);
    return status;
}
