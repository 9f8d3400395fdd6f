/* hookwatch explain: prints a rule's page, or lists the rules. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "core/nearest.h"
#include "core/rules.h"

static const char usage[] =
    "usage: hookwatch explain [CODE|NAME...]\n"
    "\n"
    "Prints the page of each rule: what it finds, why that costs, a wrong and a right line, how to allow one.\n"
    "Without a rule, lists all of them.\n";

static void list_rules(void)
{
    for (size_t i = 0; i < hw_rules_count; i++)
        printf("%s  %-8s %-26s %s\n", hw_rules[i].code, hw_severity_name(hw_rules[i].severity), hw_rules[i].name,
               hw_rules[i].summary);
}

static const struct hw_rule *find(const char *word)
{
    for (size_t i = 0; i < hw_rules_count; i++)
        if (!strcasecmp(hw_rules[i].code, word) || !strcmp(hw_rules[i].name, word))
            return &hw_rules[i];
    return NULL;
}

int hw_cmd_explain(int argc, char **argv)
{
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        fputs(usage, stdout);
        return 0;
    }
    if (argc == 1)
        list_rules();
    for (int i = 1; i < argc; i++) {
        const struct hw_rule *rule = find(argv[i]);
        if (!rule) {
            const char *names[2 * 64];
            size_t count = 0;
            for (size_t j = 0; j < hw_rules_count && count + 2 <= sizeof names / sizeof *names; j++) {
                names[count++] = hw_rules[j].code;
                names[count++] = hw_rules[j].name;
            }
            fprintf(stderr, "hookwatch explain: no rule `%s`; the nearest is `%s`\n", argv[i],
                    hw_nearest(argv[i], names, count, SIZE_MAX - 1));
            return 2;
        }
        printf("%s%s", i > 1 ? "\n" : "", hw_rule_page(rule));
    }
    return 0;
}
