// SPDX-License-Identifier: Apache-2.0
// halite transcribe-keywords: what is heard, and when? In: a model that tells sounds apart, WAV files, folders of them
// or samples on standard input. Out: words with their times, for people or for programs, as they are heard.
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "commands.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include "transcribe/events.h"
#include "transcribe/input.h"
#include "wave.h"

struct options {
    struct hl_task_options task;
    struct hl_sound_options sound;
    const char *raw;
    double score, smooth;
    int top;
    bool all;
};

static const struct options defaults = {.task.model = HL_MODEL_DEFAULTS, .score = 0.5, .top = 1};

// clang-format off
static const struct hl_flag flags[] = {
    HL_MODEL_FLAG(options, task.model),
    HL_LABELS_FLAG(options, task.labels),
    {.name = "score", .letter = 's', .kind = HL_FLAG_NUMBER, .value = "X", .min = -1e9, .max = 1e9,
     .offset = offsetof(struct options, score), .help = "a class counts from this score on; default 0.5"},
    {.name = "top", .letter = 'n', .kind = HL_FLAG_INT, .value = "N", .min = 1, .max = 10000,
     .offset = offsetof(struct options, top), .help = "how many classes may count at a time, the best; default 1"},
    {.name = "smooth", .kind = HL_FLAG_NUMBER, .value = "SECONDS", .min = 0, .max = 3600,
     .offset = offsetof(struct options, smooth), .help = "scores are the mean over the windows of this time; default: none"},
    {.name = "step", .kind = HL_FLAG_NUMBER, .value = "SECONDS", .min = 0.001, .max = 3600,
     .offset = offsetof(struct options, sound.step),
     .help = "from one window to the next; default half a window, of models\nwith a state a whole one"},
    {.name = "all", .kind = HL_FLAG_SWITCH, .offset = offsetof(struct options, all),
     .help = "tell the best classes of every window, whatever their scores"},
    {.name = "features", .kind = HL_FLAG_STRING, .value = "NAME", .offset = offsetof(struct options, sound.features),
     .help = "what the input takes: samples, micro, mfcc or lfbe; default:\nwhat the model looks like; see below"},
    {.name = "frame-step", .kind = HL_FLAG_NUMBER, .value = "SECONDS", .min = 0.001, .max = 1,
     .offset = offsetof(struct options, sound.frame_step),
     .help = "from one frame of features to the next; default: see below"},
    {.name = "rate", .kind = HL_FLAG_INT, .value = "N", .min = HL_WAVE_MIN_RATE, .max = HL_WAVE_MAX_RATE,
     .offset = offsetof(struct options, sound.rate),
     .help = "samples a second that the model takes; default: what its\nmetadata says, else 16000"},
    {.name = "raw", .kind = HL_FLAG_STRING, .value = "FORMAT", .offset = offsetof(struct options, raw),
     .help = "what bare samples on standard input are, s16:44100:2 for example;\ndefault s16, the model's rate, one channel"},
    HL_TASK_FORMAT_FLAG(options, "a line for each word: sound, start, end,\nclass, label, score"),
    HL_MODEL_RUN_FLAGS(options, task.model),
};
// clang-format on

static const char details[] =
    "Sounds are WAV files (8, 16, 24 and 32 bits, floats; one or two channels, any rate), folders of\n"
    "them, or - (standard input): a WAV file, or bare samples, little-endian, that --raw tells of (u8,\n"
    "s16, s24, s32, f32 or f64, the rate, the channels), transcribed while they come. Two channels are\n"
    "mixed, and other rates converted.\n"
    "\n"
    "A window slides over the sound. What follows in windows one after the other, with a score of\n"
    "--score or more, is one word, with the time from the first window's start to the last one's end.\n"
    "A model that keeps a state hears every sample once, and starts anew with each sound.\n"
    "\n"
    "The model has one score for each class. Its input takes one of\n"
    "  samples  [1,n] of float32 (-1 to 1) or int16; a second input, int32, gets the rate\n"
    "  micro    TensorFlow's micro frontend, 40 numbers for 30 ms every 20 ms (models that keep a state:\n"
    "           every 10 ms): 8-bit inputs of values from 0 to 26\n"
    "  mfcc     MLPerf Tiny's keyword spotting, 10 numbers for 30 ms every 20 ms: [1,49,10,1]\n"
    "  lfbe     MLPerf Tiny's streaming wakeword, 40 numbers for 64 ms every 32 ms: 8-bit [1,30,1,40]\n"
    "           of values from 0 to 1\n"
    "Other features are refused: a model's file does not say how they are made.\n";

