#include "test.h"

#include "io/tls_key.h"

/* Made once with `openssl req -x509 -newkey ec ...`; the pin by the recipe of libcurl's manual (openssl x509 -pubkey |
 * openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl enc -base64). */
static const char openssl_cert[] = "-----BEGIN CERTIFICATE-----\n"
                                   "MIIBhDCCASmgAwIBAgIUR+in2IlKWHjuUIykcwvDn2fP1EQwCgYIKoZIzj0EAwIw\n"
                                   "FzEVMBMGA1UEAwwMdGVzdC5leGFtcGxlMB4XDTI2MTExNjAzMTA0OVoXDTM2MTEx\n"
                                   "MzAzMTA0OVowFzEVMBMGA1UEAwwMdGVzdC5leGFtcGxlMFkwEwYHKoZIzj0CAQYI\n"
                                   "KoZIzj0DAQcDQgAEai0Eg+V5rrCPZ7tzdWpXM/INTHAHVKsBe7CmawM49i1jV8am\n"
                                   "dzQ6mxUPzJakUaCmHwCWZX9A8HBR4z+4RJ7bCqNTMFEwHQYDVR0OBBYEFMNFwCrf\n"
                                   "8XgahnnffmIRS85VqaIjMB8GA1UdIwQYMBaAFMNFwCrf8XgahnnffmIRS85VqaIj\n"
                                   "MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAM7LmtKX6Y4YfR/2\n"
                                   "jryRAedJ4lP8GZ88dAgcqawiEuTBAiEA0hvzFf+QxzLdT9DDv2dd1UP0vcvVQOQC\n"
                                   "UGxoUS5Cp+Y=\n"
                                   "-----END CERTIFICATE-----\n";
static const char openssl_key[] = "-----BEGIN PRIVATE KEY-----\n"
                                  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAAsMG0S6wA4f8HKf\n"
                                  "xpW6c4L84WREzzjUjFOELT+bFbShRANCAARqLQSD5XmusI9nu3N1alcz8g1McAdU\n"
                                  "qwF7sKZrAzj2LWNXxqZ3NDqbFQ/MlqRRoKYfAJZlf0DwcFHjP7hEntsK\n"
                                  "-----END PRIVATE KEY-----\n";
static const char openssl_pin[] = "sha256//xFF1zx5H700C4N4wojPKC/rSocCDAdSLYMkCza0ukzw=";

static void pin_is_that_of_openssl(void **state)
{
    struct buf pin = {0};
    CHECK_STATUS("pin", tls_key_pin(span_str(openssl_cert), &pin), ST_OK);
    CHECK_SPAN("pin", buf_span(&pin), span_str(openssl_pin));
    CHECK_STATUS("pair", tls_key_check(span_str(openssl_cert), span_str(openssl_key), NULL), ST_OK);
    buf_done(&pin);
}

static void a_made_pair_belongs_together_and_has_a_pin(void **state)
{
    static const char *const names[] = {
        "coordinator.example",
        "127.0.0.1",
        "::1",
        "[2001:db8::1]",
        "a",
        "a-name-above.the-64-bytes-that-the-common-name-may-have.and-so-only.in-the-other-field.example"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct buf cert = {0}, key = {0}, pin = {0}, why = {0};
        CHECK_STATUS(names[i], tls_key_make(span_str(names[i]), &cert, &key), ST_OK);
        CHECK_STATUS(names[i], tls_key_check(buf_span(&cert), buf_span(&key), &why), ST_OK);
        CHECK_STATUS(names[i], tls_key_pin(buf_span(&cert), &pin), ST_OK);
        CHECK(names[i], pin.n == 8 + 44 && span_starts(buf_span(&pin), SPAN("sha256//")));
        CHECK(names[i], why.n == 0);
        buf_done(&cert);
        buf_done(&key);
        buf_done(&pin);
    }
}

