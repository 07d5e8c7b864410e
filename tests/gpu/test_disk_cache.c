// SPDX-License-Identifier: Apache-2.0
// Compiled kernels that are kept: a second start compiles nothing; a file that is anything but what this user, library,
// device, driver and model wrote is told of, ignored and replaced; a folder that cannot be written keeps nothing from
// running.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpu/backend/null.h"
#include "gpu/backend/program_cache.h"
#include "gpu/delegate/disk_cache.h"
#include "gpu/delegate_session.h"

enum { MAX_BYTES = 1 << 20 };

// ---- a folder, and the one file in it -----------------------------------------------------------

struct folder {
    char path[64];
    char file[512]; // the last that was found
};

static int make_folder(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    if (!folder) return -1;
    strcpy(folder->path, "/tmp/halite_test_disk_cache.XXXXXX");
    *state = folder;
    return mkdtemp(folder->path) ? 0 : -1;
}

// How many files there are; the name of the last goes to folder->file.
static int count_files(struct folder *folder)
{
    int count = 0;
    DIR *list = opendir(folder->path);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(folder->file, sizeof folder->file, "%s/%.255s", folder->path, entry->d_name);
        count++;
    }
    closedir(list);
    return count;
}

// The path of the file whose name begins with this letter.
static void find_file(const struct folder *folder, char letter, char path[512])
{
    DIR *list = opendir(folder->path);
    assert_non_null(list);
    path[0] = 0;
    for (struct dirent *entry; (entry = readdir(list));)
        if (entry->d_name[0] == letter) snprintf(path, 512, "%s/%.255s", folder->path, entry->d_name);
    closedir(list);
    assert_int_not_equal(path[0], 0);
}

static int remove_folder(void **state)
{
    struct folder *folder = *state;
    while (count_files(folder) > 0)
        if (remove(folder->file) != 0) return -1;
    int status = rmdir(folder->path);
    free(folder);
    return status;
}

static size_t read_file(const char *path, unsigned char *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, MAX_BYTES, file);
    fclose(file);
    assert_in_range(size, 1, MAX_BYTES - 1);
    return size;
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// ---- a start ------------------------------------------------------------------------------------

struct start {
    const char *folder, *token, *device, *precision; // NULL: "model", "null", "f32"
    const char *limit;                               // NULL: none is given
    const struct test_model *model;                  // NULL: whole
};

struct outcome {
    int compiled, kept; // programs, on the null device
    int runs;           // of lists there
    char messages[4096];
};

static int count_lines(const char *text, const char *begin, const char *end)
{
    int count = 0;
    size_t begin_length = strlen(begin), end_length = strlen(end);
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        count += length >= begin_length + end_length && strncmp(line, begin, begin_length) == 0 &&
                 strncmp(line + length - end_length, end, end_length) == 0;
        line += length + (line[length] == '\n');
    }
    return count;
}

// Programs that were compiled, and those that were taken from a file.
static struct outcome count_programs(const TfLiteDelegate *delegate)
{
    struct outcome outcome = {.compiled = 0};
    char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
    assert_non_null(text);
    outcome.kept = count_lines(text, "program ", " ; kept");
    outcome.compiled = count_lines(text, "program ", "") - outcome.kept;
    outcome.runs = count_lines(text, "run list ", "");
    free(text);
    return outcome;
}

