/* test_coord_access.c - who is answered: tokens, signatures, and nobody before the coordinator is ready. */
#include "puppet_stage.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "coord/agents.h"
#include "store/store.h"

static void only_a_fresh_token_lets_an_agent_in(void **state)
{
    struct stage s;
    struct puppet p, q;
    struct join_line line;
    unsigned char wrong[JOIN_TOKEN_BYTES] = {1, 2, 3};
    open_stage(&s);
    add_agent(&s, "athens", &line);
    puppet_key(&p, &s, 1);
    puppet_key(&q, &s, 2);
    assert_int_equal(puppet_join(&p, wrong), 403);
    assert_int_equal(puppet_join(&p, line.token), 200);
    assert_int_equal(p.number, 1);
    assert_int_equal(puppet_join(&p, line.token), 200); /* the answer was lost: the same key may ask again */
    assert_int_equal(puppet_join(&q, line.token), 403); /* another may not */
    pthread_mutex_lock(&s.c->lock);
    agent_get(s.c, 1)->token_until = clock_wall() - 1;
    pthread_mutex_unlock(&s.c->lock);
    assert_int_equal(puppet_join(&p, line.token), 403);
    puppet_done(&p);
    puppet_done(&q);
    close_stage(&s);
}

static void replayed_altered_and_strange_requests_are_refused(void **state)
{
    struct stage s;
    struct puppet p, stranger;
    struct auth a;
    struct buf body = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    puppet_key(&stranger, &s, 9);
    stranger.number = p.number;
    memcpy(stranger.nonce, p.nonce, sizeof(p.nonce));
    report_pack(&(struct report){.wire_version = WIRE_VERSION, .version = SPAN("1"), .activity = ACTIVITY_IDLE}, &body);
    const char *target = PATH_POLL "?wait=0";

    sign_call(&p, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 200);
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 401); /* the same once more */
    sign_call(&p, &a, "POST", target, buf_span(&body));
    body.p[body.n - 1] ^= 1;
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 400); /* another body */
    body.p[body.n - 1] ^= 1;
    sign_call(&p, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&p, &a, "POST", PATH_POLL "?wait=9", buf_span(&body)), 403); /* another target */
    sign_call(&stranger, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&stranger, &a, "POST", target, buf_span(&body)), 403); /* another key */
    sign_call(&p, &a, "POST", target, buf_span(&body));
    a.agent = 77;
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 403); /* nobody */

    /* A restart draws another nonce: what was recorded before is worth nothing. */
    sign_call(&p, &a, "POST", target, buf_span(&body));
    stop(&s);
    start(&s);
    puppet_line(&p);
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 401);
    assert_int_equal(call(&p, "POST", target, buf_span(&body)), 200);

    /* Removed: its key is nobody's. */
    pthread_mutex_lock(&s.c->lock);
    agent_remove(s.c, agent_get(s.c, p.number));
    pthread_mutex_unlock(&s.c->lock);
    sign_call(&p, &a, "POST", target, buf_span(&body));
    assert_int_equal(call_once(&p, &a, "POST", target, buf_span(&body)), 403);
    buf_done(&body);
    puppet_done(&p);
    puppet_done(&stranger);
    close_stage(&s);
}

/* ---- starting ---- */

/* A port that nobody listens on. */
static int free_port(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(to);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&to, n), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&to, &n), 0);
    close(fd);
    return ntohs(to.sin_port);
}

static bool is_listening(int port)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool is = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0;
    close(fd);
    return is;
}

struct doors {
    int port, admin_port;
    unsigned adopted, open;
};

/* The folder's crawl was adopted just now: what follows is not done either. */
static void look_at_doors(void *self, log_level level, struct span line)
{
    struct doors *d = self;
    if (!memmem(line.p, line.n, "goes on with agents", 19))
        return;
    d->adopted++;
    d->open += is_listening(d->port) + is_listening(d->admin_port);
}

