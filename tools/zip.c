// SPDX-License-Identifier: Apache-2.0
// See zip.h. Every offset is checked against the archive; what does not fit reads as absent.
#include "zip.h"

#include <string.h>

// Compiled in image.c; these are the zlib part of the PNG reader.
#define STBI_NO_STDIO
#include <stb/stb_image.h>

#include "little_endian.h"

enum {
    END_SIZE = 22,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    COMMENT = 65535,     // the longest that may stand behind the end
    UNPACKED = 16 << 20, // the most that is unpacked
    STORED = 0,
    DEFLATED = 8,
    VERSION = 20,       // of the format: 2.0
    DATE = 0x21,        // 1980-01-01: equal content makes equal archives
    MAX_FILES = 0xffff, // what the end has room for
};

static size_t read16(const unsigned char *at)
{
    return hl_little_endian(at, 2);
}

static size_t read32(const unsigned char *at)
{
    return hl_little_endian(at, 4);
}

// The checksum of ZIP: CRC-32, by half bytes.
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t table[16], crc = UINT32_MAX;
    for (uint32_t i = 0; i < 16; i++) {
        table[i] = i;
        for (int bit = 0; bit < 4; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
    }
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

// ---- reading ------------------------------------------------------------------------------------

// Whether so many bytes are there.
static bool holds(const struct hl_zip *zip, size_t at, size_t count)
{
    return at <= zip->size && count <= zip->size - at;
}

bool hl_zip_open(struct hl_zip *zip, const void *bytes, size_t size)
{
    *zip = (struct hl_zip){.bytes = bytes, .size = size};
    if (bytes == NULL || size < END_SIZE) return false;
    size_t last = size - END_SIZE, first = last > COMMENT ? last - COMMENT : 0;
    for (size_t at = last + 1; at-- > first;) {
        const unsigned char *end = zip->bytes + at;
        if (memcmp(end, "PK\5\6", 4) != 0) continue;
        size_t length = read32(end + 12), offset = read32(end + 16);
        if (length > at || offset > at - length) return false;
        zip->directory = at - length;
        zip->directory_end = at;
        zip->start = at - length - offset;
        return true;
    }
    return false;
}

bool hl_zip_next(const struct hl_zip *zip, size_t *at, struct hl_zip_file *file)
{
    if (*at < zip->directory) *at = zip->directory;
    if (*at >= zip->directory_end || !holds(zip, *at, ENTRY_SIZE)) return false;
    const unsigned char *entry = zip->bytes + *at;
    if (memcmp(entry, "PK\1\2", 4) != 0) return false;
    size_t name = read16(entry + 28), rest = read16(entry + 30) + read16(entry + 32);
    if (!holds(zip, *at + ENTRY_SIZE, name + rest)) return false;
    *file = (struct hl_zip_file){.name = (const char *)entry + ENTRY_SIZE, .name_length = name, .entry = entry};
    *at += ENTRY_SIZE + name + rest;
    return true;
}

// The packed bytes of a file; NULL where they are not in the archive.
static const unsigned char *find_data(const struct hl_zip *zip, const unsigned char *entry, size_t packed)
{
    size_t offset = read32(entry + 42), encrypted = read16(entry + 8) & 1;
    if (encrypted || offset > zip->size - zip->start) return NULL;
    size_t local = zip->start + offset;
    if (!holds(zip, local, LOCAL_SIZE) || memcmp(zip->bytes + local, "PK\3\4", 4) != 0) return NULL;
    size_t data = local + LOCAL_SIZE + read16(zip->bytes + local + 26) + read16(zip->bytes + local + 28);
    return holds(zip, data, packed) ? zip->bytes + data : NULL;
}

const unsigned char *hl_zip_stored(const struct hl_zip *zip, const struct hl_zip_file *file, size_t *size)
{
    const unsigned char *entry = file->entry;
    *size = read32(entry + 24);
    const unsigned char *data = find_data(zip, entry, *size);
    bool whole = data != NULL && read16(entry + 10) == STORED && read32(entry + 20) == *size &&
                 read32(entry + 16) == checksum(data, *size);
    return whole ? data : NULL;
}

bool hl_zip_read(const struct hl_zip *zip, const struct hl_zip_file *file, struct hl_text *content)
{
    const unsigned char *entry = file->entry;
    size_t packed = read32(entry + 20), size = read32(entry + 24);
    if (read16(entry + 10) == STORED) {
        const unsigned char *data = hl_zip_stored(zip, file, &size);
        if (data != NULL) hl_text_add_bytes(content, (const char *)data, size);
        return data != NULL;
    }
    const unsigned char *data = find_data(zip, entry, packed);
    if (read16(entry + 10) != DEFLATED || size > UNPACKED || packed > UNPACKED || data == NULL) return false;
    char *unpacked = hl_alloc(size, 1);
    bool ok = stbi_zlib_decode_noheader_buffer(unpacked, (int)size, (const char *)data, (int)packed) == (int)size &&
              read32(entry + 16) == checksum((const unsigned char *)unpacked, size);
    if (ok) hl_text_add_bytes(content, unpacked, size);
    free(unpacked);
    return ok;
}

// ---- writing ------------------------------------------------------------------------------------

static void add_number(struct hl_text *text, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        char byte = (char)(number >> 8 * i & 0xff);
        hl_text_add_bytes(text, &byte, 1);
    }
}

