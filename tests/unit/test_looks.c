/* What the coordinator does about lies, and about sites that answer from several places. */
#include "fleet_stage.h"

#include "coord/agents.h"
#include "coord/networks.h"
#include "coord/pinning.h"
#include "coord/placing.h"
#include "plan/sanity.h"
#include "plan/split.h"

static const struct stage_agent agents[] = {{"paris", 48.86, 2.35}, {"tokyo", 35.68, 139.69}};

struct world {
    struct stage stage;
    double ms[2];       /* what each agent says */
    bool is_everywhere; /* each agent reaches a network of its own */
};

static double say_probe(void *arg, const struct probe_ask *ask, struct span *reached)
{
    const struct player *p = arg;
    const struct world *w = p->world;
    static const char *const at[] = {"127.2.2.1", "127.3.3.1"};
    if (!ask->url.n)
        return -1;
    if (w->is_everywhere)
        *reached = span_str(at[p->at]);
    return w->ms[p->at];
}

static double say_path(void *arg, struct span network)
{
    const struct player *p = arg;
    const struct world *w = p->world;
    return w->ms[p->at];
}

static void open_world(struct world *w, delegate_strategy strategy)
{
    struct buf hosts = {0};
    for (int i = 0; i < 256; i++)
        buf_printf(&hosts, "127.1.%d.1 h%d.example\n", i, i);
    w->stage = (struct stage){.agents = agents, .count = 2, .probe = say_probe, .path = say_path, .world = w};
    stage_open(&w->stage, strategy, buf_cstr(&hosts));
    stage_poll(&w->stage);
    buf_done(&hosts);
}

static struct c_agent *agent(const struct world *w, size_t i)
{
    return w->stage.c->agents[i];
}

/* So many sites in networks that a second look would be had at, should this agent win them; all are its. */
static void give(struct world *w, size_t i, size_t count)
{
    struct coord *c = w->stage.c;
    struct buf why = {0}, line = {0};
    buf_printf(&line, "all -> agent %s\n", agents[i].name);
    pthread_mutex_lock(&c->lock);
    CHECK_STATUS("pins", pinning_set(c, buf_span(&line), &why), ST_OK);
    pthread_mutex_unlock(&c->lock);
    for (int k = 0; k < 256 && count; k++) {
        struct network n = addr_network(&(struct addr){4, {127, 1, (uint8_t)k, 1}});
        char url[64];
        if (!sanity_wants_look(&c->key, &n, agent(w, i)->number))
            continue;
        snprintf(url, sizeof(url), "http://h%d.example/", k);
        stage_channel(&w->stage, url);
        count--;
    }
    assert_int_equal(count, 0);
    buf_done(&why);
    buf_done(&line);
}

static void whoever_claims_what_cannot_be_loses_its_networks(void **state)
{
    struct world w = {.ms = {4, 1}}; /* the sites are near Paris */
    open_world(&w, DELEGATE_LEARNED);
    give(&w, 1, SANITY_BAD_LOOKS);
    STAGE_UNTIL(&w.stage, "the liar is found out", agent(&w, 1)->is_demoted);
    assert_int_equal(agent(&w, 1)->looks_bad, SANITY_BAD_LOOKS);
    assert_int_equal(agent(&w, 0)->looks_bad, 0);
    stage_close(&w.stage);
}

static void honest_agents_pass(void **state)
{
    struct world w = {.ms = {4, 240}};
    open_world(&w, DELEGATE_LEARNED);
    give(&w, 0, 3);
    STAGE_UNTIL(&w.stage, "three looks", agent(&w, 0)->looks_good == 3);
    assert_int_equal(agent(&w, 0)->looks_bad, 0);
    assert_false(agent(&w, 0)->is_demoted);
    stage_close(&w.stage);
}

static void looks_outlive_a_restart(void **state)
{
    struct world w = {.ms = {4, 240}};
    open_world(&w, DELEGATE_LEARNED);
    give(&w, 0, 1);
    STAGE_UNTIL(&w.stage, "a look", agent(&w, 0)->looks_good == 1);
    stage_close(&w.stage);
    w.stage.count = 0;
    stage_open(&w.stage, DELEGATE_LEARNED, "");
    assert_int_equal(agent(&w, 0)->looks_good, 1);
    assert_int_equal(pins_count(w.stage.c->pins), 1);
    stage_close(&w.stage);
}

