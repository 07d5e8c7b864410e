// SPDX-License-Identifier: Apache-2.0
// The delegate is applied as a program would apply it, so what it says is what happens. Without a GPU it gets the null
// device, which computes nothing: whether a node has a kernel does not depend on the device.
#include "placement.h"

#include <string.h>

#include "delegate_choice.h"
#include "element.h"
#include "json.h"
#include "message.h"
#include "table.h"
#include "tensorflow/lite/c/c_api_experimental.h"

// ---- applying -----------------------------------------------------------------------------------

static bool is_auto(const char *device)
{
    return device == NULL || *device == '\0' || strcmp(device, "auto") == 0;
}

// What to ask for: the null device where nobody names one and there is no GPU.
static const char *choose_device(struct hl_node_placement *placement, const char *device)
{
    const struct hl_gpu_library *gpu = &placement->file.gpu;
    if (!is_auto(device) || !is_auto(getenv("HALITE_DEVICE"))) return device;
    HaliteDeviceList *list = hl_alloc_check(gpu->HaliteDeviceListCreate());
    placement->assumed = gpu->HaliteDeviceListGetAuto(list) < 0;
    gpu->HaliteDeviceListDelete(list);
    return placement->assumed ? "null" : device;
}

static bool is_about(const struct hl_node_placement *placement, const HaliteDelegateGraph *graph, int subgraph)
{
    const TfLiteModel *model = placement->file.model;
    const struct hl_model_subgraph *from = &model->subgraphs[subgraph];
    if (graph->node_count != from->node_count) return false;
    for (int i = 0; i < graph->node_count; i++) {
        const HaliteDelegateNode *node =
            placement->library.HaliteDelegateReportGetNode(placement->report, graph->first_node + i);
        if (node->node >= from->node_count ||
            strncmp(node->op, hl_model_code_name(&model->codes[from->nodes[node->node].code]), strlen(node->op)) != 0)
            return false;
    }
    return true;
}

// The runtime asks the delegate about one subgraph after the other, and may leave some out.
static void find_graphs(struct hl_node_placement *placement)
{
    const struct hl_delegate_library *library = &placement->library;
    int count = placement->file.model->subgraph_count, next = 0;
    placement->graphs = hl_alloc((size_t)count, sizeof *placement->graphs);
    for (int s = 0; s < count; s++) {
        const HaliteDelegateGraph *graph = library->HaliteDelegateReportGetGraph(placement->report, next);
        if (graph == NULL || !is_about(placement, graph, s)) continue;
        placement->graphs[s] = graph;
        next++;
    }
}

static bool make_gpu_delegate(struct hl_node_placement *placement, const struct hl_model_options *options)
{
    struct hl_model_file *file = &placement->file;
    if (!hl_model_file_open_gpu(file)) return false;
    struct hl_model_options chosen = *options;
    chosen.device = choose_device(placement, options->device);
    return hl_model_file_create_gpu_delegate(file, &chosen);
}

static void report(const char *text)
{
    hl_error("inspect", NULL, "%s", text);
}

// What is wrong is said when the delegate is made once more, for a system that is not here.
static void ignore(const char *text)
{
    (void)text;
}

// The file's own delegate would be an external one, of which there is no report.
static bool make_other_delegate(struct hl_node_placement *placement, const struct hl_model_options *options,
                                TfLiteExternalDelegateOptions *given)
{
    char partitions[16];
    if (options->device != NULL) TfLiteExternalDelegateOptionsInsert(given, "device", options->device);
    snprintf(partitions, sizeof partitions, "%d", options->partitions);
    if (options->partitions > 0) TfLiteExternalDelegateOptionsInsert(given, "max_delegated_partitions", partitions);
    const struct hl_delegate_library *library = &placement->library;
    size_t count = (size_t)given->count;
    placement->other = library->tflite_plugin_create_delegate(given->keys, given->values, count,
                                                              library->assume_key != NULL ? ignore : report);
    if (placement->other != NULL || library->assume_key == NULL) return placement->other != NULL;
    TfLiteExternalDelegateOptionsInsert(given, library->assume_key, library->assume_value);
    count = (size_t)given->count;
    placement->other = library->tflite_plugin_create_delegate(given->keys, given->values, count, report);
    placement->assumed = placement->other != NULL;
    return placement->assumed;
}

