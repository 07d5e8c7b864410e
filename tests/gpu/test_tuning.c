// SPDX-License-Identifier: Apache-2.0
// Blocks that were measured: which candidate a plan gets with and without times, their file and what is refused in it,
// and delegates on the null device that try blocks, keep the times and take the fastest. The times of that device are
// all zero, so that a test writes its own into the file.
#include <dirent.h>
#include <unistd.h>

#include "base/hash.h"
#include "gpu/backend/null.h"
#include "gpu/delegate/tuning_file.h"
#include "gpu/delegate_session.h"

// ---- the choice ---------------------------------------------------------------------------------

static const struct gpu_tuned_size small = {"convolve", {64, 8, 4}}, large = {"convolve", {4096, 8, 4}};

static struct gpu_ranking three_blocks(void)
{
    struct gpu_ranking ranking = {.room = 3};
    gpu_ranking_add(&ranking, &(struct gpu_tuned_block){{4}}, 40);
    gpu_ranking_add(&ranking, &(struct gpu_tuned_block){{1}}, 10);
    gpu_ranking_add(&ranking, &(struct gpu_tuned_block){{3}}, 30);
    gpu_ranking_add(&ranking, &(struct gpu_tuned_block){{2}}, 20);
    gpu_ranking_add(&ranking, &(struct gpu_tuned_block){{9}}, 30); // as long as the last of three
    return ranking;
}

static void test_ranking_keeps_the_fastest(void **state)
{
    (void)state;
    struct gpu_ranking ranking = three_blocks();
    assert_int_equal(ranking.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ranking.blocks[i].numbers[0], i + 1);
        assert_int_equal(ranking.cycles[i], 10 * (i + 1));
    }
    assert_int_equal(gpu_ranking_limit(&ranking), 30);
}

static int chosen(struct gpu_tuning *tuning, const struct gpu_tuned_size *size, int *row)
{
    struct gpu_ranking ranking = three_blocks();
    const struct gpu_tuned_block *block = gpu_tuning_choose(tuning, size, &ranking, row);
    return block ? block->numbers[0] : 0;
}

static void test_trials_go_on_until_all_have_times(void **state)
{
    (void)state;
    struct gpu_tuning tuning = {.tries = true};
    int rows[3], row;
    assert_true(gpu_tuning_answers(&tuning));
    for (int i = 0; i < 3; i++) assert_int_equal(chosen(&tuning, &small, &rows[i]), i + 1); // as steps of one plan
    assert_int_equal(chosen(&tuning, &large, &row), 1);                                     // another size begins anew
    gpu_tuning_note(&tuning, rows[0], 300);
    gpu_tuning_note(&tuning, rows[1], 100);
    gpu_tuning_note(&tuning, rows[1], 200); // the shortest counts
    gpu_tuning_note(&tuning, rows[2], 150);
    gpu_tuning_note(&tuning, 0, 1); // of a step without a row
    assert_int_equal(chosen(&tuning, &small, &row), 2);
    assert_int_equal(row, rows[1]);
    assert_int_equal(tuning.rows[row - 1].ns, 100);
    assert_true(tuning.changed);
    tuning.tries = false;
    assert_int_equal(chosen(&tuning, &small, &row), 2);
    assert_int_equal(row, 0);
    assert_int_equal(chosen(&tuning, &large, &row), 0); // it was tried and has no time
    gpu_tuning_free(&tuning);
    assert_false(gpu_tuning_answers(&tuning));
    assert_false(gpu_tuning_answers(NULL));
}

static void test_blocks_that_are_no_candidates_are_not_taken(void **state)
{
    (void)state;
    struct gpu_tuning tuning = {.rows = NULL};
    int row;
    assert_true(gpu_tuning_parse(&tuning, "convolve 64,8,4,0,0,0,0,0 77,0,0,0,0,0 0 1\n"
                                          "convolve 64,8,4,0,0,0,0,0 3,0,0,0,0,0 2 500\n"));
    assert_int_equal(chosen(&tuning, &small, &row), 3);
    gpu_tuning_free(&tuning);
}

// ---- the text -----------------------------------------------------------------------------------

static const char identity[] = "Halite tuning 1\nbackend null\ndevice Null\n";
static const char some_rows[] =
    "convolve 64,8,4,0,0,0,-1,0 1,2,3,4,5,6 0 123456789012\nsum_codes 1,2,3,4,5,6,7,8 0,32,1,0,0,0 3 0\n";

static void test_text_comes_back(void **state)
{
    (void)state;
    struct gpu_tuning tuning = {.rows = NULL};
    struct hl_text text = {0};
    assert_true(gpu_tuning_parse(&tuning, some_rows));
    assert_int_equal(tuning.count, 2);
    gpu_tuning_print(&tuning, &text);
    assert_string_equal(text.data, some_rows);
    hl_text_free(&text);
    gpu_tuning_free(&tuning);
}