static void every_key_is_another(void **state)
{
    struct buf cert[2] = {0}, key[2] = {0}, pin[2] = {0}, why = {0};
    for (int i = 0; i < 2; i++) {
        CHECK_STATUS("make", tls_key_make(SPAN("h.example"), &cert[i], &key[i]), ST_OK);
        CHECK_STATUS("pin", tls_key_pin(buf_span(&cert[i]), &pin[i]), ST_OK);
    }
    CHECK("pins", !span_eq(buf_span(&pin[0]), buf_span(&pin[1])));
    CHECK_STATUS("mixed up", tls_key_check(buf_span(&cert[0]), buf_span(&key[1]), &why), ST_INVALID);
    CHECK_SPAN("why", buf_span(&why), SPAN("the key does not belong to the certificate"));
    for (int i = 0; i < 2; i++) {
        buf_done(&cert[i]);
        buf_done(&key[i]);
        buf_done(&pin[i]);
    }
    buf_done(&why);
}

static void the_first_of_several_certificates_counts(void **state)
{
    struct buf chain = {0}, key = {0}, pin = {0};
    buf_puts(&chain, openssl_cert);
    CHECK_STATUS("make", tls_key_make(SPAN("h.example"), &chain, &key), ST_OK); /* appended */
    CHECK_STATUS("pin", tls_key_pin(buf_span(&chain), &pin), ST_OK);
    CHECK_SPAN("pin", buf_span(&pin), span_str(openssl_pin));
    CHECK_STATUS("pair", tls_key_check(buf_span(&chain), span_str(openssl_key), NULL), ST_OK);
    buf_done(&chain);
    buf_done(&key);
    buf_done(&pin);
}

static void bad_names_are_refused(void **state)
{
    static char long_name[TLS_KEY_NAME_MAX + 2];
    memset(long_name, 'a', TLS_KEY_NAME_MAX + 1);
    const struct {
        const char *label;
        struct span name;
    } cases[] = {{"empty", SPAN("")},
                 {"blank", SPAN("a b")},
                 {"newline", SPAN("a\nb")},
                 {"NUL", SPAN("a\0b")},
                 {"not ASCII", SPAN("b\xc3\xbc"
                                    "cher.example")},
                 {"too long", span_str(long_name)}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf cert = {0}, key = {0};
        CHECK_STATUS(cases[i].label, tls_key_make(cases[i].name, &cert, &key), ST_INVALID);
        CHECK(cases[i].label, cert.n == 0 && key.n == 0);
    }
}

static void what_is_no_pem_is_refused(void **state)
{
    struct buf pin = {0}, why = {0}, big = {0};
    CHECK_STATUS("empty", tls_key_pin(SPAN(""), &pin), ST_INVALID);
    CHECK_STATUS("text", tls_key_pin(SPAN("hello"), &pin), ST_INVALID);
    CHECK_STATUS("a key", tls_key_pin(span_str(openssl_key), &pin), ST_INVALID);
    for (size_t n = 0; n < sizeof(openssl_cert) - 30; n++) /* up to within the last line */
        CHECK_STATUS("cut off", tls_key_pin(span_of(openssl_cert, n), &pin), ST_INVALID);
    memset(buf_room(&big, TLS_KEY_PEM_MAX + 1), '\n', TLS_KEY_PEM_MAX + 1);
    big.n = TLS_KEY_PEM_MAX + 1;
    CHECK_STATUS("huge", tls_key_pin(buf_span(&big), &pin), ST_INVALID);
    assert_int_equal(pin.n, 0);
    CHECK_STATUS("no certificate", tls_key_check(SPAN("x"), span_str(openssl_key), &why), ST_INVALID);
    CHECK_SPAN("no certificate", buf_span(&why), SPAN("the certificate is not PEM"));
    buf_clear(&why);
    CHECK_STATUS("no key", tls_key_check(span_str(openssl_cert), SPAN("x"), &why), ST_INVALID);
    CHECK_SPAN("no key", buf_span(&why), SPAN("the key is not PEM, or has a password"));
    buf_done(&why);
    buf_done(&big);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pin_is_that_of_openssl), cmocka_unit_test(a_made_pair_belongs_together_and_has_a_pin),
        cmocka_unit_test(every_key_is_another),   cmocka_unit_test(the_first_of_several_certificates_counts),
        cmocka_unit_test(bad_names_are_refused),  cmocka_unit_test(what_is_no_pem_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