static struct c_network *only_network(struct coord *c, const char *text)
{
    return table_get(&c->networks, siphash(&c->key, span_str(text)));
}

static bool is_settled(struct coord *c, const char *text)
{
    const struct c_network *n = only_network(c, text);
    return n && n->state == NETWORK_OWNED && !n->is_trial && placing_probe_of(n, n->agent);
}

static void a_site_that_is_everywhere_goes_to_whoever_has_least_to_do(void **state)
{
    struct world w = {.ms = {4, 9}};
    struct buf why = {0};
    open_world(&w, DELEGATE_PROBE_ALL);
    stage_channel(&w.stage, "http://h1.example/");
    STAGE_UNTIL(&w.stage, "one network", is_settled(w.stage.c, "127.1.1.0/24"));
    assert_int_equal(only_network(w.stage.c, "127.1.1.0/24")->agent, agent(&w, 0)->number);
    w.is_everywhere = true;
    stage_channel(&w.stage, "http://h2.example/");
    STAGE_UNTIL(&w.stage, "another", is_settled(w.stage.c, "127.1.2.0/24"));
    const struct c_network *n = only_network(w.stage.c, "127.1.2.0/24");
    assert_true(n->is_replicated);
    assert_int_equal(n->agent, agent(&w, 1)->number);
    w.ms[1] = 200; /* too far, however little it has to do */
    stage_channel(&w.stage, "http://h3.example/");
    STAGE_UNTIL(&w.stage, "a third", is_settled(w.stage.c, "127.1.3.0/24"));
    assert_int_equal(only_network(w.stage.c, "127.1.3.0/24")->agent, agent(&w, 0)->number);
    stage_close(&w.stage);
    buf_done(&why);
}

/* ---- whoever takes nothing gets nothing ---- */

/* The network around it is its own as far as the strategy goes, and it leaves. */
static void an_owner_that_drains_is_passed_over(void **state)
{
    struct world w = {.ms = {4, 9}};
    open_world(&w, DELEGATE_LEARNED);
    struct coord *c = w.stage.c;
    struct delegate_question q = {.addr = {4, {127, 1, 1, 1}}};
    pthread_mutex_lock(&c->lock);
    delegator_assigned(c->delegator, &q, agent(&w, 0)->number);
    assert_int_equal(delegator_owner(c->delegator, &q.addr), agent(&w, 0)->number);
    agent_set_state(c, agent(&w, 0), AGENT_DRAIN);
    pthread_mutex_unlock(&c->lock);
    STAGE_UNTIL(&w.stage, "it takes nothing", !agent(&w, 0)->is_told_open);
    stage_channel(&w.stage, "http://h1.example/");
    STAGE_UNTIL(&w.stage, "one network", is_settled(c, "127.1.1.0/24"));
    assert_int_equal(only_network(c, "127.1.1.0/24")->agent, agent(&w, 1)->number);
    stage_close(&w.stage);
}

/* ---- nobody answers ---- */

/* On trial with one that never gets through: it is asked for a probe, and another one gets it. */
static void a_trial_without_an_answer_ends(void **state)
{
    struct world w = {.ms = {-1, -1}};
    open_world(&w, DELEGATE_LEARNED);
    stage_channel(&w.stage, "http://h1.example/");
    struct coord *c = w.stage.c;
    struct c_network *n = NULL;
    STAGE_UNTIL(&w.stage, "on trial",
                (n = only_network(c, "127.1.1.0/24")) != NULL && n->state == NETWORK_OWNED && n->is_trial);
    size_t deaf = n->agent == agent(&w, 1)->number;
    pthread_mutex_lock(&c->lock);
    w.ms[!deaf] = 9;
    n->since -= 3600 * INT64_C(1000);
    c->trials_looked = INT64_MIN / 2;
    pthread_mutex_unlock(&c->lock);
    STAGE_UNTIL(&w.stage, "with the other", n->agent == agent(&w, !deaf)->number && n->state == NETWORK_OWNED);
    stage_close(&w.stage);
}

/* ---- split ---- */

static unsigned hosts_in(struct coord *c, uint64_t number, bool *is_right)
{
    unsigned count = 0;
    size_t at = 0;
    for (const struct c_network *n; (n = table_next(&c->networks, &at));)
        for (size_t i = 0; n->network.parts && n->state == NETWORK_OWNED && n->agent == number && i < n->host_count;
             i++) {
            *is_right &= split_has(&n->network, span_str(n->hosts[i]->name)) && n->hosts[i]->network == n;
            count++;
        }
    return count;
}