static void test_broken_rows_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "convolve 1,2,3,4,5,6,7 1,2,3,4,5,6 0 1\n",                            // a size is missing
        "convolve 1,2,3,4,5,6,7,8 1,2,3,4,5,6,7 0 1\n",                        // a number too many
        "convolve 1,2,3,4,5,6,7,2147483648 1,2,3,4,5,6 0 1\n",                 // more than 32 bits
        "convolve 1,2,3,4,5,6,7,8 1,2,3,4,5,6 -1 1\n",                         // no rank
        "convolve 1,2,3,4,5,6,7,8 1,2,3,4,5,6 0 -1\n",                         // no time
        "convolve 1,2,3,4,5,6,7,8 1,2,3,4,5,6 0 99999999999999999999999999\n", // far too long a time
        "Convolve 1,2,3,4,5,6,7,8 1,2,3,4,5,6 0 1\n",
        "a_kernel_with_a_name_of_32_letter 1,2,3,4,5,6,7,8 1,2,3,4,5,6 0 1\n",
        "\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct gpu_tuning tuning = {.rows = NULL};
        assert_false(gpu_tuning_parse(&tuning, broken[i]));
        gpu_tuning_free(&tuning);
    }
    size_t first = strcspn(some_rows, "\n") + 1;
    for (size_t length = 1; length < sizeof some_rows - 1; length++) { // cut anywhere but between rows
        char text[sizeof some_rows];
        struct gpu_tuning tuning = {.rows = NULL};
        snprintf(text, sizeof text, "%.*s", (int)length, some_rows);
        assert_int_equal(gpu_tuning_parse(&tuning, text), length == first);
        gpu_tuning_free(&tuning);
    }
}

// A file's text, with the right sum.
static void make_text(char *text, size_t room, const char *head, const char *rows)
{
    int length = snprintf(text, room, "%s%s", head, rows);
    snprintf(text + length, room - (size_t)length, "sum %016llx\n",
             (unsigned long long)hl_hash(0, text, (size_t)length));
}

static void test_files_are_checked(void **state)
{
    (void)state;
    char whole_text[512], text[512];
    const char *why = NULL;
    make_text(whole_text, sizeof whole_text, identity, some_rows);
    strcpy(text, whole_text);
    assert_string_equal(gpu_tuning_file_check(text, identity, &why), some_rows);
    for (size_t i = 0; whole_text[i]; i++) { // another byte anywhere, and cut anywhere
        strcpy(text, whole_text);
        text[i] ^= 1;
        assert_null(gpu_tuning_file_check(text, identity, &why));
        strcpy(text, whole_text);
        text[i] = 0;
        assert_null(gpu_tuning_file_check(text, identity, &why));
        assert_non_null(why);
    }
    strcpy(text, whole_text);
    assert_null(gpu_tuning_file_check(text, "Halite tuning 1\nbackend null\ndevice None\n", &why));
    assert_string_equal(why, "it is of another device, driver or version of the library");
}

// ---- delegates ----------------------------------------------------------------------------------

enum { ROWS = 64, INPUTS = 32, OUTPUTS = 64 };
static float weights[OUTPUTS * INPUTS];
static const struct test_tensor layer_tensors[] = {
    {.name = "x", .type = TEST_FLOAT32, .rank = 2, .dims = {ROWS, INPUTS}},
    {.name = "w", .type = TEST_FLOAT32, .rank = 2, .dims = {OUTPUTS, INPUTS}, .data = weights, .bytes = sizeof weights},
    {.name = "y", .type = TEST_FLOAT32, .rank = 2, .dims = {ROWS, OUTPUTS}},
};
static const struct test_node layer_node = {.builtin = kTfLiteBuiltinFullyConnected,
                                            TEST_INPUTS(0, 1, -1),
                                            TEST_OUTPUTS(2)};
static const struct test_model layer = {TEST_TENSORS(layer_tensors), TEST_NODE(layer_node), TEST_INPUTS(0),
                                        TEST_OUTPUTS(2)};

struct outcome {
    char program[200]; // the line of the null device about the convolution
    char messages[4096];
};

// Applies a delegate and runs once.
static struct outcome run(const char *folder, bool tunes)
{
    struct outcome outcome;
    TfLiteDelegate *delegate = make((const char *[]){"device", "null", "serialization_dir", folder, "model_token",
                                                     "auto", "tune", tunes ? "true" : "false", NULL});
    assert_non_null(delegate);
    struct session session;
    begin(&session, &layer);
    assert_int_equal(apply(&session, delegate), kTfLiteOk);
    assert_int_equal(delegated_nodes(&session), 1);
    assert_int_equal(HaliteDelegateSetProfiling(delegate, tunes, NULL), kTfLiteOk);
    memset(TfLiteTensorData(TfLiteInterpreterGetInputTensor(session.interpreter, 0)), 0, ROWS * INPUTS * sizeof(float));
    assert_int_equal(TfLiteInterpreterInvoke(session.interpreter), kTfLiteOk);
    char *text = gpu_null_text(gpu_delegate_of(delegate)->engine->device);
    assert_non_null(text);
    const char *line = strstr(text, "program convolve ");
    assert_non_null(line);
    int length = (int)strcspn(line, ";\n"); // "; kept" may follow
    while (line[length - 1] == ' ') length--;
    snprintf(outcome.program, sizeof outcome.program, "%.*s", length, line);
    free(text);
    snprintf(outcome.messages, sizeof outcome.messages, "%.4095s", session.messages.text);
    end(&session);
    tflite_plugin_destroy_delegate(delegate);
    assert_int_equal(gpu_null_live(), 0);
    return outcome;
}