// What a file's own head and its entry in the directory have in common.
static void add_facts(struct hl_text *text, const char *name, const void *bytes, size_t size)
{
    add_number(text, VERSION, 2);
    add_number(text, 0, 2); // flags
    add_number(text, STORED, 2);
    add_number(text, 0, 2); // time
    add_number(text, DATE, 2);
    add_number(text, checksum(bytes, size), 4);
    add_number(text, size, 4);
    add_number(text, size, 4);
    add_number(text, strlen(name), 2);
    add_number(text, 0, 2); // more fields
}

void hl_zip_add(struct hl_zip_writer *writer, const char *name, const void *bytes, size_t size)
{
    const size_t offset = writer->bytes.length, most = UINT32_MAX - ((size_t)1 << 24); // room for the directory
    writer->too_large = writer->too_large || writer->count == MAX_FILES || size > most || offset > most - size;
    if (writer->too_large) return;
    writer->count++;
    hl_text_add_bytes(&writer->bytes, "PK\3\4", 4);
    add_facts(&writer->bytes, name, bytes, size);
    hl_text_add_bytes(&writer->bytes, name, strlen(name));
    if (size > 0) hl_text_add_bytes(&writer->bytes, bytes, size);
    hl_text_add_bytes(&writer->directory, "PK\1\2", 4);
    add_number(&writer->directory, VERSION, 2);
    add_facts(&writer->directory, name, bytes, size);
    add_number(&writer->directory, 0, 2); // length of a comment
    add_number(&writer->directory, 0, 2); // disk
    add_number(&writer->directory, 0, 6); // attributes
    add_number(&writer->directory, offset, 4);
    hl_text_add_bytes(&writer->directory, name, strlen(name));
}

void hl_zip_finish(struct hl_zip_writer *writer)
{
    const size_t offset = writer->bytes.length;
    if (writer->directory.length > 0)
        hl_text_add_bytes(&writer->bytes, writer->directory.data, writer->directory.length);
    hl_text_add_bytes(&writer->bytes, "PK\5\6", 4);
    add_number(&writer->bytes, 0, 4); // disks
    add_number(&writer->bytes, (size_t)writer->count, 2);
    add_number(&writer->bytes, (size_t)writer->count, 2);
    add_number(&writer->bytes, writer->directory.length, 4);
    add_number(&writer->bytes, offset, 4);
    add_number(&writer->bytes, 0, 2); // length of a comment
}

void hl_zip_writer_free(struct hl_zip_writer *writer)
{
    hl_text_free(&writer->bytes);
    hl_text_free(&writer->directory);
    *writer = (struct hl_zip_writer){0};
}
