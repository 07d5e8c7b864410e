// SPDX-License-Identifier: Apache-2.0
// See evaluation.h. What a picture gave is a line of text before it is counted, so going on with an interrupted
// evaluation is counting the lines of its journal, and every run proves that this works.
#include "eval/evaluation.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "base/clock.h"
#include "eval/pipeline.h"
#include "eval/result.h"
#include "files.h"
#include "message.h"
#include "metadata.h"
#include "progress.h"
#include "wire.h"

enum { EXIT_INTERRUPTED = 130 }; // as shells have it for SIGINT

// ---- pictures -----------------------------------------------------------------------------------

static bool is_picture(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".rgb8", ".png", ".bmp", ".pgm", ".ppm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (hl_files_ends_with_any_case(name, endings[i])) return true;
    return false;
}

static bool list_pictures(struct hl_evaluation *evaluation)
{
    const char *folder = evaluation->setting->ground_truth_images_path;
    size_t count = 0;
    char **names = hl_folder_list(folder, &count);
    if (names == NULL) {
        hl_error(HL_TFLITE, folder, "cannot be read: %s", strerror(errno));
        return false;
    }
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') length--;
    evaluation->paths = hl_alloc(count, sizeof *evaluation->paths);
    for (size_t i = 0; i < count; i++) {
        struct hl_text path = {0};
        hl_text_add(&path, "%.*s/%s", (int)length, folder, names[i]);
        bool is_folder = hl_path_is_folder(path.data), picture = is_picture(names[i]);
        const char *dot = strrchr(names[i], '.');
        if (!is_folder && !picture)
            hl_warn(HL_TFLITE, path.data, "Extension %s is not supported; the file is left out",
                    dot != NULL ? dot : "''");
        if (!is_folder && picture)
            evaluation->paths[evaluation->path_count++] = path.data;
        else
            hl_text_free(&path);
    }
    hl_folder_free(names, count);
    if (evaluation->path_count == 0) hl_error(HL_TFLITE, folder, "holds no pictures");
    return evaluation->path_count > 0;
}

void hl_evaluation_compact(struct hl_evaluation *evaluation)
{
    int kept = 0;
    for (int i = 0; i < evaluation->path_count; i++)
        if (evaluation->paths[i] != NULL) evaluation->paths[kept++] = evaluation->paths[i];
    evaluation->path_count = kept;
}

// ---- opening ------------------------------------------------------------------------------------