static bool make_delegate(struct hl_node_placement *placement, const struct hl_model_options *options)
{
    struct hl_delegate_choice choice;
    struct hl_text problem = {0};
    bool ok = hl_delegate_choice_parse(&choice, options->delegate != NULL ? options->delegate : "gpu", &problem);
    const char *name = choice.options.lib_path;
    bool gpu = strcmp(name, "gpu") == 0;
    placement->cpu = ok && strcmp(name, "xnnpack") == 0;
    if (placement->cpu) goto done;
    if (ok && gpu && !make_gpu_delegate(placement, options)) ok = false;
    ok = ok && hl_delegate_library_open(&placement->library, name, &problem);
    if (problem.length > 0) hl_error(placement->file.command, NULL, "%s", problem.data);
    ok = ok && (gpu || make_other_delegate(placement, options, &choice.options));
done:
    hl_text_free(&problem);
    hl_delegate_choice_free(&choice);
    return ok;
}

static TfLiteDelegate *delegate_of(const struct hl_node_placement *placement)
{
    return placement->other != NULL ? placement->other : placement->file.delegate;
}

bool hl_node_placement_open(struct hl_node_placement *placement, const char *command, const char *path,
                            const struct hl_model_options *options)
{
    struct hl_model_file *file = &placement->file;
    *placement = (struct hl_node_placement){0};
    if (!hl_model_file_open(file, command, path)) return false;
    struct hl_model_options looked_at = *options;
    looked_at.stand_ins = true;
    if (!hl_model_file_try(file, &looked_at)) {
        hl_model_file_failed(file, "no interpreter can be made for it");
        return false;
    }
    if (!make_delegate(placement, options)) return false;
    hl_text_clear(&file->messages);
    if (placement->cpu) return true;
    TfLiteStatus status = TfLiteInterpreterModifyGraphWithDelegate(file->interpreter, delegate_of(placement));
    if (status != kTfLiteOk && status != kTfLiteApplicationError) {
        hl_model_file_failed(file, "the delegate cannot be applied to it");
        return false;
    }
    placement->report = hl_alloc_check(placement->library.HaliteDelegateReportCreate(delegate_of(placement)));
    placement->refused = status == kTfLiteApplicationError;
    find_graphs(placement);
    return true;
}

void hl_node_placement_close(struct hl_node_placement *placement)
{
    if (placement->report != NULL) placement->library.HaliteDelegateReportDelete(placement->report);
    free(placement->graphs);
    hl_model_file_close(&placement->file);
    if (placement->other != NULL) placement->library.tflite_plugin_destroy_delegate(placement->other);
    *placement = (struct hl_node_placement){0};
}

// ---- shared by text and JSON --------------------------------------------------------------------

static const HaliteDelegateNode *node_at(const struct hl_node_placement *placement, const HaliteDelegateGraph *graph,
                                         int index)
{
    return placement->library.HaliteDelegateReportGetNode(placement->report, graph->first_node + index);
}

struct sums {
    int nodes, gpu, partitions;
    int folded;  // neither on the CPU nor the GPU: they became constants
    int waiting; // in partitions beyond the number that is allowed
    int parts;   // that there are
};

static const HaliteDelegateGraph *graph_of(const struct hl_node_placement *placement, int subgraph)
{
    return placement->graphs != NULL ? placement->graphs[subgraph] : NULL;
}

static struct sums sum_up(const struct hl_node_placement *placement)
{
    struct sums sums = {0};
    for (int s = 0; s < placement->file.model->subgraph_count; s++) {
        const HaliteDelegateGraph *graph = graph_of(placement, s);
        sums.nodes += placement->file.model->subgraphs[s].node_count;
        if (graph == NULL) continue;
        sums.gpu += graph->gpu_node_count;
        sums.partitions += graph->partition_count;
        int parts = 0;
        for (int i = 0; i < graph->node_count; i++) {
            const HaliteDelegateNode *node = node_at(placement, graph, i);
            sums.folded += strcmp(node->reason_name, "FOLDED") == 0;
            sums.waiting += strcmp(node->reason_name, "PARTITION") == 0;
            if (node->partition >= parts) parts = node->partition + 1;
        }
        sums.parts += parts;
    }
    return sums;
}

static const char *why_refused(const struct hl_node_placement *placement)
{
    return hl_text_string(&placement->file.messages);
}

static const HaliteDevice *device_of(const struct hl_node_placement *placement)
{
    return placement->library.HaliteDelegateReportGetDevice(placement->report);
}

