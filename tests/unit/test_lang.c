#include "test.h"

#include "base/buf.h"
#include "web/lang.h"

static void declared_languages_become_short_codes(void **state)
{
    static const struct {
        const char *declared, *want;
    } cases[] = {
        {"en", "en"},      {"en-US", "en"}, {"EN", "en"},    {" pt_BR ", "pt"}, {"zh-Hant-TW", "zh"},
        {"iw", "he"},      {"nb-NO", "no"}, {"deu", "de"},   {"ger", "de"},     {"cmn", "zh"},
        {"fil", "tl"},     {"ceb", "ceb"},  {"", ""},        {"x", ""},         {"english", ""},
        {"qq", ""},        {"-", ""},       {"en,fr", "en"}, {"\xff\xfe", ""},  {"x-klingon", ""},
        {"sr-Latn", "sr"}, {"in", "id"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_SPAN(cases[i].declared, span_str(lang_known(span_str(cases[i].declared))), span_str(cases[i].want));
}

static size_t characters(struct span s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xC0) != 0x80;
    return n;
}

/* Right is the language that the sentence is filed under, as a short code: all of Mandarin, Wu and classical Chinese
 * are "zh"; Serbian, Croatian and Bosnian are three. */
static void tells_the_language_of_sentences(void **state)
{
    struct span file = test_read_file(TEST_DATA "/lang/tatoeba_long.txt"), rest = file, line;
    unsigned all = 0, right = 0;
    struct buf wrong = {0};
    span_split(&rest, '\n', &line); /* the heading */
    while (span_split(&rest, '\n', &line)) {
        struct span cld2_code, cld2_iso3, iso3;
        if (!span_split(&line, '\t', &cld2_code) || !span_split(&line, '\t', &cld2_iso3) ||
            !span_split(&line, '\t', &iso3) || characters(line) <= 50)
            continue;
        const char *want = lang_known(iso3), *got = lang_detect(line, SPAN(""));
        CHECK("a known language", want[0] != '\0');
        all++;
        right += strcmp(want, got) == 0;
        if (strcmp(want, got) != 0)
            buf_printf(&wrong, "want %s got '%s'; ", want, got);
    }
    CHECK("enough sentences", all > 400);
    if (right * 100 < all * 95)
        fail_msg("%u of %u right: %s", right, all, buf_cstr(&wrong));
    buf_done(&wrong);
    free((char *)file.p);
}

static void a_declared_language_is_believed_where_the_script_agrees(void **state)
{
    static const char english[] = "The quick brown fox jumps over the lazy dog, and nobody knows what the dog thinks.";
    static const char russian[] = "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива.";
    static const char japanese[] = "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。";
    static const struct {
        const char *label, *text, *declared, *want;
    } cases[] = {
        {"believed", english, "de", "de"},
        {"believed with a region", english, "en-GB", "en"},
        {"nothing declared", english, "", "en"},
        {"nonsense declared", english, "klingon", "en"},
        {"another script", russian, "en", "ru"},
        {"two languages of one script", russian, "bg", "bg"},
        {"kana is not Chinese", japanese, "zh", "ja"},
        {"Japanese", japanese, "ja", "ja"},
        {"no text", "", "fr", "fr"},
        {"no letters", "1 2 3 ... 4", "fr", "fr"},
        {"no text, nothing declared", "", "", ""},
        {"too little to tell", "ok", "", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        CHECK_SPAN(cases[i].label, span_str(lang_detect(span_str(cases[i].text), span_str(cases[i].declared))),
                   span_str(cases[i].want));
}

static void menus_do_not_count_beside_paragraphs(void **state)
{
    static const char *const menu[] = {"Home", "Products", "Download", "About us", "Contact", "Terms of service"};
    struct buf text = {0};
    for (size_t i = 0; i < 120; i++)
        buf_printf(&text, "%s\n", menu[i % 6]);
    for (size_t i = 0; i < 4; i++)
        buf_puts(&text, "Tous les êtres humains naissent libres et égaux en dignité et en droits, et ils sont doués de "
                        "raison et de conscience.\n");
    CHECK_SPAN("French with an English menu", span_str(lang_detect(buf_span(&text), SPAN(""))), SPAN("fr"));
    buf_done(&text);
}

static void any_bytes_are_fine(void **state)
{
    struct buf text = {0};
    for (size_t i = 0; i < 5000; i++)
        buf_putc(&text, (char)(i * 37 ^ i >> 3));
    for (size_t n = 0; n < text.n; n += 97)
        assert_non_null(lang_detect(span_cut(buf_span(&text), n / 2, n), SPAN("en")));
    /* U+FFFE, a lone surrogate, a cut character at the very end of the sample */
    assert_non_null(lang_detect(SPAN("\xef\xbf\xbe \xed\xa0\x80 \xe6\x97"), SPAN("")));
    buf_clear(&text);
    while (text.n < LANG_SAMPLE_BYTES - 1)
        buf_putc(&text, 'a');
    buf_puts(&text, "日本語");
    assert_non_null(lang_detect(buf_span(&text), SPAN("")));
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declared_languages_become_short_codes),
        cmocka_unit_test(tells_the_language_of_sentences),
        cmocka_unit_test(a_declared_language_is_believed_where_the_script_agrees),
        cmocka_unit_test(menus_do_not_count_beside_paragraphs),
        cmocka_unit_test(any_bytes_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
