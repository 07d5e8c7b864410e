// SPDX-License-Identifier: Apache-2.0
// What a measurement ran on: the processor's name, how many there are, and the governor of its clock, which decides
// whether two measurements may be compared at all.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/process.h"
#include "base/threads.h"
#include "bench/bench.h"
#include "energy/source.h"
#include "halite/halite.h"
#include "json.h"

// The processor's name as Linux tells it; "" elsewhere.
static void add_cpu_name(struct hl_text *name)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && name->length == 0 && fgets(line, sizeof line, file) != NULL) {
        char *colon = strchr(line, ':');
        bool named = strncmp(line, "model name", 10) == 0 || strncmp(line, "Model", 5) == 0;
        if (!named || colon == NULL) continue;
        colon += 1 + strspn(colon + 1, " \t");
        hl_text_add_bytes(name, colon, strcspn(colon, "\n"));
    }
    if (file != NULL) fclose(file);
}

static void add_system(cJSON *document)
{
    cJSON *system = cJSON_AddObjectToObject(document, "system");
    struct hl_text name = {0};
    char machine[128] = "";
    add_cpu_name(&name);
    hl_process_machine(machine, sizeof machine);
    char *path = hl_energy_path("%s/devices/system/cpu/cpu0/cpufreq/scaling_governor", hl_energy_root());
    char *governor = hl_energy_line(path);
    hl_json_add_string(system, "cpu", name.length > 0 ? name.data : "unknown");
    hl_json_add_string(system, "machine", machine);
    cJSON_AddNumberToObject(system, "processors", hl_processors());
    hl_json_add_string(system, "governor", *governor != '\0' ? governor : "unknown");
    hl_text_free(&name);
    free(path);
    free(governor);
}

cJSON *hl_bench_document(const char *kind)
{
    cJSON *document = cJSON_CreateObject();
    char date[32] = "";
    time_t now = time(NULL);
    const struct tm *utc = gmtime(&now);
    if (utc != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", utc);
    cJSON_AddStringToObject(document, "kind", kind);
    cJSON_AddStringToObject(document, "version", HaliteVersion());
    cJSON_AddStringToObject(document, "date", date);
    add_system(document);
    return document;
}
