/* fleet_stage.h - a coordinator in a thread of its own, and stand-ins that play agents at known distances, over the
 * real protocol. For tests of what the coordinator decides. */
#pragma once

#include "test.h"

#include <pthread.h>
#include <unistd.h>

#include "coord/agents.h"
#include "coord/channels.h"
#include "coord/coord.h"
#include "coord/state.h"
#include "standin.h"
#include "test_folder.h"

#define STAGE_AGENTS_MAX 4
#define STAGE_TURNS_MAX 3000 /* of a hundredth of a second, until what must come has come */

struct stage_agent {
    const char *name;
    double latitude, longitude;
};

struct stage {
    struct coord *c;
    pthread_t thread;
    const struct stage_agent *agents; /* borrowed */
    size_t count;
    standin_probe_fn *probe;
    standin_path_fn *path;
    void *world; /* borrowed: the test's */
    struct player {
        void *world;
        size_t at;
        struct standin *s;
    } players[STAGE_AGENTS_MAX]; /* what the two functions get */
};

static void *stage_thread(void *arg)
{
    struct stage *s = arg;
    status st = coord_run(s->c);
    (void)st;
    return NULL;
}

static void stage_join(struct stage *s, size_t i)
{
    struct player *p = &s->players[i];
    const struct stage_agent *is = &s->agents[i];
    struct c_agent *a;
    struct buf line = {0}, why = {0};
    *p = (struct player){.world = s->world, .at = i};
    pthread_mutex_lock(&s->c->lock);
    status st = agent_add(
        s->c,
        &(struct agent_form){
            .name = span_str(is->name), .latitude = is->latitude, .longitude = is->longitude, .has_place = true},
        &a, &line, &why);
    pthread_mutex_unlock(&s->c->lock);
    CHECK_STATUS("add", st, ST_OK);
    st = standin_join(&(struct standin_opts){.line = buf_span(&line), .probe = s->probe, .path = s->path, .arg = p},
                      &p->s, &why);
    if (st != ST_OK)
        fail_msg("%s: %s", is->name, buf_cstr(&why));
    buf_done(&line);
    buf_done(&why);
}

/* In the test's folder. `hosts`: as in /etc/hosts. */
static void stage_open(struct stage *s, delegate_strategy strategy, const char *hosts)
{
    struct buf why = {0};
    const struct coord_opts o = {.data_dir = test_folder(),
                                 .addr = {4, {127, 0, 0, 1}},
                                 .admin_addr = {4, {127, 0, 0, 1}},
                                 .is_plain = true,
                                 .allow_private = true,
                                 .strategy = strategy,
                                 .seed = 1,
                                 .dns.hosts = span_str(hosts),
                                 .version = SPAN("test")};
    if (coord_new(&o, &s->c, &why) != ST_OK)
        fail_msg("coordinator: %s", buf_cstr(&why));
    buf_done(&why);
    pthread_create(&s->thread, NULL, stage_thread, s);
    for (size_t i = 0; i < s->count; i++)
        stage_join(s, i);
}

static void stage_close(struct stage *s)
{
    if (!s->c)
        return;
    for (size_t i = 0; i < s->count; i++)
        standin_free(s->players[i].s);
    coord_stop(s->c);
    pthread_join(s->thread, NULL);
    coord_free(s->c);
    s->c = NULL;
}

static void stage_channel(struct stage *s, const char *url)
{
    struct channel *channel;
    struct span seed = span_str(url);
    struct buf why = {0};
    CHECK_STATUS("channel", channel_new(&(struct channel_opts){.seeds = &seed, .seed_count = 1}, &channel, &why),
                 ST_OK);
    pthread_mutex_lock(&s->c->lock);
    struct c_channel *ch;
    struct channel_form form = {.channel = channel, .label = SPAN("a channel"), .kind = SUMMARY_TEXT};
    status st = channel_put(s->c, &form, &ch, &why);
    pthread_mutex_unlock(&s->c->lock);
    if (st != ST_OK)
        fail_msg("channel: %s", buf_cstr(&why));
    buf_done(&why);
}

static void stage_poll(struct stage *s)
{
    struct standin_answer got;
    for (size_t i = 0; i < s->count; i++)
        CHECK_STATUS("poll", standin_poll(s->players[i].s, 0, &got), ST_OK);
    usleep(10000);
}

/* Polls until the expression is true, with the coordinator's lock held while it is looked at. */
#define STAGE_UNTIL(s, label, is_true)                                       \
    do {                                                                     \
        bool is_done_ = false;                                               \
        for (int turn_ = 0; turn_ < STAGE_TURNS_MAX && !is_done_; turn_++) { \
            stage_poll(s);                                                   \
            pthread_mutex_lock(&(s)->c->lock);                               \
            is_done_ = (is_true);                                            \
            pthread_mutex_unlock(&(s)->c->lock);                             \
        }                                                                    \
        if (!is_done_)                                                       \
            fail_msg("%s: it never came to that", (label));                  \
    } while (0)
