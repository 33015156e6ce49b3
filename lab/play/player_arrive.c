/* player_arrive.c - sites become known to the coordinator: all at once, or as fast as it finds agents for them. The
 * simulator meets sites one after the other; a run that is compared with it should not meet a thousand in one moment,
 * when nothing that one teaches can help the next. */
#include <errno.h>
#include <string.h>

#include "io/clock.h"
#include "lab/play/player_internal.h"
#include "store/file.h"

#define ARRIVE_LEAST 8     /* at a time */
#define ARRIVE_LOOK_MS 250 /* between two looks, or longer where a look is dear */
#define ARRIVE_LOOK_SHARE 8

status play_write_seeds(struct play *p, size_t n)
{
    struct buf seeds = {0};
    for (size_t i = p->arrived; i < p->arrived + n; i++)
        buf_printf(&seeds, "http://%.*s/\n", SPAN_ARG(p->lab.sites[i].host));
    status st = file_replace(play_path(p, "seeds"), buf_span(&seeds));
    buf_done(&seeds);
    p->arrived += n;
    return st == ST_OK ? st : play_fail(p, ST_IO, "write seeds: %s", strerror(errno));
}

static status import(struct play *p, size_t n)
{
    struct args args = {0};
    status st = play_write_seeds(p, n);
    args_adds(&args, p->orb, "channel", "import", "--data", p->data);
    play_add_words(&args, &p->run->channels);
    args_adds(&args, "seeds");
    p->is_arriving = true; /* the command is waited for by play_pause, which calls us */
    if (st == ST_OK)
        st = play_command(p, &args, "import.out", NULL, PLAY_COMMAND_MS);
    p->is_arriving = false;
    args_done(&args);
    return st;
}

status play_arrive(struct play *p)
{
    size_t left = p->lab.site_count - p->arrived, settled = 0;
    mono_ms now = clock_mono();
    if (!p->begin || p->run->crawler != CRAWLER_FLEET || !left || p->is_arriving || now < p->next_arrival)
        return ST_OK;
    if (p->run->arrive <= 0)
        return import(p, left);
    if (p->arrived && play_look_at_networks(p, &settled) != ST_OK)
        return ST_OK; /* it is away */
    p->next_arrival = clock_mono() + ARRIVE_LOOK_MS + ARRIVE_LOOK_SHARE * (clock_mono() - now);
    size_t most = (size_t)(p->run->arrive * (double)settled);
    most = most > ARRIVE_LEAST ? most : ARRIVE_LEAST;
    size_t waiting = p->arrived > settled ? p->arrived - settled : 0;
    if (waiting >= most)
        return ST_OK;
    return import(p, most - waiting < left ? most - waiting : left);
}
