// SPDX-License-Identifier: Apache-2.0
// See objc.h.
#include "base/objc.h"

bool hl_objc_load(struct hl_objc *objc, struct hl_library *library)
{
    bool ok = hl_library_find(library, "objc_getClass", &objc->get_class, sizeof objc->get_class) &&
              hl_library_find(library, "sel_registerName", &objc->selector, sizeof objc->selector) &&
              hl_library_find(library, "objc_autoreleasePoolPush", &objc->push, sizeof objc->push) &&
              hl_library_find(library, "objc_autoreleasePoolPop", &objc->pop, sizeof objc->pop) &&
              hl_library_find(library, "objc_msgSend", &objc->send, sizeof objc->send);
    // Only x86 has a function of its own for such results.
    if (ok && !hl_library_find(library, "objc_msgSend_stret", &objc->send_struct, sizeof objc->send_struct))
        objc->send_struct = objc->send;
    return ok;
}
