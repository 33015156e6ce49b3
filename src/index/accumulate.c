#include "index/accumulate.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "codec/digest.h"
#include "index/segment/field.h"
#include "index/segment/name.h"
#include "index/segment/rank.h"
#include "index/slices.h"
#include "index/text/url_words.h"
#include "web/content.h"

#define NONE UINT32_MAX
#define ENTRY_BYTES 64
#define FIRST_SLOTS (1u << 12)
/* How far ahead memory is asked for, in tokens or terms: the tables are larger than any cache, and waiting for them is
 * most of what accumulating costs. Looking ahead from a slot to its entry and text as well was no gain. */
enum { AHEAD_TOKEN = 16, AHEAD_CHAIN = 8 };
/* A term: a line of the cache, all that a posting touches most of the time. */
struct entry {
    uint32_t text_at; /* in texts */
    uint16_t text_bytes;
    uint32_t doc;   /* that has it, the last one; NONE */
    uint32_t local; /* its place in `locals` when that is the current document */
    struct chain chain;
};
static_assert(sizeof(struct entry) == ENTRY_BYTES, "an entry is a line of the cache");

/* A term of the current document. */
struct local {
    uint32_t entry;
    uint32_t doc_before;  /* that had the term; NONE */
    uint32_t first, last; /* in `links`; NONE */
    uint32_t positions, body;
    uint8_t head;
};

struct link {
    uint32_t next, position;
};

struct held {
    struct doc_row row;
    struct span site, url, content; /* in the arena */
    bool is_dead;
};

struct accumulator {
    struct analyzer *analyzer; /* owned */
    struct sip_key key;
    uint32_t epoch;
    void *entry_memory; /* owned; entries are in it */
    struct entry *entries;
    size_t entry_count, entry_cap;
    struct slot {
        uint32_t hash, entry; /* entry + 1; 0: free */
    } * slots;
    size_t slot_count;
    struct buf texts;
    struct slices slices;

    struct held *docs;
    size_t doc_count, doc_cap;
    uint32_t live;
    struct arena held; /* texts of docs */
    struct table keys; /* key to document + 1: the live one */

    struct local *locals;
    size_t local_count, local_cap;
    struct link *links;
    size_t link_count, link_cap;
    struct buf words, posting, folded;
};

struct accumulator *accumulator_new(uint64_t seed)
{
    struct accumulator *acc = mem_alloc(sizeof(*acc));
    acc->analyzer = analyzer_new(seed);
    acc->key = (struct sip_key){seed, ~seed};
    acc->epoch = 1;
    acc->slot_count = FIRST_SLOTS;
    acc->slots = mem_alloc(acc->slot_count * sizeof(*acc->slots));
    arena_init(&acc->held);
    return acc;
}

void accumulator_free(struct accumulator *acc)
{
    if (!acc)
        return;
    analyzer_free(acc->analyzer);
    free(acc->entry_memory);
    free(acc->slots);
    buf_done(&acc->texts);
    slices_done(&acc->slices);
    free(acc->docs);
    arena_done(&acc->held);
    table_done(&acc->keys);
    free(acc->locals);
    free(acc->links);
    buf_done(&acc->words);
    buf_done(&acc->posting);
    buf_done(&acc->folded);
    free(acc);
}

void accumulator_clear(struct accumulator *acc)
{
    acc->epoch++;
    if (!acc->epoch)
        acc->epoch = 1; /* 0 is the analyzer's; terms of 2^32 flushes ago are long gone from its cache */
    acc->entry_count = 0;
    memset(acc->slots, 0, acc->slot_count * sizeof(*acc->slots));
    buf_clear(&acc->texts);
    slices_clear(&acc->slices);
    acc->doc_count = 0;
    acc->live = 0;
    arena_done(&acc->held);
    table_done(&acc->keys);
}

uint32_t accumulator_docs(const struct accumulator *acc)
{
    return acc->live;
}