static const char *precision_of(const struct hl_node_placement *placement)
{
    HaliteGpuPrecision precision = placement->library.HaliteDelegateReportGetPrecision(placement->report);
    return hl_model_precisions[precision - kHaliteGpuPrecisionF32];
}

// ---- XNNPACK ------------------------------------------------------------------------------------

#define ON_CPU "Halite's own CPU kernels do the work of XNNPACK"

static const struct hl_model_code *code_of(const struct hl_node_placement *placement, int subgraph, int node)
{
    const TfLiteModel *model = placement->file.model;
    return &model->codes[model->subgraphs[subgraph].nodes[node].code];
}

static void print_cpu(const struct hl_node_placement *placement)
{
    const TfLiteModel *model = placement->file.model;
    int nodes = 0;
    printf("\nplacement on XNNPACK: " ON_CPU "\n");
    for (int s = 0; s < model->subgraph_count; s++) {
        struct hl_table table;
        hl_table_start(&table, "rlrl");
        if (model->subgraph_count > 1) printf("  subgraph %d\n", s);
        for (const char *const *title = (const char *const[]){"node", "operator", "version", "where", NULL}; *title;
             title++)
            hl_table_add(&table, "%s", *title);
        for (int i = 0; i < model->subgraphs[s].node_count; i++, nodes++) {
            hl_table_add(&table, "%d", i);
            hl_table_add_name(&table, hl_model_code_name(code_of(placement, s, i)));
            hl_table_add(&table, "%d", code_of(placement, s, i)->version);
            hl_table_add(&table, "%s", "CPU");
        }
        hl_table_print(&table, 2, stdout);
    }
    printf("all %d operators by the CPU's kernels\n", nodes);
}

static void cpu_json(const struct hl_node_placement *placement, cJSON *object)
{
    const TfLiteModel *model = placement->file.model;
    cJSON *subgraphs = cJSON_AddArrayToObject(object, "subgraphs");
    for (int s = 0; s < model->subgraph_count; s++) {
        cJSON *nodes = cJSON_CreateArray();
        for (int i = 0; i < model->subgraphs[s].node_count; i++) {
            cJSON *json = cJSON_CreateObject();
            cJSON_AddNumberToObject(json, "node", i);
            hl_json_add_string(json, "operator", hl_model_code_name(code_of(placement, s, i)));
            cJSON_AddNumberToObject(json, "version", code_of(placement, s, i)->version);
            cJSON_AddStringToObject(json, "where", "CPU");
            cJSON_AddStringToObject(json, "text", ON_CPU);
            cJSON_AddItemToArray(nodes, json);
        }
        cJSON_AddItemToArray(subgraphs, nodes);
    }
}

// ---- text ---------------------------------------------------------------------------------------

static void add_reason(struct hl_table *table, const HaliteDelegateNode *node)
{
    struct hl_text text = {0};
    hl_text_add_escaped(&text, node->text, strlen(node->text));
    if (node->tensor >= 0) {
        hl_text_add(&text, ": tensor %d '", (int)node->tensor);
        hl_text_add_escaped(&text, node->tensor_name, strlen(node->tensor_name));
        hl_text_add(&text, "' ");
        hl_model_add_shape(&text, node->tensor_type, node->rank, node->dims);
    }
    hl_table_add(table, "%s", node->on_gpu ? "" : node->reason_name);
    hl_table_add(table, "%s", node->on_gpu ? "" : text.data);
    hl_text_free(&text);
}

static void print_nodes(const struct hl_node_placement *placement, const HaliteDelegateGraph *graph)
{
    static const char *const titles[] = {"node", "operator", "version", "where", "part", "reason", ""};
    struct hl_table table;
    hl_table_start(&table, "rlrlrll");
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) hl_table_add(&table, "%s", titles[i]);
    for (int i = 0; i < graph->node_count; i++) {
        const HaliteDelegateNode *node = node_at(placement, graph, i);
        hl_table_add(&table, "%d", (int)node->node);
        hl_table_add_name(&table, node->op);
        hl_table_add(&table, "%d", (int)node->version);
        hl_table_add(&table, "%s", node->on_gpu ? placement->library.device : "CPU");
        if (node->partition >= 0)
            hl_table_add(&table, "%d", (int)node->partition);
        else
            hl_table_add(&table, "%s", "");
        add_reason(&table, node);
    }
    hl_table_print(&table, 2, stdout);
}