// Flags that may differ between the two parts of an evaluation.
static bool is_free_flag(const char *name)
{
    static const char *const names[] = {"resume",
                                        "stop_on_error",
                                        "output_file_path",
                                        "num_preprocess_threads",
                                        "num_interpreter_threads",
                                        "num_threads",
                                        "debug_mode",
                                        "shard"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static uint64_t take_fingerprint(const struct hl_evaluation *evaluation, const void *options)
{
    const struct hl_command *command = evaluation->command;
    struct hl_path_facts model;
    char number[64];
    uint64_t hash = hl_fingerprint_add(HL_FINGERPRINT, command->name);
    for (int i = 0; i < command->flag_count; i++) {
        const struct hl_flag *flag = &command->flags[i];
        const void *at = (const char *)options + flag->offset;
        if (is_free_flag(flag->name)) continue;
        if (flag->kind == HL_FLAG_STRING) {
            hash = hl_fingerprint_add(hash, *(const char *const *)at);
        } else {
            snprintf(number, sizeof number, "%d", flag->kind == HL_FLAG_BOOL ? *(const bool *)at : *(const int *)at);
            hash = hl_fingerprint_add(hash, number);
        }
    }
    if (hl_path_look(evaluation->setting->base.model_file, &model)) {
        snprintf(number, sizeof number, "%lld %lld", (long long)model.size, (long long)model.modified);
        hash = hl_fingerprint_add(hash, number);
    }
    return hash;
}

// All that is missing is named at once, the model first.
static bool check_setting(const struct hl_pictures_setting *setting, const struct hl_eval_missing *task_flag)
{
    const struct hl_eval_missing needed[] = {
        {"model_file", "FILE, a .tflite file", setting->base.model_file},
        {"ground_truth_images_path", "FOLDER, with the pictures", setting->ground_truth_images_path},
        {"model_output_labels", "FILE, the classes of the model, one a line", setting->model_output_labels},
        task_flag != NULL ? *task_flag : (struct hl_eval_missing){.given = "nothing more"},
    };
    bool complete = true;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (*needed[i].given != '\0') continue;
        hl_error(HL_TFLITE, NULL, "--%s is missing: write --%s=%s", needed[i].name, needed[i].name, needed[i].value);
        complete = false;
    }
    const char *path = setting->base.output_file_path;
    if (!complete) return false;
    if (*path != '\0' || (!setting->resume && *setting->shard == '\0')) return hl_wire_check(path);
    hl_error(HL_TFLITE, NULL, "--%s needs --output_file_path, beside which the evaluation is kept",
             setting->resume ? "resume" : "shard");
    return false;
}

static bool load_labels(struct hl_evaluation *evaluation)
{
    struct hl_text error = {0};
    const char *path = evaluation->setting->model_output_labels;
    bool ok = hl_labels_load(path, &evaluation->labels, &error);
    if (!ok) hl_error(HL_TFLITE, NULL, "Could not read model output labels file: '%s' %s", path, error.data);
    hl_text_free(&error);
    return ok;
}

static bool check_input(struct hl_evaluation *evaluation)
{
    const struct hl_model_file *file = &evaluation->model.file;
    int count = TfLiteInterpreterGetInputTensorCount(file->interpreter);
    if (count != 1) {
        hl_error(HL_TFLITE, file->path, "Model must have 1 input, not %d", count);
        return false;
    }
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(file->interpreter, 0);
    const char *wanted = hl_preprocess_look(input, &evaluation->shape);
    if (wanted == NULL) return true;
    struct hl_text shape = {0};
    hl_model_add_tensor_shape(&shape, input);
    hl_error(HL_TFLITE, file->path, "Invalid input shape for model: it is %s; %s", shape.data, wanted);
    hl_text_free(&shape);
    return false;
}

// "127.5", or a number for each of red, green and blue. False after a message.
static bool read_channels(const char *flag, const char *text, double values[3])
{
    const char *at = text;
    char *end = NULL;
    int count = 0;
    bool ok = true;
    do {
        values[count] = strtod(at, &end);
        ok = end != at && isfinite(values[count]);
        at = end + 1;
    } while (ok && ++count < 3 && *end == ',');
    ok = ok && *end == '\0' && (count == 1 || count == 3);
    for (int i = count; ok && i < 3; i++) values[i] = values[0];
    if (!ok)
        hl_error(HL_TFLITE, NULL, "--%s=%s: one number or three are wanted, as 127.5 or 123.7,116.3,103.5", flag, text);
    return ok;
}

// What the model's metadata says is not taken unasked, since the original does not; but one hears of it.
static void compare_with_metadata(const struct hl_evaluation *evaluation)
{
    const struct hl_model_file *file = &evaluation->model.file;
    const bool given = evaluation->normalization.given;
    struct hl_normalization said, used = {.mean = {127.5, 127.5, 127.5}, .std = {127.5, 127.5, 127.5}};
    if (given) used = evaluation->normalization;
    if (!given && evaluation->shape.type != kTfLiteFloat32) return; // pixels as they are
    if (!hl_metadata_normalization(file->model, 0, &said)) return;
    bool same = true;
    for (int i = 0; i < evaluation->shape.channels; i++)
        same = same && said.mean[i] == used.mean[i] && said.std[i] == used.std[i];
    if (!same)
        hl_warn(HL_TFLITE, file->path,
                "its metadata wants another normalization than %s: --mean=%g,%g,%g --std=%g,%g,%g",
                given ? "these flags give" : "(pixel - 127.5) / 127.5, which the evaluation takes", said.mean[0],
                said.mean[1], said.mean[2], said.std[0], said.std[1], said.std[2]);
}

static bool take_normalization(struct hl_evaluation *evaluation)
{
    const struct hl_pictures_setting *setting = evaluation->setting;
    struct hl_normalization *normalization = &evaluation->normalization;
    normalization->given = *setting->mean != '\0' || *setting->std != '\0';
    if (normalization->given &&
        (!read_channels("mean", *setting->mean != '\0' ? setting->mean : "0", normalization->mean) ||
         !read_channels("std", *setting->std != '\0' ? setting->std : "1", normalization->std)))
        return false;
    for (int i = 0; normalization->given && i < 3; i++) {
        if (normalization->std[i] != 0) continue;
        hl_error(HL_TFLITE, NULL, "--std=%s: nothing can be divided by 0", setting->std);
        return false;
    }
    compare_with_metadata(evaluation);
    return true;
}

bool hl_evaluation_open(struct hl_evaluation *evaluation, const struct hl_command *command, const void *options,
                        const struct hl_pictures_setting *setting, const struct hl_eval_missing *task_flag)
{
    *evaluation = (struct hl_evaluation){.command = command, .setting = setting};
    hl_interrupts_hold(&evaluation->interrupts);
    if (!check_setting(setting, task_flag) || !list_pictures(evaluation) || !load_labels(evaluation)) return false;
    if (!hl_eval_model_open(&evaluation->model, &setting->base, command) || !check_input(evaluation)) return false;
    if (!take_normalization(evaluation)) return false;
    evaluation->fingerprint = take_fingerprint(evaluation, options);
    return true;
}

void hl_evaluation_close(struct hl_evaluation *evaluation)
{
    hl_journal_close(&evaluation->journal, false);
    for (int i = 0; i < evaluation->path_count; i++) free(evaluation->paths[i]);
    free(evaluation->paths);
    hl_labels_free(&evaluation->labels);
    hl_eval_model_close(&evaluation->model);
    hl_interrupts_release(&evaluation->interrupts);
}

// ---- running ------------------------------------------------------------------------------------

// A line of the journal: times in microseconds and what the task saw; or that the picture is broken.
static const char broken_line[] = "broken";

struct run {
    struct hl_evaluation *evaluation;
    const struct hl_evaluation_task *task;
    void *user_data;
};

// Counts the line of the next picture.
static bool count_line(void *user_data, const char *line)
{
    struct run *run = user_data;
    struct hl_evaluation *evaluation = run->evaluation;
    if (evaluation->done >= evaluation->end) return false;
    if (strcmp(line, broken_line) == 0) {
        evaluation->broken++;
        evaluation->done++;
        return true;
    }
    char *end;
    double preprocess = strtod(line, &end);
    if (end == line || *end != ' ') return false;
    line = end + 1;
    double inference = strtod(line, &end);
    if (end == line || *end != ' ') return false;
    if (!run->task->count(run->user_data, evaluation->done, end + 1)) return false;
    hl_stat_add(&evaluation->preprocess_us, preprocess);
    hl_stat_add(&evaluation->inference_us, inference);
    evaluation->done++;
    return true;
}

// Runs the model on a picture and writes its line.
static bool infer(struct run *run, const struct hl_pipeline_item *item, struct hl_text *line)
{
    struct hl_model_file *file = &run->evaluation->model.file;
    TfLiteTensor *input = TfLiteInterpreterGetInputTensor(file->interpreter, 0);
    TfLiteStatus status = TfLiteTensorCopyFromBuffer(input, item->input, item->bytes);
    double start = hl_seconds();
    if (status == kTfLiteOk) status = TfLiteInterpreterInvoke(file->interpreter);
    double microseconds = floor(1e6 * (hl_seconds() - start));
    if (status != kTfLiteOk) {
        hl_model_file_failed(file, "the inference failed");
        return false;
    }
    hl_text_add(line, "%.0f %.0f ", item->microseconds, microseconds);
    return run->task->look(run->user_data, run->evaluation->done, line);
}

static bool run_picture(struct run *run, const struct hl_pipeline_item *item)
{
    struct hl_text line = {0};
    bool ok = true;
    if (item->input != NULL) {
        ok = infer(run, item, &line);
    } else {
        hl_error(HL_TFLITE, item->path, "%s", item->error);
        hl_text_add(&line, "%s", broken_line);
        ok = !run->evaluation->setting->stop_on_error;
    }
    ok = ok && count_line(run, line.data);
    if (ok && !hl_journal_add(&run->evaluation->journal, line.data))
        hl_warn(HL_TFLITE, run->evaluation->journal.path, "cannot be written: this evaluation cannot be resumed");
    hl_text_free(&line);
    return ok;
}

// A line for each percent, as the original prints them.
static void show_percent(const struct hl_evaluation *evaluation, const char *word)
{
    int step = evaluation->path_count / 100;
    if (step > 1 && evaluation->done % step == 0) hl_info(HL_TFLITE, NULL, "%s: %d%%", word, evaluation->done / step);
}

static bool run_pictures(struct run *run)
{
    struct hl_evaluation *evaluation = run->evaluation;
    const TfLiteTensor *input = TfLiteInterpreterGetInputTensor(evaluation->model.file.interpreter, 0);
    bool gray = evaluation->shape.channels == 1;
    struct hl_pipeline_setting setting = {
        .paths = evaluation->paths,
        .first = evaluation->done,
        .count = evaluation->end,
        .threads = evaluation->setting->num_preprocess_threads,
        .shape = evaluation->shape,
        .normalization = evaluation->normalization,
        .crop = gray && run->task->crop != HL_PREPROCESS_WHOLE ? 1 : run->task->crop,
        .quantization = TfLiteTensorQuantizationParams(input),
    };
    struct hl_text error = {0};
    struct hl_pipeline *pipeline = hl_pipeline_create(&setting, &error);
    if (pipeline == NULL) hl_error(HL_TFLITE, NULL, "%s", error.data);
    hl_text_free(&error);
    bool ok = pipeline != NULL;
    struct hl_pipeline_item item;
    struct hl_progress progress = {.on = false};
    if (!run->task->talks) hl_progress_start(&progress, run->task->word, evaluation->done, evaluation->end);
    bool lines = !progress.on || !hl_stream_is_terminal(stdout);
    while (ok && evaluation->done < evaluation->end) {
        evaluation->interrupted = hl_interrupts_pending();
        if (evaluation->interrupted || !hl_pipeline_next(pipeline, &item)) break;
        if (lines) show_percent(evaluation, run->task->word);
        ok = run_picture(run, &item);
        hl_progress_step(&progress);
    }
    hl_pipeline_destroy(pipeline);
    hl_progress_end(&progress);
    return ok;
}

// Which pictures are those of this run: all, or the shard's. False after a message.
static bool take_shard(struct hl_evaluation *evaluation)
{
    const char *shard = evaluation->setting->shard;
    evaluation->end = evaluation->path_count;
    if (*shard == '\0') return true;
    int number, count, used = 0;
    if (sscanf(shard, "%9d/%9d%n", &number, &count, &used) != 2 || shard[used] != '\0' || number < 1 ||
        number > count) {
        hl_error(HL_TFLITE, NULL, "--shard is '%s'; a number and how many there are is wanted: 2/8", shard);
        return false;
    }
    evaluation->first = (int)((int64_t)evaluation->path_count * (number - 1) / count);
    evaluation->end = (int)((int64_t)evaluation->path_count * number / count);
    evaluation->done = evaluation->first;
    return true;
}

static bool open_journal(struct run *run)
{
    struct hl_evaluation *evaluation = run->evaluation;
    const char *path = evaluation->setting->base.output_file_path;
    if (*path == '\0') return true;
    struct hl_text error = {0};
    uint64_t hash = evaluation->fingerprint;
    for (int i = 0; i < evaluation->path_count; i++) hash = hl_fingerprint_add(hash, evaluation->paths[i]);
    bool ok = hl_journal_open(&evaluation->journal, path, hash, evaluation->setting->resume, count_line, run, &error);
    if (!ok) hl_error(HL_TFLITE, NULL, "%s", hl_text_string(&error));
    if (ok && evaluation->setting->resume)
        hl_info(HL_TFLITE, NULL, "Going on behind %d of %d pictures", evaluation->done, evaluation->path_count);
    hl_text_free(&error);
    return ok;
}

bool hl_evaluation_run(struct hl_evaluation *evaluation, const struct hl_evaluation_task *task, void *user_data)
{
    struct run run = {.evaluation = evaluation, .task = task, .user_data = user_data};
    bool ok = take_shard(evaluation) && open_journal(&run) && run_pictures(&run);
    if (ok && evaluation->interrupted)
        hl_warn(HL_TFLITE, NULL, "Interrupted after %d of %d pictures%s", evaluation->done, evaluation->path_count,
                *evaluation->setting->base.output_file_path != '\0' ? "; the same command with --resume=true goes on"
                                                                    : "");
    if (ok && evaluation->broken > 0)
        hl_warn(HL_TFLITE, NULL, "%d of %d pictures could not be read and are not counted", evaluation->broken,
                evaluation->done - evaluation->first);
    if (ok && evaluation->broken == evaluation->path_count) {
        hl_error(HL_TFLITE, evaluation->setting->ground_truth_images_path, "no picture could be read");
        return false;
    }
    return ok;
}

// ---- results ------------------------------------------------------------------------------------

void hl_evaluation_print(const struct hl_evaluation *evaluation)
{
    printf("Num evaluation runs: %d\n", evaluation->done - evaluation->broken);
    // The original never fills the first deviation in.
    hl_result_print_latency("Preprocessing", &evaluation->preprocess_us, false);
    hl_result_print_latency("Inference", &evaluation->inference_us, true);
}

bool hl_evaluation_write(struct hl_evaluation *evaluation, const char *member, cJSON *metrics)
{
    int runs = evaluation->done - evaluation->broken;
    cJSON_AddItemToObject(metrics, "pre_processing_latency", hl_result_latency(&evaluation->preprocess_us, false));
    cJSON_AddItemToObject(metrics, "inference_latency", hl_result_latency(&evaluation->inference_us, true));
    cJSON *inferences = hl_alloc_check(cJSON_AddObjectToObject(metrics, "inference_metrics"));
    cJSON_AddNumberToObject(inferences, "num_inferences", runs);
    bool ok = hl_result_write(evaluation->setting->base.output_file_path, runs, member, metrics);
    hl_journal_close(&evaluation->journal, ok && !evaluation->interrupted);
    return ok;
}

int hl_evaluation_finish(const struct hl_evaluation *evaluation, bool ok)
{
    if (!ok) hl_error(HL_TFLITE, NULL, "Could not run the task evaluation!");
    return !ok ? HL_EXIT_FAILED : evaluation->interrupted ? EXIT_INTERRUPTED : HL_EXIT_OK;
}
