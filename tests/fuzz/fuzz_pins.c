/* fuzz_pins.c - any bytes as an operator's pins, as a packed calibration, and as how often a page changes. What was
 * read must find itself: a line that names a site, a network or a country is the one that is found for it. A rate is a
 * number whatever its bytes are. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "plan/calibrate.h"
#include "plan/page_rate.h"
#include "plan/pins.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct pin_agent agents[] = {
    {1, SPAN_INIT("paris"), "FR"}, {2, SPAN_INIT("lab"), "DE"}, {3, SPAN_INIT("x"), ""}};
#define AGENTS (sizeof(agents) / sizeof(*agents))

static void use(const struct pins *p, const struct pin_site *s)
{
    uint64_t numbers[AGENTS];
    const struct pin *pin = pins_find(p, s);
    if (!pin)
        return;
    struct pins *again = NULL;
    assert(pin_line(pin) >= 1 && pin_text(pin).n > 0);
    assert(pin_agents(p, pin, agents, AGENTS, numbers) <= AGENTS);
    /* Alone it may lack its group. */
    status st = pins_read(pin_text(pin), &again, NULL);
    assert(st == ST_OK || st == ST_INVALID);
    if (st == ST_OK)
        assert(pins_count(again) == 1 && pins_find(again, s));
    pins_free(again);
}

static void use_calibration(struct span packed)
{
    struct calibration c;
    struct calibrate_opts o = {0};
    struct buf b = {0};
    if (calibration_unpack(packed, &c) != ST_OK)
        return;
    calibration_pack(&c, &b);
    assert(b.n == CALIBRATION_PACKED_BYTES && memcmp(b.p, packed.p, b.n) == 0);
    (void)calibrate_note(&c, &o, 20, 30, INT64_C(1700000000000));
    calibrate_decided(&c, &o, 10, INT64_C(1700000000000));
    buf_done(&b);
}

static void use_rate(struct span bytes)
{
    uint64_t packed;
    uint32_t gap_s, since_s;
    memcpy(&packed, bytes.p, 8);
    memcpy(&gap_s, bytes.p + 8, 4);
    memcpy(&since_s, bytes.p + 12, 4);
    for (int i = 0; i < 4; i++) {
        double factor = 0, days = page_rate_days(packed, &factor);
        assert(isfinite(days) && days > 0 && isfinite(factor) && factor >= 1);
        packed = page_rate_visit(packed, (int64_t)gap_s * 1000, i % 2 == 0, (int64_t)since_s * 1000 - 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pins *p = NULL;
    struct buf why = {0};
    struct span text = span_of(data, size);
    status st = pins_read(text, &p, &why);
    assert((st == ST_OK) == (why.n == 0));
    if (st == ST_OK) {
        struct pin_site s = {.host = SPAN("www.example.org"), .holder = SPAN("Telco Ltd"), .country = "DE"};
        use(p, &s);
        s.host = (struct span){0};
        assert(addr_parse(SPAN("192.0.2.7"), &s.addr) == ST_OK);
        use(p, &s);
        assert(addr_parse(SPAN("2001:db8::1"), &s.addr) == ST_OK);
        use(p, &s);
        s = (struct pin_site){.holder = SPAN("Telco Ltd"), .country = "DE"};
        use(p, &s);
        s.holder = (struct span){0};
        use(p, &s);
        use(p, &(struct pin_site){0});
    }
    pins_free(p);
    buf_done(&why);
    use_calibration(text);
    if (size >= 16)
        use_rate(text);
    return 0;
}
