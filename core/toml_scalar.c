/* TOML's strings, numbers and dates, one token at a time. */
#include "core/toml_scalar.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
    } else if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
        *to++ = (char)(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        *to++ = (char)(0xe0 | code >> 12);
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    } else {
        *to++ = (char)(0xf0 | code >> 18);
        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        *to++ = (char)(0x80 | (code & 0x3f));
    }
    return to;
}

/* One escape; p stands on the letter after the backslash. Returns what follows it, or NULL. */
static const char *unescape(const char *p, const char *end, char **to)
{
    static const char letters[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    const char *known = *p ? strchr(letters, *p) : NULL;
    if (known) {
        *(*to)++ = values[known - letters];
        return p + 1;
    }
    size_t digits = *p == 'u' ? 4 : *p == 'U' ? 8 : 0;
    uint32_t code = 0;
    if (!digits || (size_t)(end - p) < digits + 1)
        return NULL;
    for (size_t i = 1; i <= digits; i++) {
        if (!isxdigit((unsigned char)p[i]))
            return NULL;
        char digit[2] = {p[i], 0};
        code = code << 4 | (uint32_t)strtoul(digit, NULL, 16);
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return NULL;
    *to = put_utf8(*to, code);
    return p + digits + 1;
}

/* A backslash that ends a line swallows all blanks up to the next text; NULL when p does not stand on such. */
static const char *skip_line_end(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    if (p == end || *p != '\n')
        return NULL;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n'))
        p++;
    return p;
}

const char *hw_toml_string(struct hw_arena *arena, const char *token, size_t size, size_t *length, const char **error)
{
    char quote = size ? *token : 0;
    size_t marks = size >= 6 && token[1] == quote && token[2] == quote ? 3 : 1;
    if (size < 2 * marks || (quote != '"' && quote != '\'')) {
        *error = "this is no string";
        return NULL;
    }
    const char *p = token + marks, *end = token + size - marks;
    if (marks == 3 && p < end && *p == '\n')
        p++;
    char *text = hw_arena_alloc(arena, size + 1), *to = text;
    size_t run = 0; /* of quotes: the grammar lets three pass within a string of three */
    while (p < end) {
        run = *p == quote ? run + 1 : 0;
        if (run == 3) {
            *error = "the string ends at its first three quotes";
            return NULL;
        }
        if (*p == '\n' && marks == 1) {
            *error = "the string is not closed on its line";
            return NULL;
        }
        if (*p != '\\' || quote == '\'') {
            *to++ = *p++;
            continue;
        }
        const char *next = marks == 3 ? skip_line_end(p + 1, end) : NULL;
        if (!next)
            next = p + 1 < end ? unescape(p + 1, end, &to) : NULL;
        if (!next) {
            *error = "the string holds an escape that TOML does not know";
            return NULL;
        }
        p = next;
    }
    *to = 0;
    *length = (size_t)(to - text);
    return text;
}

/* Digits of a base with single underscores between them. */
static const char *skip_digits(const char *p, const char *set)
{
    if (!*p || !strchr(set, *p))
        return NULL;
    while (*p && strchr(set, *p)) {
        p++;
        if (*p == '_') {
            if (!p[1] || !strchr(set, p[1]))
                return NULL;
            p++;
        }
    }
    return p;
}

bool hw_toml_number_valid(const char *token)
{
    static const char decimal[] = "0123456789";
    const char *p = token;
    if (*p == '0' && p[1] && strchr("xob", p[1])) {
        p = skip_digits(p + 2, p[1] == 'x' ? "0123456789abcdefABCDEF" : p[1] == 'o' ? "01234567" : "01");
        return p && !*p;
    }
    p += *p == '+' || *p == '-';
    if (!strcmp(p, "inf") || !strcmp(p, "nan"))
        return true;
    if (*p == '0' && (isdigit((unsigned char)p[1]) || p[1] == '_'))
        return false;
    p = skip_digits(p, decimal);
    if (p && *p == '.')
        p = skip_digits(p + 1, decimal);
    if (p && (*p == 'e' || *p == 'E')) {
        p++;
        p += *p == '+' || *p == '-';
        p = skip_digits(p, decimal);
    }
    return p && !*p;
}

/* `count` digits at p. */
static int digits(const char *p, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)p[i]))
            return -1;
        value = value * 10 + (p[i] - '0');
    }
    return value;
}

static const char *skip_date(const char *p)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = digits(p, 4), month = year < 0 || p[4] != '-' ? -1 : digits(p + 5, 2);
    int day = month < 0 || p[7] != '-' ? -1 : digits(p + 8, 2);
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days[month - 1] + (month == 2 && leap))
        return NULL;
    return p + 10;
}

static const char *skip_time(const char *p)
{
    int hour = digits(p, 2), minute = hour < 0 || p[2] != ':' ? -1 : digits(p + 3, 2);
    int second = minute < 0 || p[5] != ':' ? -1 : digits(p + 6, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return NULL;
    p += 8;
    if (*p == '.') {
        if (!isdigit((unsigned char)*++p))
            return NULL;
        while (isdigit((unsigned char)*p))
            p++;
    }
    return p;
}

bool hw_toml_date_valid(const char *token)
{
    const char *p = token;
    if (strlen(token) >= 10 && token[4] == '-') {
        p = skip_date(p);
        if (!p || !*p)
            return p != NULL;
        if (*p != 'T' && *p != 't' && *p != ' ')
            return false;
        p++;
        p = skip_time(p);
        if (p && (*p == 'Z' || *p == 'z'))
            return !p[1];
        if (p && (*p == '+' || *p == '-')) {
            int hour = digits(p + 1, 2), minute = hour < 0 || p[3] != ':' ? -1 : digits(p + 4, 2);
            return hour >= 0 && hour < 24 && minute >= 0 && minute < 60 && !p[6];
        }
    } else {
        p = strlen(token) >= 8 ? skip_time(p) : NULL;
    }
    return p && !*p;
}