size_t accumulator_bytes(const struct accumulator *acc)
{
    if (!acc->doc_count)
        return 0;
    return acc->entry_count * sizeof(*acc->entries) + acc->slot_count * sizeof(*acc->slots) + acc->texts.n +
           slices_bytes(&acc->slices) + acc->doc_count * sizeof(*acc->docs) + acc->held.total +
           acc->keys.cap * sizeof(*acc->keys.slots);
}

/* ---- terms ---- */

static void grow_slots(struct accumulator *acc)
{
    size_t count = acc->slot_count * 2;
    struct slot *slots = mem_alloc(count * sizeof(*slots));
    for (size_t i = 0; i < acc->slot_count; i++) {
        size_t at = acc->slots[i].hash & (count - 1);
        if (!acc->slots[i].entry)
            continue;
        while (slots[at].entry)
            at = (at + 1) & (count - 1);
        slots[at] = acc->slots[i];
    }
    free(acc->slots);
    acc->slots = slots;
    acc->slot_count = count;
}

/* As mem_grow, at whole lines of the cache. */
static void grow_entries(struct accumulator *acc)
{
    size_t cap = acc->entry_cap ? acc->entry_cap * 2 : FIRST_SLOTS / 2;
    void *memory = mem_realloc(NULL, (cap + 1) * sizeof(*acc->entries));
    struct entry *entries = (struct entry *)(((uintptr_t)memory + ENTRY_BYTES - 1) & ~(uintptr_t)(ENTRY_BYTES - 1));
    if (acc->entry_count)
        memcpy(entries, acc->entries, acc->entry_count * sizeof(*entries));
    free(acc->entry_memory);
    acc->entry_memory = memory;
    acc->entries = entries;
    acc->entry_cap = cap;
}

static uint32_t add_entry(struct accumulator *acc, struct span text)
{
    if (acc->entry_count == acc->entry_cap)
        grow_entries(acc);
    assert(acc->texts.n < UINT32_MAX - SEGMENT_TERM_MAX && text.n <= SEGMENT_TERM_MAX);
    acc->entries[acc->entry_count] =
        (struct entry){.text_at = (uint32_t)acc->texts.n, .text_bytes = (uint16_t)text.n, .doc = NONE};
    buf_put(&acc->texts, text);
    return (uint32_t)acc->entry_count++;
}

static struct span entry_text(const struct accumulator *acc, const struct entry *e)
{
    return span_of(acc->texts.p + e->text_at, e->text_bytes);
}

static inline uint32_t short_hash(uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 32);
}

static uint32_t find_entry(struct accumulator *acc, struct span text, uint64_t hash64)
{
    uint32_t hash = short_hash(hash64);
    size_t mask = acc->slot_count - 1, at = hash & mask;
    for (; acc->slots[at].entry; at = (at + 1) & mask)
        if (acc->slots[at].hash == hash && span_eq(entry_text(acc, &acc->entries[acc->slots[at].entry - 1]), text))
            return acc->slots[at].entry - 1;
    uint32_t entry = add_entry(acc, text);
    acc->slots[at] = (struct slot){hash, entry + 1};
    if (acc->entry_count * 2 > acc->slot_count)
        grow_slots(acc);
    return entry;
}

static inline uint32_t entry_of(struct accumulator *acc, struct term *t)
{
    if (t->slot_epoch != acc->epoch) {
        t->slot = find_entry(acc, t->text, t->hash);
        t->slot_epoch = acc->epoch;
    }
    return t->slot;
}

/* The term's scratch for the current document. */
static inline struct local *local_of(struct accumulator *acc, uint32_t entry)
{
    struct entry *e = &acc->entries[entry];
    uint32_t doc = (uint32_t)acc->doc_count;
    if (e->doc != doc) {
        if (acc->local_count == acc->local_cap)
            acc->locals = mem_grow(acc->locals, &acc->local_cap, acc->local_count + 1, sizeof(*acc->locals));
        e->local = (uint32_t)acc->local_count++;
        acc->locals[e->local] = (struct local){.entry = entry, .doc_before = e->doc, .first = NONE, .last = NONE};
        e->doc = doc;
    }
    return &acc->locals[e->local];
}