struct transcription {
    const struct options *options;
    struct hl_pcm bare;
    struct hl_sound_input input;
    struct hl_class_scores scores;
    // Of the sound at hand.
    struct hl_task *task;
    const char *sound;
    struct hl_listening listening;
    cJSON *words;
    double seconds; // of all inferences
    int count;      // of words
};

// ---- the model ----------------------------------------------------------------------------------

static bool prepare(struct hl_task *task)
{
    struct transcription *transcription = task->state;
    const struct options *options = transcription->options;
    if (!hl_sound_input_look(&transcription->input, task, &options->sound) ||
        !hl_class_scores_prepare(&transcription->scores, task, options->top))
        return false;
    transcription->bare = (struct hl_pcm){.format = 1, .rate = transcription->input.rate, .channels = 1};
    if (options->raw == NULL || hl_pcm_parse(options->raw, &transcription->bare)) return true;
    hl_error(task->kind->command, NULL,
             "--raw %s: s16, s16:44100 or s16:44100:2 are wanted, with u8, s16, s24, s32, "
             "f32 or f64 in front",
             options->raw);
    return false;
}

// Of a model with a state the next sound is to find none of the last one's.
static bool start_anew(struct hl_task *task)
{
    const struct hl_model_options *options = &task->options->model;
    if (task->items == 0 || !task->keeps_state) return true;
    hl_model_file_close(&task->file);
    return hl_model_file_open(&task->file, task->kind->command, options->model) &&
           hl_model_file_start(&task->file, options) && hl_model_file_allocate(&task->file);
}

// ---- what was heard -----------------------------------------------------------------------------

static void show_word(struct transcription *transcription, const struct hl_event *word)
{
    const struct hl_task *task = transcription->task;
    const char *name = hl_task_class_name(task, word->class);
    struct hl_text line = {0};
    transcription->count++;
    if (transcription->words != NULL) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "start", word->start);
        cJSON_AddNumberToObject(json, "end", word->end);
        hl_task_add_class_members(json, name, word->class, (double)word->score);
        cJSON_AddItemToArray(transcription->words, json);
        return;
    }
    if (task->options->format == HL_TASK_TSV) {
        hl_text_add_escaped(&line, transcription->sound, strlen(transcription->sound));
        hl_text_add(&line, "\t%.3f\t%.3f", word->start, word->end);
        hl_task_add_class_cells(&line, name, word->class, (double)word->score);
    } else {
        hl_text_add(&line, "  %8.2f - %8.2f s  %6.3f  ", word->start, word->end, (double)word->score);
        hl_task_add_class(&line, name, word->class);
    }
    puts(line.data);
    fflush(stdout); // somebody may be waiting for it
    hl_text_free(&line);
}

static void show_words(struct transcription *transcription)
{
    const struct hl_event *word;
    while ((word = hl_listening_next(&transcription->listening)) != NULL) show_word(transcription, word);
}

