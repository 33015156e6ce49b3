#include "web/lang_cld2.h"

#include <cstdio> /* the next header names FILE and does not include it */

#include <cld2/public/compact_lang_det.h>
#include <cld2/public/encodings.h>

extern "C" const char *lang_cld2_detect(const char *text, int bytes, const char *hint, int *is_reliable)
{
    *is_reliable = 0;
    try {
        CLD2::CLDHints hints = {hint, nullptr, CLD2::UNKNOWN_ENCODING, CLD2::UNKNOWN_LANGUAGE};
        CLD2::Language top[3];
        int percent[3], letters = 0;
        double scores[3];
        bool reliable = false;
        CLD2::Language lang = CLD2::ExtDetectLanguageSummary(text, bytes, true, &hints, 0, top, percent, scores,
                                                             nullptr, &letters, &reliable);
        if (lang == CLD2::UNKNOWN_LANGUAGE)
            return "";
        *is_reliable = reliable;
        return CLD2::LanguageCode(lang);
    } catch (...) {
        return "";
    }
}
