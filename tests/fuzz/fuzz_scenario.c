/* fuzz_scenario.c - scenario files: every run is whole, or the message says where it is not. */
#include <assert.h>

#include "lab/play/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct scenario_run *r)
{
    assert(r->name.n > 0 && span_find(r->name, '/', 0) == r->name.n);
    assert(r->world.n > 0 || r->lab_count > 0);
    assert(r->attempts > 0 && r->late_max_ms >= 0);
    for (size_t i = 0; i < r->step_count; i++) {
        const struct step *s = &r->steps[i];
        assert(s->line > 0 && s->at_ms >= -1);
        assert(s->kind != STEP_WAIT || (s->within_ms >= 0 && s->share >= 0 && s->share <= 1));
        assert(s->kind != STEP_ROUTER || s->words.n >= 2);
        assert(s->kind != STEP_SHELL || s->words.n == 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario s;
    struct buf why = {0};
    if (size == 0 || size > 4096)
        return 0;
    struct scenario_opts opts = {.is_short = data[0] % 2};
    if (scenario_parse(span_of(data + 1, size - 1), "fuzz.scenario", &opts, &s, &why) == ST_OK) {
        assert(s.run_count > 0);
        for (size_t i = 0; i < s.run_count; i++)
            check_run(&s.runs[i]);
        scenario_done(&s);
    } else {
        assert(span_starts(buf_span(&why), SPAN("fuzz.scenario:")));
    }
    buf_done(&why);
    return 0;
}
