/* hookwatch report: what a run left in its directory, merged, joined with lint, shown. */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "lint/lint.h"
#include "report/report.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: hookwatch report [options] [DIR]\n"
    "\n"
    "Shows what the processes of a run did inside hooks. DIR is what `hookwatch run -o` named\n"
    "(default: ./hookwatch.out, or the one in $TMPDIR). Exits 0: no finding, 1: findings, 2: nothing to read.\n"
    "\n"
    "      --lint PATH           join with what lint predicts for PATH (repeatable; further paths may\n"
    "                            follow after --)\n"
    "      --output-format NAME  text (default), json, concise, json-lines, github, gitlab, sarif, junit\n"
    "      --path-map FROM=TO    traced paths that begin with FROM begin with TO here (repeatable)\n"
    "      --fail-on CODES       only findings of these codes or beginnings (HW101,HW2) fail\n"
    "      --strict              unknown coverage fails too\n"
    "      --exit-zero           findings do not change the exit status\n"
    "      --color WHEN          auto (default), always, never\n"
    "  -h, --help                show this text\n";

static int run_lint(void (*emit)(const struct hw_finding *finding, void *user), void *user, void *context)
{
    return hw_lint_run(context, emit, user, NULL);
}

bool hw_report_codes_valid(const char *codes)
{
    for (const char *at = codes; *at;) {
        size_t n = strcspn(at, ",");
        bool known = n >= 2;
        size_t matches = 0;
        for (size_t i = 0; i < hw_rules_count && known; i++)
            matches += strncmp(hw_rules[i].code, at, n) == 0;
        if (!known || !matches)
            return false;
        at += n + (at[n] == ',');
    }
    return *codes != '\0';
}

