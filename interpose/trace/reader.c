/* Reading trace files: bounds are checked once, at open, by walking all records. */
#define _GNU_SOURCE
#include "interpose/trace/reader.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(char *error, size_t size, const char *path, const char *why)
{
    snprintf(error, size, "%s: %s", path, why);
    return -1;
}

#define TERMINATE(text) ((text)[sizeof(text) - 1] = '\0')

/* Bytes of the leading whole records, no more than the writer says it used. */
static size_t walk(const struct hw_trace_view *view)
{
    size_t at = (sizeof(struct hw_trace_header) + 7) & ~(size_t)7, end = view->size;
    if (view->header.used < end)
        end = (size_t)view->header.used;
    while (at + sizeof(struct hw_record) <= end) {
        struct hw_record record;
        memcpy(&record, view->data + at, sizeof record);
        if (record.bytes < sizeof record || record.bytes % 8 || record.bytes > end - at)
            break;
        at += record.bytes;
    }
    return at;
}

int hw_trace_view_open(const char *path, struct hw_trace_view *view, char *error, size_t error_size)
{
    memset(view, 0, sizeof *view);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO of that name must not hold us up */
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        int saved = errno;
        if (fd >= 0)
            close(fd);
        return fail(error, error_size, path, strerror(saved));
    }
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < sizeof view->header) {
        close(fd);
        return fail(error, error_size, path, "too short for a trace; was the disk full? delete it");
    }
    view->size = (uint64_t)st.st_size < HW_TRACE_MAX ? (size_t)st.st_size : HW_TRACE_MAX;
    /* A copy, not a mapping: the file may shrink or change under us while the job runs. */
    view->data = malloc(view->size);
    size_t got = 0;
    while (view->data && got < view->size) {
        ssize_t n = pread(fd, view->data + got, view->size - got, (off_t)got);
        if (n <= 0)
            break;
        got += (size_t)n;
    }
    close(fd);
    if (!view->data || got < sizeof view->header) {
        free(view->data);
        return fail(error, error_size, path, "cannot be read");
    }
    view->size = got;
    memcpy(&view->header, view->data, sizeof view->header);
    const char *why = NULL;
    if (memcmp(view->header.magic, HW_TRACE_MAGIC, sizeof view->header.magic) != 0)
        why = "is not a hookwatch trace";
    else if (view->header.format != HW_TRACE_FORMAT || view->header.header_bytes != sizeof view->header)
        why = "was written by another version of hookwatch; use that version's report";
    if (why) {
        free(view->data);
        return fail(error, error_size, path, why);
    }
    TERMINATE(view->header.host);
    TERMINATE(view->header.python);
    TERMINATE(view->header.shim);
    TERMINATE(view->header.driver_user);
    view->used = walk(view);
    view->cut = view->used < view->header.used;
    view->path = strdup(path);
    return 0;
}

void hw_trace_view_close(struct hw_trace_view *view)
{
    free(view->data);
    free(view->path);
    memset(view, 0, sizeof *view);
}

const struct hw_record *hw_trace_view_next(const struct hw_trace_view *view, size_t *cursor)
{
    size_t at = *cursor ? *cursor : ((sizeof(struct hw_trace_header) + 7) & ~(size_t)7);
    while (at + sizeof(struct hw_record) <= view->used) {
        const struct hw_record *record = (const struct hw_record *)(view->data + at);
        at += record->bytes;
        *cursor = at;
        if ((record->kind == HW_RECORD_SITE && record->bytes >= sizeof(struct hw_record_site)) ||
            (record->kind == HW_RECORD_COMM && record->bytes >= sizeof(struct hw_record_comm)) ||
            (record->kind == HW_RECORD_STRING && record->bytes >= sizeof(struct hw_record_string)))
            return record;
    }
    *cursor = view->used;
    return NULL;
}

/* The record of a kind at an offset that a trace file names. */
static const struct hw_record *record_at(const struct hw_trace_view *view, uint32_t offset, enum hw_record_kind kind,
                                         size_t least)
{
    if (offset < sizeof(struct hw_trace_header) || offset % 8 || (size_t)offset + least > view->used)
        return NULL;
    const struct hw_record *record = (const struct hw_record *)(view->data + offset);
    if (record->kind != (uint32_t)kind || record->bytes < least || record->bytes > view->used - offset)
        return NULL;
    return record;
}

const char *hw_trace_view_text(const struct hw_trace_view *view, uint32_t offset)
{
    const struct hw_record_string *s =
        (const struct hw_record_string *)record_at(view, offset, HW_RECORD_STRING, sizeof(struct hw_record_string));
    size_t room = s ? s->record.bytes - offsetof(struct hw_record_string, text) : 0;
    return s && s->length < room && s->text[s->length] == '\0' ? s->text : "";
}

const struct hw_record_site *hw_trace_view_site(const struct hw_trace_view *view, uint32_t offset)
{
    return (const struct hw_record_site *)record_at(view, offset, HW_RECORD_SITE, sizeof(struct hw_record_site));
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && strcmp(text + n - m, end) == 0;
}

/* The path that a pointer file holds, if that trace is on this host. */
static char *follow(const char *pointer)
{
    char target[PATH_MAX] = "";
    int fd = open(pointer, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, target, sizeof target - 1) : 0;
    if (fd >= 0)
        close(fd);
    target[n > 0 ? n : 0] = '\0';
    target[strcspn(target, "\n")] = '\0';
    return target[0] == '/' && access(target, R_OK) == 0 ? strdup(target) : NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

long hw_trace_list(const char *dir, char ***paths, size_t *elsewhere)
{
    *paths = NULL;
    *elsewhere = 0;
    DIR *stream = opendir(dir);
    if (!stream)
        return -1;
    size_t count = 0, room = 0;
    for (struct dirent *entry; (entry = readdir(stream));) {
        bool pointer = ends_with(entry->d_name, HW_TRACE_POINTER);
        if (!pointer && !ends_with(entry->d_name, HW_TRACE_SUFFIX))
            continue;
        char *path = NULL;
        if (asprintf(&path, "%s/%s", dir, entry->d_name) < 0)
            path = NULL;
        if (pointer && path) {
            char *target = follow(path);
            free(path);
            path = target;
            *elsewhere += !path;
        }
        if (!path)
            continue;
        if (count == room) {
            room = room ? room * 2 : 64;
            char **grown = realloc(*paths, room * sizeof **paths);
            if (!grown) {
                free(path);
                break;
            }
            *paths = grown;
        }
        (*paths)[count++] = path;
    }
    closedir(stream);
    if (count)
        qsort(*paths, count, sizeof **paths, by_name);
    return (long)count;
}
