/* Reading and decoding a Python file, counting its lines and columns. */
#include "core/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <iconv.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"

/* Length of the valid UTF-8 sequence at p (RFC 3629), 0 if there is none. */
static size_t utf8_length(const unsigned char *p, const unsigned char *end)
{
    if (p[0] < 0x80)
        return 1;
    size_t n = p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : 0;
    if (!n || (size_t)(end - p) < n)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

/* Copies bytes as valid UTF-8; NUL becomes a space, as the parser takes it for the end. */
static char *sanitise(const char *bytes, size_t size, size_t *out_size)
{
    const unsigned char *p = (const unsigned char *)bytes, *end = p + size;
    size_t bad = 0;
    for (const unsigned char *q = p; q < end;) {
        size_t n = utf8_length(q, end);
        bad += n == 0;
        q += n ? n : 1;
    }
    char *text = hw_alloc(size + 2 * bad + 1), *to = text;
    while (p < end) {
        size_t n = utf8_length(p, end);
        if (n == 0) {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
            p++;
        } else if (*p == 0) {
            *to++ = ' ';
            p++;
        } else {
            memcpy(to, p, n);
            to += n;
            p += n;
        }
    }
    *to = 0;
    *out_size = (size_t)(to - text);
    return text;
}

char *hw_text_valid_utf8(const char *bytes)
{
    size_t size;
    return sanitise(bytes, strlen(bytes), &size);
}

/* The encoding named by a cookie in the first two lines (PEP 263), or false. */
static bool find_cookie(const char *bytes, size_t size, char *name, size_t room)
{
    size_t at = 0;
    for (int line = 0; line < 2 && at < size; line++) {
        const char *start = bytes + at, *stop = memchr(start, '\n', size - at);
        size_t length = stop ? (size_t)(stop - start) : size - at;
        size_t i = 0;
        while (i < length && (start[i] == ' ' || start[i] == '\t' || start[i] == '\f'))
            i++;
        if (i < length && start[i] == '#') {
            for (; i + 7 < length; i++) {
                if (memcmp(start + i, "coding", 6) || (start[i + 6] != ':' && start[i + 6] != '='))
                    continue;
                i += 7;
                while (i < length && (start[i] == ' ' || start[i] == '\t'))
                    i++;
                size_t n = 0;
                while (i < length && n + 1 < room && (isalnum((unsigned char)start[i]) || strchr("-_.", start[i])))
                    name[n++] = start[i++];
                name[n] = 0;
                return n > 0;
            }
        } else if (i < length && start[i] != '\r') {
            return false; /* code on the first line: no cookie may follow */
        }
        at += length + 1;
    }
    return false;
}

/* bytes in `encoding` as UTF-8, or NULL if the encoding is unknown or is UTF-8 anyway. */
static char *transcode(const char *encoding, const char *bytes, size_t size, size_t *out_size)
{
    if (!strncasecmp(encoding, "utf-8", 5) || !strncasecmp(encoding, "utf_8", 5) || !strncasecmp(encoding, "utf8", 4))
        return NULL;
    char plain[64];
    size_t n = 0;
    for (; encoding[n] && n + 1 < sizeof plain; n++)
        plain[n] = encoding[n] == '_' ? '-' : encoding[n];
    plain[n] = 0;
    bool latin = !strncasecmp(plain, "latin-1", 7) || !strncasecmp(plain, "iso-latin-1", 11);
    iconv_t convert = iconv_open("UTF-8", latin ? "ISO-8859-1" : plain);
    if (convert == (iconv_t)-1)
        return NULL;
    size_t room = size * 4 + 16, left = room, in_left = size;
    char *text = hw_alloc(room), *to = text, *from = (char *)(uintptr_t)bytes;
    while (in_left > 0 && iconv(convert, &from, &in_left, &to, &left) == (size_t)-1) {
        if (errno == E2BIG || left < 4)
            break;
        *to++ = '?'; /* one byte that the encoding does not know */
        left--;
        from++;
        in_left--;
    }
    iconv_close(convert);
    *out_size = room - left;
    return text;
}

static void index_lines(struct hw_text *source)
{
    uint32_t room = 64, count = 0;
    uint32_t *lines = hw_alloc(room * sizeof *lines);
    lines[count++] = 0;
    for (const char *p = source->text; (p = memchr(p, '\n', source->size - (size_t)(p - source->text)));) {
        p++;
        if (count + 2 > room)
            lines = hw_realloc(lines, (room *= 2) * sizeof *lines);
        lines[count++] = (uint32_t)(p - source->text);
    }
    source->line_count = count;
    lines[count] = source->size;
    source->lines = lines;
}

struct hw_text *hw_text_from_bytes(const char *path, const char *bytes, size_t size)
{
    struct hw_text *source = hw_alloc(sizeof *source);
    memset(source, 0, sizeof *source);
    source->path = hw_alloc(strlen(path) + 1);
    strcpy(source->path, path);
    if (size >= 3 && !memcmp(bytes, "\xef\xbb\xbf", 3)) {
        bytes += 3;
        size -= 3;
    }
    char encoding[64];
    size_t decoded_size = 0, clean_size = 0;
    char *decoded =
        find_cookie(bytes, size, encoding, sizeof encoding) ? transcode(encoding, bytes, size, &decoded_size) : NULL;
    source->text = decoded ? sanitise(decoded, decoded_size, &clean_size) : sanitise(bytes, size, &clean_size);
    free(decoded);
    source->size = (uint32_t)clean_size;
    index_lines(source);
    return source;
}

struct hw_text *hw_text_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    struct stat st;
    int error = 0;
    char *bytes = NULL;
    size_t size = 0, room = 0;
    if (fstat(fd, &st) < 0)
        error = errno;
    else if (!S_ISREG(st.st_mode))
        error = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
    else if (st.st_size > (1 << 30))
        error = EFBIG;
    while (!error) {
        if (size == room) {
            room = room ? room * 2 : (size_t)st.st_size + 1;
            if (room > (3u << 30)) {
                error = EFBIG;
                break;
            }
            bytes = hw_realloc(bytes, room);
        }
        ssize_t got = read(fd, bytes + size, room - size);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR)
            error = errno;
        else if (got > 0)
            size += (size_t)got;
    }
    close(fd);
    if (!error && size > (1u << 30))
        error = EFBIG;
    struct hw_text *source = error ? NULL : hw_text_from_bytes(path, bytes, size);
    free(bytes);
    errno = error;
    return source;
}

void hw_text_free(struct hw_text *source)
{
    if (!source)
        return;
    if (source->attachment)
        source->release(source->attachment);
    free(source->path);
    free(source->text);
    free(source->lines);
    free(source);
}

uint32_t hw_text_column(struct hw_text *source, uint32_t row, uint32_t byte)
{
    if (row >= source->line_count)
        return 0;
    uint32_t at = source->lines[row], column = 1;
    if (source->seen_row == row && source->seen_byte >= at && source->seen_byte <= byte && source->seen_column) {
        at = source->seen_byte;
        column = source->seen_column;
    }
    for (; at < byte && at < source->size; at++)
        column += ((unsigned char)source->text[at] & 0xc0) != 0x80;
    source->seen_row = row;
    source->seen_byte = byte;
    source->seen_column = column;
    return column;
}

const char *hw_text_line(const struct hw_text *source, uint32_t row, uint32_t *length)
{
    if (row >= source->line_count) {
        *length = 0;
        return "";
    }
    const char *line = source->text + source->lines[row];
    uint32_t n = source->lines[row + 1] - source->lines[row];
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        n--;
    *length = n;
    return line;
}