/* ---- one document ---- */

/* A term twice at one position (an identifier that is its own first part) counts once. */
static inline bool is_at(const struct accumulator *acc, const struct local *l, uint32_t position)
{
    return l->last != NONE && acc->links[l->last].position == position;
}

static inline void add_position(struct accumulator *acc, struct local *l, uint32_t position)
{
    uint32_t at = (uint32_t)acc->link_count++;
    acc->links[at] = (struct link){NONE, position};
    if (l->last == NONE)
        l->first = at;
    else
        acc->links[l->last].next = at;
    l->last = at;
    l->positions++;
}

static inline void look_ahead(const struct accumulator *acc, const struct token *tokens, size_t i, size_t n)
{
    if (i + AHEAD_TOKEN >= n)
        return;
    const struct term *t = tokens[i + AHEAD_TOKEN].term;
    if (t->slot_epoch == acc->epoch)
        __builtin_prefetch(&acc->entries[t->slot], 1);
    else
        __builtin_prefetch(&acc->slots[short_hash(t->hash) & (acc->slot_count - 1)]);
}

static struct token *take_tokens(struct accumulator *acc, size_t *n)
{
    struct token *tokens = analyze_tokens(acc->analyzer, n);
    acc->links = mem_grow(acc->links, &acc->link_cap, acc->link_count + *n, sizeof(*acc->links));
    return tokens;
}

/* Body text from POSITION_BODY on; returns its length in words. */
static uint32_t add_body(struct accumulator *acc, struct span text, lang_code lang)
{
    const uint32_t limit = POSITION_BODY + POSITIONS_A_DOC_MAX;
    uint32_t end = analyze_text(acc->analyzer, text, lang, POSITION_BODY);
    size_t n;
    struct token *tokens = take_tokens(acc, &n);
    for (size_t i = 0; i < n && tokens[i].position < limit; i++) {
        look_ahead(acc, tokens, i, n);
        struct local *l = local_of(acc, entry_of(acc, tokens[i].term));
        if (is_at(acc, l, tokens[i].position))
            continue;
        l->body++;
        add_position(acc, l, tokens[i].position);
    }
    analyze_drop(acc->analyzer, 0);
    return (end < limit ? end : limit) - POSITION_BODY;
}

/* Words with blanks between them, in no order that means anything: between two of them a position is left free, so that
 * they are never in a row, while the parts of an identifier and the characters of a word in Chinese are. */
static uint32_t add_bag(struct accumulator *acc, struct span text, lang_code lang)
{
    const uint32_t limit = POSITION_BODY + POSITIONS_A_DOC_MAX;
    uint32_t end = analyze_text(acc->analyzer, text, lang, POSITION_BODY), gaps = 0;
    size_t n, read = 0;
    struct token *tokens = take_tokens(acc, &n);
    for (size_t i = 0; i < n; i++) {
        for (; read < tokens[i].at; read++)
            gaps += ascii_is_space(text.p[read]);
        uint32_t position = tokens[i].position + gaps;
        if (position >= limit)
            break;
        struct local *l = local_of(acc, entry_of(acc, tokens[i].term));
        if (is_at(acc, l, position))
            continue;
        l->body++;
        add_position(acc, l, position);
    }
    analyze_drop(acc->analyzer, 0);
    return (end < limit ? end : limit) - POSITION_BODY;
}

/* Sites, languages, names and fields: no positions, and once is enough. */
static void add_special_term(struct accumulator *acc, struct span term)
{
    local_of(acc, find_entry(acc, term, siphash(&acc->key, term)))->body = 1;
}

static void add_name(struct accumulator *acc, const struct token *tokens, size_t n)
{
    char term[NAME_BYTES_MAX];
    struct span name = name_of(tokens, n, term);
    if (name.n)
        add_special_term(acc, name);
}