static void nobody_is_answered_before_all_of_the_folder_is_there(void **state)
{
    struct doors d = {.port = free_port(), .admin_port = free_port()};
    const struct log log = {.level = LOG_INFO, .sink = look_at_doors, .self = &d};
    struct stage s = {.dir = test_folder(), .opts = {.port = d.port, .admin_port = d.admin_port, .log = &log}};
    struct span seed = SPAN("http://one.example/");
    struct channel *channel;
    struct store *store;
    struct buf packed = {0}, why = {0};
    CHECK_STATUS("channel", channel_new(&(struct channel_opts){.seeds = &seed, .seed_count = 1}, &channel, &why),
                 ST_OK);
    channel_pack(channel, &packed);
    CHECK_STATUS("open", store_open(s.dir, STORE_WRITE, &store, &why), ST_OK);
    CHECK_STATUS("put", store_channel_put(store, channel_id(channel), buf_span(&packed)), ST_OK);
    store_free(store);
    channel_free(channel);
    start(&s);
    assert_int_equal(d.adopted, 1);
    assert_int_equal(d.open, 0);
    CHECK("agents are answered now", is_listening(d.port));
    CHECK("people are answered now", is_listening(d.admin_port));
    buf_done(&packed);
    buf_done(&why);
    close_stage(&s);
}

/* The order that told it of the new key could not be written down, or is lost with a folder. */
static void an_agent_that_knows_only_the_old_key_is_told_the_new_one(void **state)
{
    struct stage s;
    struct puppet p;
    struct seen_orders seen = {0};
    struct signature sig;
    struct buf why = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    UNTIL(&p, seen, seen.settings == 1);
    struct sign_public old = s.c->id.key.open;
    pthread_mutex_lock(&s.c->lock);
    pthread_rwlock_wrlock(&s.c->id_lock);
    CHECK_STATUS("rotate", identity_rotate(s.dir, &s.c->id, &sig, &why), ST_OK);
    pthread_rwlock_unlock(&s.c->id_lock);
    pthread_mutex_unlock(&s.c->lock);
    p.knows = &old;
    UNTIL(&p, seen, seen.other == 1);
    for (int i = 0; i < 3; i++) { /* not again while it is open */
        p.orders_done--;
        (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    }
    assert_int_equal(agent_get(s.c, 1)->orders_given, p.orders_done);
    p.knows = NULL;
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    (void)puppet_poll(&p, NULL, 0, note_order, &seen, NULL);
    assert_int_equal(agent_get(s.c, 1)->orders_given, p.orders_done);
    buf_done(&why);
    puppet_done(&p);
    close_stage(&s);
}

static void of_two_processes_with_one_key_the_newer_is_heard(void **state)
{
    struct stage s;
    struct puppet p, copy;
    struct seen_orders seen = {0};
    open_stage(&s);
    puppet_new(&p, &s, "athens", 1);
    UNTIL(&p, seen, seen.settings == 1);
    puppet_key(&copy, &s, 1);
    copy.number = p.number;
    copy.orders_done = p.orders_done;
    copy.boot = 8;
    assert_int_equal(puppet_poll(&copy, NULL, 0, note_order, &seen, NULL), 200);
    assert_int_equal(puppet_poll(&p, NULL, 0, note_order, &seen, NULL), 409);
    assert_int_equal(puppet_poll(&copy, NULL, 0, note_order, &seen, NULL), 200);
    assert_int_equal(puppet_poll(&p, NULL, 0, note_order, &seen, NULL), 409);
    /* Its process ended, and another one begins: nothing is wrong with that. */
    copy.boot = 9;
    assert_int_equal(puppet_poll(&copy, NULL, 0, note_order, &seen, NULL), 200);
    /* It is gone for good: the other may go on. */
    pthread_mutex_lock(&s.c->lock);
    agent_get(s.c, 1)->boot_heard -= COORD_LEASE_MS + 1;
    pthread_mutex_unlock(&s.c->lock);
    assert_int_equal(puppet_poll(&p, NULL, 0, note_order, &seen, NULL), 200);
    assert_int_equal(puppet_poll(&copy, NULL, 0, note_order, &seen, NULL), 409);
    puppet_done(&p);
    puppet_done(&copy);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(only_a_fresh_token_lets_an_agent_in),
        TEST_IN_FOLDER(replayed_altered_and_strange_requests_are_refused),
        TEST_IN_FOLDER(nobody_is_answered_before_all_of_the_folder_is_there),
        TEST_IN_FOLDER(an_agent_that_knows_only_the_old_key_is_told_the_new_one),
        TEST_IN_FOLDER(of_two_processes_with_one_key_the_newer_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
