#include "test.h"

#include "base/buf.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "index/text/analyze.h"
#include "index/text/identifier.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Tokens as text: "position:term", '*' after a whole, the position after the last at the end. */
static void show(struct analyzer *a, struct span text, const char *lang, struct buf *out)
{
    size_t n;
    buf_clear(out);
    analyze_begin(a);
    uint32_t end = analyze_text(a, text, lang_code_of(span_str(lang)), 0);
    struct token *t = analyze_tokens(a, &n);
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%u:%.*s%s ", t[i].position, SPAN_ARG(t[i].term->text), t[i].is_whole ? "*" : "");
    buf_printf(out, "%u", end);
}

static const struct text_case {
    const char *label, *lang, *text, *want;
} text_cases[] = {
    {"nothing", "en", "", "0"},
    {"no words", "en", " \t\n.,;-()[]{}<>\"$%^&*=~`|\\@!?/ 😀 ™ ½ ", "0"},
    {"words", "en", "The cats, sleeping.", "0:the 1:cat 2:sleep 3"},
    {"case", "en", "CATS Cats cats", "0:cat 1:cat 2:cat 3"},
    {"no language", "", "cats sleeping", "0:cats 1:sleeping 2"},
    {"a language without stemmer", "pl", "cats", "0:cats 1"},
    {"no stem of one letter", "fr", "l'ls js cs", "0:l 1:ls 2:js 3:cs 4"},
    {"no stem of one letter, Serbian", "sr", "io", "0:io 1"},
    {"no stem of one letter, Turkish", "tr", "ide", "0:ide 1"},
    {"numbers", "en", "3.14 10,000 2024-05-01", "0:3 1:14 2:10 3:000 4:2024 5:05 6:01 7"},
    {"superscripts and footnotes are no words", "en", "word¹ x²", "0:word 1:x 2"},

    {"with '_'", "en", "pg_stat_activity", "0:pg_stat_activity* 0:pg 1:stat 2:activ 3"},
    {"with case", "en", "getElementById", "0:getelementbyid* 0:get 1:element 2:by 3:id 4"},
    {"capitals and a number", "en", "HTTPServer2", "0:httpserver2* 0:http 1:server 2:2 3"},
    {"a dot ends a word", "en", "Gtk.Widget::new()", "0:gtk 1:widget 2:new 3"},
    {"hyphen and slash end a word", "en", "e-mail/inbox", "0:e 1:mail 2:inbox 3"},
    {"digits do not cut", "en", "utf8 x86 MP3 sha256sum", "0:utf8 1:x86 2:mp3 3:sha256sum 4"},
    {"digits inside", "en", "base64Decode Texture2D", "0:base64decode* 0:base64 1:decod 2:texture2d 3"},
    {"plural of capitals", "en", "URLs getURLs", "0:url 1:geturls* 1:get 2:url 3"},
    {"one part with '_' around", "en", "__init__ _", "0:__init__* 0:init 1"},
    {"wholes are not stemmed", "en", "sorted_lists", "0:sorted_lists* 0:sort 1:list 2"},
    {"a name in another script", "ru", "мой_файл", "0:мой_файл* 0:мо 1:файл 2"},
    {"C++", "en", "C++ vector", "0:c++* 0:c 1:vector 2"},
    {"C++17", "en", "C++17 c++", "0:c++* 0:c 1:17 2:c++* 2:c 3"},
    {"C#", "en", "C# F#, page#part a++b C+++", "0:c#* 0:c 1:f#* 1:f 2:page 3:part 4:a 5:b 6:c 7"},

    {"'s ends a word", "en", "John's JOHN’S it's", "0:john 1:john 2:it 3"},
    {"an apostrophe joins", "en", "don't O'Reilly rock'n'roll", "0:dont 1:oreilli 2:rocknrol 3"},
    {"but not at an edge", "en", "'quoted' dogs' n'", "0:quot 1:dog 2:n 3"},
    {"elisions are cut", "fr", "l'homme qu’il aujourd'hui", "0:l 1:homm 2:qu 3:il 4:aujourdhui 5"},
    {"Italian too", "it", "dell'arte un'altra", "0:dell 1:arte 2:un 3:altra 4"},
    {"Ukrainian joins", "uk", "п'ять п’ять пʼять", "0:пять 1:пять 2:пять 3"},

    {"accents", "", "Zürich Ångström naïve Łódź Ærø Straße ŒUVRE",
     "0:zurich 1:angstrom 2:naive 3:lodz 4:aero 5:strasse "
     "6:oeuvre 7"},
    {"accents apart from their letters", "", "Zu\xcc\x88rich", "0:zurich 1"},
    {"Turkish i", "", "İstanbul ISTANBUL ıstanbul", "0:istanbul 1:istanbul 2:istanbul 3"},
    {"Greek", "", "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "0:οδυσσευσ 1:οδυσσευσ 2"},
    {"Cyrillic letters are no accented ones", "", "Ёлка йод їжак стра\xcc\x81на", "0:елка 1:йод 2:їжак 3:страна 4"},
    {"Hebrew and Arabic points", "", "שָׁלוֹם مَرْحَبًا", "0:שלום 1:مرحبا 2"},
    {"vowel signs stay", "", "हिन्दी தமிழ்", "0:हिन्दी 1:தமிழ் 2"},
    {"compatibility forms", "", "ﬁne ＡＢＣ１２ ℌ", "0:fine 1:abc12 2:h 3"},
    {"digits of other scripts", "", "٣٤ १२", "0:34 1:12 2"},
    {"soft hyphens and joiners go", "en",
     "Donau\xc2\xad"
     "dampf می\xe2\x80\x8cخواهم",
     "0:donaudampf 1:میخواهم 2"},
    {"a zero-width blank ends a word", "",
     "a\xe2\x80\x8b"
     "b",
     "0:a 1:b 2"},
    {"emoji end words", "", "a😀b ❤️ c", "0:a 1:b 2:c 3"},
    {"broken bytes end words", "",
     "caf\xe9 na\xc3 b\xff"
     "c",
     "0:caf 1:na 2:b 3:c 4"},

    {"Han", "zh", "中国人", "0:中国 1:国人 2:人 3"},
    {"one character", "zh", "中", "0:中 1"},
    {"kana and Han", "ja", "食べる", "0:食べ 1:べる 2:る 3"},
    {"Latin and digits beside", "ja", "C言語2024年", "0:c 1:言語 2:語 3:2024 4:年 5"},
    {"half-width kana", "ja", "ｶﾞｽ ガス", "0:ガス 1:ス 2:ガス 3:ス 4"},
    {"voice marks apart", "ja", "か\xe3\x82\x99す", "0:がす 1:す 2"},
    {"full-width blanks", "zh", "中国　人", "0:中国 1:国 2:人 3"},
    {"Hangul", "ko", "한국어 말", "0:한국 1:국어 2:어 3:말 4"},
    {"jamo are composed", "ko", "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab국", "0:한국 1:국 2"},
    {"Thai by clusters", "th", "ที่นี่", "0:ที่นี่ 1:นี่ 2"},
    {"Khmer stacks", "km", "ខ្មែរ", "0:ខ្មែរ 1:រ 2"},
};

static void words_become_terms(void **state)
{
    struct analyzer *a = analyzer_new(1);
    struct buf got = {0};
    for (int again = 0; again < 2; again++) /* from an empty cache, and from a full one */
        for (size_t i = 0; i < COUNT(text_cases); i++) {
            show(a, span_str(text_cases[i].text), text_cases[i].lang, &got);
            CHECK_SPAN(text_cases[i].label, buf_span(&got), span_str(text_cases[i].want));
        }
    buf_done(&got);
    analyzer_free(a);
}

static void tokens_say_where_they_are(void **state)
{
    static const struct {
        const char *text, *want; /* "[source of each token]" */
    } cases[] = {
        {"a  John's x", "[a][John][x]"},
        {"pg_stat getId", "[pg_stat][pg][stat][getId][get][Id]"},
        {"C++17", "[C++][C][17]"},
        {"l’homme don’t", "[l][homme][don’t]"},
        {"Zürich!", "[Zürich]"},
        {"中国人", "[中国][国人][人]"},
        {"ｶﾞｽ", "[ｶﾞｽ][ｽ]"},
        {"ที่นี่", "[ที่นี่][นี่]"},
    };
    struct analyzer *a = analyzer_new(1);
    struct buf got = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n;
        buf_clear(&got);
        analyze_begin(a);
        analyze_text(a, span_str(cases[i].text), 0, 0);
        struct token *t = analyze_tokens(a, &n);
        for (size_t k = 0; k < n; k++)
            buf_printf(&got, "[%.*s]", SPAN_ARG(span_cut(span_str(cases[i].text), t[k].at, t[k].bytes)));
        CHECK_SPAN(cases[i].text, buf_span(&got), span_str(cases[i].want));
    }
    buf_done(&got);
    analyzer_free(a);
}