/* A short text with positions from `position` up to `limit`; returns where it ends. */
static uint32_t add_field(struct accumulator *acc, struct span text, lang_code lang, int head, uint32_t position,
                          uint32_t limit)
{
    uint32_t end = analyze_text(acc->analyzer, text, lang, position);
    size_t n;
    struct token *tokens = take_tokens(acc, &n);
    for (size_t i = 0; i < n && tokens[i].position < limit; i++) {
        struct local *l = local_of(acc, entry_of(acc, tokens[i].term));
        if (is_at(acc, l, tokens[i].position))
            continue;
        l->head = head_add(l->head, head);
        add_position(acc, l, tokens[i].position);
    }
    if (head != HEAD_URL)
        add_name(acc, tokens, n);
    analyze_drop(acc->analyzer, 0);
    return end < limit ? end : limit;
}

/* Their words are part of the body, where they have positions; here they are only counted. */
static void add_headings(struct accumulator *acc, const struct index_doc *doc, lang_code lang)
{
    for (size_t i = 0; i < doc->heading_count; i++) {
        size_t n;
        (void)analyze_text(acc->analyzer, doc->headings[i].text, lang, 0);
        struct token *tokens = analyze_tokens(acc->analyzer, &n);
        for (size_t k = 0; k < n; k++) {
            struct local *l = local_of(acc, entry_of(acc, tokens[k].term));
            l->head = head_add(l->head, HEAD_HEADING);
        }
        analyze_drop(acc->analyzer, 0);
    }
}

static void add_anchors(struct accumulator *acc, struct span anchors, lang_code lang)
{
    const uint32_t limit = POSITION_URL - 1;
    uint32_t position = POSITION_ANCHORS;
    struct span text;
    while (position < limit && span_split(&anchors, '\n', &text))
        if (text.n)
            position = add_field(acc, text, lang, HEAD_ANCHOR, position, limit) + 2;
}

static void add_special(struct accumulator *acc, char kind, struct span text)
{
    char term[SEGMENT_TERM_MAX] = {TERM_SPECIAL, kind};
    if (!text.n || text.n > sizeof(term) - 2)
        return;
    memcpy(term + 2, text.p, text.n);
    add_special_term(acc, span_of(term, text.n + 2));
}

static void add_fields(struct accumulator *acc, const struct index_doc *doc)
{
    char term[SEGMENT_TERM_MAX];
    for (size_t i = 0; i < doc->field_count && i < INDEX_FIELDS_MAX; i++) {
        const struct summary_field *f = &doc->fields[i];
        if (!content_field_name(f->name))
            continue;
        add_special_term(acc, field_term(f->name, term));
        add_special_term(acc, field_value_term(f->name, f->value, &acc->folded, term));
    }
}

static void add_specials(struct accumulator *acc, const struct index_doc *doc, lang_code lang)
{
    struct site_names sites;
    char code[4];
    site_names(doc->site, &sites);
    for (unsigned i = 0; i < sites.count; i++)
        add_special(acc, 's', sites.names[i]);
    add_special(acc, 'l', span_str(lang_code_name(lang, code)));
    add_special(acc, 't', span_str(doc->type));
    if (doc->type_group && doc->type && strcmp(doc->type, doc->type_group) != 0)
        add_special(acc, 't', span_str(doc->type_group));
    add_fields(acc, doc);
}

static void add_posting(struct accumulator *acc, const struct local *l)
{
    struct entry *e = &acc->entries[l->entry];
    uint32_t delta = (uint32_t)acc->doc_count - (l->doc_before == NONE ? 0 : l->doc_before);
    struct posting p = {.delta = delta, .body = l->body, .head = l->head};
    if (l->positions == 1 && l->body == 1 && !l->head) {
        slices_put_one(&acc->slices, &e->chain, delta, acc->links[l->first].position);
        return;
    }
    buf_clear(&acc->posting);
    unsigned char *start = (unsigned char *)buf_room(&acc->posting, (size_t)l->positions * 5), *at = start;
    uint32_t before = 0;
    for (uint32_t i = l->first; i != NONE; i = acc->links[i].next) {
        at = put_varint(at, acc->links[i].position - before);
        before = acc->links[i].position;
    }
    p.positions = span_of(start, (size_t)(at - start));
    slices_put(&acc->slices, &e->chain, &p);
}

