#include "io/tls_key.h"

#include <time.h>
#include <gnutls/abstract.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>

#include "place/addr.h"

#define DAY_S 86400
#define LIFE_DAYS 3652
#define COMMON_NAME_MAX 64 /* RFC 5280, ub-common-name */
#define SERIAL_BYTES 16
#define SHA256_BYTES 32

static struct span datum_span(const gnutls_datum_t *d)
{
    return span_of(d->data, d->size);
}

static gnutls_datum_t datum_of(struct span s)
{
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)s.p, (unsigned)s.n};
}

/* What a certificate can carry: letters, digits and the few marks of names and addresses. */
static bool is_name(struct span name)
{
    if (name.n == 0 || name.n > TLS_KEY_NAME_MAX)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (!ascii_is_alpha(c) && !ascii_is_digit(c) && (c == '\0' || !strchr("-._:[]", c)))
            return false;
    }
    return true;
}

static bool put_names(gnutls_x509_crt_t crt, struct span name)
{
    struct addr a;
    bool is_addr = addr_parse(name, &a) == ST_OK;
    if (name.n <= COMMON_NAME_MAX &&
        gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name.p, (unsigned)name.n) < 0)
        return false;
    return is_addr ? gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, a.b, a.family == 4 ? 4 : 16,
                                                          GNUTLS_FSAN_SET) >= 0
                   : gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name.p, (unsigned)name.n,
                                                          GNUTLS_FSAN_SET) >= 0;
}

/* Active since yesterday: clocks of clients differ, and some of them look at the dates all the same. */
static bool fill_certificate(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, struct span name)
{
    unsigned char serial[SERIAL_BYTES];
    time_t now = time(NULL);
    if (gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof(serial)) < 0)
        return false;
    serial[0] = (unsigned char)((serial[0] & 0x3f) | 0x40); /* positive, and all bytes count */
    return gnutls_x509_crt_set_version(crt, 3) >= 0 && gnutls_x509_crt_set_serial(crt, serial, sizeof(serial)) >= 0 &&
           gnutls_x509_crt_set_activation_time(crt, now - DAY_S) >= 0 &&
           gnutls_x509_crt_set_expiration_time(crt, now + (time_t)LIFE_DAYS * DAY_S) >= 0 && put_names(crt, name) &&
           gnutls_x509_crt_set_basic_constraints(crt, 0, -1) >= 0 &&
           gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE) >= 0 &&
           gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0) >= 0 &&
           gnutls_x509_crt_set_key(crt, key) >= 0 && gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0) >= 0;
}

static status export_pair(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, struct buf *cert_pem, struct buf *key_pem)
{
    gnutls_datum_t c = {0}, k = {0};
    status st = ST_IO;
    if (gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &c) >= 0 &&
        gnutls_x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &k) >= 0) {
        buf_put(cert_pem, datum_span(&c));
        buf_put(key_pem, datum_span(&k));
        st = ST_OK;
    }
    if (k.data)
        gnutls_memset(k.data, 0, k.size);
    gnutls_free(c.data);
    gnutls_free(k.data);
    return st;
}

status tls_key_make(struct span name, struct buf *cert_pem, struct buf *key_pem)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t crt = NULL;
    status st = is_name(name) ? ST_OK : ST_INVALID;
    if (st == ST_OK &&
        (gnutls_x509_privkey_init(&key) < 0 || gnutls_x509_crt_init(&crt) < 0 ||
         gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0) < 0 ||
         !fill_certificate(crt, key, name)))
        st = ST_IO;
    if (st == ST_OK)
        st = export_pair(crt, key, cert_pem, key_pem);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return st;
}

static status read_certificate(struct span pem, gnutls_x509_crt_t *out)
{
    gnutls_x509_crt_t crt = NULL;
    gnutls_datum_t d = datum_of(pem);
    if (pem.n == 0 || pem.n > TLS_KEY_PEM_MAX || gnutls_x509_crt_init(&crt) < 0 ||
        gnutls_x509_crt_import(crt, &d, GNUTLS_X509_FMT_PEM) < 0) {
        gnutls_x509_crt_deinit(crt);
        return ST_INVALID;
    }
    *out = crt;
    return ST_OK;
}

/* Over the public key with its algorithm in DER (SubjectPublicKeyInfo), not the certificate: a certificate that is made
 * anew for the same key keeps the pin. */
static status hash_public_key(gnutls_x509_crt_t crt, unsigned char hash[SHA256_BYTES])
{
    gnutls_pubkey_t key = NULL;
    gnutls_datum_t der = {0};
    bool ok = gnutls_pubkey_init(&key) >= 0 && gnutls_pubkey_import_x509(key, crt, 0) >= 0 &&
              gnutls_pubkey_export2(key, GNUTLS_X509_FMT_DER, &der) >= 0 &&
              gnutls_hash_fast(GNUTLS_DIG_SHA256, der.data, der.size, hash) >= 0;
    gnutls_free(der.data);
    gnutls_pubkey_deinit(key);
    return ok ? ST_OK : ST_INVALID;
}

status tls_key_pin(struct span cert_pem, struct buf *pin)
{
    gnutls_x509_crt_t crt = NULL;
    unsigned char hash[SHA256_BYTES];
    gnutls_datum_t text = {0}, raw = {hash, sizeof(hash)};
    status st = read_certificate(cert_pem, &crt);
    if (st == ST_OK)
        st = hash_public_key(crt, hash);
    if (st == ST_OK && gnutls_base64_encode2(&raw, &text) < 0)
        st = ST_INVALID;
    if (st == ST_OK) {
        buf_puts(pin, "sha256//");
        buf_put(pin, datum_span(&text));
    }
    gnutls_free(text.data);
    gnutls_x509_crt_deinit(crt);
    return st;
}

static status read_key(struct span pem, gnutls_x509_privkey_t *out)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_datum_t d = datum_of(pem);
    if (pem.n == 0 || pem.n > TLS_KEY_PEM_MAX || gnutls_x509_privkey_init(&key) < 0 ||
        gnutls_x509_privkey_import2(key, &d, GNUTLS_X509_FMT_PEM, NULL, 0) < 0) {
        gnutls_x509_privkey_deinit(key);
        return ST_INVALID;
    }
    *out = key;
    return ST_OK;
}

static bool is_pair(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key)
{
    unsigned char a[SHA256_BYTES], b[SHA256_BYTES];
    size_t an = sizeof(a), bn = sizeof(b);
    return gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA256, a, &an) >= 0 &&
           gnutls_x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, b, &bn) >= 0 && an == bn &&
           memcmp(a, b, an) == 0;
}

status tls_key_check(struct span cert_pem, struct span key_pem, struct buf *why)
{
    gnutls_x509_crt_t crt = NULL;
    gnutls_x509_privkey_t key = NULL;
    const char *wrong = NULL;
    if (read_certificate(cert_pem, &crt) != ST_OK)
        wrong = "the certificate is not PEM";
    else if (read_key(key_pem, &key) != ST_OK)
        wrong = "the key is not PEM, or has a password";
    else if (!is_pair(crt, key))
        wrong = "the key does not belong to the certificate";
    if (wrong && why)
        buf_puts(why, wrong);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    return wrong ? ST_INVALID : ST_OK;
}