/* Folding before stemming makes the two spellings equal whatever the language; the pairs after that are what it must
 * not cost. */
static void spellings_and_forms_meet(void **state)
{
    static const struct {
        const char *lang, *one, *other;
    } pairs[] = {
        {"fr", "français", "francais"},
        {"fr", "française", "francaises"},
        {"fr", "été", "ete"},
        {"fr", "mangée", "mangees"},
        {"fr", "utilisé", "utilisées"},
        {"fr", "activé", "activée"},
        {"de", "Zürich", "ZURICH"},
        {"de", "Häuser", "Haus"},
        {"de", "Straße", "Strassen"},
        {"es", "configuración", "configuracion"},
        {"es", "configuración", "configuraciones"},
        {"es", "niños", "nino"},
        {"pt", "informação", "informacoes"},
        {"pt", "informações", "informação"},
        {"pt", "dependência", "dependências"},
        {"ca", "informació", "informacions"},
        {"it", "città", "citta"},
        {"sv", "böckerna", "bockerna"},
        {"ru", "ёлка", "елки"},
        {"sr", "школа", "škole"},
        {"tr", "İstanbul", "istanbul"},
        {"el", "δρόμος", "δρομος"},
        {"en", "running", "runs"},
        {"en", "cafés", "cafe"},
        {"vi", "Hà Nội", "ha noi"},
        {"no", "bøkene", "bokene"},
        {"nb", "Ærlige", "aerlige"},
        {"hu", "könyvek", "konyvek"},
        {"ro", "România", "romania"},
    };
    struct analyzer *a = analyzer_new(1);
    struct buf one = {0}, other = {0};
    for (size_t i = 0; i < COUNT(pairs); i++) {
        show(a, span_str(pairs[i].one), pairs[i].lang, &one);
        show(a, span_str(pairs[i].other), pairs[i].lang, &other);
        CHECK_SPAN(pairs[i].one, buf_span(&one), buf_span(&other));
    }
    buf_done(&one);
    buf_done(&other);
    analyzer_free(a);
}