static void add_postings(struct accumulator *acc)
{
    for (size_t i = 0; i < acc->local_count; i++)
        add_posting(acc, &acc->locals[i]);
}

static uint32_t seconds_of(wall_ms t)
{
    int64_t s = t / 1000;
    return s < 0 ? 0 : s > UINT32_MAX ? UINT32_MAX : (uint32_t)s;
}

static struct doc_row row_of(const struct index_doc *doc)
{
    return (struct doc_row){
        .key = doc->key,
        .fetch_number = doc->fetch_number,
        .digest = doc->digest,
        .group = doc->group,
        .fetched = seconds_of(doc->fetched),
        .changed = seconds_of(doc->changed),
        .anchors_digest = doc->anchors.n ? digest_crc32c(doc->anchors) : 0,
        .lang = lang_code_of(doc->lang),
        .prior_code = rank_prior_code(doc->votes, doc->foreign_votes, url_depth(doc->url)),
        .flags = (uint8_t)((doc->flags & ~ROW_UNORDERED) | (doc->is_keywords ? ROW_UNORDERED : 0)),
    };
}

static struct version version_of(const struct doc_row *row)
{
    return (struct version){row->fetch_number, row->anchors_digest, row->prior_code};
}

static struct held *find_held(struct accumulator *acc, uint64_t key)
{
    uintptr_t at = (uintptr_t)table_get(&acc->keys, key);
    return at ? &acc->docs[at - 1] : NULL;
}

static void add_texts(struct accumulator *acc, const struct index_doc *doc, struct doc_row *row)
{
    acc->local_count = acc->link_count = 0;
    analyze_begin(acc->analyzer);
    /* Positions ascend in this order. Regions end one early, so that no phrase reaches from one into the next. */
    (void)add_field(acc, doc->title, row->lang, HEAD_TITLE, POSITION_TITLE, POSITION_ANCHORS - 1);
    add_anchors(acc, doc->anchors, row->lang);
    buf_clear(&acc->words);
    url_words(&acc->words, doc->url);
    (void)add_field(acc, buf_span(&acc->words), row->lang, HEAD_URL, POSITION_URL, POSITION_BODY - 1);
    uint32_t words = doc->is_keywords ? add_bag(acc, doc->text, row->lang) : add_body(acc, doc->text, row->lang);
    row->length_code = rank_length_code(words);
    add_headings(acc, doc, row->lang);
    add_specials(acc, doc, row->lang);
    add_postings(acc);
}

accumulated accumulator_add(struct accumulator *acc, const struct index_doc *doc)
{
    struct doc_row row = row_of(doc);
    struct held *old = find_held(acc, doc->key);
    if (old) {
        struct version now = version_of(&row), before = version_of(&old->row);
        if (!version_wins(&now, &before))
            return ACC_IGNORED;
        old->is_dead = true;
        acc->live--;
    }
    add_texts(acc, doc, &row);
    acc->docs = mem_grow(acc->docs, &acc->doc_cap, acc->doc_count + 1, sizeof(*acc->docs));
    acc->docs[acc->doc_count++] =
        (struct held){row, arena_copy(&acc->held, doc->site), arena_copy(&acc->held, doc->url),
                      arena_copy(&acc->held, doc->content), false};
    acc->live++;
    table_put(&acc->keys, doc->key, (void *)(uintptr_t)acc->doc_count);
    return old ? ACC_REPLACED : ACC_ADDED;
}

bool accumulator_delete(struct accumulator *acc, uint64_t key, uint64_t fetch_number)
{
    struct held *old = find_held(acc, key);
    if (!old || old->row.fetch_number > fetch_number)
        return false;
    old->is_dead = true;
    acc->live--;
    table_remove(&acc->keys, key);
    return true;
}