// Applies a delegate and runs once, which succeeds whatever the files are.
static struct outcome run(struct start start)
{
    struct outcome outcome = {.compiled = 0};
    const char *device = start.device ? start.device : "null";
    const char *texts[] = {"device",
                           device,
                           "precision",
                           start.precision ? start.precision : "f32",
                           "serialization_dir",
                           start.folder,
                           "model_token",
                           start.token ? start.token : "model",
                           start.limit ? "serialization_max_bytes" : NULL,
                           start.limit,
                           NULL};
    TfLiteDelegate *delegate = make(texts);
    assert_non_null(delegate);
    struct session session;
    begin(&session, start.model ? start.model : &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_true(delegated_nodes(&session) >= 2);
    set_input(&session);
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    if (strcmp(device, "null") == 0)
        outcome = count_programs(delegate);
    else
        check_output(&session);
    snprintf(outcome.messages, sizeof outcome.messages, "%.4095s", session.messages.text);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(gpu_null_live(), 0);
    return outcome;
}

static void assert_warm(struct start start)
{
    struct outcome outcome = run(start);
    assert_int_equal(outcome.compiled, 0);
    assert_true(outcome.kept >= 3);
    assert_int_equal(outcome.runs, 1);
    assert_string_equal(outcome.messages, "");
}

// Everything is compiled, and one line has `why` in it; NULL: no line.
static void assert_cold(struct start start, const char *why)
{
    struct outcome outcome = run(start);
    assert_true(outcome.compiled >= 3);
    assert_int_equal(outcome.kept, 0);
    assert_int_equal(outcome.runs, 2); // once before the programs are saved, for drivers that compile then
    if (!why) {
        assert_string_equal(outcome.messages, "");
        return;
    }
    const char *first = strstr(outcome.messages, "TfLiteGpuDelegate Init: ");
    if (!first || !strstr(first, why)) print_error("%s\n", outcome.messages);
    assert_true(first && strstr(first, why));
    assert_null(strstr(first + 1, "TfLiteGpuDelegate"));
}

// ---- what matches -------------------------------------------------------------------------------

static void test_second_start_compiles_nothing(void **state)
{
    struct folder *folder = *state;
    struct start start = {.folder = folder->path};
    assert_cold(start, NULL);
    assert_int_equal(count_files(folder), 1);
    struct stat before, after;
    assert_int_equal(stat(folder->file, &before), 0);
    assert_int_equal(before.st_mode & 0777, 0600);
    assert_warm(start);
    assert_int_equal(stat(folder->file, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino); // nothing new: not written again
}

static void test_others_do_not_match(void **state)
{
    struct folder *folder = *state;
    struct start start = {.folder = folder->path};
    assert_cold(start, NULL);
    struct start precise = start, named = start, other = start;
    precise.precision = "f16";
    named.token = "../model of mine\n";
    other.model = &graph; // another graph under the same name
    assert_cold(precise, NULL);
    assert_cold(named, NULL);
    struct outcome outcome = run(other);
    assert_int_equal(outcome.kept, 0);
    assert_int_equal(count_files(folder), 4);
    assert_warm(start);
    assert_warm(precise);
    assert_warm(named);
}

static TfLiteDelegate *make_keeping(const char *folder)
{
    TfLiteDelegate *delegate =
        make((const char *[]){"device", "null", "serialization_dir", folder, "model_token", "model", NULL});
    assert_non_null(delegate);
    return delegate;
}

// A start whose input is resized from batch 1 to 4 and back.
static struct outcome run_batches(const char *folder)
{
    static const int batches[] = {4, 1};
    TfLiteDelegate *delegate = make_keeping(folder);
    struct session session;
    begin(&session, &whole);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    for (int i = 0; i < 2; i++) {
        const int dims[] = {batches[i], 2, 3, 5};
        assert_int_equal(TfLiteInterpreterResizeInputTensor(session.interpreter, 0, dims, 4), kTfLiteOk);
        assert_int_equal(TfLiteInterpreterAllocateTensors(session.interpreter), kTfLiteOk);
    }
    struct outcome outcome = count_programs(delegate);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
    return outcome;
}

static void test_resized_batches(void **state)
{
    struct folder *folder = *state;
    assert_true(run_batches(folder->path).compiled >= 3);
    struct outcome second = run_batches(folder->path);
    assert_int_equal(second.compiled, 0);
    assert_true(second.kept >= 3);
    assert_warm((struct start){.folder = folder->path});
}

// A delegate that serves another model first holds most programs of this one, and asks its file for the rest alone. The
// file keeps the others all the same.
static void test_two_models_of_one_delegate(void **state)
{
    static const struct test_node nodes_of_larger[] = {ONE_IN(kTfLiteBuiltinRelu, A, R),
                                                       TWO_IN(kTfLiteBuiltinAdd, A, R, S),
                                                       TWO_IN(kTfLiteBuiltinMul, S, S, T),
                                                       ONE_IN(kTfLiteBuiltinLogSoftmax, T, P)};
    static const struct test_model larger = {TEST_TENSORS(tensors), TEST_NODES(nodes_of_larger), TEST_INPUTS(A),
                                             TEST_OUTPUTS(P)};
    struct folder *folder = *state;
    const struct start start = {.folder = folder->path, .model = &larger};
    assert_cold(start, NULL);
    TfLiteDelegate *delegate = make_keeping(folder->path);
    struct session first, second;
    begin(&first, &whole);
    begin(&second, &larger);
    assert_int_equal(apply(&first, delegate), kTfLiteOk);
    assert_int_equal(apply(&second, delegate), kTfLiteOk);
    assert_in_range(count_programs(delegate).kept, 1, 2);
    end(&first);
    end(&second);
    tflite_plugin_destroy_delegate(delegate);
    assert_warm(start);
}

// What was used the longest ago goes first, and nothing that is of others.
static void test_limit(void **state)
{
    struct folder *folder = *state;
    char strange[128], limit[32], path_a[sizeof folder->file], path_b[sizeof folder->file];
    static const char others[100000] = "no kernels";
    static const struct timespec old[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    struct start a = {.folder = folder->path, .token = "a"}, b = a, c = a;
    b.token = "b";
    c.token = "c";
    struct stat status;
    assert_cold(a, NULL);
    find_file(folder, 'a', path_a);
    assert_int_equal(stat(path_a, &status), 0);
    snprintf(limit, sizeof limit, "%lld", 2 * (long long)status.st_size + 100); // of two files
    c.limit = limit;
    assert_cold(b, NULL);
    find_file(folder, 'b', path_b);
    snprintf(strange, sizeof strange, "%s/photograph_1.bin", folder->path);
    write_file(strange, others, sizeof others);
    // Both become old, and then a is used.
    assert_int_equal(utimensat(AT_FDCWD, path_a, old, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, path_b, old, 0), 0);
    assert_warm(a);
    assert_cold(c, NULL);
    assert_int_equal(stat(path_b, &status), -1);
    assert_int_equal(stat(strange, &status), 0);
    assert_int_equal(count_files(folder), 3);
    assert_warm(a);
    assert_warm(c);

    c.token = "d";
    c.limit = "1"; // less than its own, which stays
    assert_cold(c, NULL);
    assert_int_equal(count_files(folder), 2);
    assert_warm(c);
}

// A name that the application need not think of: files say themselves which graph they are for.
static void test_auto(void **state)
{
    struct folder *folder = *state;
    struct start one = {.folder = folder->path, .token = "auto"}, other = one;
    other.model = &graph;
    assert_cold(one, NULL);
    assert_int_equal(run(other).kept, 0);
    assert_int_equal(count_files(folder), 2);
    assert_warm(one);
    assert_int_equal(run(other).compiled, 0);
}

// A file in another's position is found out by what it says of itself.
static void test_names_prove_nothing(void **state)
{
    struct folder *folder = *state;
    struct start start = {.folder = folder->path}, half = {.folder = folder->path, .precision = "f16"};
    assert_cold(start, NULL);
    count_files(folder);
    static unsigned char bytes[MAX_BYTES];
    size_t size = read_file(folder->file, bytes);
    assert_int_equal(remove(folder->file), 0);
    assert_cold(half, NULL);
    count_files(folder);
    write_file(folder->file, bytes, size);
    assert_cold(half, "it is of another precision");
    assert_warm(half); // it was replaced
}

static void test_identity(void **state)
{
    struct folder *folder = *state;
    static unsigned char bytes[MAX_BYTES];
    run((struct start){.folder = folder->path});
    count_files(folder);
    size_t size = read_file(folder->file, bytes), payload;
    uint32_t identity_size;
    memcpy(&identity_size, bytes + 12, sizeof identity_size);
    char identity[1024] = "";
    assert_in_range(identity_size, 100, sizeof identity - 1);
    memcpy(identity, bytes + 32, identity_size);
    const char *why;
    assert_non_null(gpu_disk_cache_check(bytes, size, identity, &payload, &why));
    assert_int_equal(payload, size - 32 - identity_size);
    static const char *const cases[][2] = {{"backend ", "another backend"},
                                           {"device ", "another device"},
                                           {"precision ", "another precision"},
                                           {"model ", "another model"},
                                           {"graph ", "another graph"},
                                           {"driver ", "the driver has changed"},
                                           {"library ", "another version of the library"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char other[1024];
        strcpy(other, identity);
        char *at = strstr(other, cases[i][0]);
        assert_non_null(at);
        at[strlen(cases[i][0])] ^= 1;
        assert_null(gpu_disk_cache_check(bytes, size, other, &payload, &why));
        assert_non_null(strstr(why, cases[i][1]));
    }
    identity[identity_size - 1] = 0;
    assert_null(gpu_disk_cache_check(bytes, size, identity, &payload, &why));
    assert_null(gpu_disk_cache_check(bytes, size, "", &payload, &why));
}

// ---- damage -------------------------------------------------------------------------------------

static void test_damaged_files(void **state)
{
    struct folder *folder = *state;
    struct start start = {.folder = folder->path};
    static unsigned char bytes[MAX_BYTES];
    run(start);
    count_files(folder);
    size_t size = read_file(folder->file, bytes);
    char path[sizeof folder->file];
    strcpy(path, folder->file);

    // A few through the whole of it, each replaced by a good one.
    for (size_t i = 0; i < 40; i++) {
        size_t at = i * (size - 1) / 39;
        bytes[at] ^= 0x40;
        write_file(path, bytes, size);
        bytes[at] ^= 0x40;
        assert_cold(start, "are ignored, and made anew: it is ");
        assert_warm(start);
    }
    for (size_t i = 1; i < 20; i++) {
        write_file(path, bytes, i * (size - 1) / 19);
        assert_cold(start, "are ignored, and made anew: it is ");
        assert_warm(start);
    }
    bytes[size] = 'x';
    write_file(path, bytes, size + 1);
    assert_cold(start, "it is damaged");
    write_file(path, bytes, 0);
    assert_cold(start, "it is empty");
    assert_int_equal(count_files(folder), 1);

    // All of them through the check of the bytes. Allocated, so that the sanitizer sees a step beyond.
    char identity[1024] = "";
    uint32_t identity_size;
    memcpy(&identity_size, bytes + 12, sizeof identity_size);
    memcpy(identity, bytes + 32, identity_size);
    const char *why;
    size_t payload;
    for (size_t length = 0; length < size; length++) {
        unsigned char *cut = malloc(length ? length : 1);
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        assert_null(gpu_disk_cache_check(cut, length, identity, &payload, &why));
        free(cut);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] ^= (unsigned char)(1 << bit);
            assert_null(gpu_disk_cache_check(bytes, size, identity, &payload, &why));
            bytes[at] ^= (unsigned char)(1 << bit);
        }
    assert_non_null(gpu_disk_cache_check(bytes, size, identity, &payload, &why));
}

// The programs within, should the sum ever agree by accident: taken or refused, never read beyond.
static void test_damaged_programs(void **state)
{
    (void)state;
    struct gpu_program_cache kept = {.open = false};
    assert_true(gpu_program_cache_open(&kept, NULL, 0));
    for (uint64_t key = 1; key <= 5; key++) {
        size_t size = (size_t)(3 * key);
        unsigned char *binary = malloc(size);
        assert_non_null(binary);
        memset(binary, (int)key, size);
        gpu_program_cache_add(&kept, key, binary, size);
    }
    void *bytes, *other;
    size_t size, other_size;
    assert_true(gpu_program_cache_close(&kept, &bytes, &size));
    assert_int_equal(size, 5 * 16 + 3 * (1 + 2 + 3 + 4 + 5));

    // New ones replace old ones of the same key, those that nobody asked for stay, and what stays the same is not given
    // again.
    assert_true(gpu_program_cache_open(&kept, bytes, size));
    for (uint64_t key = 1; key <= 5; key++) {
        size_t binary_size;
        const unsigned char *binary = gpu_program_cache_find(&kept, key, &binary_size);
        assert_non_null(binary);
        assert_int_equal(binary_size, 3 * key);
        assert_int_equal(binary[binary_size - 1], key);
    }
    assert_null(gpu_program_cache_find(&kept, 6, &other_size));
    assert_true(gpu_program_cache_close(&kept, &other, &other_size));
    assert_null(other);
    assert_true(gpu_program_cache_open(&kept, bytes, size));
    assert_non_null(gpu_program_cache_find(&kept, 2, &other_size));
    gpu_program_cache_add(&kept, 2, calloc(1, 7), 7);
    assert_true(gpu_program_cache_close(&kept, &other, &other_size));
    assert_int_equal(other_size, size + 7 - 3 * 2);
    free(other);

    for (size_t length = 0; length < size; length++) {
        unsigned char *cut = malloc(length ? length : 1);
        assert_non_null(cut);
        memcpy(cut, bytes, length);
        bool whole_programs = length == 0 || length == 19 || length == 41 || length == 66 || length == 94;
        assert_int_equal(gpu_program_cache_open(&kept, cut, length), whole_programs);
        assert_true(kept.open);
        gpu_program_cache_free(&kept);
        free(cut);
    }
    unsigned char *copy = malloc(size);
    assert_non_null(copy);
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(copy, bytes, size);
            copy[at] ^= (unsigned char)(1 << bit);
            gpu_program_cache_open(&kept, copy, size);
            gpu_program_cache_free(&kept);
        }
    memcpy(copy, bytes, size);
    memcpy(copy + 19, bytes, 8); // the second with the first one's key
    assert_false(gpu_program_cache_open(&kept, copy, size));
    gpu_program_cache_free(&kept);
    free(copy);
    free(bytes);
}

// ---- files and folders of other kinds -----------------------------------------------------------

static void test_files_that_others_may_write(void **state)
{
    struct folder *folder = *state;
    struct start start = {.folder = folder->path};
    run(start);
    count_files(folder);
    char path[sizeof folder->file], target[sizeof folder->file + 8];
    strcpy(path, folder->file);
    assert_int_equal(chmod(path, 0620), 0);
    assert_cold(start, "other users may write it");
    assert_warm(start);

    snprintf(target, sizeof target, "%s.target", path);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_cold(start, "are ignored, and made anew: it is a link");
    assert_warm(start);
    assert_int_equal(remove(target), 0);

    assert_int_equal(remove(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); // nobody writes it: reading would wait for ever
    assert_cold(start, "it is not a regular file");
    assert_warm(start);

    assert_int_equal(truncate(path, (off_t)1 << 40), 0); // a terabyte, none of it on the disk
    assert_cold(start, "it is too large");
    assert_warm(start);

    assert_int_equal(remove(path), 0);
    assert_int_equal(mkdir(path, 0700), 0); // cannot be replaced either
    struct outcome outcome = run(start);
    assert_int_equal(outcome.kept, 0);
    assert_non_null(strstr(outcome.messages, "it is not a regular file"));
    assert_non_null(strstr(outcome.messages, "kernels cannot be kept in "));
    assert_int_equal(count_files(folder), 1);
}

static void test_folders_that_cannot_be_written(void **state)
{
    struct folder *folder = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/none", folder->path);
    assert_cold((struct start){.folder = path}, "kernels cannot be kept in ");
    snprintf(path, sizeof path, "%s/file", folder->path);
    write_file(path, "x", 1);
    struct outcome outcome = run((struct start){.folder = path});
    assert_int_equal(outcome.kept, 0);
    assert_non_null(strstr(outcome.messages, "kernels cannot be kept in "));
    if (geteuid() == 0) return; // root writes anywhere
    assert_int_equal(chmod(folder->path, 0500), 0);
    assert_cold((struct start){.folder = folder->path}, "kernels cannot be kept in ");
    assert_int_equal(chmod(folder->path, 0700), 0);
}

// ---- many at once -------------------------------------------------------------------------------

static void *run_many(void *data)
{
    for (int i = 0; i < 20; i++) {
        const char *texts[] = {"device", "null", "serialization_dir", data, "model_token", "model", NULL};
        const char *keys[3], *values[3];
        for (int k = 0; k < 3; k++) {
            keys[k] = texts[2 * k];
            values[k] = texts[2 * k + 1];
        }
        TfLiteDelegate *delegate = tflite_plugin_create_delegate(keys, values, 3, NULL);
        struct session session;
        begin(&session, &whole);
        bool ok = delegate && apply(&session, delegate) == kTfLiteOk && session.messages.length == 0;
        if (session.messages.length > 0) print_error("%s\n", session.messages.text);
        end(&session);
        tflite_plugin_destroy_delegate(delegate);
        if (!ok) return NULL;
        if (i % 5 == 4) { // somebody tidies up
            char command[128];
            snprintf(command, sizeof command, "rm -f %s/*.bin", (const char *)data);
            if (system(command) != 0) return NULL;
        }
    }
    return data;
}

static void test_threads(void **state)
{
    struct folder *folder = *state;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, run_many, folder->path), 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, folder->path);
    }
    run((struct start){.folder = folder->path});
    assert_warm((struct start){.folder = folder->path});
    assert_int_equal(count_files(folder), 1);
}