/* A query is cut without knowing the language of the pages that it will find. */
static void every_language_cuts_alike(void **state)
{
    struct analyzer *a = analyzer_new(1);
    size_t languages, n, m;
    const lang_code *lang = analyze_languages(&languages);
    for (size_t i = 0; i < COUNT(text_cases); i++)
        for (size_t k = 0; k < languages; k++) {
            struct span text = span_str(text_cases[i].text);
            analyze_begin(a);
            uint32_t end = analyze_text(a, text, 0, 0);
            analyze_tokens(a, &n);
            CHECK(text_cases[i].label, analyze_text(a, text, lang[k], 0) == end);
            struct token *t = analyze_tokens(a, &m);
            CHECK(text_cases[i].label, m == 2 * n);
            for (size_t j = 0; j < n; j++)
                CHECK(text_cases[i].label, t[j].at == t[j + n].at && t[j].bytes == t[j + n].bytes &&
                                               t[j].position == t[j + n].position &&
                                               t[j].is_whole == t[j + n].is_whole);
        }
    analyzer_free(a);
}

static void long_words_take_a_position_only(void **state)
{
    static const struct {
        const char *label, *piece;
        size_t times;
        const char *want;
    } cases[] = {
        {"just short enough", "a", 64, "0:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa 1:end 2"},
        {"too long", "a", 65, "1:end 2"},
        {"far too long", "a", 100000, "1:end 2"},
        {"upper case", "A", 65, "1:end 2"},
        {"a name of 72 bytes has parts and no whole", "longer_", 10,
         "0:longer 1:longer 2:longer 3:longer 4:longer "
         "5:longer 6:longer 7:longer 8:longer 9:longer 10:end 11"},
        {"a name of thousands of bytes", "longer_", 1000, "1:end 2"},
        {"other scripts are cut", "мама", 10, "0:мамамамамамамамамамамамамамамама 1:end 2"},
        {"and very long ones too", "мама", 10000, "0:мамамамамамамамамамамамамамамама 1:end 2"},
        {"marks without end", "\xcc\x81", 5000, "0:end 1"},
    };
    struct analyzer *a = analyzer_new(1);
    struct buf text = {0}, got = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_clear(&text);
        for (size_t k = 0; k < cases[i].times; k++)
            buf_puts(&text, cases[i].piece);
        buf_puts(&text, " end");
        show(a, buf_span(&text), "", &got);
        CHECK_SPAN(cases[i].label, buf_span(&got), span_str(cases[i].want));
    }
    buf_done(&text);
    buf_done(&got);
    analyzer_free(a);
}