// The input holds a window.
static bool hear(void *user_data)
{
    struct transcription *transcription = user_data;
    struct hl_task *task = transcription->task;
    const struct hl_sound_input *input = &transcription->input;
    // The last window may end in silence that is no part of the sound.
    int64_t first = input->windows * input->step, last = first + input->window;
    double start = (double)first / input->rate, before = hl_seconds();
    double end = (double)(last < input->taken ? last : input->taken) / input->rate;
    if (TfLiteInterpreterInvoke(task->file.interpreter) != kTfLiteOk) {
        hl_model_file_failed(&task->file, "the inference failed");
        return false;
    }
    transcription->seconds += hl_seconds() - before;
    task->inferences++;
    if (!hl_class_scores_read(&transcription->scores, task, transcription->sound, "may be damaged")) return false;
    hl_listening_add(&transcription->listening, &transcription->scores, start, end);
    show_words(transcription);
    return true;
}

// ---- one sound ----------------------------------------------------------------------------------

static size_t read_file(void *user_data, unsigned char *bytes, size_t size)
{
    return fread(bytes, 1, size, user_data);
}

static bool listen(struct transcription *transcription, struct hl_wave *wave)
{
    enum { BLOCK = 512 };
    float block[BLOCK];
    struct hl_resampler resampler;
    struct hl_samples samples = {0};
    struct hl_sound_input *input = &transcription->input;
    hl_resampler_start(&resampler, wave->pcm.rate, input->rate);
    bool ok = true;
    for (size_t count = BLOCK; ok && count == BLOCK;) {
        count = hl_wave_read(wave, block, BLOCK);
        hl_resampler_add(&resampler, block, count, &samples);
        if (count < BLOCK) hl_resampler_finish(&resampler, &samples);
        ok = hl_sound_input_add(input, transcription->task, samples.items, samples.count, hear, transcription);
        samples.count = 0;
    }
    ok = ok && hl_sound_input_finish(input, transcription->task, hear, transcription);
    hl_resampler_free(&resampler);
    hl_samples_free(&samples);
    return ok;
}

static void show_end(struct transcription *transcription, const struct hl_wave *wave)
{
    const struct hl_sound_input *input = &transcription->input;
    struct hl_task *task = transcription->task;
    double seconds = (double)input->taken / input->rate;
    if (transcription->words != NULL) {
        cJSON *json = cJSON_CreateObject();
        hl_json_add_string(json, "sound", transcription->sound);
        cJSON_AddNumberToObject(json, "seconds", seconds);
        cJSON_AddNumberToObject(json, "rate", wave->pcm.rate);
        cJSON_AddNumberToObject(json, "channels", wave->pcm.channels);
        cJSON_AddNumberToObject(json, "window", (double)input->window / input->rate);
        cJSON_AddNumberToObject(json, "step", (double)input->step / input->rate);
        cJSON_AddNumberToObject(json, "windows", (double)input->windows);
        cJSON_AddItemToObject(json, "words", transcription->words);
        transcription->words = NULL;
        cJSON_AddItemToArray(task->json, json);
    } else if (task->options->format == HL_TASK_TABLE) {
        char time[32];
        hl_format_seconds(time, sizeof time, transcription->seconds / (double)input->windows);
        printf("  %.2f s, %d word%s, %lld window%s of %.2f s, %s each\n\n", seconds, transcription->count,
               transcription->count == 1 ? "" : "s", (long long)input->windows, input->windows == 1 ? "" : "s",
               (double)input->window / input->rate, time);
    }
}

static bool check_end(const struct transcription *transcription, const struct hl_wave *wave, FILE *file)
{
    const char *command = transcription->task->kind->command, *sound = transcription->sound;
    if (ferror(file))
        hl_error(command, sound, "cannot be read to its end");
    else if (wave->not_finite)
        hl_error(command, sound, "holds a sample that is no number (NaN)");
    else if (wave->cut)
        hl_error(command, sound, "is a damaged WAV file: it ends before its last sample");
    else if (transcription->input.taken == 0)
        hl_error(command, sound, "holds no sound");
    else
        return true;
    return false;
}