static bool code_listed(const char *codes, const char *code)
{
    for (const char *at = codes; *at;) {
        size_t n = strcspn(at, ",");
        if (strncmp(code, at, n) == 0)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

/* 1 if something fails under the options, else 0. */
static int verdict(const struct hw_report *report, bool strict, const char *fail_on)
{
    if (strict && report->coverage == HW_COVERAGE_UNKNOWN)
        return 1;
    for (size_t i = 0; i < report->row_count; i++)
        if (hw_report_counts(&report->rows[i]) && (!fail_on || code_listed(fail_on, report->rows[i].rule->code)))
            return 1;
    return 0;
}

int hw_report_after_run(const char *dir, bool print, bool strict, const char *fail_on)
{
    struct hw_report_options options = {.dir = dir, .lint = {.allowed = hw_lint_allowed}};
    struct hw_report report;
    if (hw_report_load(&options, &report) != 0)
        return strict || fail_on ? 1 : 0; /* nothing seen proves nothing */
    if (print && hw_report_text(&report, stderr, isatty(2)) != 0)
        fprintf(stderr, "hookwatch run: the report could not be printed: %s\n", strerror(errno));
    int status = strict || fail_on ? verdict(&report, strict, fail_on) : 0;
    if (status && !print)
        fprintf(stderr, "hookwatch run: findings; see `hookwatch report %s`\n", dir);
    hw_report_free(&report);
    return status;
}

struct cli {
    struct hw_report_options options;
    struct hw_lint_options lint;
    const char **maps, **paths;
    const char *format, *fail_on, *color;
    bool strict, exit_zero;
};

static int parse(int argc, char **argv, struct cli *cli)
{
    static const struct option options[] = {{"lint", required_argument, NULL, 'l'},
                                            {"output-format", required_argument, NULL, 'f'},
                                            {"path-map", required_argument, NULL, 'm'},
                                            {"fail-on", required_argument, NULL, 'F'},
                                            {"strict", no_argument, NULL, 'T'},
                                            {"exit-zero", no_argument, NULL, 'z'},
                                            {"color", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        switch (c) {
        case 'l':
            cli->paths[cli->lint.path_count++] = optarg;
            break;
        case 'f':
            cli->format = optarg;
            break;
        case 'm':
            if (!strchr(optarg, '=') || optarg[0] == '=') {
                fprintf(stderr, "hookwatch report: --path-map %s: wants FROM=TO\n", optarg);
                return 2;
            }
            cli->maps[cli->options.path_map_count++] = optarg;
            break;
        case 'F':
            if (!hw_report_codes_valid(optarg)) {
                fprintf(stderr, "hookwatch report: --fail-on %s: wants rule codes or their beginnings, such as HW101,HW2\n",
                        optarg);
                return 2;
            }
            cli->fail_on = optarg;
            break;
        case 'T':
            cli->strict = true;
            break;
        case 'z':
            cli->exit_zero = true;
            break;
        case 'c':
            if (strcmp(optarg, "auto") != 0 && strcmp(optarg, "always") != 0 && strcmp(optarg, "never") != 0) {
                fprintf(stderr, "hookwatch report: --color %s: wants auto, always or never\n", optarg);
                return 2;
            }
            cli->color = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            exit(0);
        default:
            fputs("Try 'hookwatch report --help'.\n", stderr);
            return 2;
        }
    }
    if (optind < argc)
        cli->options.dir = argv[optind++];
    while (optind < argc && cli->lint.path_count)
        cli->paths[cli->lint.path_count++] = argv[optind++];
    if (optind < argc) {
        fprintf(stderr, "hookwatch report: %s: one directory only; paths to lint follow --lint\n", argv[optind]);
        return 2;
    }
    return 0;
}

/* Where run and a bare preload put traces when nobody names a directory. */
static const char *default_dir(char *fallback, size_t size)
{
    const char *dir = getenv("HOOKWATCH_DIR"), *tmp = getenv("TMPDIR");
    if (dir && *dir)
        return dir;
    snprintf(fallback, size, "%s/hookwatch.out", tmp && *tmp ? tmp : "/tmp");
    return access("hookwatch.out", F_OK) != 0 && access(fallback, F_OK) == 0 ? fallback : "hookwatch.out";
}

static int show(const struct hw_report *report, const struct cli *cli)
{
    bool color = strcmp(cli->color, "always") == 0 || (strcmp(cli->color, "auto") == 0 && isatty(1) && !getenv("NO_COLOR"));
    int status;
    if (strcmp(cli->format, "text") == 0)
        status = hw_report_text(report, stdout, color);
    else if (strcmp(cli->format, "json") == 0)
        status = hw_report_json(report, stdout);
    else
        status = hw_report_sink(report, (enum hw_format)hw_format_find(cli->format), stdout);
    if (status != 0)
        fprintf(stderr, "hookwatch report: standard output: %s\n", strerror(errno));
    return status;
}

int hw_cmd_report(int argc, char **argv)
{
    static char name[] = "hookwatch report"; /* getopt's messages begin with it */
    argv[0] = name;
    struct cli cli = {.format = "text", .color = "auto"};
    cli.maps = calloc((size_t)argc + 1, sizeof *cli.maps);
    cli.paths = calloc((size_t)argc + 1, sizeof *cli.paths);
    if (!cli.maps || !cli.paths)
        return 2;
    char fallback[PATH_MAX];
    cli.options.dir = default_dir(fallback, sizeof fallback);
    int status = parse(argc, argv, &cli);
    if (!status && hw_format_find(cli.format) < 0) {
        fprintf(stderr, "hookwatch report: --output-format %s: this build has %s\n", cli.format, hw_format_names);
        status = 2;
    }
    cli.lint.paths = cli.paths;
    cli.lint.show_allowed = true;
    cli.options.path_maps = cli.maps;
    cli.options.lint = (struct hw_report_lint){.allowed = hw_lint_allowed};
    if (cli.lint.path_count) {
        cli.options.lint.run = run_lint;
        cli.options.lint.context = &cli.lint;
    }
    struct hw_report report;
    if (!status && hw_report_load(&cli.options, &report) != 0)
        status = 2;
    else if (!status) {
        status = show(&report, &cli) != 0 ? 2 : verdict(&report, cli.strict, cli.fail_on);
        hw_report_free(&report);
        if (status == 1 && cli.exit_zero)
            status = 0;
    }
    free(cli.maps);
    free(cli.paths);
    return status;
}