static void equal_terms_are_one_term(void **state)
{
    struct analyzer *a = analyzer_new(1), *same = analyzer_new(1), *other = analyzer_new(2);
    size_t n;
    analyze_begin(a);
    uint32_t next = analyze_text(a, SPAN("Cats CAT zürich"), lang_code_of(SPAN("en")), 5);
    assert_int_equal(next, 8);
    assert_int_equal(analyze_text(a, SPAN("cat Zurich ZÜRICH"), lang_code_of(SPAN("de")), next), 11);
    struct token *t = analyze_tokens(a, &n);
    assert_int_equal(n, 6);
    assert_ptr_equal(t[0].term, t[1].term);
    assert_ptr_equal(t[0].term, t[3].term);
    assert_ptr_equal(t[2].term, t[4].term);
    assert_ptr_equal(t[2].term, t[5].term);
    assert_int_equal(t[3].position, 8);
    assert_int_equal(t[0].term->slot_epoch, 0);
    t[0].term->slot = 77;
    t[0].term->slot_epoch = 3;
    uint64_t hash = t[0].term->hash;

    analyze_begin(a); /* not full: what the user remembered is still there */
    analyze_text(a, SPAN("cat"), 0, 0);
    t = analyze_tokens(a, &n);
    assert_int_equal(n, 1);
    assert_int_equal(t[0].term->slot, 77);
    assert_int_equal(t[0].term->slot_epoch, 3);

    analyze_text(same, SPAN("cat"), 0, 0);
    analyze_text(other, SPAN("cat"), 0, 0);
    assert_true(analyze_tokens(same, &n)->term->hash == hash);
    assert_true(analyze_tokens(other, &n)->term->hash != hash);
    analyzer_free(a);
    analyzer_free(same);
    analyzer_free(other);
    analyzer_free(NULL);
}

static void tokens_are_dropped_and_added_again(void **state)
{
    struct analyzer *a = analyzer_new(1);
    size_t n;
    analyze_begin(a);
    analyze_text(a, SPAN("one two"), 0, 0);
    struct term *one = analyze_tokens(a, &n)[0].term;
    analyze_drop(a, 5);
    analyze_tokens(a, &n);
    assert_int_equal(n, 2);
    analyze_drop(a, 1);
    analyze_text(a, SPAN("three one"), 0, 0);
    struct token *t = analyze_tokens(a, &n);
    assert_int_equal(n, 3);
    CHECK_SPAN("dropped", t[1].term->text, SPAN("three"));
    assert_ptr_equal(t[2].term, one);
    analyzer_free(a);
}

/* More distinct words than the cache may keep, in one text and over many. */
static void the_cache_is_bounded_between_texts(void **state)
{
    struct analyzer *a = analyzer_new(1);
    struct buf text = {0};
    size_t n;
    for (size_t i = 0; i < 300000; i++)
        buf_printf(&text, "w%zux ", i);
    for (int round = 0; round < 3; round++) {
        analyze_begin(a);
        assert_int_equal(analyze_text(a, buf_span(&text), lang_code_of(SPAN("en")), 0), 300000);
        struct token *t = analyze_tokens(a, &n);
        assert_int_equal(n, 300000);
        for (size_t i = 0; i < n; i += 1000) { /* the first of them are there still */
            char want[32];
            snprintf(want, sizeof(want), "w%zux", i);
            CHECK_SPAN("kept", t[i].term->text, span_str(want));
        }
        t[0].term->slot_epoch = 9;
        analyze_begin(a); /* full: emptied */
        analyze_text(a, SPAN("w0x"), lang_code_of(SPAN("en")), 0);
        assert_int_equal(analyze_tokens(a, &n)->term->slot_epoch, 0);
    }
    buf_done(&text);
    analyzer_free(a);
}