/* ---- writing ---- */

struct sorted {
    uint64_t prefix; /* the first eight bytes, big-endian: most comparisons end here */
    uint32_t entry;
};

static uint64_t prefix_of(struct span s)
{
    unsigned char b[8] = {0};
    uint64_t v;
    memcpy(b, s.p, s.n < 8 ? s.n : 8);
    memcpy(&v, b, 8);
    return __builtin_bswap64(v);
}

static int by_term(const void *a, const void *b, void *arg)
{
    const struct accumulator *acc = arg;
    const struct sorted *x = a, *y = b;
    if (x->prefix != y->prefix)
        return x->prefix < y->prefix ? -1 : 1;
    return span_cmp(entry_text(acc, &acc->entries[x->entry]), entry_text(acc, &acc->entries[y->entry]));
}

static struct sorted *sort_terms(struct accumulator *acc)
{
    struct sorted *order = mem_alloc(acc->entry_count * sizeof(*order));
    for (size_t i = 0; i < acc->entry_count; i++)
        order[i] = (struct sorted){prefix_of(entry_text(acc, &acc->entries[i])), (uint32_t)i};
    qsort_r(order, acc->entry_count, sizeof(*order), by_term, acc);
    return order;
}

/* New numbers of the documents without the dead; NONE for those. */
static status write_docs(const struct accumulator *acc, struct segment_writer *w, uint32_t *numbers)
{
    uint32_t next = 0;
    status st = ST_OK;
    for (size_t i = 0; i < acc->doc_count && st == ST_OK; i++) {
        const struct held *d = &acc->docs[i];
        numbers[i] = d->is_dead ? NONE : next++;
        if (!d->is_dead)
            st = segment_writer_doc(w, &d->row, d->site, d->url, d->content);
    }
    return st;
}

static status write_term(struct accumulator *acc, struct segment_writer *w, const struct entry *e,
                         const uint32_t *numbers)
{
    struct chain_reader r;
    struct posting p;
    uint32_t doc = 0;
    bool has_begun = false;
    status st = ST_OK;
    slices_gather(&acc->slices, &e->chain, &acc->posting);
    chain_read(&r, buf_span(&acc->posting));
    while (st == ST_OK && chain_next(&r, &p)) {
        doc += p.delta;
        if (numbers[doc] == NONE)
            continue;
        if (!has_begun)
            st = segment_writer_term(w, entry_text(acc, e));
        has_begun = true;
        if (st == ST_OK)
            st = segment_writer_posting_raw(w, numbers[doc], p.body, p.head, p.positions);
    }
    return st;
}

static status write_terms(struct accumulator *acc, struct segment_writer *w, const uint32_t *numbers)
{
    struct sorted *order = sort_terms(acc);
    status st = ST_OK;
    for (size_t i = 0; i < acc->entry_count && st == ST_OK; i++) {
        if (i + 2 * AHEAD_CHAIN < acc->entry_count) {
            __builtin_prefetch(&acc->entries[order[i + 2 * AHEAD_CHAIN].entry]);
            const struct entry *e = &acc->entries[order[i + AHEAD_CHAIN].entry];
            if (e->chain.first)
                __builtin_prefetch(acc->slices.p + e->chain.first);
            __builtin_prefetch(acc->texts.p + e->text_at);
        }
        st = write_term(acc, w, &acc->entries[order[i].entry], numbers);
    }
    free(order);
    return st;
}

status accumulator_write(struct accumulator *acc, const char *dir, uint32_t number)
{
    struct segment_writer *w = NULL;
    uint32_t *numbers = mem_alloc(acc->doc_count * sizeof(*numbers));
    status st = segment_writer_new(dir, number, &w);
    if (st == ST_OK)
        st = write_docs(acc, w, numbers);
    if (st == ST_OK)
        st = write_terms(acc, w, numbers);
    if (st == ST_OK)
        st = segment_writer_finish(w);
    segment_writer_free(w);
    free(numbers);
    return st;
}
