#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "codec/armor.h"
#include "codec/json_read.h"
#include "codec/password.h"
#include "codec/sign.h"

static void fill(struct rng *r, unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)rng_u64(r);
}

static void check_hex(const char *label, const void *bytes, size_t n, const char *want)
{
    struct buf b = {0};
    hex_put(&b, span_of(bytes, n));
    CHECK_SPAN(label, buf_span(&b), span_str(want));
    buf_done(&b);
}

/* RFC 8032 section 7.1, tests 1 to 3. */
static void signatures_are_those_of_the_rfc(void **state)
{
    static const struct {
        const char *label, *seed, *open, *message, *sig;
    } cases[] = {
        {"empty", "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
         "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
         "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bb"
         "e24"
         "655141438e7a100b"},
        {"one byte", "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
         "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
         "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302"
         "aee"
         "b00d291612bb0c00"},
        {"two bytes", "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
         "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
         "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed"
         "28d"
         "c027beceea1ec40a"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        unsigned char seed[SIGN_SEED_BYTES], message[2];
        struct sign_key k;
        struct signature sig;
        size_t n = strlen(cases[i].message) / 2;
        CHECK_STATUS(cases[i].label, hex_get(span_str(cases[i].seed), seed, sizeof(seed)), ST_OK);
        CHECK_STATUS(cases[i].label, hex_get(span_str(cases[i].message), message, n), ST_OK);
        sign_key_of(seed, &k);
        check_hex(cases[i].label, k.open.b, sizeof(k.open.b), cases[i].open);
        sign_make(&k, span_of(message, n), &sig);
        check_hex(cases[i].label, sig.b, sizeof(sig.b), cases[i].sig);
        CHECK(cases[i].label, sign_check(&k.open, span_of(message, n), &sig));
    }
}

static void a_flipped_bit_anywhere_spoils_a_signature(void **state)
{
    struct rng r;
    struct sign_key k;
    struct signature sig;
    unsigned char seed[SIGN_SEED_BYTES], message[100];
    rng_seed(&r, 7);
    fill(&r, seed, sizeof(seed));
    fill(&r, message, sizeof(message));
    sign_key_of(seed, &k);
    struct span m = span_of(message, sizeof(message));
    sign_make(&k, m, &sig);
    for (int i = 0; i < 200; i++) {
        unsigned char *where[] = {message, sig.b, k.open.b};
        size_t sizes[] = {sizeof(message), sizeof(sig.b), sizeof(k.open.b)};
        size_t w = rng_below(&r, 3), at = rng_below(&r, sizes[w]);
        unsigned char bit = (unsigned char)(1u << rng_below(&r, 8));
        where[w][at] ^= bit;
        CHECK("flipped", !sign_check(&k.open, m, &sig));
        where[w][at] ^= bit;
    }
    CHECK("as it was", sign_check(&k.open, m, &sig));
    sign_wipe(&k, sizeof(k));
    struct sign_key zero = {0};
    CHECK("wiped", memcmp(&k, &zero, sizeof(k)) == 0);
}

static void digests_are_those_that_others_compute(void **state)
{
    struct digest256 d = digest_sha256(SPAN("abc"));
    check_hex("FIPS 180", d.b, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    d = digest_blake2b256(SPAN("abc"));
    check_hex("b2sum -l 256", d.b, 32, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    d = digest_blake2b256((struct span){0});
    check_hex("of nothing", d.b, 32, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
}

static void a_digest_in_pieces_is_the_digest_of_the_whole(void **state)
{
    struct rng r;
    unsigned char data[5000];
    rng_seed(&r, 3);
    fill(&r, data, sizeof(data));
    for (int i = 0; i < 50; i++) {
        struct digest_stream *d = digest_stream_new();
        struct span rest = span_of(data, rng_below(&r, sizeof(data)));
        struct digest256 want = digest_blake2b256(rest);
        while (rest.n) {
            struct span piece = span_cut(rest, 0, 1 + rng_below(&r, 900));
            digest_stream_add(d, piece);
            rest = span_from(rest, piece.n);
        }
        struct digest256 got = digest_stream_end(d);
        CHECK("pieces", bytes_equal(got.b, want.b, sizeof(want.b)));
        got.b[i % 32] ^= 1;
        CHECK("not equal", !bytes_equal(got.b, want.b, sizeof(want.b)));
    }
}

static void base64_is_that_of_the_rfc(void **state)
{
    static const struct {
        const char *bytes, *url, *plain;
    } cases[] = {{"", "", ""},
                 {"f", "Zg", "Zg=="},
                 {"fo", "Zm8", "Zm8="},
                 {"foo", "Zm9v", "Zm9v"},
                 {"foob", "Zm9vYg", "Zm9vYg=="},
                 {"fooba", "Zm9vYmE", "Zm9vYmE="},
                 {"\xfb\xff\xfe", "-__-", "+//+"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf b = {0};
        base64url_put(&b, span_str(cases[i].bytes));
        CHECK_SPAN(cases[i].bytes, buf_span(&b), span_str(cases[i].url));
        buf_clear(&b);
        base64_put(&b, span_str(cases[i].bytes));
        CHECK_SPAN(cases[i].bytes, buf_span(&b), span_str(cases[i].plain));
        buf_done(&b);
    }
}

static void bytes_as_text_come_back(void **state)
{
    struct rng r;
    rng_seed(&r, 5);
    for (size_t n = 0; n < 70; n++) {
        unsigned char in[70], out[70];
        struct buf b = {0};
        fill(&r, in, n);
        base64url_put(&b, span_of(in, n));
        CHECK_STATUS("base64url", base64url_get(buf_span(&b), out, n), ST_OK);
        CHECK("base64url", memcmp(in, out, n) == 0);
        buf_clear(&b);
        hex_put(&b, span_of(in, n));
        CHECK_STATUS("hex", hex_get(buf_span(&b), out, n), ST_OK);
        CHECK("hex", memcmp(in, out, n) == 0);
        buf_done(&b);
    }
}

static void text_with_another_spelling_is_refused(void **state)
{
    static const struct {
        const char *label, *text;
        size_t n;
    } base64[] = {{"too short", "Zm9", 3}, {"too long", "Zm9vYg", 3},   {"padding", "Zg==", 1},
                  {"plus", "+//+", 3},     {"bits left over", "Zh", 1}, {"a space", "Zm 9v", 3},
                  {"four bits", "Zm9", 2}, {"one letter", "Z", 0}};
    static const struct {
        const char *label, *text;
    } hex[] = {{"odd", "abc"}, {"short", "ab"}, {"a g", "abcg"}, {"a space", "ab d"}};
    unsigned char out[8];
    for (size_t i = 0; i < sizeof(base64) / sizeof(base64[0]); i++)
        CHECK_STATUS(base64[i].label, base64url_get(span_str(base64[i].text), out, base64[i].n), ST_INVALID);
    for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++)
        CHECK_STATUS(hex[i].label, hex_get(span_str(hex[i].text), out, 2), ST_INVALID);
    CHECK_STATUS("capitals", hex_get(SPAN("ABcd"), out, 2), ST_OK);
    CHECK("capitals", out[0] == 0xAB && out[1] == 0xCD);
}

static void only_the_right_password_opens(void **state)
{
    unsigned char salt[PASSWORD_SALT_BYTES] = "0123456789abcde";
    struct buf hash = {0};
    struct span good = SPAN("corréct horse");
    CHECK_STATUS("good", password_hash(good, salt, &hash), ST_OK);
    CHECK("says how", span_starts(buf_span(&hash), SPAN("argon2id$v=19$m=65536,t=2,p=1$")));
    CHECK("right", password_check(buf_span(&hash), good));
    CHECK("wrong", !password_check(buf_span(&hash), SPAN("corréct horsf")));
    hash.p[hash.n - 2] ^= 1;
    CHECK("another hash", !password_check(buf_span(&hash), good));
    buf_done(&hash);
}

static void passwords_have_a_length(void **state)
{
    unsigned char salt[PASSWORD_SALT_BYTES] = {0};
    char lots[PASSWORD_MAX + 1];
    struct buf out = {0};
    memset(lots, 'x', sizeof(lots));
    CHECK_STATUS("nine", password_hash(SPAN("123456789"), salt, &out), ST_INVALID);
    CHECK_STATUS("nine letters in 18 bytes", password_hash(SPAN("ééééééééé"), salt, &out), ST_INVALID);
    CHECK_STATUS("too long", password_hash(span_of(lots, sizeof(lots)), salt, &out), ST_LIMIT);
    assert_int_equal(out.n, 0);
}

static void a_broken_hash_opens_to_nobody(void **state)
{
    static const char *const hashes[] = {
        "",
        "$",
        "argon2id",
        "argon2id$v=19$m=65536,t=2,p=1$$",
        "argon2id$v=19$m=0,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "argon2id$v=19$m=99999999,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "argon2id$v=19$m=64,t=99,p=1$MDEyMzQ1Njc4OWFiY2RlAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA$x",
        "argon2i$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    };
    for (size_t i = 0; i < sizeof(hashes) / sizeof(hashes[0]); i++)
        CHECK(hashes[i], !password_check(span_str(hashes[i]), SPAN("0123456789")));
}

static void show_pairs(const struct json_pair *pairs, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%.*s=%.*s;", SPAN_ARG(pairs[i].name), SPAN_ARG(pairs[i].value));
}

static void a_flat_object_becomes_pairs_in_its_order(void **state)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"{}", ""},
        {"{\"b\":\"x\",\"a\":1}", "b=x;a=1;"},
        {"{\"n\":-7,\"big\":9223372036854775807}", "n=-7;big=9223372036854775807;"},
        {"{\"r\":0.1,\"s\":1e300,\"t\":2.5}", "r=0.1;s=1e+300;t=2.5;"},
        {"{\"yes\":true,\"no\":false,\"none\":null}", "yes=true;no=false;"},
        {"{\"l\":[\"a\",2,true,null,\"b\"],\"e\":[]}", "l=a;l=2;l=true;l=b;"},
        {" { \"u\" : \"\\u00e9\\n\" } ", "u=é\n;"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct json_pair *pairs = NULL;
        struct buf got = {0};
        size_t n = 0;
        const char *why = "";
        arena_init(&a);
        CHECK_STATUS(cases[i].json, json_read(&a, span_str(cases[i].json), &pairs, &n, &why), ST_OK);
        show_pairs(pairs, n, &got);
        CHECK_SPAN(cases[i].json, buf_span(&got), span_str(cases[i].want));
        buf_done(&got);
        arena_done(&a);
    }
}

static void what_is_no_flat_object_is_refused_with_a_reason(void **state)
{
    static const struct {
        const char *json, *phrase;
    } cases[] = {
        {"", "line 1"},
        {"[1]", "not an object"},
        {"{\"a\":{}}", "\"a\" has a value"},
        {"{\"a\":[[1]]}", "\"a\" has a value"},
        {"{\"a\":1,\"a\":2}", "duplicate"},
        {"{\"a\":1} x", "end of file"},
        {"{\"a\":\"\xff\"}", "decode"},
        {"{\"a\":\"\\u0000\"}", "line 1"},
        {"{\"a\":99999999999999999999}", "big"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        struct json_pair *pairs = NULL;
        size_t n = 0;
        const char *why = "";
        arena_init(&a);
        CHECK_STATUS(cases[i].json, json_read(&a, span_str(cases[i].json), &pairs, &n, &why), ST_INVALID);
        if (!strstr(why, cases[i].phrase))
            fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].json, why, cases[i].phrase);
        arena_done(&a);
    }
}

static void an_object_has_a_largest_size(void **state)
{
    struct arena a;
    struct buf b = {0};
    struct json_pair *pairs = NULL;
    size_t n = 0;
    const char *why = "";
    arena_init(&a);
    buf_puts(&b, "{\"a\":[1");
    for (int i = 1; i < JSON_READ_MEMBERS_MAX; i++)
        buf_puts(&b, ",1");
    size_t full = b.n;
    buf_puts(&b, "]}");
    CHECK_STATUS("full", json_read(&a, buf_span(&b), &pairs, &n, &why), ST_OK);
    assert_int_equal(n, JSON_READ_MEMBERS_MAX);
    b.n = full;
    buf_puts(&b, ",1]}");
    CHECK_STATUS("one more", json_read(&a, buf_span(&b), &pairs, &n, &why), ST_LIMIT);
    while (b.n <= JSON_READ_BYTES_MAX)
        buf_putc(&b, ' ');
    CHECK_STATUS("long", json_read(&a, buf_span(&b), &pairs, &n, &why), ST_LIMIT);
    buf_done(&b);
    arena_done(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_those_of_the_rfc),
        cmocka_unit_test(a_flipped_bit_anywhere_spoils_a_signature),
        cmocka_unit_test(digests_are_those_that_others_compute),
        cmocka_unit_test(a_digest_in_pieces_is_the_digest_of_the_whole),
        cmocka_unit_test(base64_is_that_of_the_rfc),
        cmocka_unit_test(bytes_as_text_come_back),
        cmocka_unit_test(text_with_another_spelling_is_refused),
        cmocka_unit_test(only_the_right_password_opens),
        cmocka_unit_test(passwords_have_a_length),
        cmocka_unit_test(a_broken_hash_opens_to_nobody),
        cmocka_unit_test(a_flat_object_becomes_pairs_in_its_order),
        cmocka_unit_test(what_is_no_flat_object_is_refused_with_a_reason),
        cmocka_unit_test(an_object_has_a_largest_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