static void only_so_much_of_a_text_is_looked_at(void **state)
{
    struct analyzer *a = analyzer_new(1);
    struct buf text = {0};
    size_t n;
    buf_puts(&text, "first");
    memset(buf_room(&text, ANALYZE_TEXT_MAX), ' ', ANALYZE_TEXT_MAX);
    text.n += ANALYZE_TEXT_MAX;
    buf_puts(&text, "last");
    analyze_begin(a);
    assert_int_equal(analyze_text(a, buf_span(&text), 0, 0), 1);
    analyze_tokens(a, &n);
    assert_int_equal(n, 1);
    buf_done(&text);
    analyzer_free(a);
}

/* ---- the twin: ASCII words, one byte at a time, nothing remembered ---- */

static bool is_word_byte(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '_';
}

static void twin_show(struct span text, struct buf *out)
{
    unsigned position = 0;
    buf_clear(out);
    for (size_t at = 0; at < text.n;) {
        size_t n = 0, i;
        while (at + n < text.n && is_word_byte(text.p[at + n]))
            n++;
        struct span word = span_cut(text, at, n);
        at += n ? n : 1;
        struct identifier_part parts[IDENTIFIER_PARTS_MAX];
        size_t count = n > IDENTIFIER_BYTES_MAX ? 0 : identifier_split(word, true, parts);
        bool is_plain = count == 1 && parts[0].bytes == n;
        if (n > IDENTIFIER_BYTES_MAX)
            position++;
        if (count > 0 && !is_plain && n <= ANALYZE_TERM_MAX) {
            buf_printf(out, "%u:", position);
            for (i = 0; i < n; i++)
                buf_putc(out, ascii_lower(word.p[i]));
            buf_puts(out, "* ");
        }
        for (size_t k = 0; k < count; k++, position++) {
            if (parts[k].bytes > ANALYZE_TERM_MAX)
                continue;
            buf_printf(out, "%u:", position);
            for (i = 0; i < parts[k].bytes; i++)
                buf_putc(out, ascii_lower(word.p[parts[k].at + i]));
            buf_putc(out, ' ');
        }
    }
    buf_printf(out, "%u", position);
}

static void a_plain_twin_finds_the_same_words(void **state)
{
    static const char alphabet[] = "aaabbcdeAABCDZz019_  ...,\n-(";
    struct analyzer *a = analyzer_new(1);
    struct buf text = {0}, got = {0}, want = {0};
    struct rng r;
    rng_seed(&r, 20);
    for (int round = 0; round < 20000; round++) {
        size_t n = rng_below(&r, 200), letters = rng_below(&r, 3) ? sizeof(alphabet) - 1 : 20;
        buf_clear(&text);
        for (size_t i = 0; i < n; i++)
            buf_putc(&text, alphabet[rng_below(&r, letters)]);
        /* in a block of its own size, so that reading past the end is seen */
        char *exact = malloc(text.n + 1);
        memcpy(exact, text.p ? text.p : "", text.n);
        show(a, span_of(exact, text.n), "", &got);
        twin_show(buf_span(&text), &want);
        CHECK_SPAN(buf_cstr(&text), buf_span(&got), buf_span(&want));
        free(exact);
    }
    buf_done(&text);
    buf_done(&got);
    buf_done(&want);
    analyzer_free(a);
}