static void print_device(const struct hl_node_placement *placement)
{
    const HaliteDevice *device = device_of(placement);
    printf("\nplacement");
    if (placement->assumed && placement->other == NULL)
        printf(" on null:0: there is no GPU here, this is what any would take");
    else if (placement->assumed && device != NULL)
        printf(" on %s: there is none here, this is what it would take", device->name);
    else if (device != NULL && placement->other != NULL)
        printf(" on %s, %s", placement->library.device, device->name);
    else if (device != NULL)
        printf(" on %s, %s, %s", device->name, device->description, precision_of(placement));
    printf("\n");
}

void hl_node_placement_text(const struct hl_node_placement *placement)
{
    if (placement->cpu) {
        print_cpu(placement);
        return;
    }
    print_device(placement);
    int count = placement->file.model->subgraph_count;
    for (int s = 0; s < count; s++) {
        if (count > 1) printf("  subgraph %d\n", s);
        if (placement->graphs[s] != NULL)
            print_nodes(placement, placement->graphs[s]);
        else
            printf("  all on the CPU: the delegate was not asked\n");
    }
    if (placement->refused) printf("  not applied: %s\n", why_refused(placement));
    struct sums sums = sum_up(placement);
    printf("%d of %d operators on %s%s in %d partition%s", sums.gpu, sums.nodes - sums.folded,
           placement->other == NULL ? "the " : "", placement->library.device, sums.partitions,
           sums.partitions == 1 ? "" : "s");
    if (sums.folded > 0) printf(", %d folded into constants", sums.folded);
    printf("\n");
    if (sums.waiting > 0)
        printf("%d more could run there in further partitions: --partitions %d\n", sums.waiting, sums.parts);
}

// ---- JSON ---------------------------------------------------------------------------------------

static cJSON *node_json(const struct hl_node_placement *placement, const HaliteDelegateNode *node)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "node", node->node);
    hl_json_add_string(json, "operator", node->op);
    cJSON_AddNumberToObject(json, "version", node->version);
    cJSON_AddStringToObject(json, "where", node->on_gpu ? placement->library.device : "CPU");
    if (node->partition >= 0) cJSON_AddNumberToObject(json, "partition", node->partition);
    cJSON_AddStringToObject(json, "reason", node->reason_name);
    hl_json_add_string(json, "text", node->text);
    if (node->tensor < 0) return json;
    cJSON *tensor = cJSON_AddObjectToObject(json, "tensor");
    cJSON_AddNumberToObject(tensor, "index", node->tensor);
    hl_json_add_string(tensor, "name", node->tensor_name);
    cJSON_AddStringToObject(tensor, "type", hl_element_name(node->tensor_type));
    cJSON *shape = cJSON_AddArrayToObject(tensor, "shape");
    for (int i = 0; i < node->rank; i++) cJSON_AddItemToArray(shape, cJSON_CreateNumber(node->dims[i]));
    return json;
}

void hl_node_placement_json(const struct hl_node_placement *placement, cJSON *json)
{
    struct sums sums = sum_up(placement);
    cJSON *object = cJSON_AddObjectToObject(json, "placement");
    const HaliteDevice *device = placement->cpu ? NULL : device_of(placement);
    if (device != NULL) {
        hl_json_add_string(object, "device", device->name);
        hl_json_add_string(object, "description", device->description);
        if (placement->other == NULL) cJSON_AddStringToObject(object, "precision", precision_of(placement));
    }
    cJSON_AddBoolToObject(object, "assumed", placement->assumed);
    if (placement->refused) hl_json_add_string(object, "refused", why_refused(placement));
    cJSON_AddNumberToObject(object, "operators", sums.nodes);
    cJSON_AddNumberToObject(object, "on_gpu", sums.gpu);
    cJSON_AddNumberToObject(object, "folded", sums.folded);
    cJSON_AddNumberToObject(object, "partitions", sums.partitions);
    cJSON_AddNumberToObject(object, "waiting", sums.waiting);
    if (placement->cpu) {
        cpu_json(placement, object);
        return;
    }
    cJSON *subgraphs = cJSON_AddArrayToObject(object, "subgraphs");
    for (int s = 0; s < placement->file.model->subgraph_count; s++) {
        const HaliteDelegateGraph *graph = placement->graphs[s];
        cJSON *nodes = cJSON_CreateArray();
        for (int i = 0; graph != NULL && i < graph->node_count; i++)
            cJSON_AddItemToArray(nodes, node_json(placement, node_at(placement, graph, i)));
        cJSON_AddItemToArray(subgraphs, nodes);
    }
}
