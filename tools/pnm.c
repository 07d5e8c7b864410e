// SPDX-License-Identifier: Apache-2.0
// See pnm.h.
#include "pnm.h"

#include <ctype.h>

static enum hl_pnm_step begin(struct hl_pnm *pnm, int byte)
{
    bool right = pnm->begun == 0 ? byte == 'P' : byte == '5' || byte == '6';
    pnm->channels = byte == '6' ? 3 : 1;
    pnm->begun++;
    return right ? HL_PNM_MORE : HL_PNM_NONE;
}

static void add_digit(int64_t *number, int digit)
{
    *number = *number < HL_PNM_MAX / 10 ? *number * 10 + digit : HL_PNM_MAX;
}

enum hl_pnm_step hl_pnm_take(struct hl_pnm *pnm, int byte)
{
    int64_t *const numbers[] = {&pnm->width, &pnm->height, &pnm->largest};
    const int count = sizeof numbers / sizeof *numbers;
    if (pnm->begun < 2) return begin(pnm, byte);
    if (pnm->in_comment) {
        pnm->in_comment = byte != '\n';
        return HL_PNM_MORE;
    }
    if (isdigit(byte)) {
        pnm->in_number = true;
        add_digit(numbers[pnm->numbers], byte - '0');
        return HL_PNM_MORE;
    }
    pnm->numbers += pnm->in_number;
    pnm->in_number = false;
    pnm->in_comment = byte == '#' && pnm->numbers < count;
    if (!isspace(byte) && !pnm->in_comment) return HL_PNM_BROKEN;
    return pnm->numbers == count ? HL_PNM_SAMPLES : HL_PNM_MORE;
}

int64_t hl_pnm_bytes(const struct hl_pnm *pnm)
{
    return pnm->width * pnm->height * pnm->channels;
}