/* What is in the cache, and what else is in the text, changes nothing. */
static void a_used_analyzer_answers_like_a_new_one(void **state)
{
    static const char *const pieces[] = {"the", "Cats", "getURLs", "C++",  "don't",    "l’eau",    "中国人",
                                         "ｶﾞｽ", " ",    " ",       " ",    ".",        "_",        "Zürich",
                                         "ё",   "'s",   "’",       "\xff", "9",        "\xcc\x88", "ที่",
                                         "ing", "B",    "+",       "#",    "\xc2\xad", "한국"};
    static const char *const langs[] = {"en", "fr", "de", ""};
    struct analyzer *used = analyzer_new(1);
    struct buf text = {0}, got = {0}, want = {0};
    struct rng r;
    rng_seed(&r, 21);
    for (int round = 0; round < 3000; round++) {
        const char *lang = langs[rng_below(&r, COUNT(langs))];
        struct analyzer *fresh = analyzer_new(1);
        buf_clear(&text);
        for (size_t n = rng_below(&r, 30); n > 0; n--)
            buf_puts(&text, pieces[rng_below(&r, COUNT(pieces))]);
        show(used, buf_span(&text), lang, &got);
        show(fresh, buf_span(&text), lang, &want);
        CHECK_SPAN(buf_cstr(&text), buf_span(&got), buf_span(&want));
        analyzer_free(fresh);
    }
    buf_done(&text);
    buf_done(&got);
    buf_done(&want);
    analyzer_free(used);
}

static void identifiers_are_cut_into_parts(void **state)
{
    static const struct {
        const char *word, *want;
    } cases[] = {
        {"word", "word"},
        {"Word", "Word"},
        {"WORD", "WORD"},
        {"snake_case", "snake case"},
        {"__x__", "x"},
        {"camelCase", "camel Case"},
        {"XMLHttpRequest", "XML Http Request"},
        {"URLs", "URLs"},
        {"IDsOf", "I Ds Of"},
        {"utf8", "utf8"},
        {"utf8_bin", "utf8 bin"},
        {"base64Decode", "base64 Decode"},
        {"Texture2D", "Texture2D"},
        {"HTTPServer2", "HTTP Server 2"},
        {"Server2", "Server2"},
        {"aB_12_cD3", "a B 12 c D 3"},
        {"_", ""},
        {"", ""},
    };
    struct identifier_part parts[IDENTIFIER_PARTS_MAX];
    struct buf got = {0};
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t n = identifier_split(span_str(cases[i].word), true, parts);
        buf_clear(&got);
        for (size_t k = 0; k < n; k++)
            buf_printf(&got, "%s%.*s", k ? " " : "",
                       SPAN_ARG(span_cut(span_str(cases[i].word), parts[k].at, parts[k].bytes)));
        CHECK_SPAN(cases[i].word, buf_span(&got), span_str(cases[i].want));
    }
    buf_done(&got);
}

static void the_most_parts_fit(void **state)
{
    struct identifier_part parts[IDENTIFIER_PARTS_MAX];
    char word[300];
    for (unsigned kind = 0; kind < 4; kind++)
        for (size_t n = 0; n < sizeof(word); n++) {
            word[n] = "aBa_aB1_"[kind * 2 + n % 2];
            CHECK("parts", identifier_split(span_of(word, n + 1), true, parts) <= IDENTIFIER_PARTS_MAX);
        }
}

static void language_codes_come_back(void **state)
{
    static const struct {
        const char *name, *want;
    } cases[] = {
        {"en", "en"}, {"EN-us", "en"}, {"fil", "fil"}, {"zh_Hant", "zh"}, {"", ""},
        {"e", ""},    {"engl", ""},    {"e1", ""},     {"en.", ""},
    };
    char name[4];
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_SPAN(cases[i].name, span_str(lang_code_name(lang_code_of(span_str(cases[i].name)), name)),
                   span_str(cases[i].want));
    size_t n;
    const lang_code *l = analyze_languages(&n);
    assert_true(n > 20);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(lang_code_of(span_str(lang_code_name(l[i], name))), l[i]);
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(l[i], l[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_terms),
        cmocka_unit_test(tokens_say_where_they_are),
        cmocka_unit_test(spellings_and_forms_meet),
        cmocka_unit_test(every_language_cuts_alike),
        cmocka_unit_test(long_words_take_a_position_only),
        cmocka_unit_test(equal_terms_are_one_term),
        cmocka_unit_test(tokens_are_dropped_and_added_again),
        cmocka_unit_test(the_cache_is_bounded_between_texts),
        cmocka_unit_test(only_so_much_of_a_text_is_looked_at),
        cmocka_unit_test(a_plain_twin_finds_the_same_words),
        cmocka_unit_test(a_used_analyzer_answers_like_a_new_one),
        cmocka_unit_test(identifiers_are_cut_into_parts),
        cmocka_unit_test(the_most_parts_fit),
        cmocka_unit_test(language_codes_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
