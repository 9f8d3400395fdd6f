/* The commands of `hookwatch`: each takes what follows its name and returns the exit status. */
#ifndef HW_CLI_H
#define HW_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* argv[0] is the command's name; the status is 0 nothing to report, 1 findings, 2 could not do its work. */
int hw_cmd_lint(int argc, char **argv);
int hw_cmd_explain(int argc, char **argv);
int hw_cmd_run(int argc, char **argv);
int hw_cmd_report(int argc, char **argv);
int hw_cmd_doctor(int argc, char **argv);

/* cmd_run.c: the directory that holds libhookwatch.so and sim/, found beside this program. 0, or 2 after a line on stderr. */
int hw_find_libraries(char *out, size_t size);

/* cmd_run.c: waits for a child; its wait status, or -1. */
int hw_wait_for(pid_t pid);

/* cmd_report.c: whether each of a comma-separated list is, or begins, the code of a rule. */
bool hw_report_codes_valid(const char *codes);

/* cmd_report.c, for run: reads the traces in `dir` once the command has ended, prints the report if `print`, and gives the
 * status that --strict and --fail-on (may be NULL) ask for. */
int hw_report_after_run(const char *dir, bool print, bool strict, const char *fail_on);

#endif