static void test_processes(void **state)
{
    struct folder *folder = *state;
    fflush(NULL);
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(run_many(folder->path) ? 0 : 1);
        assert_true(children[i] > 0);
    }
    for (int i = 0; i < 4; i++) {
        int status = 1;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    run((struct start){.folder = folder->path});
    assert_warm((struct start){.folder = folder->path});
    assert_int_equal(count_files(folder), 1);
}

// ---- a device that compiles ---------------------------------------------------------------------

static void keeps_on(struct folder *folder, const char *device)
{
    struct start start = {.folder = folder->path, .device = device};
    if (!has_device(device)) skip();
    run(start);
    assert_int_equal(count_files(folder), 1);
    struct stat before, after;
    assert_int_equal(stat(folder->file, &before), 0);
    assert_string_equal(run(start).messages, "");
    assert_int_equal(stat(folder->file, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
}

static void test_opencl(void **state)
{
    keeps_on(*state, "opencl");
}

static void test_gles(void **state)
{
    keeps_on(*state, "gles");
}

int main(void)
{
    unsetenv("HALITE_DEVICE");
    unsetenv("HALITE_GPU_NULL_FAIL");
#define TEST(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(test_second_start_compiles_nothing),
        TEST(test_others_do_not_match),
        TEST(test_resized_batches),
        TEST(test_two_models_of_one_delegate),
        TEST(test_limit),
        TEST(test_auto),
        TEST(test_names_prove_nothing),
        TEST(test_identity),
        TEST(test_damaged_files),
        cmocka_unit_test(test_damaged_programs),
        TEST(test_files_that_others_may_write),
        TEST(test_folders_that_cannot_be_written),
        TEST(test_threads),
        TEST(test_processes),
        TEST(test_opencl),
        TEST(test_gles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