static bool transcribe(struct transcription *transcription, struct hl_wave *wave, FILE *file)
{
    struct hl_task *task = transcription->task;
    const struct hl_sound_input *input = &transcription->input;
    int windows = (int)fmin(1e6, floor(transcription->options->smooth * input->rate / (double)input->step + 0.5));
    transcription->listening = (struct hl_listening){
        .threshold = transcription->options->score,
        .windows = windows > 1 ? windows : 1,
        .every = transcription->options->all,
    };
    hl_listening_start(&transcription->listening, transcription->scores.classes);
    hl_sound_input_reset(&transcription->input);
    transcription->seconds = transcription->count = 0;
    if (task->json != NULL) transcription->words = cJSON_CreateArray();
    if (task->options->format == HL_TASK_TABLE) {
        struct hl_text line = {0};
        hl_text_add_escaped(&line, transcription->sound, strlen(transcription->sound));
        printf("%s (%d samples a second, %s)\n", line.data, wave->pcm.rate,
               wave->pcm.channels == 1 ? "one channel" : "two channels");
        hl_text_free(&line);
    }
    bool ok = listen(transcription, wave) && check_end(transcription, wave, file);
    if (ok) {
        hl_listening_finish(&transcription->listening);
        show_words(transcription);
        show_end(transcription, wave);
    }
    cJSON_Delete(transcription->words);
    transcription->words = NULL;
    hl_listening_free(&transcription->listening);
    return ok;
}

static bool run_sound(struct hl_task *task, const char *path)
{
    struct transcription *transcription = task->state;
    struct hl_text error = {0};
    const bool standard = hl_files_is_stdin(path);
    FILE *file = standard ? stdin : hl_file_stream(path, "rb"); // what comes is not kept: it may never end
    transcription->task = task;
    transcription->sound = path;
    if (file == NULL) {
        hl_error(task->kind->command, path, "cannot be opened: %s", strerror(errno));
        return false;
    }
    struct hl_wave wave = {.read = read_file, .user_data = file};
    bool ok = hl_wave_open(&wave, standard ? &transcription->bare : NULL, &error);
    if (!ok) hl_error(task->kind->command, path, "%s", error.data);
    ok = ok && start_anew(task) && transcribe(transcription, &wave, file);
    if (!standard) fclose(file);
    hl_text_free(&error);
    return ok;
}

static const char *input_name(const struct hl_task *task)
{
    const struct hl_sound_input *input = &((const struct transcription *)task->state)->input;
    return input->features ? input->make.kind->name : "samples";
}

static int run(const void *given, int operand_count, char **operands)
{
    static const char *const endings[] = {".wav", ".wave", NULL};
    static const struct hl_task_medium sounds = {.name = "sounds", .endings = endings, .run = run_sound};
    static const struct hl_task_kind kind = {
        .command = "transcribe-keywords",
        .medium = &sounds,
        .prepare = prepare,
        .name = input_name,
    };
    struct transcription transcription = {.options = given};
    int code = hl_task_run(&kind, &transcription.options->task, &transcription, operand_count, operands);
    hl_sound_input_free(&transcription.input);
    hl_class_scores_free(&transcription.scores);
    return code;
}

static const struct hl_example examples[] = {
    {"halite transcribe-keywords micro_speech.tflite --labels words.txt yes.wav", "which words, and when"},
    {"arecord -f S16_LE -r 16000 -t raw | halite transcribe-keywords kws.tflite -",
     "of a microphone, as they are said"},
    {"halite transcribe-keywords yamnet.tflite --top 3 --all street.wav --format tsv", "three sounds of every window"},
    {NULL, NULL},
};

const struct hl_command hl_command_transcribe_keywords = {
    .name = "transcribe-keywords",
    .summary = "Tell which words or sounds are heard, and when, with a model for sound.",
    .details = details,
    HL_COMMAND_TABLES(flags, defaults),
    .examples = examples,
    HL_TASK_COMMAND("SOUND...", run),
};