static int make_folder(void **state)
{
    char *folder = strdup("/tmp/halite_test_tuning.XXXXXX");
    *state = folder;
    return folder && mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char *folder = *state, path[512];
    DIR *list = opendir(folder);
    for (struct dirent *entry; list && (entry = readdir(list));) {
        snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
        if (entry->d_name[0] != '.') remove(path);
    }
    if (list) closedir(list);
    int status = rmdir(folder);
    free(folder);
    return status;
}

static void tuned_path(const char *folder, char path[512])
{
    snprintf(path, 512, "%s/tuned_null_Null.txt", folder);
}

static void read_text(const char *folder, char *text, size_t room)
{
    char path[512];
    tuned_path(folder, path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
}

static void write_text(const char *folder, const char *text)
{
    char path[512];
    tuned_path(folder, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// The file again with a time of 1 for the row of this number and 1000 for all others.
static void favor(const char *folder, int favorite)
{
    char text[8192], again[8192] = "", rows[8192] = "", head[512] = "";
    read_text(folder, text, sizeof text);
    int number = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, "sum ", 4) == 0) continue;
        bool row = strncmp(line, "convolve ", 9) == 0;
        char *to = row ? rows : head;
        size_t used = strlen(to), room = row ? sizeof rows : sizeof head;
        if (row)
            snprintf(to + used, room - used, "%.*s %d\n", (int)(strrchr(line, ' ') - line), line,
                     number++ == favorite ? 1 : 1000);
        else
            snprintf(to + used, room - used, "%s\n", line);
    }
    make_text(again, sizeof again, head, rows);
    write_text(folder, again);
}

static void test_delegates_try_and_then_take_the_fastest(void **state)
{
    const char *folder = *state;
    enum { TRIALS = 4 };
    struct outcome plain = run(folder, false), trials[TRIALS];
    for (int i = 0; i < TRIALS; i++) {
        trials[i] = run(folder, true);
        assert_string_equal(trials[i].messages, "");
        for (int k = 0; k < i; k++) assert_string_not_equal(trials[i].program, trials[k].program);
    }
    assert_string_equal(trials[0].program, plain.program); // the model's choice is tried first
    for (int i = 0; i < TRIALS; i++) {
        favor(folder, i);
        struct outcome tuned = run(folder, false);
        assert_string_equal(tuned.program, trials[i].program);
        assert_string_equal(tuned.messages, "");
    }
}

static void test_other_files_are_ignored(void **state)
{
    const char *folder = *state;
    struct outcome plain = run(folder, false);
    run(folder, true);
    run(folder, true);
    favor(folder, 1);
    char text[8192], changed[8192];
    read_text(folder, text, sizeof text);
    assert_string_not_equal(run(folder, false).program, plain.program);

    const char *device = strstr(text, "device Null\n");
    assert_non_null(device);
    snprintf(changed, sizeof changed, "%.*sdevice None\n%s", (int)(device - text), text, device + 12);
    *strstr(changed, "sum ") = 0;
    char foreign[8192];
    make_text(foreign, sizeof foreign, changed, "");
    char damaged[8192];
    strcpy(damaged, text);
    damaged[strlen(damaged) / 2] ^= 1;
    char wrong[8192]; // a row that is none, and a right sum
    *strstr(text, "sum ") = 0;
    make_text(wrong, sizeof wrong, text, "convolve\n");
    const char *const texts[][2] = {{foreign, "it is of another device"},
                                    {damaged, "it is damaged"},
                                    {wrong, "it is damaged"},
                                    {"something else\n", "it is not one of these files"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(folder, texts[i][0]);
        struct outcome outcome = run(folder, false);
        assert_string_equal(outcome.program, plain.program);
        const char *first = strstr(outcome.messages, "measured blocks in ");
        if (!first || !strstr(first, texts[i][1])) print_error("%s\n", outcome.messages);
        assert_true(first && strstr(first, texts[i][1]));
        assert_null(strstr(first + 1, "measured blocks in "));
        outcome = run(folder, true); // and replaced
        assert_non_null(strstr(outcome.messages, texts[i][1]));
        assert_string_equal(run(folder, false).messages, "");
    }
}

int main(void)
{
    for (int i = 0; i < OUTPUTS * INPUTS; i++) weights[i] = (float)(i % 5) - 2;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranking_keeps_the_fastest),
        cmocka_unit_test(test_trials_go_on_until_all_have_times),
        cmocka_unit_test(test_blocks_that_are_no_candidates_are_not_taken),
        cmocka_unit_test(test_text_comes_back),
        cmocka_unit_test(test_broken_rows_are_refused),
        cmocka_unit_test(test_files_are_checked),
        cmocka_unit_test_setup_teardown(test_delegates_try_and_then_take_the_fastest, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_other_files_are_ignored, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