static bool is_split_over_both(struct world *w, unsigned total)
{
    struct coord *c = w->stage.c;
    bool is_right = true;
    unsigned one = hosts_in(c, agent(w, 0)->number, &is_right), two = hosts_in(c, agent(w, 1)->number, &is_right);
    return is_right && one && two && one + two == total;
}

/* As the stand-in was told: which sites its tasks are about. */
static bool is_told(struct world *w, size_t i, const char *network)
{
    for (size_t k = 0; k < standin_task_count(w->stage.players[i].s); k++) {
        const struct standin_task *t = standin_task(w->stage.players[i].s, k);
        for (size_t m = 0; m < t->network_count; m++)
            if (!t->is_ended && span_is(t->networks[m], network))
                return true;
    }
    return false;
}

static void a_network_that_is_too_much_for_one_agent_is_split(void **state)
{
    struct world w = {.ms = {4, 9}, .is_everywhere = true};
    struct buf hosts = {0};
    for (int i = 0; i < 24; i++)
        buf_printf(&hosts, "127.1.1.%d site%d.example\n", i + 1, i);
    w.stage = (struct stage){.agents = agents, .count = 2, .probe = say_probe, .path = say_path, .world = &w};
    stage_open(&w.stage, DELEGATE_PROBE_ALL, buf_cstr(&hosts));
    stage_poll(&w.stage);
    for (int i = 0; i < 24; i++) {
        char url[64];
        snprintf(url, sizeof(url), "http://site%d.example/", i);
        stage_channel(&w.stage, url);
    }
    struct coord *c = w.stage.c;
    STAGE_UNTIL(&w.stage, "one network", is_settled(c, "127.1.1.0/24"));
    struct c_network *whole = only_network(c, "127.1.1.0/24");
    assert_true(whole->is_replicated);
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < 2; i++) { /* together they can do it */
        agent(&w, i)->settings.bytes_a_day = 3000000;
        agent_tell_delegator(c, agent(&w, i));
    }
    c->balanced = 0;
    pthread_mutex_unlock(&c->lock);
    STAGE_UNTIL(&w.stage, "split", whole->state == NETWORK_SPLIT && is_split_over_both(&w, 24));
    for (size_t i = 0; i < whole->part_count; i++) {
        const struct c_network *part = whole->parts[i];
        size_t owner = part->agent == agent(&w, 1)->number;
        STAGE_UNTIL(&w.stage, part->text, is_told(&w, owner, part->text));
        CHECK(part->text, !is_told(&w, !owner, part->text));
    }
    CHECK("nobody has all of it", !is_told(&w, 0, "127.1.1.0/24") && !is_told(&w, 1, "127.1.1.0/24"));
    pthread_mutex_lock(&c->lock);
    struct c_network *late = network_at(c, &(struct addr){4, {127, 1, 1, 99}}, SPAN("late.example"));
    CHECK("who comes late goes to its part", late != whole && split_has(&late->network, SPAN("late.example")));
    pthread_mutex_unlock(&c->lock);
    stage_close(&w.stage);
    /* As it is, after a start. */
    w.stage.count = 0;
    stage_open(&w.stage, DELEGATE_PROBE_ALL, "");
    pthread_mutex_lock(&w.stage.c->lock);
    CHECK("still split", is_split_over_both(&w, 24));
    whole = only_network(w.stage.c, "127.1.1.0/24");
    CHECK("with its parts", whole->state == NETWORK_SPLIT && whole->part_count == 2);
    pthread_mutex_unlock(&w.stage.c->lock);
    stage_close(&w.stage);
    buf_done(&hosts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(whoever_claims_what_cannot_be_loses_its_networks),
        TEST_IN_FOLDER(honest_agents_pass),
        TEST_IN_FOLDER(looks_outlive_a_restart),
        TEST_IN_FOLDER(a_site_that_is_everywhere_goes_to_whoever_has_least_to_do),
        TEST_IN_FOLDER(an_owner_that_drains_is_passed_over),
        TEST_IN_FOLDER(a_trial_without_an_answer_ends),
        TEST_IN_FOLDER(a_network_that_is_too_much_for_one_agent_is_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
