#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "place/holder.h"

static void folds_spellings_of_one_name(void **state)
{
    static const struct {
        const char *name, *folded;
    } cases[] = {
        {"Example Networks", "example networks"},
        {"  EXAMPLE\tnetworks ", "example networks"},
        {"Example Networks, Ltd.", "example networks"},
        {"Example Networks Limited", "example networks"},
        {"Example-Networks (Pty) Ltd", "example networks"},
        {"EXAMPLE NETWORKS CO., LTD", "example networks"},
        {"Example Networks Inc", "example networks"},
        {"Example Networks GmbH & Co. KG", "example networks"},
        {"Example Networks S.A.", "example networks"},
        {"Example Networks S. A.", "example networks"},
        {"Example Networks B.V.", "example networks"},
        {"Example Networks LLC", "example networks"},
        {"Example Networks Corp.", "example networks"},
        {"Example Networks AG", "example networks"},
        {"Example Networks AB", "example networks"},
        {"Example Networks Oy", "example networks"},
        {"Example Networks SARL", "example networks"},
        {"Example Networks S.à r.l.", "example networks"},
        {"Example Networks, s.r.o.", "example networks"},
        {"Example Networks s. r. o.", "example networks"},
        {"Example Networks PLC", "example networks"},
        {"Example Networks K.K.", "example networks"},
        {"Example Networks Sp. z o.o.", "example networks"},
        {"Example Networks Sp.z o.o.", "example networks"},
        {"Example Networks Sdn. Bhd.", "example networks"},
        {"Example Networks d.o.o.", "example networks"},
        {"Example Networks A/S", "example networks"},
        {"OOO Example Networks", "example networks"},
        {"Ｅｘａｍｐｌｅ Networks", "example networks"},
        {"Telefónica de España", "telefonica de espana"},
        {"Straße Ærø Œuvre Łódź", "strasse aero oeuvre lodz"},
        {"ΕΤΑΙΡΕΙΑ", "εταιρεια"},
        {"Москва", "москва"},
        {"МОСКВА", "москва"},
        {"O'Reilly", "oreilly"},
        {"O’Reilly", "oreilly"},
        {"AT&T Services", "at t services"},
        {"AS64500", "as64500"},
        {"A91872ED", "a91872ed"},
        {"87cfacbc-5809-4ddd-a668-06393fbd23d6", "87cfacbc 5809 4ddd a668 06393fbd23d6"},
        /* words that are legal forms in other places only */
        {"Co-operative Bank", "co operative bank"},
        {"AS Tallinna Vesi", "as tallinna vesi"},
        {"Sa Nostra", "sa nostra"},
        /* nothing but forms: something must stay */
        {"Ltd.", "ltd"},
        {"Limited Company", "limited"},
        {"S.A.", "sa"},
        {"", ""},
        {" .,- ", ""},
        {"\xC3", ""},
        {"a\xFF"
         "bc",
         "a bc"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf out = {0};
        holder_fold(span_str(cases[i].name), &out);
        CHECK_SPAN(cases[i].name, buf_span(&out), span_str(cases[i].folded));
        buf_done(&out);
    }
}

static void folding_again_changes_nothing(void **state)
{
    static const char *const parts[] = {"a",   "s",  "Ltd",  "co",  "GmbH", " ", ".",    ",", "é", "Æ",
                                        "ß",   "oo", "z",    "sp",  "ＡＢ", "ы", "\xF0", "&", "-", "株式会社",
                                        "ooo", "ab", "\xC2", "x y", "7",    "İ", "de",   "Σ"};
    struct rng rng;
    rng_seed(&rng, 3);
    for (int round = 0; round < 20000; round++) {
        struct buf name = {0}, once = {0}, twice = {0};
        for (uint64_t k = rng_below(&rng, 30) + (round % 50 == 0 ? 200 : 0); k > 0; k--)
            buf_puts(&name, parts[rng_below(&rng, sizeof(parts) / sizeof(*parts))]);
        holder_fold(buf_span(&name), &once);
        holder_fold(buf_span(&once), &twice);
        if (!span_eq(buf_span(&once), buf_span(&twice)))
            fail_msg("\"%s\" becomes \"%.*s\" becomes \"%.*s\"", buf_cstr(&name), SPAN_ARG(buf_span(&once)),
                     SPAN_ARG(buf_span(&twice)));
        CHECK(buf_cstr(&name), once.n <= HOLDER_NAME_MAX && utf8_is_valid(buf_span(&once)));
        CHECK(buf_cstr(&name), once.n == 0 || (once.p[0] != ' ' && once.p[once.n - 1] != ' '));
        buf_done(&name);
        buf_done(&once);
        buf_done(&twice);
    }
}

static void long_names_are_cut_between_characters(void **state)
{
    struct buf name = {0}, out = {0};
    buf_puts(&name, "x");
    for (int i = 0; i < 200; i++)
        buf_puts(&name, "ы"); /* two bytes each */
    holder_fold(buf_span(&name), &out);
    assert_int_equal(out.n, HOLDER_NAME_MAX - 1);
    CHECK("valid", utf8_is_valid(buf_span(&out)));
    buf_done(&name);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_spellings_of_one_name),
        cmocka_unit_test(folding_again_changes_nothing),
        cmocka_unit_test(long_names_are_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
