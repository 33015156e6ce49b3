/* lang_cld2.h - CLD2, which speaks C++, as one C function. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* The language of `bytes` bytes of UTF-8 without broken sequences or controls, with four readable bytes after them, as
 * CLD2 names it ("en", "iw", "zh-Hant", "xx-Goth"): a static text, "" when it cannot tell. `hint` is a language code or
 * NULL. *is_reliable is CLD2's own opinion. Any thread; nothing is thrown. */
const char *lang_cld2_detect(const char *text, int bytes, const char *hint, int *is_reliable);

#ifdef __cplusplus
}
#endif
