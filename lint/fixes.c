/* Applying fixes: the file's own bytes are kept where nothing is replaced. */
#define _GNU_SOURCE
#include "lint/fixes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/text.h"

struct edit {
    const char *filename, *content, *code;
    uint32_t first, last;
};

struct hw_fixes {
    struct hw_arena *arena;
    struct edit *items;
    size_t count, room;
};

struct hw_fixes *hw_fixes_new(void)
{
    struct hw_fixes *fixes = hw_alloc(sizeof *fixes);
    *fixes = (struct hw_fixes){.arena = hw_arena_new()};
    return fixes;
}

void hw_fixes_free(struct hw_fixes *fixes)
{
    if (!fixes)
        return;
    free(fixes->items);
    hw_arena_free(fixes->arena);
    free(fixes);
}

bool hw_fixes_add(struct hw_fixes *fixes, const struct hw_finding *finding)
{
    const struct hw_fix *fix = finding->fix;
    const char *filename = hw_arena_intern(fixes->arena, finding->filename, strlen(finding->filename));
    for (size_t i = 0; i < fixes->count; i++)
        if (fixes->items[i].filename == filename && fix->first < fixes->items[i].last && fixes->items[i].first < fix->last)
            return fixes->items[i].first == fix->first && fixes->items[i].last == fix->last &&
                   !strcmp(fixes->items[i].content, fix->content);
    if (fixes->count == fixes->room)
        fixes->items = hw_realloc(fixes->items, (fixes->room = fixes->room * 2 + 16) * sizeof *fixes->items);
    fixes->items[fixes->count++] = (struct edit){filename, hw_arena_copy(fixes->arena, fix->content, strlen(fix->content)),
                                                 finding->rule->code, fix->first, fix->last};
    return true;
}

static int by_place(const void *left, const void *right)
{
    const struct edit *a = left, *b = right;
    int order = strcmp(a->filename, b->filename);
    return order ? order : a->first < b->first ? -1 : a->first > b->first;
}

/* The file as it is on the disk, if it is the UTF-8 that offsets were counted in; *skip: the bytes of a BOM. */
static struct hw_text *original(const char *filename, size_t *skip, char **bytes, size_t *size)
{
    struct hw_text *text = hw_text_read(filename);
    FILE *file = text ? fopen(filename, "re") : NULL;
    *bytes = file ? hw_alloc(text->size + 4) : NULL;
    *size = file ? fread(*bytes, 1, text->size + 4, file) : 0;
    if (file)
        fclose(file);
    *skip = *size >= 3 && !memcmp(*bytes, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (file && *size - *skip == text->size && !memcmp(*bytes + *skip, text->text, text->size))
        return text;
    hw_text_free(text);
    free(*bytes);
    *bytes = NULL;
    return NULL;
}

/* Writes beside the file, then renames: an interrupted run leaves the old file or the new one. */
static int replace(const char *filename, const char *bytes, size_t size)
{
    char name[4096 + 16];
    struct stat st;
    snprintf(name, sizeof name, "%s.XXXXXX", filename);
    int fd = stat(filename, &st) < 0 ? -1 : mkostemp(name, 0);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return -1;
    bool wrong = fwrite(bytes, 1, size, file) != size || fchmod(fd, st.st_mode & 07777) < 0;
    wrong |= fclose(file) != 0;
    if (!wrong && rename(name, filename) == 0)
        return 0;
    unlink(name);
    return -1;
}

static int apply_to_file(const struct edit *edits, size_t count)
{
    size_t skip, size, grown = 0, at = 0, length = 0;
    char *bytes;
    struct hw_text *text = original(edits->filename, &skip, &bytes, &size);
    if (!text) {
        fprintf(stderr, "hookwatch: %s: not fixed: it is no UTF-8, or changed meanwhile\n", edits->filename);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        grown += strlen(edits[i].content);
    char *out = hw_alloc(size + grown + 1);
    for (size_t i = 0; i < count; i++) {
        size_t first = edits[i].first + skip, piece = strlen(edits[i].content);
        memcpy(out + length, bytes + at, first - at);
        length += first - at;
        memcpy(out + length, edits[i].content, piece);
        length += piece;
        at = edits[i].last + skip;
    }
    memcpy(out + length, bytes + at, size - at);
    length += size - at;
    int status = replace(edits->filename, out, length);
    if (status < 0)
        fprintf(stderr, "hookwatch: %s: %s; not fixed\n", edits->filename, strerror(errno));
    free(out);
    free(bytes);
    hw_text_free(text);
    return status;
}

int hw_fixes_apply(struct hw_fixes *fixes)
{
    int status = 0;
    size_t files = 0;
    if (fixes->count)
        qsort(fixes->items, fixes->count, sizeof *fixes->items, by_place);
    for (size_t i = 0, next; i < fixes->count; i = next, files++) {
        for (next = i + 1; next < fixes->count && fixes->items[next].filename == fixes->items[i].filename; next++)
            ;
        if (apply_to_file(&fixes->items[i], next - i) < 0)
            status = -1;
    }
    if (status == 0 && fixes->count)
        fprintf(stderr, "hookwatch: %zu fix%s in %zu file%s\n", fixes->count, fixes->count == 1 ? "" : "es", files,
                files == 1 ? "" : "s");
    return status;
}

void hw_fixes_show(struct hw_fixes *fixes, FILE *out)
{
    if (fixes->count)
        qsort(fixes->items, fixes->count, sizeof *fixes->items, by_place);
    for (size_t i = 0; i < fixes->count; i++) {
        const struct edit *edit = &fixes->items[i];
        struct hw_text *text = hw_text_read(edit->filename);
        if (!text || edit->last > text->size) {
            hw_text_free(text);
            continue;
        }
        uint32_t row = 0;
        while (row + 1 < text->line_count && text->lines[row + 1] <= edit->first)
            row++;
        uint32_t from = text->lines[row], to = edit->last;
        while (to < text->size && text->text[to] != '\n')
            to++;
        fprintf(out, "%s:%u: %s\n-%.*s\n+%.*s%s%.*s\n", edit->filename, row + 1, edit->code, (int)(to - from),
                text->text + from, (int)(edit->first - from), text->text + from, edit->content, (int)(to - edit->last),
                text->text + edit->last);
        hw_text_free(text);
    }
}
